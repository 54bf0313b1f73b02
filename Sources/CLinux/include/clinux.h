// One kernel call a function, no policy. Each returns its result, or minus errno on failure, so
// that callers never read the thread-local errno. Numbers that Debian 12's headers lack are given
// here with the kernel version that brought them.
#ifndef CLINUX_H
#define CLINUX_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include <dirent.h>
#include <grp.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/landlock.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/fsuid.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define CLX_RESULT(expression) ({ long r_ = (expression); r_ < 0 ? -(long)errno : r_; })

// --- descriptors -------------------------------------------------------------------------------

static inline long clx_open(const char *path, int flags, unsigned mode) {
    return CLX_RESULT(open(path, flags | O_CLOEXEC, mode));
}

// openat2(2); resolve takes RESOLVE_*.
static inline long clx_openat2(int dir, const char *path, uint64_t flags, uint64_t mode,
                               uint64_t resolve) {
    struct open_how how = {.flags = flags | O_CLOEXEC, .mode = mode, .resolve = resolve};
    return CLX_RESULT(syscall(SYS_openat2, dir, path, &how, sizeof how));
}

static inline long clx_close(int fd) { return CLX_RESULT(close(fd)); }
static inline long clx_read(int fd, void *buffer, size_t count) {
    return CLX_RESULT(read(fd, buffer, count));
}
static inline long clx_write(int fd, const void *buffer, size_t count) {
    return CLX_RESULT(write(fd, buffer, count));
}
static inline long clx_pipe(int out[2], int flags) { return CLX_RESULT(pipe2(out, flags | O_CLOEXEC)); }
static inline long clx_dup3(int from, int to, int flags) { return CLX_RESULT(dup3(from, to, flags)); }
static inline long clx_dup2(int from, int to) { return CLX_RESULT(dup2(from, to)); }
static inline long clx_dup_at_least(int fd, int minimum) {
    return CLX_RESULT(fcntl(fd, F_DUPFD_CLOEXEC, minimum));
}
static inline long clx_get_status_flags(int fd) { return CLX_RESULT(fcntl(fd, F_GETFL)); }
static inline long clx_set_status_flags(int fd, int flags) { return CLX_RESULT(fcntl(fd, F_SETFL, flags)); }
static inline long clx_get_descriptor_flags(int fd) { return CLX_RESULT(fcntl(fd, F_GETFD)); }
static inline long clx_flock(int fd, int operation) { return CLX_RESULT(flock(fd, operation)); }
static inline long clx_close_range(unsigned first, unsigned last, unsigned flags) {
    return CLX_RESULT(syscall(SYS_close_range, first, last, flags));
}
static inline long clx_poll(struct pollfd *fds, unsigned count, int milliseconds) {
    return CLX_RESULT(poll(fds, count, milliseconds));
}
static inline long clx_fstat(int fd, struct stat *out) { return CLX_RESULT(fstat(fd, out)); }
static inline long clx_fstatat(int dir, const char *path, struct stat *out, int flags) {
    return CLX_RESULT(fstatat(dir, path, out, flags));
}
static inline long clx_fstatfs(int fd, struct statfs *out) { return CLX_RESULT(fstatfs(fd, out)); }
static inline long clx_getdents(int fd, void *buffer, size_t count) {
    return CLX_RESULT(syscall(SYS_getdents64, fd, buffer, count));
}
static inline long clx_sendfile(int out, int in, size_t count) {
    return CLX_RESULT(sendfile(out, in, 0, count));
}
static inline long clx_lseek(int fd, int64_t offset, int whence) { return CLX_RESULT(lseek(fd, offset, whence)); }

// --- files relative to a directory -------------------------------------------------------------

static inline long clx_mkdirat(int dir, const char *path, unsigned mode) { return CLX_RESULT(mkdirat(dir, path, mode)); }
static inline long clx_make_device(int dir, const char *path, unsigned major, unsigned minor) {
    return CLX_RESULT(mknodat(dir, path, S_IFCHR | 0666, makedev(major, minor)));
}
static inline long clx_symlinkat(const char *target, int dir, const char *path) { return CLX_RESULT(symlinkat(target, dir, path)); }
static inline long clx_readlinkat(int dir, const char *path, char *buffer, size_t count) {
    return CLX_RESULT(readlinkat(dir, path, buffer, count));
}
static inline long clx_unlinkat(int dir, const char *path, int flags) { return CLX_RESULT(unlinkat(dir, path, flags)); }
static inline long clx_renameat(int from, const char *old, int to, const char *new_) { return CLX_RESULT(renameat(from, old, to, new_)); }
static inline long clx_fchmod(int fd, unsigned mode) { return CLX_RESULT(fchmod(fd, mode)); }
static inline long clx_fchmodat(int dir, const char *path, unsigned mode) { return CLX_RESULT(fchmodat(dir, path, mode, 0)); }
static inline long clx_fchown(int fd, unsigned uid, unsigned gid) { return CLX_RESULT(fchown(fd, uid, gid)); }
static inline long clx_fchownat(int dir, const char *path, unsigned uid, unsigned gid, int flags) {
    return CLX_RESULT(fchownat(dir, path, uid, gid, flags));
}
static inline long clx_ftruncate(int fd, int64_t size) { return CLX_RESULT(ftruncate(fd, size)); }
static inline long clx_fsync(int fd) { return CLX_RESULT(fsync(fd)); }

// --- processes ---------------------------------------------------------------------------------

// clone3(2) without CLONE_VM: behaves like fork. Answers 0 in the child.
static inline long clx_clone3(uint64_t flags, int *pidfd, int cgroup) {
    struct {
        uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls, set_tid,
            set_tid_size, cgroup;
    } arguments = {.flags = flags, .pidfd = (uint64_t)(uintptr_t)pidfd, .exit_signal = SIGCHLD,
                   .cgroup = (uint64_t)(unsigned)cgroup};
    return CLX_RESULT(syscall(SYS_clone3, &arguments, sizeof arguments));
}
static inline long clx_unshare(int flags) { return CLX_RESULT(unshare(flags)); }
static inline long clx_setns(int fd, int kind) { return CLX_RESULT(setns(fd, kind)); }
static inline long clx_pidfd_open(int pid) { return CLX_RESULT(syscall(SYS_pidfd_open, pid, 0)); }
static inline long clx_pidfd_send_signal(int pidfd, int signal) {
    return CLX_RESULT(syscall(SYS_pidfd_send_signal, pidfd, signal, 0, 0));
}
// wait4(2): the status word lands in *status, the usage of the reaped child in *usage.
static inline long clx_wait4(int pid, int *status, int options, struct rusage *usage) {
    return CLX_RESULT(wait4(pid, status, options, usage));
}
static inline int clx_status_exited(int status) { return WIFEXITED(status); }
static inline int clx_status_code(int status) { return WEXITSTATUS(status); }
static inline int clx_status_signal(int status) { return WIFSIGNALED(status) ? WTERMSIG(status) : 0; }
static inline int clx_status_core(int status) { return WIFSIGNALED(status) && WCOREDUMP(status); }
static inline long clx_execve(const char *path, char *const *arguments, char *const *environment) {
    return CLX_RESULT(execve(path, arguments, environment));
}
static inline _Noreturn void clx_exit_now(int code) { _exit(code); }
static inline long clx_kill(int pid, int signal) { return CLX_RESULT(kill(pid, signal)); }
static inline long clx_prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d) {
    return CLX_RESULT(prctl(option, a, b, c, d));
}
static inline long clx_setsid(void) { return CLX_RESULT(setsid()); }
static inline long clx_chdir(const char *path) { return CLX_RESULT(chdir(path)); }
static inline long clx_fchdir(int fd) { return CLX_RESULT(fchdir(fd)); }
static inline unsigned clx_umask(unsigned mask) { return umask(mask); }
static inline long clx_setresuid(unsigned r, unsigned e, unsigned s) { return CLX_RESULT(setresuid(r, e, s)); }
static inline long clx_setresgid(unsigned r, unsigned e, unsigned s) { return CLX_RESULT(setresgid(r, e, s)); }
static inline long clx_setgroups_none(void) { return CLX_RESULT(setgroups(0, 0)); }
// Whose rights this thread opens files with: each answers the id before, whether it changed or not.
static inline unsigned clx_setfsuid(unsigned id) { return (unsigned)setfsuid(id); }
static inline unsigned clx_setfsgid(unsigned id) { return (unsigned)setfsgid(id); }
// The kernel's own calls, for this thread alone: those of the C library set every thread's groups.
static inline long clx_thread_groups(int count, unsigned *groups) {
    return CLX_RESULT(syscall(SYS_getgroups, count, groups));
}
static inline long clx_set_thread_groups(size_t count, const unsigned *groups) {
    return CLX_RESULT(syscall(SYS_setgroups, count, groups));
}
// A user's name, as text in `room`, and group; ENOENT where the host knows none of this number.
static inline long clx_account(unsigned user, char *room, size_t size, char **name, unsigned *group) {
    struct passwd entry, *found = 0;
    int failure = getpwuid_r(user, &entry, room, size, &found);
    if (!found) return failure ? -failure : -ENOENT;
    *name = entry.pw_name;
    *group = entry.pw_gid;
    return 0;
}
// The number of a user's groups, `group` among them, or less than zero where `count` are too few.
static inline int clx_account_groups(const char *name, unsigned group, unsigned *groups, int count) {
    return getgrouplist(name, group, groups, &count) < 0 ? -1 : count;
}
static inline long clx_getresuid(unsigned *r, unsigned *e, unsigned *s) { return CLX_RESULT(getresuid(r, e, s)); }
static inline long clx_getresgid(unsigned *r, unsigned *e, unsigned *s) { return CLX_RESULT(getresgid(r, e, s)); }
static inline long clx_setrlimit(int resource, uint64_t soft, uint64_t hard) {
    struct rlimit limit = {.rlim_cur = soft, .rlim_max = hard};
    return CLX_RESULT(setrlimit((__rlimit_resource_t)resource, &limit));
}
static inline long clx_getrlimit(int resource, uint64_t *soft, uint64_t *hard) {
    struct rlimit limit;
    long result = CLX_RESULT(getrlimit((__rlimit_resource_t)resource, &limit));
    *soft = limit.rlim_cur;
    *hard = limit.rlim_max;
    return result;
}
static inline long clx_sethostname(const char *name, size_t length) { return CLX_RESULT(sethostname(name, length)); }

// The arguments that this program was started with.
int clx_argument_count(void);
const char *clx_argument(int index);

// --- mounts (the descriptor-based API of Linux 5.2 and later) ----------------------------------

struct clx_mount_attr { uint64_t set, clear, propagation, userns; };

static inline long clx_fsopen(const char *type) { return CLX_RESULT(syscall(SYS_fsopen, type, 1)); }
static inline long clx_fsconfig_string(int fs, const char *key, const char *value) {
    return CLX_RESULT(syscall(SYS_fsconfig, fs, 1, key, value, 0));
}
static inline long clx_fsconfig_create(int fs) { return CLX_RESULT(syscall(SYS_fsconfig, fs, 6, 0, 0, 0)); }
static inline long clx_fsmount(int fs, unsigned attributes) { return CLX_RESULT(syscall(SYS_fsmount, fs, 1, attributes)); }
static inline long clx_open_tree(int dir, const char *path, unsigned flags) {
    return CLX_RESULT(syscall(SYS_open_tree, dir, path, flags));
}
static inline long clx_move_mount(int from, const char *from_path, int to, const char *to_path, unsigned flags) {
    return CLX_RESULT(syscall(SYS_move_mount, from, from_path, to, to_path, flags));
}
static inline long clx_mount_setattr(int dir, const char *path, unsigned flags, uint64_t set,
                                     uint64_t clear, uint64_t propagation, int userns) {
    struct clx_mount_attr attributes = {set, clear, propagation, userns < 0 ? 0 : (uint64_t)userns};
    return CLX_RESULT(syscall(SYS_mount_setattr, dir, path, flags, &attributes, sizeof attributes));
}
static inline long clx_pivot_root(const char *new_root, const char *put_old) {
    return CLX_RESULT(syscall(SYS_pivot_root, new_root, put_old));
}
static inline long clx_detach(const char *path) { return CLX_RESULT(umount2(path, MNT_DETACH)); }

enum {
    CLX_OPEN_TREE_CLONE = 1, CLX_OPEN_TREE_CLOEXEC = O_CLOEXEC, CLX_AT_RECURSIVE = 0x8000,
    CLX_AT_EMPTY_PATH = 0x1000, CLX_AT_SYMLINK_NOFOLLOW = 0x100,
    CLX_MOVE_FROM_EMPTY = 0x4, CLX_MOVE_TO_EMPTY = 0x40,
    CLX_ATTR_RDONLY = 0x1, CLX_ATTR_NOSUID = 0x2, CLX_ATTR_NODEV = 0x4, CLX_ATTR_NOEXEC = 0x8,
    CLX_ATTR_NOATIME = 0x10, CLX_ATTR_ATIME_MASK = 0x70, CLX_ATTR_NOSYMFOLLOW = 0x200000,
    CLX_ATTR_IDMAP = 0x100000,
};
static inline uint64_t clx_propagation_private(void) { return MS_PRIVATE; }

// --- network of the sandbox --------------------------------------------------------------------

// Sets IFF_UP on the loopback interface of the current network namespace (netdevice(7)).
static inline long clx_loopback_up(void) {
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return -(long)errno;
    struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
    long result = CLX_RESULT(ioctl(fd, SIOCSIFFLAGS, &request));
    close(fd);
    return result;
}

// Listens on 127.0.0.1 of the current network namespace (ip(7)).
static inline long clx_loopback_listener(unsigned short port, int backlog) {
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return -(long)errno;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(fd, (struct sockaddr *)&address, sizeof address) == 0 && listen(fd, backlog) == 0)
        return fd;
    long error = -(long)errno;
    close(fd);
    return error;
}

// --- sockets -----------------------------------------------------------------------------------

static inline long clx_socketpair(int kind, int out[2]) {
    return CLX_RESULT(socketpair(AF_UNIX, kind | SOCK_CLOEXEC, 0, out));
}
static inline int clx_sock_stream(void) { return SOCK_STREAM; }
static inline int clx_sock_seqpacket(void) { return SOCK_SEQPACKET; }
static inline long clx_unix_listener(void) {
    return CLX_RESULT(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}
static inline long clx_unix_address(struct sockaddr_un *address, const char *path) {
    size_t length = strlen(path);
    if (length >= sizeof address->sun_path) return -ENAMETOOLONG;
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    memcpy(address->sun_path, path, length);
    return 0;
}
static inline long clx_unix_bind(int fd, const char *path, int backlog) {
    struct sockaddr_un address;
    long made = clx_unix_address(&address, path);
    if (made < 0) return made;
    if (bind(fd, (struct sockaddr *)&address, sizeof address) < 0) return -(long)errno;
    return CLX_RESULT(listen(fd, backlog));
}
static inline long clx_unix_connect(const char *path) {
    struct sockaddr_un address;
    long made = clx_unix_address(&address, path);
    if (made < 0) return made;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return -(long)errno;
    if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0) return fd;
    long result = -(long)errno;
    close(fd);
    return result;
}
// SO_PASSRIGHTS (Linux 6.16): whoever sends descriptors to this socket gets EPERM.
static inline long clx_refuse_descriptors(int fd) {
    return CLX_RESULT(setsockopt(fd, SOL_SOCKET, 83, &(int){0}, sizeof(int)));
}
// netlink(7), NETLINK_AUDIT and struct sockaddr_nl.
static inline long clx_audit_socket(void) {
    return CLX_RESULT(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 9));
}
static inline long clx_netlink_join(int fd, unsigned groups) {
    struct { uint16_t family, pad; uint32_t port, groups; } address = {AF_NETLINK, 0, 0, groups};
    return CLX_RESULT(bind(fd, (struct sockaddr *)&address, sizeof address));
}
static inline long clx_receive_room(int fd, int bytes) {
    return CLX_RESULT(setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes));
}
static inline long clx_shutdown(int fd) { return CLX_RESULT(shutdown(fd, SHUT_RDWR)); }
static inline long clx_accept(int fd) { return CLX_RESULT(accept4(fd, 0, 0, SOCK_CLOEXEC | SOCK_NONBLOCK)); }

// One message with up to 32 descriptors (unix(7), SCM_RIGHTS).
static inline long clx_send_message(int fd, const void *bytes, size_t count, const int *fds,
                                    size_t descriptors, int flags) {
    union { struct cmsghdr header; char space[CMSG_SPACE(32 * sizeof(int))]; } control;
    struct iovec part = {.iov_base = (void *)(uintptr_t)bytes, .iov_len = count};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (descriptors > 32) return -EINVAL;
    if (descriptors > 0) {
        memset(&control, 0, sizeof control);
        message.msg_control = control.space;
        message.msg_controllen = CMSG_SPACE(descriptors * sizeof(int));
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(descriptors * sizeof(int));
        memcpy(CMSG_DATA(header), fds, descriptors * sizeof(int));
    }
    return CLX_RESULT(sendmsg(fd, &message, flags | MSG_NOSIGNAL));
}

// Receives one message; *descriptors says how many arrived. A message or control block that did not
// fit is EMSGSIZE with every received descriptor closed.
static inline long clx_receive_message(int fd, void *bytes, size_t count, int fds[32],
                                       size_t *descriptors, int flags) {
    union { struct cmsghdr header; char space[CMSG_SPACE(32 * sizeof(int))]; } control;
    struct iovec part = {.iov_base = bytes, .iov_len = count};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control.space,
                             .msg_controllen = sizeof control.space};
    *descriptors = 0;
    long received = CLX_RESULT(recvmsg(fd, &message, flags | MSG_CMSG_CLOEXEC));
    if (received < 0) return received;
    for (struct cmsghdr *h = CMSG_FIRSTHDR(&message); h; h = CMSG_NXTHDR(&message, h)) {
        if (h->cmsg_level != SOL_SOCKET || h->cmsg_type != SCM_RIGHTS) continue;
        size_t arrived = (h->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < arrived && *descriptors < 32; i++)
            memcpy(&fds[(*descriptors)++], CMSG_DATA(h) + i * sizeof(int), sizeof(int));
    }
    if (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) {
        for (size_t i = 0; i < *descriptors; i++) close(fds[i]);
        *descriptors = 0;
        return -EMSGSIZE;
    }
    return received;
}

// --- confinement -------------------------------------------------------------------------------

// landlock_create_ruleset(2). The attribute is cut to what the ABI knows: a longer one is E2BIG.
static inline long clx_landlock_create(uint64_t fs, uint64_t net, uint64_t scoped, int abi) {
    struct { uint64_t fs, net, scoped; } attributes = {fs, net, scoped};
    size_t size = abi >= 6 ? 24 : abi >= 4 ? 16 : 8;
    return CLX_RESULT(syscall(SYS_landlock_create_ruleset, &attributes, size, 0));
}
static inline long clx_landlock_abi(void) { return CLX_RESULT(syscall(SYS_landlock_create_ruleset, 0, 0, 1)); }
static inline long clx_landlock_add_path(int ruleset, int path, uint64_t access) {
    struct { uint64_t access; int32_t fd; } __attribute__((packed)) rule = {access, path};
    return CLX_RESULT(syscall(SYS_landlock_add_rule, ruleset, 1, &rule, 0));
}
static inline long clx_landlock_restrict(int ruleset, unsigned flags) {
    return CLX_RESULT(syscall(SYS_landlock_restrict_self, ruleset, flags));
}
struct clx_filter { uint16_t count; const void *instructions; };
static inline long clx_seccomp_load(const void *instructions, uint16_t count, unsigned flags) {
    struct clx_filter program = {count, instructions};
    return CLX_RESULT(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program));
}
enum { CLX_SECCOMP_LISTENER = SECCOMP_FILTER_FLAG_NEW_LISTENER };
// The next call that waits at a filter's listener (seccomp_unotify(2)); -EAGAIN where none does, -EPIPE
// once no process is left under the filter: kernels before 6.11 would then wait for ever.
static inline long clx_seccomp_receive(int listener, struct seccomp_notif *call) {
    struct pollfd ready = {.fd = listener, .events = POLLIN};
    if (poll(&ready, 1, 0) < 1) return -EAGAIN;
    if (!(ready.revents & POLLIN)) return ready.revents & POLLHUP ? -EPIPE : -EAGAIN;
    memset(call, 0, sizeof *call);
    return CLX_RESULT(ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, call));
}
// Answers a call that waits with an error, or lets it go on with the arguments that it came with.
static inline long clx_seccomp_refuse(int listener, uint64_t call, int error) {
    struct seccomp_notif_resp answer = {.id = call, .error = -error};
    return CLX_RESULT(ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer));
}
static inline long clx_seccomp_continue(int listener, uint64_t call) {
    struct seccomp_notif_resp answer = {.id = call, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
    return CLX_RESULT(ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer));
}

// --- terminals, signals, time ------------------------------------------------------------------

static inline long clx_terminal_unlock(int master) {
    int locked = 0;
    return CLX_RESULT(ioctl(master, TIOCSPTLCK, &locked));
}
static inline long clx_terminal_peer(int master) {
    return CLX_RESULT(ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC));
}
static inline long clx_terminal_control(int slave) { return CLX_RESULT(ioctl(slave, TIOCSCTTY, 0)); }
static inline long clx_terminal_resize(int master, uint16_t rows, uint16_t columns) {
    struct winsize size = {.ws_row = rows, .ws_col = columns};
    return CLX_RESULT(ioctl(master, TIOCSWINSZ, &size));
}
static inline long clx_terminal_size(int fd, uint16_t *rows, uint16_t *columns) {
    struct winsize size;
    long result = CLX_RESULT(ioctl(fd, TIOCGWINSZ, &size));
    *rows = size.ws_row;
    *columns = size.ws_col;
    return result;
}
// Puts a terminal into raw mode; *saved keeps the former settings for clx_terminal_restore.
static inline long clx_terminal_raw(int fd, struct termios *saved) {
    struct termios raw;
    if (tcgetattr(fd, saved) < 0) return -(long)errno;
    raw = *saved;
    cfmakeraw(&raw);
    return CLX_RESULT(tcsetattr(fd, TCSANOW, &raw));
}
static inline long clx_terminal_restore(int fd, const struct termios *saved) {
    return CLX_RESULT(tcsetattr(fd, TCSANOW, saved));
}

// Blocks the signals of a 64-bit mask (bit n-1 is signal n) and returns a signalfd for them.
static inline long clx_signal_descriptor(uint64_t mask) {
    sigset_t set;
    sigemptyset(&set);
    for (int s = 1; s <= 64; s++) if (mask >> (s - 1) & 1) sigaddset(&set, s);
    if (sigprocmask(SIG_BLOCK, &set, 0) < 0) return -(long)errno;
    return CLX_RESULT(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}
// Restores every disposition to its default and unblocks every signal, for a child before exec.
static inline long clx_signals_reset(void) {
    sigset_t none;
    for (int s = 1; s < 32; s++)
        if (s != SIGKILL && s != SIGSTOP && signal(s, SIG_DFL) == SIG_ERR) return -(long)errno;
    sigemptyset(&none);
    return CLX_RESULT(sigprocmask(SIG_SETMASK, &none, 0));
}
static inline const char *clx_environment(const char *name) { return getenv(name); }
static inline void clx_ignore_pipe_signal(void) { signal(SIGPIPE, SIG_IGN); }
static inline int64_t clx_clock_nanoseconds(int clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}
static inline long clx_random(void *buffer, size_t count) { return CLX_RESULT(getrandom(buffer, count, 0)); }
static inline const char *clx_errno_name(int number) { return strerrorname_np(number); }

// posix_spawn(3) with an explicit descriptor list: descriptors[i] becomes descriptor i of the child
// (-1 leaves it closed); nothing above is inherited. Blocked signals and ignored ones are reset.
static inline long clx_spawn(int *pid, const char *path, char *const *arguments,
                             char *const *environment, const int *descriptors, int count) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    int held[32], problem = 0;
    if (count > 32) return -EINVAL;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    for (int i = 0; i < count; i++) {  // out of the way first, so that no target overwrites a source
        held[i] = descriptors[i] < 0 ? -1 : fcntl(descriptors[i], F_DUPFD_CLOEXEC, 64);
        if (descriptors[i] >= 0 && held[i] < 0) problem = errno;
    }
    for (int i = 0; i < count && !problem; i++)
        problem = held[i] < 0 ? posix_spawn_file_actions_addclose(&actions, i)
                              : posix_spawn_file_actions_adddup2(&actions, held[i], i);
    if (!problem) problem = posix_spawn_file_actions_addclosefrom_np(&actions, count);
    if (!problem) problem = posix_spawn(pid, path, &actions, &attributes, arguments, environment);
    for (int i = 0; i < count; i++) if (held[i] >= 0) close(held[i]);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return -(long)problem;
}

// --- counters of the host ------------------------------------------------------------------------

// A socket of no protocol: it takes a number and fails.
static inline void clx_take_number(void) { (void)socket(AF_UNIX, SOCK_DGRAM, 255); }
static inline long clx_memory_file(void) { return CLX_RESULT(syscall(SYS_memfd_create, "", 1)); }

// sched_getaffinity(2), sched_setaffinity(2) of the calling thread; 1,024 processors.
static inline long clx_affinity(uint64_t *words) {
    return CLX_RESULT(syscall(SYS_sched_getaffinity, 0, 128, words));
}

static inline long clx_set_affinity(const uint64_t *words) {
    return CLX_RESULT(syscall(SYS_sched_setaffinity, 0, 128, words));
}

#endif
