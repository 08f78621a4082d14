#define _GNU_SOURCE
#include "CSystem.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

const char *pc_error_text(int code, char *buffer, size_t size) { return strerror_r(code, buffer, size); }

void pc_name_thread(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

int pc_rename_new(int from_folder, const char *from, int to_folder, const char *to) {
    return renameat2(from_folder, from, to_folder, to, RENAME_NOREPLACE);
}

int pc_syncfs(int descriptor) { return syncfs(descriptor); }

int pc_set_flags(int descriptor, int flags) { return fcntl(descriptor, F_SETFL, flags); }

int pc_get_flags(int descriptor) { return fcntl(descriptor, F_GETFL); }

int pc_openat(int folder, const char *name, int flags, unsigned mode) { return openat(folder, name, flags, mode); }

int pc_epoll_control(int epoll, int operation, int descriptor, uint32_t events, uint64_t token) {
    struct epoll_event event = {.events = events, .data = {.u64 = token}};
    return epoll_ctl(epoll, operation, descriptor, &event);
}

int pc_accept(int listener, struct sockaddr *address, socklen_t *size) {
    return accept4(listener, address, size, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

bool pc_is_ignored(int signal) {
    struct sigaction action;
    return sigaction(signal, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

int pc_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }
