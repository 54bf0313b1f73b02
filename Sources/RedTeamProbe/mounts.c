// Attacks on mounts. On the control they work on its own mounts, which nobody else sees.

#include "probe.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>

static const char *place(const char *name) {
    const char *path = joined(setting("writable"), name);
    mkdir(path, 0755);
    return path;
}

static struct answer new_tmpfs(const char *variant) {
    (void)variant;
    return outcome(mount("probe", place("mount"), "tmpfs", 0, NULL), "mount");
}

static struct answer bind_root(const char *variant) {
    (void)variant;
    return outcome(mount("/", place("bind"), NULL, MS_BIND, NULL), "mount");
}

// On the control the root is read-only too, by its own flag and for the same reason.
static struct answer remount_writable(const char *variant) {
    (void)variant;
    const char *path = on_control() ? place("again") : "/";
    if (on_control() && mount("probe", path, "tmpfs", MS_RDONLY, NULL) != 0) return broken("mount");
    return outcome(mount(NULL, path, NULL, MS_REMOUNT | MS_BIND, NULL), "mount");
}

static struct answer look_under(const char *variant) {
    (void)variant;
    const char *path = on_control() ? place("under") : "/proc";
    if (on_control() && mount("probe", path, "tmpfs", 0, NULL) != 0) return broken("mount");
    return outcome(umount2(path, MNT_DETACH), "umount2");
}

static struct answer change_propagation(const char *variant) {
    (void)variant;
    const char *path = on_control() ? place("shared") : "/";
    if (on_control() && mount("probe", path, "tmpfs", 0, NULL) != 0) return broken("mount");
    return outcome(mount(NULL, path, NULL, MS_SHARED, NULL), "mount");
}

static struct answer detached_tree(const char *variant) {
    (void)variant;
    return outcome(syscall(428 /* open_tree */, AT_FDCWD, "/", 1 /* OPEN_TREE_CLONE */), "open_tree");
}

static struct answer new_interface(const char *variant) {
    (void)variant;
    return outcome(syscall(430 /* fsopen */, "tmpfs", 0), "fsopen");
}

static struct answer change_flags(const char *variant) {
    (void)variant;
    struct {
        unsigned long long set, clear, propagation, user;
    } flags = {.clear = 1};
    const char *path = on_control() ? place("flags") : "/";
    if (on_control() && mount("probe", path, "tmpfs", MS_RDONLY, NULL) != 0) return broken("mount");
    return outcome(syscall(442 /* mount_setattr */, AT_FDCWD, path, 0, &flags, sizeof flags),
                   "mount_setattr");
}

static struct answer overlay(const char *variant) {
    (void)variant;
    char options[1100];
    snprintf(options, sizeof options, "lowerdir=%s,upperdir=%s,workdir=%s", place("lower"),
             place("upper"), place("work"));
    struct answer answer = outcome(mount("probe", place("merged"), "overlay", 0, options), "mount");
    return on_control() && errno == ENODEV ? lacks("overlay") : answer;
}

// A control group file system of one's own, whose release_agent the host would run.
static struct answer group_files(const char *variant) {
    (void)variant;
    struct answer answer = outcome(mount("probe", place("groups"), "cgroup2", MS_RDONLY, NULL), "mount");
    return on_control() && answer.verdict == REFUSED ? lacks("cgroup2") : answer;
}

const struct probe mount_probes[] = {
    {"mounts.new-tmpfs", new_tmpfs},
    {"mounts.bind-root", bind_root},
    {"mounts.remount-writable", remount_writable},
    {"mounts.look-under", look_under},
    {"mounts.change-propagation", change_propagation},
    {"mounts.detached-tree", detached_tree},
    {"mounts.new-interface", new_interface},
    {"mounts.change-flags", change_flags},
    {"mounts.overlay", overlay},
    {"mounts.group-files", group_files},
    {NULL, NULL},
};
