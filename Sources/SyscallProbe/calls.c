// Attempts at calls that a sandbox refuses. Every attempt is harmless where it succeeds: what it makes
// ends with this process.

#include "probe.h"

#include <linux/audit.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <netinet/in.h>
#include <arpa/inet.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static long try_mount(void) { return mount("none", "/tmp", "tmpfs", 0, NULL); }
static long try_remount(void) {
    return mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND | MS_NOSUID, NULL);
}
static long try_unmount(void) { return umount2("/tmp", MNT_DETACH); }
static long try_unshare(void) { return unshare(CLONE_NEWUSER); }
static long try_setns(void) { return syscall(SYS_setns, -1, 0); }
static long try_ptrace(void) { return ptrace(PTRACE_TRACEME, 0, NULL, NULL); }
static long try_keyctl(void) { return syscall(SYS_keyctl, 0 /* GET_KEYRING_ID */, -3, 1); }
static long try_add_key(void) { return syscall(SYS_add_key, "user", "probe", "x", 1, -1); }
static long try_userfaultfd(void) { return syscall(SYS_userfaultfd, 1 /* USER_MODE_ONLY */); }
static long try_pidfd_open(void) { return syscall(SYS_pidfd_open, getpid(), 0); }
static long try_memfd(void) { return syscall(SYS_memfd_create, "probe", 0); }
static long try_fsopen(void) { return syscall(SYS_fsopen, "tmpfs", 0); }
static long try_open_tree(void) { return syscall(SYS_open_tree, -100, "/", 0); }
static long try_shmget(void) {
    long segment = syscall(SYS_shmget, 0 /* IPC_PRIVATE */, 4096, 01600);
    if (segment >= 0) syscall(SYS_shmctl, segment, 0 /* IPC_RMID */, NULL);
    return segment;
}
static long try_msgget(void) {
    long queue = syscall(SYS_msgget, 0 /* IPC_PRIVATE */, 01600);
    if (queue >= 0) syscall(SYS_msgctl, queue, 0 /* IPC_RMID */, NULL);
    return queue;
}
static long try_vsock(void) { return socket(40, SOCK_STREAM, 0); }
static long try_packet(void) { return socket(17, SOCK_RAW, 0); }
static long try_inet(void) { return socket(AF_INET, SOCK_STREAM, 0); }
static long try_inet6(void) { return socket(AF_INET6, SOCK_STREAM, 0); }
static long try_netlink(void) { return socket(AF_NETLINK, SOCK_RAW, 0 /* NETLINK_ROUTE */); }
static long try_inotify(void) { return syscall(SYS_inotify_init1, 0); }

// Runs a clone that may succeed in a child that ends at once.
static long clone_with(unsigned long flags) {
    long child = syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);
    if (child == 0) _exit(0);
    if (child > 0) waitpid((pid_t)child, NULL, 0);
    return child;
}

static long try_clone(void) { return clone_with(CLONE_NEWUSER); }
static long try_clone_high(void) { return clone_with(CLONE_NEWUSER | 1UL << 32); }

static long try_clone3(void) {
    uint64_t arguments[8] = {0, 0, 0, 0, SIGCHLD, 0, 0, 0};
    long child = syscall(SYS_clone3, arguments, sizeof arguments);
    if (child == 0) _exit(0);
    if (child > 0) waitpid((pid_t)child, NULL, 0);
    return child;
}

static long try_bpf(void) {
    union bpf_attr attribute;
    memset(&attribute, 0, sizeof attribute);
    attribute.map_type = BPF_MAP_TYPE_ARRAY;
    attribute.key_size = 4, attribute.value_size = 8, attribute.max_entries = 1;
    return syscall(SYS_bpf, BPF_MAP_CREATE, &attribute, sizeof attribute);
}

static long try_perf(void) {
    struct perf_event_attr attribute;
    memset(&attribute, 0, sizeof attribute);
    attribute.size = sizeof attribute, attribute.type = PERF_TYPE_SOFTWARE;
    attribute.config = PERF_COUNT_SW_DUMMY, attribute.exclude_kernel = 1;
    return syscall(SYS_perf_event_open, &attribute, 0, -1, -1, 0);
}

static long try_io_uring(void) {
    char parameters[120] = {0};
    return syscall(SYS_io_uring_setup, 4, parameters);
}

static long try_process_vm(void) {
    char from = 1, to = 0;
    struct iovec local = {&to, 1}, remote = {&from, 1};
    return process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
}

static long try_mincore(void) {
    unsigned char answer = 0;
    void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return syscall(SYS_mincore, page, 4096, &answer);
}

// The kernel reads the family as 32 bits; a filter that compares 64 lets the high bit through.
static long try_vsock_high(void) { return syscall(SYS_socket, 40 | 1UL << 32, SOCK_STREAM, 0); }
static long try_tiocsti(void) { return syscall(SYS_ioctl, 0, 0x5412UL, "x"); }
static long try_tiocsti_high(void) { return syscall(SYS_ioctl, 0, 0x5412UL | 1UL << 32, "x"); }
static long try_tioclinux(void) {
    char subcode = 6;
    return syscall(SYS_ioctl, 0, 0x541cUL, &subcode);
}

static long try_x32(void) { return syscall((long)(0x40000000UL | SYS_getpid)); }

// getpid of the 32-bit table, by the 32-bit gate.
static long try_int80(void) {
    long answer = 20;
    __asm__ volatile("int $0x80" : "+a"(answer) : : "memory", "r8", "r9", "r10", "r11");
    if (answer >= 0) return answer;
    errno = (int)-answer;
    return -1;
}

static const struct {
    const char *name;
    long (*attempt)(void);
} attempts[] = {
    {"mount", try_mount},           {"remount", try_remount},
    {"umount2", try_unmount},       {"unshare", try_unshare},
    {"setns", try_setns},           {"clone-newuser", try_clone},
    {"clone-newuser-high", try_clone_high}, {"clone3", try_clone3},
    {"ptrace", try_ptrace},         {"bpf", try_bpf},
    {"keyctl", try_keyctl},         {"add_key", try_add_key},
    {"io_uring_setup", try_io_uring}, {"userfaultfd", try_userfaultfd},
    {"perf_event_open", try_perf},  {"process_vm_readv", try_process_vm},
    {"pidfd_open", try_pidfd_open}, {"memfd_create", try_memfd},
    {"fsopen", try_fsopen},         {"open_tree", try_open_tree},
    {"mincore", try_mincore},       {"vsock", try_vsock},
    {"vsock-high", try_vsock_high}, {"packet", try_packet},
    {"tiocsti", try_tiocsti},       {"tiocsti-high", try_tiocsti_high},
    {"tioclinux", try_tioclinux},   {"x32", try_x32},
    {"int80", try_int80},           {"shmget", try_shmget},
    {"msgget", try_msgget},         {"inet", try_inet},
    {"inet6", try_inet6},           {"netlink", try_netlink},
    {"inotify_init1", try_inotify},
};

// Each attempt in a child of its own: one may cost the child its rights, its parent or its life.
static void attempt_apart(const char *name, long (*attempt)(void)) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        report(name, attempt());
        _exit(0);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) < 0) report(name, -1);
    if (WIFSIGNALED(status)) printf("%s=SIG%s\n", name, sigabbrev_np(WTERMSIG(status)));
}

static int call(int count, char **words) {
    for (int index = 0; index < count; index++)
        for (size_t which = 0; which < sizeof attempts / sizeof *attempts; which++)
            if (strcmp(attempts[which].name, words[index]) == 0)
                attempt_apart(words[index], attempts[which].attempt);
    return 0;
}

// One attempt in this process itself, whatever it costs.
static int call_here(int count, char **words) {
    if (count != 1) return -1;
    for (size_t which = 0; which < sizeof attempts / sizeof *attempts; which++)
        if (strcmp(attempts[which].name, words[0]) == 0) report(words[0], attempts[which].attempt());
    return 0;
}

// Calls each number with arguments that no call accepts; for numbers that a filter must refuse.
static int sweep(int count, char **words) {
    for (int index = 0; index < count; index++)
        report(words[index], syscall(atol(words[index]), -1L, -1L, -1L, -1L, -1L, -1L));
    return 0;
}

// Makes one refused call again and again, or as often as is said; then tells how often it failed.
static int flood(int count, char **words) {
    if (count != 1) return -1;
    long refused = 0;
    printf("flooding=OK\n");
    fflush(stdout);
    for (long left = atol(words[0]); left != 0; left--)
        if (try_mount() < 0 && errno == EPERM) refused++;
    printf("refused=%ld\n", refused);
    return 0;
}

// Asks for a socket of each family that there could be.
static int families(int count, char **words) {
    (void)words;
    for (int family = 0; family < 64 && count == 0; family++)
        if (socket(family, SOCK_STREAM, 0) < 0) printf("family.%d=%d\n", family, errno);
    return count;
}

static int signal_process(int count, char **words) {
    if (count != 2) return -1;
    report("kill", kill(atoi(words[0]), atoi(words[1])));
    return 0;
}

// Which process ids up to a limit answer a null signal.
static int find_processes(int count, char **words) {
    if (count != 1) return -1;
    for (int pid = 1; pid < atoi(words[0]); pid++)
        if (kill(pid, 0) == 0 || errno != ESRCH) printf("found.%d\n", pid);
    return 0;
}

static int connect_to(int count, char **words) {
    if (count != 2) return -1;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(words[1]))};
    inet_pton(AF_INET, words[0], &address.sin_addr);
    int file = socket(AF_INET, SOCK_DGRAM, 0);
    report("socket", file);
    if (file >= 0) report("connect", connect(file, (struct sockaddr *)&address, sizeof address));
    return 0;
}

// tcp ADDRESS PORT: binds a port of its own and connects to that one.
static int tcp(int count, char **words) {
    if (count != 2) return -1;
    struct sockaddr_in own = {.sin_family = AF_INET}, address = own;
    address.sin_port = htons((uint16_t)atoi(words[1]));
    inet_pton(AF_INET, words[0], &address.sin_addr);
    int file = socket(AF_INET, SOCK_STREAM, 0);
    report("socket", file);
    if (file < 0) return 0;
    own.sin_port = htons(40404);
    report("bind", bind(file, (struct sockaddr *)&own, sizeof own));
    file = socket(AF_INET, SOCK_STREAM, 0);
    report("connect", connect(file, (struct sockaddr *)&address, sizeof address));
    return 0;
}

// abstract listen|connect|both NAME: a socket without a file. A listener waits for its input to end.
static int abstract_socket(int count, char **words) {
    if (count != 2) return -1;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strncpy(address.sun_path + 1, words[1], sizeof address.sun_path - 2);
    socklen_t length = (socklen_t)(sizeof(sa_family_t) + 1 + strlen(words[1]));
    int file = socket(AF_UNIX, SOCK_STREAM, 0);
    if (strcmp(words[0], "connect") == 0) {
        report("connect", connect(file, (struct sockaddr *)&address, length));
        return 0;
    }
    if (strcmp(words[0], "both") == 0) {
        int other = socket(AF_UNIX, SOCK_STREAM, 0);
        report("bind", bind(other, (struct sockaddr *)&address, length));
        report("listen", listen(other, 1));
        report("connect", connect(file, (struct sockaddr *)&address, length));
        return 0;
    }
    report("bind", bind(file, (struct sockaddr *)&address, length));
    report("listen", listen(file, 1));
    char byte;
    while (read(0, &byte, 1) > 0) {}
    return 0;
}

// unix PATH: connects to a socket file, says what that calls itself, passes it a descriptor and a byte, and
// tries to put another in its place.
static int socket_file(int count, char **words) {
    if (count != 1) return -1;
    struct sockaddr_un address = {.sun_family = AF_UNIX}, peer = {0};
    strncpy(address.sun_path, words[0], sizeof address.sun_path - 1);
    socklen_t length = sizeof peer;
    int file = socket(AF_UNIX, SOCK_STREAM, 0);
    report("socket", file);
    long connected = connect(file, (struct sockaddr *)&address, sizeof address);
    report("connect", connected);
    if (connected == 0) {
        report("peer", getpeername(file, (struct sockaddr *)&peer, &length));
        printf("peer-name=%s\n", peer.sun_path);
        union { struct cmsghdr header; char room[CMSG_SPACE(sizeof(int))]; } control = {
            .header = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS}};
        memcpy(CMSG_DATA(&control.header), &file, sizeof file);
        struct iovec byte = {.iov_base = (char[]){'x'}, .iov_len = 1};
        struct msghdr message = {.msg_iov = &byte, .msg_iovlen = 1, .msg_control = &control,
                                 .msg_controllen = sizeof control.room};
        report("pass", sendmsg(file, &message, MSG_NOSIGNAL));
    }
    report("unlink", unlink(words[0]));
    report("bind", bind(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&address, sizeof address));
    return 0;
}

// Where bit number `which` of a message about ports stands: an address that the host has once, for all sandboxes.
static struct sockaddr_in port_place(int which) {
    struct sockaddr_in place = {.sin_family = AF_INET, .sin_port = htons(40000)};
    place.sin_addr.s_addr = htonl(0x7f4d0001u + ((uint32_t)which << 8));
    return place;
}

// ports-write BITS: for each bit that is set connects again and again to a port where nobody listens.
static int write_ports(int count, char **words) {
    if (count != 1) return -1;
    int file = socket(AF_INET, SOCK_STREAM, 0);
    report("socket", file);
    for (int bit = 0; file >= 0 && words[0][bit] != 0; bit++) {
        struct sockaddr_in place = port_place(bit);
        for (int turn = 0; words[0][bit] == '1' && turn < 100; turn++)
            if (connect(file, (struct sockaddr *)&place, sizeof place) == 0 || errno != ECONNREFUSED)
                return report("connect", -1), 0;
    }
    return 0;
}

// ports-read COUNT: prints the source ports of connections to listeners of its own, before and after a line.
static int read_ports(int count, char **words) {
    if (count != 1) return -1;
    int bits = atoi(words[0]), listeners[64];
    for (int bit = 0; bit < bits && bit < 64; bit++) {
        struct sockaddr_in place = port_place(bit);
        listeners[bit] = socket(AF_INET, SOCK_STREAM, 0);
        if (bind(listeners[bit], (struct sockaddr *)&place, sizeof place) != 0
            || listen(listeners[bit], 8) != 0)
            return report("listen", -1), 0;
    }
    for (int look = 0; look < 2; look++) {
        for (int bit = 0; bit < bits && bit < 64; bit++) {
            struct sockaddr_in place = port_place(bit), own;
            socklen_t length = sizeof own;
            int file = socket(AF_INET, SOCK_STREAM, 0);
            if (connect(file, (struct sockaddr *)&place, sizeof place) != 0
                || getsockname(file, (struct sockaddr *)&own, &length) != 0)
                return report("connect", -1), 0;
            printf("port.%d.%d=%d\n", look, bit, ntohs(own.sin_port));
        }
        printf("look.%d=OK\n", look);
        fflush(stdout);
        char byte;
        if (look == 0 && read(0, &byte, 1) != 1) return 0;
    }
    return 0;
}

// datagrams COUNT: sends so many packets to itself.
static int send_datagrams(int count, char **words) {
    if (count != 1) return -1;
    int file = socket(AF_INET, SOCK_DGRAM, 0);
    report("socket", file);
    struct sockaddr_in own = {.sin_family = AF_INET};
    socklen_t length = sizeof own;
    own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (file < 0 || bind(file, (struct sockaddr *)&own, sizeof own) != 0
        || getsockname(file, (struct sockaddr *)&own, &length) != 0)
        return 0;
    long sent = 0;
    for (long turn = 0; turn < atol(words[0]); turn++)
        sent += sendto(file, "x", 1, 0, (struct sockaddr *)&own, length) == 1;
    printf("sent=%ld\n", sent);
    return 0;
}

// One number of a counter that the whole host shares, or two, by one call; also where it fails for a reason
// of its own, which then is no failure here.
static int unheard = -1;
static bool take_pipe(void) {
    int ends[2];
    if (pipe(ends) != 0) return false;
    return close(ends[0]) == 0 && close(ends[1]) == 0;
}
static bool take_pair(void) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return false;
    return close(ends[0]) == 0 && close(ends[1]) == 0;
}
static bool take_socket(void) {
    int made = socket(AF_UNIX, SOCK_DGRAM, 0);
    return made >= 0 && close(made) == 0;
}
static bool take_failing_socket(void) {
    return socket(AF_UNIX, SOCK_DGRAM, 255) < 0 && errno == EPROTONOSUPPORT;
}
static bool take_accept(void) { return accept(unheard, NULL, NULL) < 0 && errno == EINVAL; }
static bool take_accept4(void) { return accept4(unheard, NULL, NULL, 0) < 0 && errno == EINVAL; }
static bool take_map(void) {
    void *map = mmap(NULL, 4096, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return map != MAP_FAILED && munmap(map, 4096) == 0;
}
static bool take_validated_map(void) {
    void *map = mmap(NULL, 4096, PROT_READ, MAP_SHARED_VALIDATE | MAP_ANONYMOUS, -1, 0);
    return map != MAP_FAILED ? munmap(map, 4096) == 0 : errno == EOPNOTSUPP || errno == EINVAL;
}
static bool take_huge_map(void) {
    void *map = mmap(NULL, 2 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
    return map != MAP_FAILED ? munmap(map, 2 << 20) == 0 : errno == ENOMEM;
}
static bool take_private_map(void) {
    void *map = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return map != MAP_FAILED && munmap(map, 4096) == 0;
}

// take WAY COUNT: how often it went, and what ended it.
static int take(int count, char **words) {
    static const struct {
        const char *name;
        bool (*once)(void);
    } ways[] = {{"pipe", take_pipe},
                {"socketpair", take_pair},
                {"socket", take_socket},
                {"failing-socket", take_failing_socket},
                {"accept", take_accept},
                {"accept4", take_accept4},
                {"map", take_map},
                {"validated-map", take_validated_map},
                {"huge-map", take_huge_map},
                {"private-map", take_private_map}};
    if (count != 2) return -1;
    bool (*once)(void) = NULL;
    for (size_t which = 0; which < sizeof ways / sizeof *ways; which++)
        if (strcmp(ways[which].name, words[0]) == 0) once = ways[which].once;
    if (once == NULL) return -1;
    if (strncmp(words[0], "accept", 6) == 0) unheard = socket(AF_UNIX, SOCK_STREAM, 0);
    long taken = 0, wanted = atol(words[1]);
    while (taken < wanted && once()) taken++;
    report("end", taken < wanted ? -1 : 0);
    printf("taken=%ld\n", taken);
    return 0;
}

const struct verb call_verbs[] = {{"call", call},
                                  {"take", take},
                                  {"call-here", call_here},
                                  {"sweep", sweep},
                                  {"flood", flood},
                                  {"families", families},
                                  {"kill", signal_process},
                                  {"find", find_processes},
                                  {"connect", connect_to},
                                  {"tcp", tcp},
                                  {"abstract", abstract_socket},
                                  {"unix", socket_file},
                                  {"ports-write", write_ports},
                                  {"ports-read", read_ports},
                                  {"datagrams", send_datagrams},
                                  {NULL, NULL}};
