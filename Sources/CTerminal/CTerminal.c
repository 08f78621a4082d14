#define _GNU_SOURCE
#include "CTerminal.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

// Bracketed paste on.
static const char begin_text[] = "\x1b[?2004h";
// Bracketed paste off, wrapping on, cursor shown, attributes off.
static const char end_text[] = "\x1b[?2004l\x1b[?7h\x1b[?25h\x1b[0m";

static atomic_int input = -1, output = -1;
static struct termios saved, raw;
// AWAY: stopped, or in the background, and to be raw again in the foreground. Whoever changes it from RAW restores: a
// signal may come at any instruction, and on any thread.
enum { OFF, AWAY, RAW };
static atomic_int state = OFF;
static atomic_bool is_entering;
// From a stop until SIGCONT's handler has run.
static atomic_bool is_stopping;
static atomic_uint continuations;
static atomic_int rows_below = -1;
static atomic_int wake = -1;
static atomic_uint news;

#define SIGNALS 32
static struct sigaction before[SIGNALS];
static bool is_ours[SIGNALS];

// Whatever ends a process by default, but SIGKILL; those that others handle already are passed on to them.
static const int fatal[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGILL,  SIGTRAP, SIGABRT, SIGBUS,
                            SIGFPE,  SIGUSR1, SIGSEGV, SIGUSR2, SIGPIPE, SIGALRM, SIGTERM,
                            SIGXCPU, SIGXFSZ, SIGVTALRM, SIGPROF, SIGPOLL, SIGPWR, SIGSYS};

static void send(const char *text, size_t size) {
    // A terminal that takes nothing must not keep a dying process.
    struct pollfd ready = {.fd = output, .events = POLLOUT};
    while (size > 0 && poll(&ready, 1, 100) == 1) {
        ssize_t count = write(output, text, size);
        if (count < 0 && errno != EINTR) return;
        if (count > 0) text += count, size -= (size_t)count;
    }
}

static void set_modes(const struct termios *modes) {
    // From the background this would stop the process, which may be ending.
    sigset_t stop, mask;
    sigemptyset(&stop);
    sigaddset(&stop, SIGTTOU);
    pthread_sigmask(SIG_BLOCK, &stop, &mask);
    while (tcsetattr(input, TCSANOW, modes) == -1 && errno == EINTR) {}
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

static void give_back(void) {
    int error = errno;
    set_modes(&saved);
    int rows = atomic_exchange(&rows_below, -1);
    if (rows >= 0) {
        char text[16] = "\x1b[";
        char digits[8];
        int count = 0, size = 2;
        for (int rest = rows > 9999 ? 9999 : rows; rest > 0; rest /= 10) digits[count++] = (char)('0' + rest % 10);
        while (count > 0) text[size++] = digits[--count];
        if (rows > 0) text[size++] = 'B';
        const char *start = rows > 0 ? text : text + size;
        text[size++] = '\r';
        text[size++] = '\n';
        send(start, (size_t)(text + size - start));
    }
    send(end_text, sizeof end_text - 1);
    errno = error;
}

void pct_restore(void) {
    if (atomic_exchange(&state, OFF) == RAW) give_back();
}

bool pct_is_raw(void) { return atomic_load(&state) == RAW; }

bool pct_is_foreground(void) {
    pid_t group = tcgetpgrp(input);
    return group == -1 || group == getpgrp();  // -1: not the controlling terminal, so there is no job control
}

static void enter(void) {
    // One at a time: a second one would take the raw modes for those to be restored.
    if (atomic_exchange(&is_entering, true)) return;
    int now = atomic_load(&state);
    if (now != OFF && pct_is_foreground()) {
        // After a stop the shell may have given other modes; they are what it wants back.
        if (now == AWAY) tcgetattr(input, &saved);
        set_modes(&raw);
        if (now == RAW || atomic_compare_exchange_strong(&state, &now, RAW)) {
            send(begin_text, sizeof begin_text - 1);
        } else {
            set_modes(&saved);  // restored for good in the meantime
        }
    }
    atomic_store(&is_entering, false);
}

static void tell(unsigned what) {
    atomic_fetch_or(&news, what);
    pct_wake();
}

static void on_fatal(int number, siginfo_t *info, void *context) {
    (void)context;
    pct_restore();
    sigaction(number, &before[number], NULL);
    bool is_fault = number == SIGSEGV || number == SIGBUS || number == SIGILL || number == SIGFPE;
    // A fault happens again on return, and so reaches the next handler with its address; the rest is sent once more.
    if (!is_fault || info->si_code <= 0 || info->si_code >= SI_KERNEL) raise(number);
}

// Told once for each continuation: whoever is told twice would take what it drew after the first for another program's.
static void on_continue(int number) {
    (void)number;
    int error = errno;
    atomic_fetch_add(&continuations, 1);
    enter();
    atomic_store(&is_stopping, false);
    if (pct_is_raw()) tell(PCT_CONTINUED);
    errno = error;
}

static void on_stop(int number) {
    int error = errno;
    atomic_store(&is_stopping, true);
    unsigned seen = atomic_load(&continuations);
    int now = RAW;
    if (atomic_compare_exchange_strong(&state, &now, AWAY)) give_back();
    struct sigaction stop = {.sa_handler = SIG_DFL}, ours;
    sigset_t set, mask;
    sigemptyset(&set);
    sigaddset(&set, number);
    sigaction(number, &stop, &ours);
    raise(number);
    pthread_sigmask(SIG_UNBLOCK, &set, &mask);  // stopped here until SIGCONT
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    sigaction(number, &ours, NULL);
    // SIGCONT's handler does the rest, here after the return or on another thread before it. Only without a shell that
    // could continue it the process was not stopped at all: then there is no SIGCONT.
    sigpending(&set);
    if (atomic_load(&continuations) == seen && sigismember(&set, SIGCONT) != 1) on_continue(SIGCONT);
    errno = error;
}

void pct_return(void) {
    if (atomic_load(&state) != AWAY || atomic_load(&is_stopping) || !pct_is_foreground()) return;
    enter();
    if (pct_is_raw()) tell(PCT_CONTINUED);
}

static void on_resize(int number) {
    (void)number;
    int error = errno;
    tell(PCT_RESIZED);
    errno = error;
}

static void install(int number, struct sigaction *action) {
    sigfillset(&action->sa_mask);
    action->sa_flags |= SA_ONSTACK | SA_RESTART;
    if (sigaction(number, NULL, &before[number]) == -1) return;
    // What is ignored stays so: nohup(1), and shells without job control.
    bool isIgnored = !(before[number].sa_flags & SA_SIGINFO) && before[number].sa_handler == SIG_IGN;
    if (isIgnored && number != SIGWINCH && number != SIGCONT) return;
    is_ours[number] = sigaction(number, action, NULL) == 0;
}

// So that the handlers can run when this thread's stack has overflowed; other threads die of that without them.
static void give_stack(void) {
    static char bytes[64 << 10];
    stack_t now, stack = {.ss_sp = bytes, .ss_size = sizeof bytes};
    if (sigaltstack(NULL, &now) == 0 && now.ss_flags & SS_DISABLE) sigaltstack(&stack, NULL);
}

int pct_begin(int new_input, int new_output) {
    static bool is_registered;
    if (input != -1) return EBUSY;
    if (tcgetattr(new_input, &saved) == -1) return errno;
    if (!isatty(new_output)) return ENOTTY;
    if (atomic_load(&wake) == -1) atomic_store(&wake, eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (atomic_load(&wake) == -1) return errno;
    input = new_input;
    output = new_output;
    raw = saved;
    // Bytes as they come; output stays processed, so that a stray line of a library still ends with a return.
    raw.c_iflag &= ~(tcflag_t)(BRKINT | ICRNL | IGNCR | INLCR | INPCK | ISTRIP | IXON);
    raw.c_lflag &= ~(tcflag_t)(ECHO | ECHONL | ICANON | IEXTEN);
    raw.c_cflag = (raw.c_cflag & ~(tcflag_t)(CSIZE | PARENB)) | CS8;
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    // Ctrl-C and Ctrl-Z are keys; Ctrl-\ still ends a program that does not listen any more.
    raw.c_cc[VINTR] = raw.c_cc[VSUSP] = _POSIX_VDISABLE;
    if (!is_registered) is_registered = atexit(pct_restore) == 0;
    for (size_t index = 0; index < sizeof fatal / sizeof *fatal; index++) {
        install(fatal[index], &(struct sigaction){.sa_sigaction = on_fatal, .sa_flags = SA_SIGINFO});
    }
    install(SIGTSTP, &(struct sigaction){.sa_handler = on_stop});
    install(SIGCONT, &(struct sigaction){.sa_handler = on_continue});
    install(SIGWINCH, &(struct sigaction){.sa_handler = on_resize});
    give_stack();
    atomic_store(&state, AWAY);
    enter();
    return 0;
}

void pct_end(void) {
    if (input == -1) return;
    // First the handlers: a stop from here on is the shell's own business, and nothing turns raw mode on again.
    for (int number = 1; number < SIGNALS; number++) {
        if (is_ours[number]) sigaction(number, &before[number], NULL);
        is_ours[number] = false;
    }
    pct_restore();
    input = output = -1;
    atomic_store(&news, 0);
}

void pct_set_rows_below(int rows) { atomic_store(&rows_below, rows); }

int pct_wake_descriptor(void) { return atomic_load(&wake); }

void pct_wake(void) {
    uint64_t one = 1;
    ssize_t ignored = write(atomic_load(&wake), &one, sizeof one);  // full means readable, which is all that is wanted
    (void)ignored;
}

unsigned pct_take_news(void) {
    uint64_t count;
    ssize_t ignored = read(atomic_load(&wake), &count, sizeof count);
    (void)ignored;
    return atomic_exchange(&news, 0);
}

bool pct_size(int descriptor, int *columns, int *rows) {
    struct winsize size;
    if (ioctl(descriptor, TIOCGWINSZ, &size) == -1) return false;
    *columns = size.ws_col;
    *rows = size.ws_row;
    return true;
}
