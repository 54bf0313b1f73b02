// Finds the verb and refuses to run it anywhere but in a sandbox or on a control made for the test.

#include "probe.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

// Inode number of the first process namespace (include/linux/proc_ns.h, PROC_PID_INIT_INO).
static const unsigned long first_pid_namespace = 0xEFFFFFFCUL;

static bool status_says(const char *line) {
    FILE *file = fopen("/proc/self/status", "re");
    if (file == NULL) return false;
    char text[256];
    bool found = false;
    while (fgets(text, sizeof text, file) != NULL) found = found || strcmp(text, line) == 0;
    fclose(file);
    return found;
}

// Contained: no new privileges, and a process namespace that is not the machine's, or one without a procfs,
// whose first process is our parent; the machine has one.
static bool is_contained(void) {
    struct stat own;
    if (access("/proc/self", F_OK) != 0 && errno == ENOENT)
        return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 && getppid() == 1;
    if (!status_says("NoNewPrivs:\t1\n") || stat("/proc/self/ns/pid", &own) != 0) return false;
    return own.st_ino != first_pid_namespace;
}

// A control: said so explicitly, by naming the mount namespace that this process must not be in.
static bool is_control(const char *outside) {
    struct stat own, first;
    if (stat("/proc/self/ns/mnt", &own) != 0) return false;
    if (own.st_ino == strtoul(outside, NULL, 10)) return false;
    // Without the right to look at the first process, the caller's word has to do.
    return stat("/proc/1/ns/mnt", &first) != 0 || own.st_ino != first.st_ino;
}

int perform(const char *name, int count, char **words) {
    const struct verb *tables[] = {fact_verbs, file_verbs, call_verbs, load_verbs, entry_verbs};
    for (size_t table = 0; table < sizeof tables / sizeof *tables; table++)
        for (const struct verb *verb = tables[table]; verb->name != NULL; verb++)
            if (strcmp(verb->name, name) == 0) return verb->body(count, words);
    return -1;
}

int main(int count, char **words) {
    int first = 1;
    if (count > 2 && strcmp(words[1], "--control") == 0 && is_control(words[2])) {
        first = 3;
    } else if (!is_contained()) {
        fprintf(stderr,
                "SyscallProbe: start: this process is not contained; it runs in a sandbox, or with "
                "--control NAMESPACE in a mount namespace that is not that one\n");
        return 77;
    }
    int answer = -1;
    if (first < count) answer = perform(words[first], count - first - 1, words + first + 1);
    if (answer < 0) {
        fprintf(stderr, "SyscallProbe: no such verb, or wrong words for it\n");
        return 2;
    }
    return answer;
}
