// Attacks through what a process was started with: descriptors, working directory, environment.

#include "probe.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

extern char **environ;

// Descriptors that nobody listed. "listed" is the highest number of the plan's slots; the one that
// reports this answer is the only other.
static struct answer stray(const char *variant) {
    (void)variant;
    int listed = on_control() ? 2 : atoi(setting("listed"));
    if (on_control()) fcntl(0, F_DUPFD, 40);
    int own = 0, found = 0;
    char path[64], text[256];
    for (int number = listed + 1; number < 4096; number++) {
        if (fcntl(number, F_GETFD) < 0) continue;
        snprintf(path, sizeof path, "/proc/self/fd/%d", number);
        ssize_t length = readlink(path, text, sizeof text - 1);
        text[length < 0 ? 0 : length] = 0;
        if (strncmp(text, "pipe:", 5) == 0 && own == 0 && number < 40) own = number;
        else found = number;
    }
    return found != 0 ? works() : absent();
}

// A directory from outside among the descriptors: a way around every path.
static struct answer directories(const char *variant) {
    (void)variant;
    if (on_control()) open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct stat status;
    for (int number = 0; number < 4096; number++)
        if (fstat(number, &status) == 0 && S_ISDIR(status.st_mode)) return works();
    return absent();
}

static struct answer outside_directory(const char *variant) {
    (void)variant;
    char text[512];
    if (on_control()) {
        // A directory that is not below the root any more.
        const char *gone = joined(setting("writable"), "gone");
        mkdir(gone, 0755);
        if (chdir(gone) != 0 || rmdir(gone) != 0) return broken("chdir");
    }
    ssize_t length = readlink("/proc/self/cwd", text, sizeof text - 1);
    if (length < 0) return refused("readlink");
    text[length] = 0;
    bool is_outside = strstr(text, "(deleted)") != NULL || strstr(text, "(unreachable)") != NULL;
    return is_outside ? works() : absent();
}

// Names of variables that look like a secret's.
static struct answer environment(const char *variant) {
    (void)variant;
    static const char *const parts[] = {"KEY", "TOKEN", "SECRET", "PASSWORD", "SSH_", "SUDO_",
                                        "DBUS_", "XDG_", "INVIGILATOR"};
    if (on_control()) setenv("PROBE_SECRET", "1", 1);
    for (char **entry = environ; *entry != NULL; entry++)
        for (size_t index = 0; index < sizeof parts / sizeof *parts; index++) {
            const char *found = strstr(*entry, parts[index]);
            if (found != NULL && found < strchr(*entry, '=')) return works();
        }
    return absent();
}

const struct probe descriptor_probes[] = {
    {"descriptors.stray", stray},
    {"descriptors.directories", directories},
    {"descriptors.outside-directory", outside_directory},
    {"descriptors.environment", environment},
    {NULL, NULL},
};
