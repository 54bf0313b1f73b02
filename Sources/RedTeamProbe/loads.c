// Programs that are a launch of their own, because the whole sandbox is what they end: hogs, floods, and
// those that will not go. The last line they print says that they got through.

#include "probe.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <time.h>

static int survived(void) {
    static const char line[] = "survived\n";
    return write(1, line, sizeof line - 1) == (ssize_t)sizeof line - 1 ? 0 : 1;
}

// Whether the host has twice as much to spare. Nothing limits a control, so it asks first, and offers
// itself to the kernel should it have been wrong.
static bool may_eat(long mebibytes) {
    struct sysinfo totals;
    int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    bool offered = score >= 0 && write(score, "1000", 4) == 4;
    if (score >= 0) close(score);
    if (!offered || sysinfo(&totals) != 0) return false;
    return (long)((totals.freeram * totals.mem_unit) >> 20) > 2 * mebibytes;
}

// Touches so many mebibytes, and returns how many it got.
static long touch(long mebibytes, char **bytes) {
    for (long part = 0; part < mebibytes; part++) {
        bytes[part] =
            mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (bytes[part] == MAP_FAILED) return part;
        memset(bytes[part], 1, 1 << 20);
    }
    return mebibytes;
}

// Takes so many mebibytes. Where a process gets no more, another goes on, and the first one keeps what it
// has: a limit of each process is no limit of all.
static int eat(long mebibytes) {
    static char *bytes[4096];
    if (mebibytes > (long)(sizeof bytes / sizeof *bytes)) return 2;
    if (on_control() && !may_eat(mebibytes)) {
        puts("lacks");
        return 0;
    }
    long taken = touch(mebibytes, bytes);
    if (taken == mebibytes) return survived();
    pid_t next = taken == 0 ? -1 : fork();
    if (next < 0) return 1;
    if (next == 0) {
        for (long part = 0; part < taken; part++) munmap(bytes[part], 1 << 20);
        _exit(eat(mebibytes - taken));
    }
    int status = 1;
    return waitpid(next, &status, 0) == next && status == 0 ? 0 : 1;
}

static void wait_milliseconds(long count) {
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += count / 1000;
    end.tv_nsec += count % 1000 * 1000000;
    if (end.tv_nsec >= 1000000000) end.tv_sec++, end.tv_nsec -= 1000000000;
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL) == EINTR) {}
}

// Each way takes a number of a counter of the whole host, also where the call fails for another reason.
static bool take_pipe(void) {
    int ends[2];
    if (pipe(ends) != 0) return false;
    close(ends[0]);
    close(ends[1]);
    return true;
}
static bool take_socket(void) {
    int made = socket(AF_UNIX, SOCK_DGRAM, 255);
    return made < 0 && errno == EPROTONOSUPPORT;
}
static bool take_map(void) {
    void *map = mmap(NULL, 4096, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return map != MAP_FAILED && munmap(map, 4096) == 0;
}

static int take_objects(long count) {
    bool (*const ways[])(void) = {take_pipe, take_socket, take_map};
    for (long taken = 0; taken < count; taken++)
        if (!ways[taken % 3]()) return 1;
    return survived();
}

// Ignores whatever can be ignored, and outlives its time if it may.
static int swallow_signals(long milliseconds) {
    for (int number = 1; number < 65; number++) signal(number, SIG_IGN);
    wait_milliseconds(milliseconds);
    return survived();
}

// Stopped, it takes no time of its own; another process wakes it late.
static int stop_itself(long milliseconds) {
    pid_t stopped = getpid();
    if (fork() == 0) {
        wait_milliseconds(milliseconds);
        kill(stopped, SIGCONT);
        _exit(0);
    }
    raise(SIGSTOP);
    return survived();
}

// A child that has left the family goes on after everybody is gone, and says so.
static int leave_daemon(long milliseconds) {
    if (fork() == 0) {
        setsid();
        for (int number = 1; number < 65; number++) signal(number, SIG_IGN);
        if (fork() != 0) _exit(0);
        wait_milliseconds(milliseconds);
        _exit(survived());
    }
    return 0;
}

static int print_much(long mebibytes) {
    static char part[1 << 16];
    memset(part, 'x', sizeof part);
    part[sizeof part - 1] = '\n';
    for (long left = mebibytes << 4; left > 0; left--)
        for (size_t done = 0; done < sizeof part;) {
            ssize_t taken = write(1, part + done, sizeof part - done);
            if (taken < 0) return 1;
            done += (size_t)taken;
        }
    return survived();
}

// load WORD NUMBER; on the control a process 1 of its own waits for what is left behind.
int run_load(int count, char **words) {
    static const struct {
        const char *name;
        int (*body)(long);
    } loads[] = {{"eat", eat},
                 {"swallow-signals", swallow_signals},
                 {"stop-itself", stop_itself},
                 {"leave-daemon", leave_daemon},
                 {"print", print_much},
                 {"take-objects", take_objects}};
    if (count != 2) return 2;
    for (size_t index = 0; index < sizeof loads / sizeof *loads; index++)
        if (strcmp(loads[index].name, words[0]) == 0) {
            int code = loads[index].body(atol(words[1]));
            // The control's first process ends when this one does, and its namespace with it.
            if (on_control() && strcmp(words[0], "leave-daemon") == 0)
                wait_milliseconds(atol(words[1]) + 300);
            return code;
        }
    return 2;
}
