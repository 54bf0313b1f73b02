// What a process is: ids, capabilities, namespaces, limits, descriptors, environment, terminal.

#include "probe.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

extern char **environ;

static void print_link(const char *key, const char *path) {
    char text[512];
    ssize_t length = readlink(path, text, sizeof text - 1);
    if (length < 0) {
        report(key, length);
        return;
    }
    text[length] = 0;
    printf("%s=%s\n", key, text);
}

static void print_status_lines(void) {
    static const char *const wanted[] = {"CapInh", "CapPrm",     "CapEff",  "CapBnd",
                                         "CapAmb", "NoNewPrivs", "Seccomp", "Groups"};
    FILE *file = fopen("/proc/self/status", "re");
    if (file == NULL) return;
    char text[512];
    while (fgets(text, sizeof text, file) != NULL) {
        char *colon = strchr(text, ':');
        if (colon == NULL) continue;
        *colon = 0;
        for (size_t index = 0; index < sizeof wanted / sizeof *wanted; index++) {
            if (strcmp(text, wanted[index]) != 0) continue;
            char *value = colon + 1 + strspn(colon + 1, " \t");
            value[strcspn(value, "\n")] = 0;
            printf("%s=%s\n", text, value);
        }
    }
    fclose(file);
}

static void print_limit(const char *key, int resource) {
    struct rlimit limit;
    if (getrlimit(resource, &limit) == 0)
        printf("%s=%llu,%llu\n", key, (unsigned long long)limit.rlim_cur,
               (unsigned long long)limit.rlim_max);
}

static int facts(int count, char **words) {
    (void)count, (void)words;
    uid_t user[3];
    gid_t group[3];
    if (getresuid(user, user + 1, user + 2) != 0 || getresgid(group, group + 1, group + 2) != 0)
        return 1;
    printf("pid=%d\nppid=%d\n", getpid(), getppid());
    printf("uids=%u,%u,%u\ngids=%u,%u,%u\n", user[0], user[1], user[2], group[0], group[1],
           group[2]);
    print_status_lines();
    printf("securebits=%#x\n", (unsigned)prctl(PR_GET_SECUREBITS, 0, 0, 0, 0));
    printf("bounding=");
    for (int capability = 0; prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; capability++)
        if (prctl(PR_CAPBSET_READ, capability, 0, 0, 0) > 0) printf("%d,", capability);
    printf("\n");
    static const char *const namespaces[] = {"user", "mnt", "pid", "net", "ipc", "uts", "cgroup"};
    for (size_t index = 0; index < sizeof namespaces / sizeof *namespaces; index++) {
        char path[64], key[32];
        snprintf(path, sizeof path, "/proc/self/ns/%s", namespaces[index]);
        snprintf(key, sizeof key, "ns.%s", namespaces[index]);
        print_link(key, path);
    }
    print_link("cwd", "/proc/self/cwd");
    print_limit("core", RLIMIT_CORE);
    print_limit("files", RLIMIT_NOFILE);
    print_limit("size", RLIMIT_FSIZE);
    print_limit("signals", RLIMIT_SIGPENDING);
    struct utsname name;
    if (uname(&name) == 0) printf("host=%s\n", name.nodename);
    return 0;
}

static int descriptors(int count, char **words) {
    (void)count, (void)words;
    for (int number = 0; number < 4096; number++) {
        if (fcntl(number, F_GETFD) < 0) continue;
        char path[64], key[32];
        snprintf(path, sizeof path, "/proc/self/fd/%d", number);
        snprintf(key, sizeof key, "fd.%d", number);
        print_link(key, path);
    }
    return 0;
}

static int environment(int count, char **words) {
    (void)count, (void)words;
    for (char **entry = environ; *entry != NULL; entry++) printf("env.%s\n", *entry);
    return 0;
}

static volatile sig_atomic_t was_resized;

static void on_resize(int signal) {
    (void)signal;
    was_resized = 1;
}

// Prints what the streams are; with the word "wait", again after the window's size has changed.
static int terminal(int count, char **words) {
    sigset_t blocked, before;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGWINCH);
    sigprocmask(SIG_BLOCK, &blocked, &before);
    struct sigaction action = {.sa_handler = on_resize};
    sigaction(SIGWINCH, &action, NULL);
    for (int number = 0; number < 3; number++) printf("tty.%d=%d\n", number, isatty(number));
    struct winsize size = {0};
    printf("session=%d\nleader=%d\n", getsid(0), getpid());
    fflush(stdout);
    while (count > 0 && strcmp(words[0], "wait") == 0 && !was_resized) sigsuspend(&before);
    if (ioctl(0, TIOCGWINSZ, &size) == 0) printf("window=%dx%d\n", size.ws_row, size.ws_col);
    return 0;
}

const struct verb fact_verbs[] = {{"facts", facts},
                                  {"descriptors", descriptors},
                                  {"environment", environment},
                                  {"terminal", terminal},
                                  {NULL, NULL}};
