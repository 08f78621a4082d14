#ifndef PEERCONNECT_CSYSTEM_H
#define PEERCONNECT_CSYSTEM_H

#include <ifaddrs.h>
#include <linux/if_addr.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/vfs.h>

// Thin shims for what needs _GNU_SOURCE, is variadic, or is a macro.

/// The text of an error number, in `buffer`.
const char *pc_error_text(int code, char *buffer, size_t size);
/// Names the calling thread.
void pc_name_thread(const char *name);
/// renameat2(2) with RENAME_NOREPLACE.
int pc_rename_new(int from_folder, const char *from, int to_folder, const char *to);
/// syncfs(2).
int pc_syncfs(int descriptor);
/// fcntl(2) with F_SETFL.
int pc_set_flags(int descriptor, int flags);
/// fcntl(2) with F_GETFL.
int pc_get_flags(int descriptor);
/// openat(2) with a mode.
int pc_openat(int folder, const char *name, int flags, unsigned mode);
/// epoll_ctl(2); `token` comes back with the events.
int pc_epoll_control(int epoll, int operation, int descriptor, uint32_t events, uint64_t token);
/// accept4(2); the new socket is closed by exec and does not block.
int pc_accept(int listener, struct sockaddr *address, socklen_t *size);
/// pipe2(2); both ends are closed by exec.
int pc_pipe(int ends[2]);
/// Whether the process ignores this signal (SIG_IGN is a cast expression).
bool pc_is_ignored(int signal);

#endif
