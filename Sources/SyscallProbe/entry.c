// Entering a sandbox from outside, for tests that must leave the filter out of the question.

#include "probe.h"

#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

// enter PID user+mnt|mnt VERB...: joins namespaces of a process, then performs the verb there.
static int enter(int count, char **words) {
    if (count < 3) return -1;
    int process = (int)syscall(SYS_pidfd_open, atoi(words[0]), 0);
    if (process < 0) {
        report("enter", process);
        return 1;
    }
    int kinds = CLONE_NEWNS;
    if (strcmp(words[1], "user+mnt") == 0) kinds |= CLONE_NEWUSER;
    if (setns(process, kinds) != 0) {
        report("enter", -1);
        return 1;
    }
    return perform(words[2], count - 3, words + 3);
}

// remount PATH...: takes the read-only flag away, and every other.
static int remount(int count, char **words) {
    for (int index = 0; index < count; index++)
        report(words[index], mount(NULL, words[index], NULL, MS_REMOUNT | MS_BIND, NULL));
    return 0;
}

// unmount PATH...: looks under a mount.
static int unmount(int count, char **words) {
    for (int index = 0; index < count; index++)
        report(words[index], umount2(words[index], MNT_DETACH));
    return 0;
}

const struct verb entry_verbs[] = {
    {"enter", enter}, {"remount", remount}, {"unmount", unmount}, {NULL, NULL}};
