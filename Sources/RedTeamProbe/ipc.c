// Attacks through System V and POSIX objects: the victims have one of each, open to all users.

#include "probe.h"

#include <fcntl.h>
#include <mqueue.h>
#include <stdlib.h>
#include <sys/ipc.h>
#include <sys/syscall.h>

static long key(void) { return atol(setting("ipc-key")); }

static struct answer host_memory(const char *variant) {
    (void)variant;
    return outcome(syscall(SYS_shmget, key(), 0, 0), "shmget");
}

static struct answer host_queue(const char *variant) {
    (void)variant;
    return outcome(syscall(SYS_msgget, key(), 0), "msgget");
}

static struct answer host_semaphore(const char *variant) {
    (void)variant;
    return outcome(syscall(SYS_semget, key(), 0, 0), "semget");
}

static struct answer host_posix_queue(const char *variant) {
    (void)variant;
    return outcome(mq_open(setting("posix-queue"), O_RDONLY), "mq_open");
}

static struct answer new_memory(const char *variant) {
    (void)variant;
    long segment = syscall(SYS_shmget, IPC_PRIVATE, 4096, IPC_CREAT | 0600);
    if (segment >= 0) syscall(SYS_shmctl, segment, IPC_RMID, NULL);
    return outcome(segment, "shmget");
}

static struct answer new_queue(const char *variant) {
    (void)variant;
    long queue = syscall(SYS_msgget, IPC_PRIVATE, IPC_CREAT | 0600);
    if (queue >= 0) syscall(SYS_msgctl, queue, IPC_RMID, NULL);
    return outcome(queue, "msgget");
}

// The counters of every object of the namespace.
static struct answer count_objects(const char *variant) {
    (void)variant;
    char buffer[256];
    return outcome(syscall(SYS_shmctl, 0, 14 /* SHM_INFO */, buffer), "shmctl");
}

const struct probe ipc_probes[] = {
    {"ipc.host-memory", host_memory},
    {"ipc.host-queue", host_queue},
    {"ipc.host-semaphore", host_semaphore},
    {"ipc.host-posix-queue", host_posix_queue},
    {"ipc.new-memory", new_memory},
    {"ipc.new-queue", new_queue},
    {"ipc.count-objects", count_objects},
    {NULL, NULL},
};
