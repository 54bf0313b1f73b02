// Reads the command line, refuses to attack anything but a sandbox or a control, runs the attacks.
//
//   invigilator-probe list
//   invigilator-probe run [--without-filter] NAME=VALUE... ID[/VARIANT]...     inside a sandbox
//   invigilator-probe control DIRECTORY TOKEN NAME=VALUE... ID[/VARIANT]...    as root, outside
//   invigilator-probe victims DIRECTORY TOKEN                                  as root, outside
//   invigilator-probe load [--without-filter] WORD...                          inside a sandbox
//   invigilator-probe time|time-allowed COUNT                                  anywhere; attacks nothing
//
// Exit code 77: it is neither contained nor on a control. 2: wrong words.

#include "probe.h"

#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/stat.h>

static const struct probe *const families[] = {
    file_probes,     mount_probes,      process_probes,    namespace_probes, capability_probes,
    socket_probes,   terminal_probes,   descriptor_probes, key_probes,       ipc_probes,
    credential_probes, kernel_file_probes, exhaustion_probes, endpoint_probes, race_probes,
};

struct answer perform(const char *id) {
    char name[96];
    strncpy(name, id, sizeof name - 1);
    name[sizeof name - 1] = 0;
    char *variant = strchr(name, '/');
    if (variant != NULL) *variant++ = 0;
    if (strncmp(name, "calls.", 6) == 0) return sweep_call(name, variant != NULL ? variant : "");
    for (size_t family = 0; family < sizeof families / sizeof *families; family++)
        for (const struct probe *probe = families[family]; probe->id != NULL; probe++)
            if (strcmp(probe->id, name) == 0) return probe->attack(variant != NULL ? variant : "");
    return broken("no such probe");
}

static int list(void) {
    for (size_t family = 0; family < sizeof families / sizeof *families; family++)
        for (const struct probe *probe = families[family]; probe->id != NULL; probe++)
            puts(probe->id);
    return 0;
}

// MARK: containment

static bool status_has(const char *line) {
    FILE *file = fopen("/proc/self/status", "re");
    if (file == NULL) return false;
    char text[256];
    bool found = false;
    while (fgets(text, sizeof text, file) != NULL) found = found || strcmp(text, line) == 0;
    fclose(file);
    return found;
}

// The first user namespace maps every id; no other one does (user_namespaces(7)).
static bool is_first_user_namespace(void) {
    FILE *file = fopen("/proc/self/uid_map", "re");
    if (file == NULL) return true;
    unsigned long inside = 0, outside = 0, count = 0;
    int read = fscanf(file, "%lu %lu %lu", &inside, &outside, &count);
    fclose(file);
    return read != 3 || count == 4294967295UL;
}

// No new privileges, a filter, and a user namespace that is not the machine's. A test-only build
// that leaves the filter out, and sandboxes of other programs, say so.
static bool is_contained(bool has_filter) {
    return status_has("NoNewPrivs:\t1\n") && !is_first_user_namespace()
        && (!has_filter || status_has("Seccomp:\t2\n"));
}

static int refuse(void) {
    fprintf(stderr,
            "invigilator-probe: start: this process is not contained; it is started by "
            "`invigilator redteam` and attacks nothing else\n");
    return 77;
}

// Takes NAME=VALUE words; returns how many there were.
static int take_settings(int count, char **words) {
    int taken = 0;
    for (; taken < count && strchr(words[taken], '=') != NULL; taken++) {
        char *equals = strchr(words[taken], '=');
        *equals = 0;
        set_setting(words[taken], equals + 1);
    }
    return taken;
}

static bool write_text(const char *path, const char *text) {
    int file = open(path, O_WRONLY | O_CLOEXEC);
    bool done = file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text);
    if (file >= 0) close(file);
    return done;
}

// An ordinary user's control and victims are root's of a user namespace that knows him alone.
static bool become_root_of_own_namespace(void) {
    char users[32], groups[32];
    snprintf(users, sizeof users, "0 %u 1", geteuid());
    snprintf(groups, sizeof groups, "0 %u 1", getegid());
    return unshare(CLONE_NEWUSER) == 0 && write_text("/proc/self/setgroups", "deny")
           && write_text("/proc/self/uid_map", users) && write_text("/proc/self/gid_map", groups);
}

int main(int count, char **words) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    const char *verb = count > 1 ? words[1] : "";
    if (strcmp(verb, "list") == 0) return list();
    if (strcmp(verb, "time") == 0 && count == 3) return run_timing(words[2], false);
    if (strcmp(verb, "time-allowed") == 0 && count == 3) return run_timing(words[2], true);
    bool is_host_side = strcmp(verb, "victims") == 0 || strcmp(verb, "control") == 0;
    if (is_host_side && geteuid() != 0 && !become_root_of_own_namespace()) {
        perror("invigilator-probe: make a user namespace");
        return 77;
    }
    if (strcmp(verb, "victims") == 0 && count == 4) return keep_victims(words[2], words[3]);
    if (strcmp(verb, "control") == 0 && count > 4) {
        int taken = take_settings(count - 4, words + 4);
        become_control(words[2], words[3]);
        if (strcmp(setting("load"), "1") == 0) return run_load(count - 4 - taken, words + 4 + taken);
        if (strcmp(setting("pair"), "1") == 0) return run_pair(count - 4 - taken, words + 4 + taken);
        return run_probes(count - 4 - taken, words + 4 + taken);
    }
    bool has_filter = count <= 2 || strcmp(words[2], "--without-filter") != 0;
    int first = has_filter ? 2 : 3;
    if (!is_contained(has_filter)) return refuse();
    first += take_settings(count - first, words + first);
    if (strcmp(verb, "run") == 0) return run_probes(count - first, words + first);
    if (strcmp(verb, "load") == 0) return run_load(count - first, words + first);
    if (strcmp(verb, "pair") == 0) return run_pair(count - first, words + first);
    fprintf(stderr, "invigilator-probe: no such verb\n");
    return 2;
}
