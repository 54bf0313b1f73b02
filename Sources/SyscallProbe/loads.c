// Programs that use much of something, end in some way, or go on until they are stopped.

#include "probe.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void wait_for_ever(void) {
    for (;;) pause();
}

static int leave(int count, char **words) { return count == 1 ? atoi(words[0]) : -1; }

static int raise_signal(int count, char **words) {
    if (count != 1) return -1;
    signal(atoi(words[0]), SIG_DFL);
    kill(getpid(), atoi(words[0]));
    return 1;
}

static int eat(int count, char **words) {
    if (count != 1) return -1;
    for (long part = 0; part < atol(words[0]); part++) {
        char *bytes = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (bytes == MAP_FAILED) {
            report("eat", -1);
            return 1;
        }
        memset(bytes, 1, 1 << 20);
    }
    printf("eaten=%s\n", words[0]);
    return 0;
}

// Has one child after another eat until it is killed for it, so many times, and then ends well.
static int eat_again(int count, char **words) {
    if (count != 1) return -1;
    for (int round = 0; round < atoi(words[0]); round++) {
        char *much[] = {"1000000"};
        pid_t child = fork();
        if (child == 0) _exit(eat(1, much));
        if (child < 0 || waitpid(child, NULL, 0) != child) return 1;
    }
    return 0;
}

// Makes children that wait; prints how many there could be, then waits too.
static int crowd(int count, char **words) {
    if (count != 1) return -1;
    int made = 0;
    for (; made < atoi(words[0]); made++) {
        pid_t child = fork();
        if (child == 0) wait_for_ever();
        if (child < 0) break;
    }
    report("fork", made == atoi(words[0]) ? 0 : -1);
    printf("made=%d\n", made);
    fflush(stdout);
    wait_for_ever();
    return 0;
}

// Forks from every process, for ever; a child that cannot fork tries again.
static int bomb(int count, char **words) {
    (void)count, (void)words;
    for (;;) (void)!fork();
    return 0;
}

// Tries to make more processes than it may and says so by its exit code.
static int overfork(int count, char **words) {
    if (count != 1) return -1;
    for (int made = 0; made < atoi(words[0]); made++) {
        pid_t child = fork();
        if (child == 0) wait_for_ever();
        if (child < 0) return 11;
    }
    return 0;
}

static int spin(int count, char **words) {
    (void)count, (void)words;
    for (volatile unsigned long turns = 0;; turns++) {}
    return 0;
}

static int spin_for(int count, char **words) {
    if (count != 1) return -1;
    struct timespec used;
    do clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    while (used.tv_sec * 1000 + used.tv_nsec / 1000000 < atol(words[0]));
    return 0;
}

static int print_bytes(int count, char **words) {
    if (count != 1) return -1;
    static char part[65536];
    memset(part, 'x', sizeof part);
    for (long left = atol(words[0]); left > 0;) {
        size_t wanted = left < (long)sizeof part ? (size_t)left : sizeof part;
        ssize_t taken = write(1, part, wanted);
        if (taken < 0) return 1;
        left -= taken;
    }
    return 0;
}

static int wait_quietly(int count, char **words) {
    (void)count, (void)words;
    for (int number = 1; number < 32; number++) signal(number, SIG_IGN);
    printf("waiting\n");
    fflush(stdout);
    wait_for_ever();
    return 0;
}

// One line every few milliseconds, from each of several processes.
static int tick(int count, char **words) {
    if (count != 1) return -1;
    for (int other = 1; other < atoi(words[0]); other++)
        if (fork() == 0) break;
    struct timespec pause = {.tv_nsec = 2000000};
    for (;;) {
        if (write(1, "t\n", 2) < 0) return 1;
        nanosleep(&pause, NULL);
    }
}

static int echo(int count, char **words) {
    (void)count, (void)words;
    char part[4096];
    for (ssize_t length; (length = read(0, part, sizeof part)) > 0;)
        if (write(1, part, (size_t)length) != length) return 1;
    return 0;
}

// Writes words to a numbered descriptor.
static int say(int count, char **words) {
    if (count != 2) return -1;
    size_t length = strlen(words[1]);
    return write(atoi(words[0]), words[1], length) == (ssize_t)length ? 0 : 1;
}

// Leaves a child behind that outlives it, and exits.
static int abandon(int count, char **words) {
    (void)count, (void)words;
    pid_t child = fork();
    if (child == 0) {
        setsid();
        wait_for_ever();
    }
    return child < 0 ? 1 : 0;
}

const struct verb load_verbs[] = {
    {"exit", leave},      {"raise", raise_signal}, {"eat", eat},          {"crowd", crowd},
    {"eat-again", eat_again},
    {"bomb", bomb},       {"overfork", overfork},  {"spin", spin},        {"spin-for", spin_for},
    {"print", print_bytes}, {"wait", wait_quietly}, {"tick", tick},       {"echo", echo},
    {"say", say},         {"abandon", abandon},    {NULL, NULL}};
