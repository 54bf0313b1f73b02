#include "facts.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *name_of(int error) {
    const char *name = strerrorname_np(error);
    return name != NULL ? name : "unknown";
}

// Prints lines of a file that begin with one of some words, each after a word of ours.
static void say_lines(const char *path, const char *kind, const char *const *wanted) {
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        printf("unreadable %s %s\n", path, name_of(errno));
        return;
    }
    char line[8192];
    while (fgets(line, sizeof line, file) != NULL)
        for (const char *const *word = wanted; *word != NULL; word++)
            if (strncmp(line, *word, strlen(*word)) == 0) printf("%s %s", kind, line);
    fclose(file);
}

void say_identity(void) {
    static const char *const status[] = {"Uid:",    "Gid:",    "CapInh:",     "CapPrm:",  "CapEff:",
                                         "CapBnd:", "CapAmb:", "NoNewPrivs:", "Seccomp:",
                                         "Seccomp_filters:", NULL};
    static const char *const every[] = {"", NULL};
    say_lines("/proc/self/status", "status", status);
    say_lines("/proc/self/uid_map", "uid-map", every);
    printf("securebits %d\n", prctl(PR_GET_SECUREBITS, 0, 0, 0, 0));
    printf("parent %d\n", (int)getppid());
}

// What is of procfs itself and not about a process: covers are of another file system.
void say_procfs(void) {
    struct stat own, status;
    DIR *directory = opendir("/proc");
    if (directory == NULL || fstat(dirfd(directory), &own) != 0) return;
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        bool is_process = strspn(entry->d_name, "0123456789.") == strlen(entry->d_name);
        if (is_process || fstatat(dirfd(directory), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0
            || status.st_dev != own.st_dev)
            continue;
        printf("procfs %s %s\n", S_ISLNK(status.st_mode) ? "link" : "file", entry->d_name);
    }
    closedir(directory);
}

void say_namespaces(void) {
    static const char *const kinds[] = {"user", "mnt", "pid", "net", "ipc", "uts", "cgroup"};
    for (size_t index = 0; index < sizeof kinds / sizeof *kinds; index++) {
        char path[64];
        struct stat status;
        snprintf(path, sizeof path, "/proc/self/ns/%s", kinds[index]);
        if (stat(path, &status) == 0)
            printf("namespace %s %lu\n", kinds[index], (unsigned long)status.st_ino);
    }
}

void say_interfaces(void) {
    FILE *file = fopen("/proc/self/net/dev", "re");
    if (file == NULL) {
        printf("unreadable /proc/self/net/dev %s\n", name_of(errno));
        return;
    }
    char line[512], name[64];
    while (fgets(line, sizeof line, file) != NULL)
        if (strchr(line, '|') == NULL && sscanf(line, " %63[^: ]:", name) == 1)
            printf("interface %s\n", name);
    fclose(file);
}

void say_network_files(void) {
    DIR *directory = opendir("/proc/self/net");
    if (directory == NULL) return;
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        if (entry->d_name[0] == '.') continue;
        int file = openat(dirfd(directory), entry->d_name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        printf("net-file %s %s\n", file >= 0 ? "open" : name_of(errno), entry->d_name);
        if (file >= 0) close(file);
    }
    closedir(directory);
}

void say_mounts(void) {
    FILE *file = fopen("/proc/self/mountinfo", "re");
    if (file == NULL) {
        printf("unreadable /proc/self/mountinfo %s\n", name_of(errno));
    } else {
        // Fields of proc(5): the fifth is the target, the sixth the mount's own options; spaces in
        // names are written as \040.
        char line[8192], target[4096], options[512], kind[64];
        while (fgets(line, sizeof line, file) != NULL) {
            const char *dash = strstr(line, " - ");
            if (dash != NULL && sscanf(dash, " - %63s", kind) == 1
                && sscanf(line, "%*s %*s %*s %*s %4095s %511s", target, options) == 2)
                printf("mount %s %s %s\n", target, options, kind);
        }
        fclose(file);
    }
    // The kernel lets a process write to this file of its own, and no mount is read-only there: what
    // refuses it is Landlock.
    int own = open("/proc/self/coredump_filter", O_WRONLY | O_CLOEXEC);
    printf("landlock %s\n", own >= 0 ? "allows" : name_of(errno));
    if (own >= 0) close(own);
}

void say_descriptors(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    rlim_t end = limit.rlim_cur < 65536 ? limit.rlim_cur : 65536;
    for (rlim_t number = 0; number < end; number++)
        if (fcntl((int)number, F_GETFD) >= 0) printf("descriptor %d\n", (int)number);
}

void say_limits(void) {
    static const struct {
        const char *name;
        int resource;
    } limits[] = {{"core", RLIMIT_CORE}, {"files", RLIMIT_NOFILE}, {"size", RLIMIT_FSIZE},
                  {"signals", RLIMIT_SIGPENDING}};
    for (size_t index = 0; index < sizeof limits / sizeof *limits; index++) {
        struct rlimit limit;
        if (getrlimit(limits[index].resource, &limit) == 0)
            printf("limit %s %llu %llu\n", limits[index].name, (unsigned long long)limit.rlim_cur,
                   (unsigned long long)limit.rlim_max);
    }
}

void say_path(const char *path) {
    struct stat status;
    printf("path %s %s\n", lstat(path, &status) == 0 ? "exists" : name_of(errno), path);
}
