// Names of the calls that a launch makes, and which argument says what a call is about.
#ifndef FAULT_INJECTOR_NAMES_H
#define FAULT_INJECTOR_NAMES_H

#include <stddef.h>
#include <sys/syscall.h>

enum call_detail { shows_nothing, shows_number, shows_second, shows_path, shows_path_in };

struct call_name {
    const char *name;
    enum call_detail shows;
};

#define NAMED(call, shows) [SYS_##call] = {#call, shows}

// A call that is missing here is reported by its number.
static const struct call_name call_names[] = {
    NAMED(arch_prctl, shows_nothing),
    NAMED(brk, shows_nothing),
    NAMED(capget, shows_nothing),
    NAMED(capset, shows_nothing),
    NAMED(chdir, shows_path),
    NAMED(clone3, shows_nothing),
    NAMED(close, shows_nothing),
    NAMED(close_range, shows_nothing),
    NAMED(dup2, shows_nothing),
    NAMED(dup3, shows_nothing),
    NAMED(execve, shows_path),
    NAMED(exit_group, shows_nothing),
    NAMED(fchdir, shows_nothing),
    NAMED(fchmod, shows_nothing),
    NAMED(fchmodat, shows_path_in),
    NAMED(fchown, shows_nothing),
    NAMED(fcntl, shows_second),
    NAMED(flock, shows_nothing),
    NAMED(fsconfig, shows_nothing),
    NAMED(fsmount, shows_nothing),
    NAMED(fsopen, shows_path),
    NAMED(fstat, shows_nothing),
    NAMED(fstatfs, shows_nothing),
    NAMED(futex, shows_nothing),
    NAMED(getdents64, shows_nothing),
    NAMED(geteuid, shows_nothing),
    NAMED(getpid, shows_nothing),
    NAMED(getrandom, shows_nothing),
    NAMED(getresgid, shows_nothing),
    NAMED(getresuid, shows_nothing),
    NAMED(gettid, shows_nothing),
    NAMED(ioctl, shows_second),
    NAMED(kill, shows_second),
    NAMED(landlock_add_rule, shows_nothing),
    NAMED(landlock_create_ruleset, shows_nothing),
    NAMED(landlock_restrict_self, shows_nothing),
    NAMED(lseek, shows_nothing),
    NAMED(mkdirat, shows_path_in),
    NAMED(mknodat, shows_path_in),
    NAMED(mmap, shows_nothing),
    NAMED(mount_setattr, shows_path_in),
    NAMED(move_mount, shows_nothing),
    NAMED(mprotect, shows_nothing),
    NAMED(mremap, shows_nothing),
    NAMED(munmap, shows_nothing),
    NAMED(newfstatat, shows_path_in),
    NAMED(open, shows_path),
    NAMED(open_tree, shows_path_in),
    NAMED(openat, shows_path_in),
    NAMED(openat2, shows_path_in),
    NAMED(pidfd_send_signal, shows_nothing),
    NAMED(pipe2, shows_nothing),
    NAMED(pivot_root, shows_path),
    NAMED(poll, shows_nothing),
    NAMED(prctl, shows_number),
    NAMED(prlimit64, shows_second),
    NAMED(read, shows_nothing),
    NAMED(readlink, shows_path),
    NAMED(readlinkat, shows_path_in),
    NAMED(recvmsg, shows_nothing),
    NAMED(restart_syscall, shows_nothing),
    NAMED(rseq, shows_nothing),
    NAMED(rt_sigaction, shows_number),
    NAMED(rt_sigprocmask, shows_number),
    NAMED(seccomp, shows_nothing),
    NAMED(sendmsg, shows_nothing),
    NAMED(set_robust_list, shows_nothing),
    NAMED(set_tid_address, shows_nothing),
    NAMED(setgroups, shows_nothing),
    NAMED(sethostname, shows_nothing),
    NAMED(setns, shows_nothing),
    NAMED(setresgid, shows_nothing),
    NAMED(setresuid, shows_nothing),
    NAMED(setsid, shows_nothing),
    NAMED(signalfd4, shows_nothing),
    NAMED(socket, shows_nothing),
    NAMED(socketpair, shows_nothing),
    NAMED(symlinkat, shows_path),
    NAMED(tgkill, shows_nothing),
    NAMED(umask, shows_nothing),
    NAMED(umount2, shows_path),
    NAMED(uname, shows_nothing),
    NAMED(unlinkat, shows_path_in),
    NAMED(unshare, shows_nothing),
    NAMED(wait4, shows_nothing),
    NAMED(write, shows_nothing),
};

static const size_t call_count = sizeof call_names / sizeof *call_names;

#endif
