// Makes the control: a process tree of root in namespaces of its own, on which attacks must work and
// cannot hurt the host.
//
// Order: the marker, which only the command makes; namespaces; private propagation, verified; every
// mount read-only, so that a slip cannot write to a disk; one tmpfs to write to; only then the files,
// sockets and addresses that attacks look for, all of them in namespaces that end with this process.
// Kernel settings (/proc/sys, /sys, /dev) belong to the host in any namespace: attacks on those only
// open, and never write.

#include "probe.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static void require(bool condition, const char *what) {
    if (condition) return;
    fprintf(stderr, "invigilator-probe: make a control: %s: %s\n", what, strerror(errno));
    _exit(77);
}

static unsigned long namespace_inode(const char *kind) {
    char path[64];
    struct stat status;
    snprintf(path, sizeof path, "/proc/self/ns/%s", kind);
    return stat(path, &status) == 0 ? (unsigned long)status.st_ino : 0;
}

// The command made this directory for this run: root's alone, with a file that holds the token.
static void require_marker(const char *directory, const char *token) {
    struct stat status;
    require(geteuid() == 0 && strlen(token) >= 16, "a control is root's, with a token");
    require(directory[0] == '/' && lstat(directory, &status) == 0 && S_ISDIR(status.st_mode)
                && status.st_uid == 0 && (status.st_mode & 022) == 0,
            "the directory is not root's");
    int file = open(joined(directory, "marker"), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    char text[128] = {0};
    require(file >= 0 && read(file, text, sizeof text - 1) > 0 && strcmp(text, token) == 0,
            "the marker does not hold the token");
    close(file);
}

// Reads back that no mount of ours would show in another namespace (proc(5), optional fields).
static void require_private_mounts(void) {
    FILE *file = fopen("/proc/self/mountinfo", "re");
    require(file != NULL, "read mountinfo");
    char line[4096];
    int seen = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        char *end = strstr(line, " - ");
        require(end != NULL, "a line of mountinfo");
        *end = 0;
        require(strstr(line, " shared:") == NULL && strstr(line, " master:") == NULL,
                "a mount is still shared");
        seen++;
    }
    fclose(file);
    require(seen > 0, "there is no mount");
}

static void make_everything_read_only(void) {
    struct {
        unsigned long long set, clear, propagation, user;
    } flags = {.set = 1 /* MOUNT_ATTR_RDONLY */};
    require(syscall(442 /* mount_setattr */, AT_FDCWD, "/", 0x8000 /* AT_RECURSIVE */, &flags,
                    sizeof flags)
                == 0,
            "make every mount read-only");
    struct statvfs root;
    require(statvfs("/", &root) == 0 && (root.f_flag & ST_RDONLY) != 0, "the root is not read-only");
}

static void mount_over(const char *path, const char *kind, const char *options) {
    require(mount("redteam", path, kind, MS_NOSUID, options) == 0, path);
}

// Loopback with the addresses that attacks connect to; the network namespace has nothing else.
static void raise_addresses(void) {
    static const struct {
        const char *name, *address;
    } wanted[] = {{"lo", "127.0.0.1"}, {"lo:1", "169.254.169.254"}, {"lo:2", "192.0.2.53"}};
    int control = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    require(control >= 0, "a socket");
    for (size_t index = 0; index < sizeof wanted / sizeof *wanted; index++) {
        struct ifreq request = {0};
        struct sockaddr_in address = {.sin_family = AF_INET};
        snprintf(request.ifr_name, sizeof request.ifr_name, "%s", wanted[index].name);
        inet_pton(AF_INET, wanted[index].address, &address.sin_addr);
        memcpy(&request.ifr_addr, &address, sizeof address);
        require(ioctl(control, SIOCSIFADDR, &request) == 0, wanted[index].address);
        memset(&request.ifr_addr, 0, sizeof request.ifr_addr);
        request.ifr_flags = IFF_UP | IFF_RUNNING | IFF_LOOPBACK;
        require(ioctl(control, SIOCSIFFLAGS, &request) == 0, "loopback up");
    }
    close(control);
}

// The control's services listen below port 1024, which would need one more capability, and in a
// container root has few. The setting is this network namespace's alone.
static void open_low_ports(void) {
    int file = open("/proc/sys/net/ipv4/ip_unprivileged_port_start", O_WRONLY | O_CLOEXEC);
    require(file >= 0 && write(file, "0", 1) == 1, "ports below 1024");
    close(file);
}

// What a sandbox is told by the command, on the control: everything is the one writable directory.
static void set_places(const char *directory) {
    static const char *const places[] = {"writable", "root-dir", "program-dir", "view-dir",
                                         "own-dir"};
    set_setting("role", "control");
    for (size_t index = 0; index < sizeof places / sizeof *places; index++) {
        const char *path = joined(directory, places[index]);
        require(mkdir(path, 0755) == 0, path);
        set_setting(places[index], path);
    }
    set_setting("metadata-address", "169.254.169.254");
    set_setting("metadata-port", "80");
    set_setting("resolver-address", "192.0.2.53");
    set_setting("state-dir", joined(directory, "state"));
    require(mkdir(setting("state-dir"), 0700) == 0
                && mkdir(joined(setting("state-dir"), "experiments"), 0700) == 0,
            "a state directory");
}

void become_control(const char *directory, const char *token) {
    require_marker(directory, token);
    static const char *const kinds[] = {"mnt", "net", "ipc", "uts", "cgroup"};
    unsigned long before[5], after;
    for (int index = 0; index < 5; index++) before[index] = namespace_inode(kinds[index]);
    require(unshare(CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS
                    | CLONE_NEWCGROUP)
                == 0,
            "namespaces");
    for (int index = 0; index < 5; index++) {
        after = namespace_inode(kinds[index]);
        require(after != 0 && after != before[index], kinds[index]);
    }
    require(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0, "private propagation");
    require_private_mounts();
    make_everything_read_only();
    // A file on a disk, for whoever looks at pages; it is found by its descriptor from here on.
    int pages = open(joined(directory, "pages"), O_RDONLY);
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", pages);
    if (pages >= 0) set_setting("pages", path);
    set_setting("library", "/proc/self/exe");
    mount_over(directory, "tmpfs", "size=192m,mode=0755");
    pid_t first = fork();
    require(first >= 0, "a process namespace");
    if (first != 0) {
        int status = 0;
        waitpid(first, &status, 0);
        _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 76);
    }
    // Process 1 of the control: it makes the stage, and when it ends the kernel ends the rest.
    require(getpid() == 1 && prctl(PR_SET_PDEATHSIG, SIGKILL) == 0, "process 1");
    mount_over("/proc", "proc", NULL);
    mount_over("/run", "tmpfs", "size=1m,mode=0755");
    mount_over("/root", "tmpfs", "size=1m,mode=0755");
    mount_over("/dev/shm", "tmpfs", "size=1m,mode=1777");
    // Only opened, never written to; without it the attacks on it are judged n/a.
    mount("redteam", "/sys", "sysfs", MS_NOSUID, NULL);
    raise_addresses();
    open_low_ports();
    set_places(directory);
    require(chdir(setting("writable")) == 0, "the writable directory");
    struct rlimit files = {65536, 65536};
    setrlimit(RLIMIT_NOFILE, &files);
    require(start_victims(directory), "victims");
    pid_t runner = fork();
    require(runner >= 0, "a runner");
    if (runner == 0) return;
    int status = 0;
    while (waitpid(-1, &status, 0) != runner) {}
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 76);
}
