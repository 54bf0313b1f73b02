// How long calls take, for `scripts/bench calls`: the same loops under a filter, without one, and under the
// shortest filter there is, which shows what the kernel takes for having one at all.

#include "probe.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>

static long nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000L + now.tv_nsec;
}

// The least of ten rounds: what else the machine does only adds to a round.
static double least(long count, int file) {
    double best = 0;
    char byte;
    for (int round = 0; round < 10; round++) {
        long before = nanoseconds();
        for (long made = 0; made < count; made++) {
            if (file < 0) syscall(SYS_getppid);
            else if (syscall(SYS_read, file, &byte, 1) != 1) return -1;
        }
        double each = (double)(nanoseconds() - before) / (double)count;
        if (round == 0 || each < best) best = each;
    }
    return best;
}

static bool allow_everything(void) {
    struct sock_filter rule = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {1, &rule};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
        && syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}

int run_timing(const char *word, bool has_shortest_filter) {
    long count = strtol(word, NULL, 10);
    int file = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    if (count < 1 || file < 0 || (has_shortest_filter && !allow_everything())) return 2;
    printf("getppid\t%.1f\nread\t%.1f\n", least(count, -1), least(count, file));
    return 0;
}
