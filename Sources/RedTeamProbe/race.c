// The race over a mount's source: a directory that changes between the look and the mount.

#include "probe.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static pid_t swapper;

static bool write_line(const char *path, const char *text) {
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    bool written = file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text);
    if (file >= 0) close(file);
    return written;
}

// RACE/data holds what may be seen, RACE/other what may not; RACE/link leads to the other.
bool make_race(const char *directory) {
    char race[512];
    snprintf(race, sizeof race, "%s", joined(directory, "race"));
    struct stat status;
    char number[32];
    if (mkdir(race, 0755) != 0 || mkdir(joined(race, "data"), 0755) != 0
        || mkdir(joined(race, "other"), 0755) != 0
        || symlink("other", joined(race, "link")) != 0
        || !write_line(joined(joined(race, "data"), "which"), "checked")
        || !write_line(joined(joined(race, "other"), "which"), setting("word"))
        || stat(joined(race, "data"), &status) != 0)
        return false;
    set_setting("race", race);
    snprintf(number, sizeof number, "%lu", (unsigned long)status.st_dev);
    set_setting("race-device", number);
    snprintf(number, sizeof number, "%lu", (unsigned long)status.st_ino);
    set_setting("race-inode", number);
    return true;
}

static void swap_for_ever(const char *race, const char *variant) {
    char data[512], other[512], link[512];
    snprintf(data, sizeof data, "%s", joined(race, "data"));
    snprintf(other, sizeof other, "%s", joined(race, "other"));
    snprintf(link, sizeof link, "%s", joined(race, "link"));
    for (unsigned long turn = 0;; turn++) {
        bool by_link = strcmp(variant, "link") == 0 || (variant[0] == 0 && turn % 2 == 0);
        const char *with = by_link ? link : other;
        // RENAME_EXCHANGE: there is a "data" at every moment.
        for (int half = 0; half < 2; half++)
            if (syscall(SYS_renameat2, AT_FDCWD, data, AT_FDCWD, with, 2) != 0) _exit(1);
    }
}

int start_swapping(const char *directory, const char *variant) {
    swapper = fork();
    if (swapper == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        swap_for_ever(joined(directory, "race"), variant);
    }
    return swapper;
}

static void end_swapping(void) {
    if (swapper <= 0) return;
    kill(swapper, SIGKILL);
    waitpid(swapper, NULL, 0);
    swapper = 0;
}

void remove_race(const char *directory) {
    static const char *const folders[] = {"data", "other", "link"};
    end_swapping();
    char race[512];
    snprintf(race, sizeof race, "%s", joined(directory, "race"));
    for (size_t index = 0; index < sizeof folders / sizeof *folders; index++) {
        char path[512];
        snprintf(path, sizeof path, "%s", joined(race, folders[index]));
        // One of the names is the link, wherever the swapping stopped.
        if (unlink(path) == 0) continue;
        unlink(joined(path, "which"));
        rmdir(path);
    }
    rmdir(race);
}

// On the control, whoever opens by path sees the other file soon; in a sandbox there is one look.
static struct answer swap_source(const char *variant) {
    if (!on_control()) return read_secret("/race/which");
    const char *directory = setting("writable");
    if (!make_race(directory) || start_swapping(directory, variant) <= 0) return broken("race");
    struct answer answer = absent();
    for (int turn = 0; turn < 200000 && answer.verdict != WORKS; turn++)
        answer = read_secret(joined(joined(setting("race"), "data"), "which"));
    remove_race(directory);
    return answer;
}

const struct probe race_probes[] = {
    {"files.swap-source", swap_source},
    {NULL, NULL},
};
