#include "facts.h"

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// Calls, and arguments with which a kernel without a filter fails otherwise than the filter does, or
// does nothing that lasts.
static const struct {
    const char *name;
    long number;
    long arguments[5];
} calls[] = {
    {"keyctl", 250, {99, 0, 0, 0, 0}},
    {"add_key", 248, {0, 0, 0, 0, 0}},
    {"mount", 165, {0, 0, 0, 0, 0}},
    {"open_tree", 428, {-1, 0, 0, 0, 0}},
    {"move_mount", 429, {-1, 0, -1, 0, 0}},
    {"ptrace", 101, {99, -1, 0, 0, 0}},
    {"process_vm_readv", 310, {-1, 0, 0, 0, 0}},
    {"bpf", 321, {999, 0, 0, 0, 0}},
    {"io_uring_setup", 425, {0, 0, 0, 0, 0}},
    {"userfaultfd", 323, {-1, 0, 0, 0, 0}},
    {"perf_event_open", 298, {0, 0, 0, 0, 0}},
    {"unshare", 272, {1, 0, 0, 0, 0}},
    {"setns", 308, {-1, 0, 0, 0, 0}},
    {"clone3", 435, {0, 0, 0, 0, 0}},
    {"pidfd_open", 434, {-1, 0, 0, 0, 0}},
    {"open_by_handle_at", 304, {-1, 0, 0, 0, 0}},
    {"seccomp", 317, {99, 0, 0, 0, 0}},
    {"mincore", 27, {1, 0, 0, 0, 0}},
    {"cachestat", 451, {-1, 0, 0, 0, 0}},
    {"readahead", 187, {-1, 0, 0, 0, 0}},
    {"fadvise64", 221, {-1, 0, 0, 0, 0}},
    {"preadv2", 327, {-1, 0, 0, 0, 0}},
    {"no-such-call", 1023, {0, 0, 0, 0, 0}},
    // ioctl: TIOCSTI and TIOCLINUX, on a descriptor that is none.
    {"tiocsti", 16, {-1, 0x5412, 0, 0, 0}},
    {"tioclinux", 16, {-1, 0x541c, 0, 0, 0}},
    // socket: AF_PACKET, AF_ALG, AF_VSOCK, each with a type that there is none of.
    {"socket-packet", 41, {17, 99, 0, 0, 0}},
    {"socket-alg", 41, {38, 99, 0, 0, 0}},
    {"socket-vsock", 41, {40, 99, 0, 0, 0}},
};

// A call through a foreign table ends its process, so a child makes it.
static void say_foreign(const char *name, void (*call)(void)) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        call();
        _exit(0);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) {
        printf("foreign %s unknown\n", name);
    } else {
        printf("foreign %s %s%s\n", name, WIFSIGNALED(status) ? "SIG" : "returns",
               WIFSIGNALED(status) ? sigabbrev_np(WTERMSIG(status)) : "");
    }
}

static void call_x32(void) { syscall(0x40000000 | SYS_getpid); }

static void call_32_bits(void) {
    long answer = 20;  // getpid of the 32-bit table
    __asm__ volatile("int $0x80" : "+a"(answer) : : "memory", "r8", "r9", "r10", "r11");
}

void say_calls(void) {
    for (size_t index = 0; index < sizeof calls / sizeof *calls; index++) {
        const long *with = calls[index].arguments;
        long answer = syscall(calls[index].number, with[0], with[1], with[2], with[3], with[4]);
        const char *name = answer >= 0 ? "works" : strerrorname_np(errno);
        printf("call %s %s\n", calls[index].name, name != NULL ? name : "unknown");
    }
    say_foreign("x32", call_x32);
    say_foreign("32-bit", call_32_bits);
}

void say_objects(int most) {
    int made = 0;
    const char *reason = "none";
    for (int ends[2]; made <= most; made++) {
        if (pipe(ends) != 0) {
            reason = strerrorname_np(errno);
            break;
        }
        close(ends[0]);
        close(ends[1]);
    }
    printf("objects %d %s\n", made, reason != NULL ? reason : "unknown");
}

// MARK: threads

enum { STACK = 4096 };
static atomic_int may_end;

static int wait_for_end(void *nothing) {
    (void)nothing;
    while (atomic_load(&may_end) == 0) syscall(SYS_futex, &may_end, 0 /* WAIT */, 0, NULL, NULL, 0);
    syscall(SYS_exit, 0);
    return 0;
}

void say_threads(int most) {
    // CLONE_VM, _FS, _FILES, _SIGHAND, _THREAD, _SYSVSEM: a thread, and nothing that libc knows of.
    const int flags = 0x100 | 0x200 | 0x400 | 0x800 | 0x10000 | 0x40000;
    char *stacks = mmap(NULL, (size_t)(most + 1) * STACK, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int made = 0;
    const char *reason = "none";
    if (stacks == MAP_FAILED) reason = strerrorname_np(errno);
    while (stacks != MAP_FAILED && made < most) {
        if (clone(wait_for_end, stacks + (size_t)(made + 1) * STACK, flags, NULL) < 0) {
            reason = strerrorname_np(errno);
            break;
        }
        made++;
    }
    atomic_store(&may_end, 1);
    syscall(SYS_futex, &may_end, 1 /* WAKE */, 1 << 30, NULL, NULL, 0);
    printf("threads %d %s\n", made, reason != NULL ? reason : "unknown");
}
