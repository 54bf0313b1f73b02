// Channels through caches, which are read by time, and through counters, which are read before and after.

#include "probe.h"
#include "pairs.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <time.h>

static long nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000L + now.tv_nsec;
}

static int compare(const void *left, const void *right) {
    long one = *(const long *)left, other = *(const long *)right;
    return one < other ? -1 : one > other;
}

// The short times are the message's ones: cut at the largest step between neighbours in the middle half,
// or in the middle where there is none.
static void cut(const long *times, unsigned char *bytes) {
    static long sorted[PAIR_BITS];
    memcpy(sorted, times, sizeof sorted);
    qsort(sorted, PAIR_BITS, sizeof *sorted, compare);
    long threshold = sorted[PAIR_BITS / 2], widest = 0;
    for (int index = PAIR_BITS * 3 / 8; index < PAIR_BITS * 5 / 8; index++)
        if (sorted[index] - sorted[index - 1] > widest) {
            widest = sorted[index] - sorted[index - 1];
            threshold = sorted[index];
        }
    for (int index = 0; index < PAIR_BITS; index++)
        if (times[index] < threshold) bytes[index / 8] |= (unsigned char)(1 << index % 8);
}

// MARK: names that do not exist

// A directory that both see, and names of this run in it: a name that was looked up once is answered
// from memory, even if there is no such file.
static const char *made_up(int index) {
    static char path[512];
    snprintf(path, sizeof path, "/usr/bin/%s-%d", setting("run"), index);
    return path;
}

static void send_names(uint64_t seed) {
    struct stat status;
    for (int index = 0; index < PAIR_BITS; index++)
        if (message_bit(seed, index)) (void)!stat(made_up(index), &status);
}

static bool receive_names(unsigned char *bytes) {
    static long times[PAIR_BITS];
    struct stat status;
    for (int index = 0; index < PAIR_BITS; index++) {
        const char *path = made_up(index);
        long before = nanoseconds();
        (void)!stat(path, &status);
        times[index] = nanoseconds() - before;
    }
    cut(times, bytes);
    return true;
}

// MARK: names that exist

// The same names in a directory of both. Names of a memory file system are always in memory; the control
// lays a new mount of an overlay, as container engines share their images, over them: it knows no name
// before somebody asks.
static const char *present(int index) {
    static char path[512];
    const char *place = on_control() ? "writable" : "view-dir";
    snprintf(path, sizeof path, "%s/present/%d", setting(place), index);
    return path;
}

static bool lay_names(void) {
    char lower[512], options[1200];
    const char *place = setting("writable");
    snprintf(lower, sizeof lower, "%s/names", place);
    snprintf(options, sizeof options, "lowerdir=%s:%s", lower, joined(place, "nothing"));
    mkdir(joined(place, "present"), 0755);
    mkdir(joined(place, "nothing"), 0755);
    umount2(joined(place, "present"), MNT_DETACH);
    mkdir(lower, 0755);
    for (int index = 0; index < PAIR_BITS; index++) {
        char path[600];
        snprintf(path, sizeof path, "%s/%d", lower, index);
        int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
        if (file < 0) return false;
        close(file);
    }
    return mount("redteam", joined(place, "present"), "overlay", MS_NOSUID | MS_RDONLY, options) == 0;
}

static void send_present(uint64_t seed) {
    struct stat status;
    if (on_control() && !lay_names()) return;
    for (int index = 0; index < PAIR_BITS; index++)
        if (message_bit(seed, index)) (void)!stat(present(index), &status);
}

static bool receive_present(unsigned char *bytes) {
    static long times[PAIR_BITS];
    struct stat status;
    for (int index = 0; index < PAIR_BITS; index++) {
        const char *path = present(index);
        long before = nanoseconds();
        bool is_there = stat(path, &status) == 0;
        times[index] = nanoseconds() - before;
        if (!is_there) return false;
    }
    cut(times, bytes);
    return true;
}

// MARK: pages in memory

// The control has a file of its own on a disk, whose pages it puts out of memory first (the file is the
// run's, so nobody else's pages go); sandboxes have a library of the same name each.
static void evict(int file) {
    fsync(file);
    syscall(SYS_fadvise64, file, 0, 0, 4 /* DONTNEED */);
}

static void send_pages(uint64_t seed) {
    int file = open(setting("pages"), O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    if (on_control()) evict(file);
    syscall(SYS_fadvise64, file, 0, 0, 1 /* RANDOM */);
    char byte;
    for (int index = 0; index < PAIR_BITS; index++)
        if (message_bit(seed, index)) (void)!pread(file, &byte, 1, index * 4096L);
    close(file);
}

static bool receive_pages(unsigned char *bytes) {
    static long times[PAIR_BITS];
    int file = open(setting("pages"), O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    // Without read-ahead a page says nothing about its neighbours.
    syscall(SYS_fadvise64, file, 0, 0, 1 /* RANDOM */);
    char byte;
    for (int index = 0; index < PAIR_BITS; index++) {
        long before = nanoseconds();
        (void)!pread(file, &byte, 1, index * 4096L);
        times[index] = nanoseconds() - before;
    }
    close(file);
    cut(times, bytes);
    return true;
}

const struct channel timing_channels[] = {
    {"names", send_names, receive_names, NULL},
    {"present-names", send_present, receive_present, NULL},
    {"pages", send_pages, receive_pages, NULL},
    {NULL, NULL, NULL, NULL},
};

// MARK: counters

static void fork_times(long count) {
    for (long made = 0; made < count; made++) {
        pid_t child = fork();
        if (child == 0) _exit(0);
        if (child > 0) waitpid(child, NULL, 0);
    }
}

static void send_forks(uint64_t seed) { fork_times(PAIR_VALUE(seed) * 64); }

// The count of all processes ever made (proc(5), /proc/stat).
static bool read_forks(long *number) {
    FILE *file = fopen("/proc/stat", "re");
    if (file == NULL) return false;
    char line[8192];
    bool found = false;
    while (!found && fgets(line, sizeof line, file) != NULL)
        found = sscanf(line, "processes %ld", number) == 1;
    fclose(file);
    return found;
}

static bool read_last_id(long *number) {
    pid_t child = fork();
    if (child == 0) _exit(0);
    if (child < 0) return false;
    waitpid(child, NULL, 0);
    *number = child;
    return true;
}

static void send_inodes(uint64_t seed) {
    for (long made = 0; made < PAIR_VALUE(seed) * 64; made++) {
        const char *path = joined(setting("writable"), ".inode");
        close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
        unlink(path);
    }
}

static bool read_inode(long *number) {
    struct stat status;
    const char *path = joined(setting("writable"), ".inode");
    int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0 || fstat(file, &status) != 0) return false;
    close(file);
    unlink(path);
    *number = (long)status.st_ino;
    return true;
}

// Pipes and sockets take their numbers from counters of the whole kernel, a thousand at a time for
// each processor (fs/inode.c, get_next_ino).
static void send_pipes(uint64_t seed) {
    int ends[2];
    for (long made = 0; made < PAIR_VALUE(seed) * 4096; made++) {
        if (pipe(ends) != 0) return;
        close(ends[0]);
        close(ends[1]);
    }
}

static bool read_pipe(long *number) {
    struct stat status;
    long newest = 0;
    int ends[2];
    // Past what each processor has in stock.
    for (int made = 0; made < 2100; made++) {
        if (pipe(ends) != 0 || fstat(ends[0], &status) != 0) return false;
        if ((long)status.st_ino > newest) newest = (long)status.st_ino;
        close(ends[0]);
        close(ends[1]);
    }
    *number = newest;
    return true;
}

// Shared memory without a name has numbers from a counter of its own (mm/shmem.c, ino_batch).
static void send_shared_pages(uint64_t seed) {
    for (long made = 0; made < PAIR_VALUE(seed) * 4096; made++) {
        void *page = mmap(NULL, 4096, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (page == MAP_FAILED) return;
        munmap(page, 4096);
    }
}

static bool read_shared_page(long *number) {
    send_shared_pages(1);  // past what this processor has in stock
    void *page = mmap(NULL, 4096, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    FILE *maps = fopen("/proc/self/maps", "re");
    if (page == MAP_FAILED || maps == NULL) return false;
    char line[512];
    bool found = false;
    while (!found && fgets(line, sizeof line, maps) != NULL) {
        unsigned long start, inode;
        if (sscanf(line, "%lx-%*x %*s %*x %*s %lu", &start, &inode) != 2) continue;
        if (start != (unsigned long)page) continue;
        *number = (long)inode;
        found = true;
    }
    fclose(maps);
    munmap(page, 4096);
    return found;
}

static void send_space(uint64_t seed) {
    static char page[65536];
    int file = open(joined(setting("writable"), ".space"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    for (long made = 0; made < PAIR_VALUE(seed) && file >= 0; made++)
        if (write(file, page, sizeof page) != (ssize_t)sizeof page) break;
    if (file >= 0) close(file);
}

static bool read_space(long *number) {
    struct statfs status;
    const char *path = setting("writable");
    if (statfs(path, &status) != 0) return false;
    *number = -(long)(status.f_bfree * (unsigned long)status.f_bsize / 65536);
    return true;
}

static void send_processes(uint64_t seed) {
    // Those that stay are counted; on the control they end with its first process.
    for (long made = 0; made < PAIR_VALUE(seed); made++) {
        fflush(stdout);
        if (fork() == 0) {
            sleep(2);
            _exit(0);
        }
    }
}

static bool read_processes(long *number) {
    struct sysinfo totals;
    if (sysinfo(&totals) != 0) return false;
    *number = totals.procs;
    return true;
}

const struct channel number_channels[] = {
    {"forks", send_forks, NULL, read_forks},
    {"process-ids", send_forks, NULL, read_last_id},
    {"inodes", send_inodes, NULL, read_inode},
    {"pipe-inodes", send_pipes, NULL, read_pipe},
    {"shared-page-inodes", send_shared_pages, NULL, read_shared_page},
    {"free-space", send_space, NULL, read_space},
    {"process-count", send_processes, NULL, read_processes},
    {NULL, NULL, NULL, NULL},
};
