// What a process can see and open.

#include "probe.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

static int cat(int count, char **words) {
    if (count != 1) return -1;
    int file = open(words[0], O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        report("cat", file);
        return 1;
    }
    char part[4096];
    ssize_t length;
    while ((length = read(file, part, sizeof part)) > 0) fwrite(part, 1, (size_t)length, stdout);
    return 0;
}

static int list(int count, char **words) {
    if (count != 1) return -1;
    DIR *directory = opendir(words[0]);
    if (directory == NULL) {
        report("list", -1);
        return 1;
    }
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            printf("%s\n", entry->d_name);
    closedir(directory);
    return 0;
}

// What a file holds, in bytes, or a directory in names; less than 0 where it cannot be opened.
static long amount(int directory, const char *name) {
    char part[4096];
    long total = 0, count;
    int file = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    if (file < 0) return -1;
    DIR *names = fdopendir(file);
    if (names != NULL) {
        while (readdir(names) != NULL) total++;
        closedir(names);
        return total - 2;  // without . and ..
    }
    while (total < 1 << 20 && (count = read(file, part, sizeof part)) > 0) total += count;
    close(file);
    return total;
}

// Each name in a directory: of its own file system or of another, its kind, and how much is in it.
static int survey(int count, char **words) {
    struct stat own, status;
    DIR *directory = count == 1 ? opendir(words[0]) : NULL;
    if (directory == NULL || fstat(dirfd(directory), &own) != 0) return -1;
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        const char *name = entry->d_name;
        if (fstatat(dirfd(directory), name, &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
        const char *kind = S_ISDIR(status.st_mode) ? "directory" : S_ISREG(status.st_mode) ? "file" : "link";
        printf("%s=%s %s %ld\n", name, status.st_dev == own.st_dev ? "own" : "other", kind,
               S_ISLNK(status.st_mode) ? 0 : amount(dirfd(directory), name));
    }
    closedir(directory);
    return 0;
}

static void look_at_network(const char *place) {
    static const char *const below[] = {"stat/rt_cache", "dev_snmp6/lo", NULL};
    char key[512], path[512];
    snprintf(path, sizeof path, "/proc/%s/net", place);
    DIR *directory = opendir(path);
    for (struct dirent *entry; directory != NULL && (entry = readdir(directory)) != NULL;) {
        if (entry->d_name[0] == '.') continue;
        int file = openat(dirfd(directory), entry->d_name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        snprintf(key, sizeof key, "%s/%s", place, entry->d_name);
        report(key, file);
        if (file >= 0) close(file);
    }
    if (directory != NULL) closedir(directory);
    for (const char *const *name = below; *name != NULL; name++) {
        snprintf(key, sizeof key, "%s/%s", place, *name);
        snprintf(path, sizeof path, "/proc/%s/net/%s", place, *name);
        report(key, open(path, O_RDONLY | O_CLOEXEC));
    }
}

// Opens every file about its network as a grandchild, under each name that a process has for them, and
// tries to give one its mode back.
static int network_files(int count, char **words) {
    (void)words;
    if (count != 0) return -1;
    pid_t child = fork();
    if (child > 0) return waitpid(child, NULL, 0) == child ? 0 : 1;
    pid_t grandchild = child == 0 ? fork() : -1;
    if (grandchild > 0) _exit(waitpid(grandchild, NULL, 0) == grandchild ? 0 : 1);
    if (grandchild < 0) return 1;
    look_at_network("self");
    look_at_network("thread-self");
    char number[32], path[64];
    snprintf(number, sizeof number, "%d", (int)getppid());
    snprintf(path, sizeof path, "/proc/%s/net/softnet_stat", number);
    look_at_network(number);
    report("chmod", chmod(path, 0444));
    report("again", open(path, O_RDONLY | O_CLOEXEC));
    _exit(0);
}

// open MODE PATH...: MODE is read, write or create.
static int open_paths(int count, char **words) {
    if (count < 2) return -1;
    int flags = O_RDONLY;
    if (strcmp(words[0], "write") == 0) flags = O_WRONLY;
    if (strcmp(words[0], "create") == 0) flags = O_WRONLY | O_CREAT | O_EXCL;
    for (int index = 1; index < count; index++) {
        int file = open(words[index], flags | O_CLOEXEC | O_NOFOLLOW, 0644);
        report(words[index], file);
        if (file >= 0) close(file);
    }
    return 0;
}

// Every way to change a directory, one name each.
static int change(int count, char **words) {
    if (count != 1) return -1;
    char path[512], other[512];
    snprintf(path, sizeof path, "%s/probe-name", words[0]);
    snprintf(other, sizeof other, "%s/probe-other", words[0]);
    report("create", open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
    report("mkdir", mkdir(other, 0755));
    report("symlink", symlink("/", other));
    report("unlink", unlink(path));
    report("rmdir", rmdir(other));
    report("chmod", chmod(words[0], 0777));
    return 0;
}

// Makes a character and a block device that nothing answers to, and removes them.
static int make_nodes(int count, char **words) {
    if (count != 1) return -1;
    report("character", mknod(words[0], S_IFCHR | 0600, makedev(0, 99)));
    unlink(words[0]);
    report("block", mknod(words[0], S_IFBLK | 0600, makedev(0, 99)));
    unlink(words[0]);
    return 0;
}

static int kinds(int count, char **words) {
    if (count != 1) return -1;
    struct stat status;
    if (lstat(words[0], &status) != 0) {
        report("stat", -1);
        return 1;
    }
    printf("mode=%o\nowner=%u\ngroup=%u\nsize=%lld\ndevice=%lu\n", status.st_mode, status.st_uid,
           status.st_gid, (long long)status.st_size, (unsigned long)status.st_dev);
    return 0;
}

// Fills a directory until it is full; prints how many bytes it took.
static int fill(int count, char **words) {
    if (count != 1) return -1;
    signal(SIGXFSZ, SIG_IGN);
    char path[512];
    static char part[65536];
    snprintf(path, sizeof path, "%s/fill", words[0]);
    int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    long long total = 0;
    for (ssize_t taken; (taken = write(file, part, sizeof part)) > 0;) total += taken;
    report("fill", -1);
    printf("filled=%lld\n", total);
    return 0;
}

// Copies itself to a path and tries to run the copy.
static int execute_copy(int count, char **words) {
    if (count != 1) return -1;
    int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    int to = open(words[0], O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
    if (from < 0 || to < 0) {
        report("copy", -1);
        return 1;
    }
    static char part[65536];
    for (ssize_t length; (length = read(from, part, sizeof part)) > 0;)
        if (write(to, part, (size_t)length) != length) return 1;
    close(to);
    char *arguments[] = {words[0], "facts", NULL};
    report("execute", execv(words[0], arguments));
    return 0;
}

const struct verb file_verbs[] = {{"cat", cat},
                                  {"list", list},
                                  {"survey", survey}, {"network-files", network_files},
                                  {"open", open_paths},
                                  {"change", change},
                                  {"node", make_nodes},
                                  {"stat", kinds},
                                  {"fill", fill},
                                  {"execute", execute_copy},
                                  {NULL, NULL}};
