// Runs attacks, each in a process of its own: one may cost its process rights, parent or life, and a
// deadly signal is an answer like any other. One line for each, separated by tabs:
//   answer ID VERDICT VALUE DETAIL

#include "probe.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>

// MARK: settings

static struct {
    char name[32];
    char value[256];
} settings[64];

const char *setting(const char *name) {
    for (size_t index = 0; index < sizeof settings / sizeof *settings; index++)
        if (strcmp(settings[index].name, name) == 0) return settings[index].value;
    return "";
}

void set_setting(const char *name, const char *value) {
    for (size_t index = 0; index < sizeof settings / sizeof *settings; index++) {
        if (settings[index].name[0] != 0 && strcmp(settings[index].name, name) != 0) continue;
        snprintf(settings[index].name, sizeof settings[index].name, "%s", name);
        snprintf(settings[index].value, sizeof settings[index].value, "%s", value);
        return;
    }
}

bool on_control(void) { return strcmp(setting("role"), "control") == 0; }

const char *joined(const char *directory, const char *name) {
    static char paths[16][512];
    static int next;
    char *path = paths[next++ % 16];
    snprintf(path, sizeof paths[0], "%s%s%s", strcmp(directory, "/") == 0 ? "" : directory, "/", name);
    return path;
}

// MARK: what several families do

struct answer open_path(const char *path, int flags) {
    int file = open(path, flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0644);
    if (file < 0) return refused("open");
    close(file);
    return works();
}

// A cover over a file of procfs is of another file system, and has nothing of the host's in it.
struct answer open_kernel_file(const char *path, int flags) {
    struct answer answer = open_path(path, flags);
    struct stat procfs, status;
    bool is_cover = strncmp(path, "/proc/", 6) == 0 && stat("/proc", &procfs) == 0
        && stat(path, &status) == 0 && status.st_dev != procfs.st_dev;
    return answer.verdict == WORKS && is_cover ? absent() : answer;
}

// Opens a file and compares it with the secret that the command made.
struct answer read_secret(const char *path) {
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) return refused("open");
    char text[128] = {0};
    ssize_t length = read(file, text, sizeof text - 1);
    if (length < 0) return refused("read");
    return strstr(text, setting("word")) != NULL ? works() : absent();
}

// MARK: running

static void print_answer(const char *id, const struct answer *answer) {
    static const char *const words[] = {"works", "errno", "absent", "lacks", "broken"};
    const char *name = "-";
    if (answer->verdict == REFUSED || answer->error != 0) name = strerrorname_np(answer->error);
    printf("answer\t%s\t%s\t%s\t%s\n", id, words[answer->verdict], name != NULL ? name : "-",
           answer->detail);
}

static void run_one(const char *id) {
    int ends[2];
    struct answer answer = broken("no process");
    if (pipe2(ends, O_CLOEXEC) != 0) {
        print_answer(id, &answer);
        return;
    }
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        // A session of its own where that is allowed: no terminal to harm, and one group to end.
        setsid();
        answer = perform(id);
        _exit(write(ends[1], &answer, sizeof answer) == sizeof answer ? 0 : 1);
    }
    close(ends[1]);
    struct pollfd waiting = {.fd = ends[0], .events = POLLIN};
    bool in_time = child > 0 && poll(&waiting, 1, 20000) > 0;
    bool complete = in_time && read(ends[0], &answer, sizeof answer) == sizeof answer;
    close(ends[0]);
    int status = 0;
    if (child > 0) {
        if (!in_time) kill(child, SIGKILL);
        waitpid(child, &status, 0);
        kill(-child, SIGKILL);
    }
    if (complete) {
        print_answer(id, &answer);
    } else if (child > 0 && !in_time) {
        printf("answer\t%s\ttimeout\t-\t\n", id);
    } else if (child > 0 && WIFSIGNALED(status)) {
        printf("answer\t%s\tsignal\tSIG%s\t\n", id, sigabbrev_np(WTERMSIG(status)));
    } else {
        print_answer(id, &answer);
    }
}

int run_probes(int count, char **ids) {
    signal(SIGPIPE, SIG_IGN);
    for (int index = 0; index < count; index++) run_one(ids[index]);
    puts("end");
    end_victims();
    return 0;
}
