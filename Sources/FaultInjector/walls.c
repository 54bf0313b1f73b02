// Prints the walls around a process, from what /proc and the control groups show of it.

#define _GNU_SOURCE 1
#include "walls.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

static FILE *report;

// Prints a text without what differs from launch to launch: numbers in brackets name sockets, pipes
// and namespaces.
static void print_scrubbed(const char *text) {
    bool isInside = false;
    for (; *text != 0 && *text != '\n'; text++) {
        if (*text == ']') isInside = false;
        if (!isInside) fputc(*text, report);
        if (*text == '[') isInside = true;
    }
    fputc('\n', report);
}

static void print_file(const char *key, const char *path) {
    char text[4096];
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? -1 : read(file, text, sizeof text - 1);
    if (file >= 0) close(file);
    if (length < 0) return;
    text[length] = 0;
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        fprintf(report, "at %s ", key);
        print_scrubbed(line);
    }
}

// The ids of the host differ from launch to launch, but are one, and of the sandboxes' range.
static void print_ids(const char *line) {
    unsigned id[4];
    const char *numbers = line + 4;
    if (sscanf(numbers, "%u %u %u %u", id, id + 1, id + 2, id + 3) != 4) return;
    bool isOne = id[0] == id[1] && id[1] == id[2] && id[2] == id[3];
    if (isOne && id[0] >= 0x70100000 && id[0] < 0x7ff00000)
        fprintf(report, "%.3s of a sandbox\n", line);
    else
        fputs(line, report);
}

static void print_status(const char *who, pid_t pid) {
    static const char *const keys[] = {"Uid:",    "Gid:",    "Groups:", "SigBlk:",     "SigIgn:", "CapInh:",
                                       "CapPrm:", "CapEff:", "CapBnd:", "NoNewPrivs:", "CapAmb:", "Seccomp:",
                                       "Seccomp_filters:"};
    char path[64], line[256];
    snprintf(path, sizeof path, "/proc/%d/status", pid);
    FILE *file = fopen(path, "re");
    if (file == NULL) return;
    while (fgets(line, sizeof line, file) != NULL) {
        for (size_t index = 0; index < sizeof keys / sizeof *keys; index++) {
            if (strncmp(line, keys[index], strlen(keys[index])) != 0) continue;
            // Init lets no signal through but those of the kernel; what it ignores is the launcher's.
            if (strcmp(who, "init") == 0 && strncmp(line, "Sig", 3) == 0) continue;
            fprintf(report, "at %s ", who);
            if (index < 2) print_ids(line);
            else fputs(line, report);
        }
    }
    fclose(file);
}

static void print_descriptors(pid_t pid) {
    for (int number = 0; number < 256; number++) {
        char path[64], target[256];
        snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, number);
        ssize_t length = readlink(path, target, sizeof target - 1);
        if (length < 0) continue;
        target[length] = 0;
        fprintf(report, "at payload descriptor %d ", number);
        print_scrubbed(target);
    }
}

static void print_namespaces(const char *who, pid_t pid, pid_t outer) {
    static const char *const kinds[] = {"user", "mnt", "pid", "net", "ipc", "uts", "cgroup"};
    for (size_t index = 0; index < sizeof kinds / sizeof *kinds; index++) {
        char path[64], own[64] = "", others[64] = "";
        snprintf(path, sizeof path, "/proc/%d/ns/%s", pid, kinds[index]);
        if (readlink(path, own, sizeof own - 1) < 0) continue;
        snprintf(path, sizeof path, "/proc/%d/ns/%s", outer, kinds[index]);
        if (readlink(path, others, sizeof others - 1) < 0) continue;
        fprintf(report, "at %s %s %s\n", who, kinds[index], strcmp(own, others) == 0 ? "shared" : "own");
    }
}

// Each mount without its numbers: what is mounted where, of which type, with which flags.
static void print_mounts(pid_t pid) {
    char path[64], line[1024];
    snprintf(path, sizeof path, "/proc/%d/mountinfo", pid);
    FILE *file = fopen(path, "re");
    if (file == NULL) return;
    while (fgets(line, sizeof line, file) != NULL) {
        int start = 0;
        if (sscanf(line, "%*d %*d %*s %n", &start) < 0 || start == 0) continue;
        // A file system's own options name the ids of the host.
        char *dash = strstr(line, " - ");
        char *options = dash == NULL ? NULL : strchr(dash + 3, ' ');
        if (options != NULL) *options = 0;
        fprintf(report, "at mount %s\n", line + start);
    }
    fclose(file);
}

static void print_file_of(const char *key, pid_t pid, const char *name) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
    print_file(key, path);
}

// The limits of every group that the process is in, wherever the hierarchies of this host are.
static void print_groups(pid_t pid) {
    static const struct { const char *controller, *file; } files[] = {
        {"memory", "memory.limit_in_bytes"}, {"memory", "memory.memsw.limit_in_bytes"},
        {"pids", "pids.max"},                {"cpu", "cpu.cfs_quota_us"},
        {"cpu", "cpu.cfs_period_us"},        {"unified", "cgroup.freeze"},
        {"", "memory.max"},                  {"", "memory.swap.max"},
        {"", "memory.oom.group"},            {"", "pids.max"},
        {"", "cpu.max"},                     {"freezer", "freezer.state"},
    };
    char path[64], line[512];
    snprintf(path, sizeof path, "/proc/%d/cgroup", pid);
    FILE *file = fopen(path, "re");
    if (file == NULL) return;
    while (fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = 0;
        char *controllers = strchr(line, ':');
        char *group = controllers == NULL ? NULL : strchr(controllers + 1, ':');
        if (group == NULL) continue;
        *group++ = 0;
        controllers++;
        for (size_t index = 0; index < sizeof files / sizeof *files; index++) {
            const char *wanted_controller = *controllers == 0 ? "unified" : controllers;
            if (strstr(wanted_controller, files[index].controller) == NULL) continue;
            char full[1024], key[64];
            snprintf(full, sizeof full, "/sys/fs/cgroup/%s%s/%s", files[index].controller, group,
                     files[index].file);
            snprintf(key, sizeof key, "group %s", files[index].file);
            print_file(key, full);
        }
        // Which leaf of the pool it is differs.
        char *leaf = strrchr(group, '/');
        if (leaf != NULL) *leaf = 0;
        fprintf(report, "at group of %s %s\n", controllers, group);
    }
    fclose(file);
}

void print_walls(FILE *where, pid_t payload, pid_t init, pid_t launcher) {
    report = where;
    print_status("payload", payload);
    print_file_of("limit", payload, "limits");
    print_file_of("payload", payload, "setgroups");
    print_descriptors(payload);
    print_namespaces("payload", payload, init);
    print_mounts(payload);
    print_groups(payload);
    print_status("init", init);
    print_namespaces("init", init, launcher);
}
