// Attacks on namespaces: sharing one with the host, making one, entering one.

#include "probe.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

// Whether a namespace of ours is that of the victims. The variant is the namespace's name.
static struct answer shared_with_host(const char *variant) {
    char path[64], name[32];
    struct stat status;
    snprintf(path, sizeof path, "/proc/self/ns/%s", variant);
    snprintf(name, sizeof name, "ns-%s", variant);
    if (stat(path, &status) != 0) return broken(path);
    return strtoul(setting(name), NULL, 10) == status.st_ino ? works() : absent();
}

static unsigned long kind_of(const char *name) {
    static const struct {
        const char *name;
        unsigned long flag;
    } kinds[] = {{"user", CLONE_NEWUSER}, {"mnt", CLONE_NEWNS},   {"pid", CLONE_NEWPID},
                 {"net", CLONE_NEWNET},   {"ipc", CLONE_NEWIPC},  {"uts", CLONE_NEWUTS},
                 {"cgroup", CLONE_NEWCGROUP}, {"time", 0x80}};
    for (size_t index = 0; index < sizeof kinds / sizeof *kinds; index++)
        if (strcmp(kinds[index].name, name) == 0) return kinds[index].flag;
    return CLONE_NEWUSER;
}

static struct answer unshare_one(const char *variant) {
    return outcome(unshare((int)kind_of(variant)), "unshare");
}

static struct answer clone_flags(unsigned long flags) {
    long child = syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);
    if (child == 0) _exit(0);
    int error = errno;
    if (child > 0) waitpid((pid_t)child, NULL, 0);
    errno = error;
    return outcome(child, "clone");
}

static struct answer clone_one(const char *variant) {
    return clone_flags(kind_of(variant));
}

// The kernel reads the flags as 32 bits; a filter that compares 64 would let this through.
static struct answer clone_high(const char *variant) {
    return clone_flags(kind_of(variant) | 1UL << 32);
}

static struct answer clone_by_pointer(const char *variant) {
    (void)variant;
    uint64_t arguments[8] = {CLONE_NEWUSER, 0, 0, 0, SIGCHLD, 0, 0, 0};
    long child = syscall(SYS_clone3, arguments, sizeof arguments);
    if (child == 0) _exit(0);
    if (child > 0) waitpid((pid_t)child, NULL, 0);
    return outcome(child, "clone3");
}

static struct answer enter_own(const char *variant) {
    (void)variant;
    int file = open("/proc/self/ns/uts", O_RDONLY | O_CLOEXEC);
    return outcome(syscall(SYS_setns, file, 0), "setns");
}

static struct answer enter_by_pidfd(const char *variant) {
    (void)variant;
    int file = (int)syscall(SYS_pidfd_open, getpid(), 0);
    return outcome(syscall(SYS_setns, file, CLONE_NEWUTS), "setns");
}

// The inner user namespace maps one id: init's does not even have a name in it.
static struct answer become_init(const char *variant) {
    (void)variant;
    return outcome(setresuid(0, 0, 0), "setresuid");
}

static struct answer become_group(const char *variant) {
    (void)variant;
    return outcome(setresgid(0, 0, 0), "setresgid");
}

static struct answer give_to_init(const char *variant) {
    (void)variant;
    const char *path = joined(setting("writable"), "given");
    close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
    struct answer answer = outcome(chown(path, 0, 0), "chown");
    unlink(path);
    return answer;
}

static struct answer write_map(const char *variant) {
    (void)variant;
    return open_path("/proc/self/uid_map", O_WRONLY);
}

static struct answer rename_host(const char *variant) {
    (void)variant;
    return outcome(sethostname("probe", 5), "sethostname");
}

const struct probe namespace_probes[] = {
    {"namespaces.shared", shared_with_host},
    {"namespaces.unshare", unshare_one},
    {"namespaces.clone", clone_one},
    {"namespaces.clone-high", clone_high},
    {"namespaces.clone3", clone_by_pointer},
    {"namespaces.enter", enter_own},
    {"namespaces.enter-by-pidfd", enter_by_pidfd},
    {"namespaces.become-init", become_init},
    {"namespaces.become-group", become_group},
    {"namespaces.give-to-init", give_to_init},
    {"namespaces.write-map", write_map},
    {"namespaces.rename-host", rename_host},
    {NULL, NULL},
};
