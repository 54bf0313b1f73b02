// Attacks on processes: those of the host, init, and one's own children by ways that a judge of
// processes must not have. The host's victim is a process that the command made for this run.

#include "probe.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

static pid_t target(void) { return (pid_t)atoi(setting("victim")); }

static struct answer signal_host(const char *variant) {
    (void)variant;
    return outcome(kill(target(), 0), "kill");
}

static struct answer signal_thread(const char *variant) {
    (void)variant;
    return outcome(syscall(SYS_tkill, target(), 0), "tkill");
}

static struct answer queue_signal(const char *variant) {
    (void)variant;
    siginfo_t information = {.si_code = -1 /* SI_QUEUE */};
    return outcome(syscall(SYS_rt_sigqueueinfo, target(), 0, &information), "rt_sigqueueinfo");
}

// A null signal: on the control it may be sent, and nothing follows from it.
static struct answer signal_init(const char *variant) {
    (void)variant;
    return outcome(kill(1, 0), "kill");
}

static struct answer victim_file(const char *name, int flags) {
    char path[96];
    snprintf(path, sizeof path, "/proc/%d/%s", target(), name);
    return open_path(path, flags);
}

static struct answer see_host(const char *variant) {
    (void)variant;
    return victim_file("status", O_RDONLY);
}

static struct answer host_memory(const char *variant) {
    (void)variant;
    return victim_file("mem", O_RDONLY);
}

static struct answer host_environment(const char *variant) {
    (void)variant;
    return victim_file("environ", O_RDONLY);
}

static struct answer host_descriptors(const char *variant) {
    (void)variant;
    return victim_file("fd", O_RDONLY | O_DIRECTORY);
}

static struct answer init_program(const char *variant) {
    (void)variant;
    return open_path("/proc/1/exe", O_RDONLY);
}

static struct answer init_namespaces(const char *variant) {
    (void)variant;
    return open_path("/proc/1/ns/mnt", O_RDONLY);
}

static struct answer host_priority(const char *variant) {
    (void)variant;
    errno = 0;
    return outcome(syscall(SYS_getpriority, PRIO_PROCESS, target()), "getpriority");
}

static struct answer host_affinity(const char *variant) {
    (void)variant;
    cpu_set_t set;
    return outcome(sched_getaffinity(target(), sizeof set, &set), "sched_getaffinity");
}

static struct answer host_limits(const char *variant) {
    (void)variant;
    struct rlimit limit;
    return outcome(prlimit(target(), RLIMIT_CORE, NULL, &limit), "prlimit64");
}

static struct answer host_session(const char *variant) {
    (void)variant;
    return outcome(getsid(target()), "getsid");
}

// The clock of another process's CPU time: by its id, without any right (clock_getcpuclockid(3)).
static struct answer host_clock(const char *variant) {
    (void)variant;
    struct timespec time;
    clockid_t clock = (clockid_t)((~(unsigned)target() << 3) | 2);
    return outcome(clock_gettime(clock, &time), "clock_gettime");
}

static pid_t sleeping_child(void) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        for (;;) pause();
    return child;
}

static struct answer with_child(long (*attempt)(pid_t), const char *call) {
    pid_t child = sleeping_child();
    if (child < 0) return broken("fork");
    struct answer answer = outcome(attempt(child), call);
    kill(child, SIGKILL);
    waitpid(child, NULL, __WALL);
    return answer;
}

static long do_attach(pid_t child) { return ptrace(PTRACE_ATTACH, child, NULL, NULL); }
static long do_seize(pid_t child) { return ptrace(PTRACE_SEIZE, child, NULL, NULL); }

static unsigned char readable = 1;

static long do_read(pid_t child) {
    unsigned char to = 0;
    struct iovec local = {&to, 1}, remote = {&readable, 1};
    return process_vm_readv(child, &local, 1, &remote, 1, 0);
}

static long do_write(pid_t child) {
    unsigned char from = 2;
    struct iovec local = {&from, 1}, remote = {&readable, 1};
    return process_vm_writev(child, &local, 1, &remote, 1, 0);
}

static long do_compare(pid_t child) { return syscall(SYS_kcmp, getpid(), child, 1, 0, 0); }

static struct answer attach_child(const char *variant) {
    (void)variant;
    return with_child(do_attach, "ptrace");
}

static struct answer seize_child(const char *variant) {
    (void)variant;
    return with_child(do_seize, "ptrace");
}

static struct answer read_child(const char *variant) {
    (void)variant;
    return with_child(do_read, "process_vm_readv");
}

static struct answer write_child(const char *variant) {
    (void)variant;
    return with_child(do_write, "process_vm_writev");
}

static struct answer compare_child(const char *variant) {
    (void)variant;
    struct answer answer = with_child(do_compare, "kcmp");
    return on_control() && answer.error == ENOSYS ? lacks("kcmp") : answer;
}

static struct answer trace_me(const char *variant) {
    (void)variant;
    return outcome(ptrace(PTRACE_TRACEME, 0, NULL, NULL), "ptrace");
}

static struct answer pidfd(const char *variant) {
    (void)variant;
    return outcome(syscall(SYS_pidfd_open, getpid(), 0), "pidfd_open");
}

static struct answer pidfd_of_clone(const char *variant) {
    (void)variant;
    int file = -1;
    unsigned long flags = 0x1000 /* CLONE_PIDFD */ | SIGCHLD;
    if (strcmp(variant, "high") == 0) flags |= 1UL << 32;
    long child = syscall(SYS_clone, flags, 0, &file, 0, 0);
    if (child == 0) _exit(0);
    if (child > 0) waitpid((pid_t)child, NULL, 0);
    return outcome(child, "clone");
}

// A core file would be written where the host's pattern says.
static struct answer core_dumps(const char *variant) {
    (void)variant;
    struct rlimit limit = {1 << 20, 1 << 20};
    return outcome(setrlimit(RLIMIT_CORE, &limit), "setrlimit");
}

static struct answer real_time(const char *variant) {
    (void)variant;
    struct sched_param parameters = {.sched_priority = 0};
    return outcome(sched_setscheduler(0, SCHED_BATCH, &parameters), "sched_setscheduler");
}

static struct answer lock_memory(const char *variant) {
    (void)variant;
    static char page[4096];
    return outcome(syscall(SYS_mlock, page, sizeof page), "mlock");
}

// Filters of one's own: a notifying one would see the calls of whoever execs later.
static struct answer own_filter(const char *variant) {
    (void)variant;
    unsigned action = 0x7fc00000; /* SECCOMP_RET_USER_NOTIF */
    return outcome(syscall(SYS_seccomp, 2 /* GET_ACTION_AVAIL */, 0, &action), "seccomp");
}

static struct answer personality_flags(const char *variant) {
    unsigned long wanted = 0x0400000; /* READ_IMPLIES_EXEC */
    if (strcmp(variant, "high") == 0) wanted |= 1UL << 32;
    return outcome(syscall(SYS_personality, wanted), "personality");
}

static struct answer host_totals(const char *variant) {
    (void)variant;
    char buffer[256];
    return outcome(syscall(SYS_sysinfo, buffer), "sysinfo");
}

const struct probe process_probes[] = {
    {"processes.signal-host", signal_host},
    {"processes.signal-thread", signal_thread},
    {"processes.queue-signal", queue_signal},
    {"processes.signal-init", signal_init},
    {"processes.see-host", see_host},
    {"processes.host-memory", host_memory},
    {"processes.host-environment", host_environment},
    {"processes.host-descriptors", host_descriptors},
    {"processes.init-program", init_program},
    {"processes.init-namespaces", init_namespaces},
    {"processes.host-priority", host_priority},
    {"processes.host-affinity", host_affinity},
    {"processes.host-limits", host_limits},
    {"processes.host-session", host_session},
    {"processes.host-clock", host_clock},
    {"processes.attach-child", attach_child},
    {"processes.seize-child", seize_child},
    {"processes.read-child", read_child},
    {"processes.write-child", write_child},
    {"processes.compare-child", compare_child},
    {"processes.trace-me", trace_me},
    {"processes.pidfd", pidfd},
    {"processes.pidfd-of-clone", pidfd_of_clone},
    {"processes.core-dumps", core_dumps},
    {"processes.scheduler", real_time},
    {"processes.lock-memory", lock_memory},
    {"processes.own-filter", own_filter},
    {"processes.personality", personality_flags},
    {"processes.host-totals", host_totals},
    {NULL, NULL},
};
