// Attacks by use: as much as a sandbox may have, and a little more. Each stops by itself at "most", the
// number that the command derives from the plan's limit, so that without the limit nothing is harmed.

#include "probe.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

static long most(const char *name) {
    long number = atol(setting(name));
    return number > 0 ? number : 1;
}

static struct answer fork_many(const char *variant) {
    (void)variant;
    long wanted = most("most-processes"), made = 0;
    pid_t *children = calloc((size_t)wanted, sizeof *children);
    if (children == NULL) return broken("calloc");
    int error = 0;
    for (; made < wanted; made++) {
        children[made] = fork();
        if (children[made] == 0)
            for (;;) pause();
        if (children[made] < 0) {
            error = errno;
            break;
        }
    }
    for (long index = 0; index < made; index++) kill(children[index], SIGKILL);
    for (long index = 0; index < made; index++) waitpid(children[index], NULL, 0);
    errno = error;
    return made == wanted ? works() : refused("fork");
}

static void *sleep_for_ever(void *nothing) {
    for (;;) pause();
    return nothing;
}

static struct answer start_threads(const char *variant) {
    (void)variant;
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    long wanted = most("most-processes");
    for (long made = 0; made < wanted; made++) {
        pthread_t thread;
        int error = pthread_create(&thread, &small, sleep_for_ever, NULL);
        if (error != 0) {
            errno = error;
            return refused("pthread_create");
        }
    }
    return works();
}

// Files of a mebibyte until there is no room, or until there have been enough.
static struct answer fill_disk(const char *variant) {
    (void)variant;
    static char part[1 << 20];
    long wanted = most("most-disk"), written = 0;
    int error = 0;
    signal(SIGXFSZ, SIG_IGN);
    char name[512];
    for (long index = 0; index < wanted && error == 0; index++) {
        snprintf(name, sizeof name, "%s/fill%ld", setting("writable"), index);
        int file = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
        if (file < 0 || write(file, part, sizeof part) != (ssize_t)sizeof part)
            error = errno != 0 ? errno : ENOSPC;
        else
            written++;
        if (file >= 0) close(file);
    }
    for (long index = 0; index <= written; index++) {
        snprintf(name, sizeof name, "%s/fill%ld", setting("writable"), index);
        unlink(name);
    }
    errno = error;
    return written == wanted ? works() : refused("write");
}

static struct answer use_inodes(const char *variant) {
    (void)variant;
    long wanted = most("most-inodes"), made = 0;
    int error = 0;
    char name[512];
    for (; made < wanted && error == 0; made++) {
        snprintf(name, sizeof name, "%s/inode%ld", setting("writable"), made);
        int file = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
        if (file < 0) error = errno;
        else close(file);
    }
    for (long index = 0; index < made; index++) {
        snprintf(name, sizeof name, "%s/inode%ld", setting("writable"), index);
        unlink(name);
    }
    errno = error;
    return error == 0 ? works() : refused("open");
}

static struct answer open_many(const char *variant) {
    (void)variant;
    long wanted = most("most-files");
    for (long made = 0; made < wanted; made++)
        if (dup(0) < 0) return refused("dup");
    return works();
}

static struct answer raise_limit(const char *variant) {
    (void)variant;
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return broken("getrlimit");
    limit.rlim_cur = limit.rlim_max = on_control() ? limit.rlim_max : limit.rlim_max + 1;
    return outcome(setrlimit(RLIMIT_NOFILE, &limit), "setrlimit");
}

// Signals to itself that it does not take: what a guest that stands still would keep of them.
static struct answer queue_signals(const char *variant) {
    (void)variant;
    sigset_t kept;
    sigemptyset(&kept);
    sigaddset(&kept, SIGRTMIN + 4);
    sigprocmask(SIG_BLOCK, &kept, NULL);
    int error = 0;
    for (int queued = 0; queued < 1024 && error == 0; queued++)
        if (sigqueue(getpid(), SIGRTMIN + 4, (union sigval){0}) != 0) error = errno;
    struct timespec now = {0};
    while (sigtimedwait(&kept, NULL, &now) > 0) continue;
    errno = error;
    return error == 0 ? works() : refused("sigqueue");
}

// A hole makes a file long without using anything; its length is what the limit is about.
static struct answer long_file(const char *variant) {
    (void)variant;
    signal(SIGXFSZ, SIG_IGN);
    const char *path = joined(setting("writable"), "long");
    int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    if (file < 0) return broken("open");
    off_t end = (off_t)most("most-length") << 20;
    struct answer answer = outcome(ftruncate(file, end), "ftruncate");
    close(file);
    unlink(path);
    return answer;
}

const struct probe exhaustion_probes[] = {
    {"exhaustion.processes", fork_many},
    {"exhaustion.threads", start_threads},
    {"exhaustion.disk", fill_disk},
    {"exhaustion.inodes", use_inodes},
    {"exhaustion.descriptors", open_many},
    {"exhaustion.signals", queue_signals},
    {"exhaustion.raise-limit", raise_limit},
    {"exhaustion.long-file", long_file},
    {NULL, NULL},
};
