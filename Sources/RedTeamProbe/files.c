// Attacks on files: what of the host can be read, what that must stay can be written to, what can be
// made or started where nothing should be.

#include "probe.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <sys/xattr.h>

static struct answer host_secret(const char *variant) {
    (void)variant;
    return read_secret(setting("secret"));
}

// The supervisor's state, where it lies and where an exam's root has its mount point for a vault.
static struct answer supervisor_state(const char *variant) {
    (void)variant;
    const char *places[] = {setting("state-dir"), "/var/lib/invigilator", "/vault"};
    struct answer answer = absent();
    for (size_t index = 0; index < sizeof places / sizeof *places; index++) {
        int folder = open(joined(places[index], "experiments"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (folder >= 0) return works();
        answer = refused("open");
    }
    return answer;
}

// Up from the root further than any tree is deep, then down the secret's path.
static struct answer parent_escape(const char *variant) {
    (void)variant;
    for (int level = 0; level < 64; level++)
        if (chdir("..") != 0) return refused("chdir");
    return read_secret(setting("secret") + 1);
}

static struct answer through_init(const char *variant) {
    (void)variant;
    return read_secret(joined("/proc/1/root", setting("secret") + 1));
}

static struct answer through_own_root(const char *variant) {
    (void)variant;
    return read_secret(joined("/proc/self/root/..", setting("secret") + 1));
}

static struct answer symlink_out(const char *variant) {
    (void)variant;
    const char *path = joined(setting("writable"), "link-out");
    if (symlink(setting("secret"), path) != 0) return refused("symlink");
    struct answer answer = read_secret(path);
    unlink(path);
    return answer;
}

// A second name, in a place that may be written to, for a file that may not.
static struct answer hard_link(const char *variant) {
    (void)variant;
    const char *path = joined(setting("writable"), "second-name");
    const char *own = on_control() ? joined(setting("view-dir"), "first-name") : setting("program");
    if (on_control()) close(open(own, O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
    struct answer answer = outcome(link(own, path), "link");
    unlink(path);
    return answer;
}

static struct answer create_in(const char *directory) {
    const char *path = joined(directory, "made-by-probe");
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (file < 0) return refused("open");
    close(file);
    unlink(path);
    return works();
}

static struct answer write_root(const char *variant) {
    (void)variant;
    return create_in(setting("root-dir"));
}

static struct answer write_programs(const char *variant) {
    (void)variant;
    return create_in(setting("program-dir"));
}

static struct answer write_view(const char *variant) {
    (void)variant;
    return create_in(setting("view-dir"));
}

// Copies this program, unless there is a copy; the copy can be executed.
static const char *own_copy(void) {
    const char *path = joined(setting("writable"), "own-copy");
    int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    int to = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
    static char part[1 << 16];
    ssize_t length = -1;
    if (from >= 0 && to >= 0)
        while ((length = read(from, part, sizeof part)) > 0)
            if (write(to, part, (size_t)length) != length) return NULL;
    if (from >= 0) close(from);
    if (to >= 0) close(to);
    return length == 0 ? path : NULL;
}

// The program that this process runs; on the control a copy that nothing runs.
static struct answer write_own_program(const char *variant) {
    (void)variant;
    const char *path = on_control() ? own_copy() : setting("program");
    if (path == NULL) return broken("copy");
    return open_path(path, O_WRONLY);
}

// Files that some tool of the host would read or run, one after the other.
static struct answer plant_configuration(const char *variant) {
    (void)variant;
    static const char *const names[] = {".gitconfig", ".envrc", "AGENTS.md", "conftest.py",
                                        "sitecustomize.py", ".mcp.json", "settings.json"};
    struct answer answer = absent();
    for (size_t index = 0; index < sizeof names / sizeof *names; index++) {
        const char *path = joined(setting("view-dir"), names[index]);
        answer = open_path(path, O_WRONLY | O_CREAT | O_EXCL);
        unlink(path);
        if (answer.verdict == WORKS) return answer;
    }
    return answer;
}

static struct answer rename_mount_point(const char *variant) {
    (void)variant;
    char from[512], to[512];
    snprintf(from, sizeof from, "%s", joined(setting("root-dir"), on_control() ? "dir" : "tmp"));
    snprintf(to, sizeof to, "%s", joined(setting("root-dir"), "moved"));
    if (on_control()) mkdir(from, 0755);
    return outcome(rename(from, to), "rename");
}

static struct answer change_mode(const char *variant) {
    (void)variant;
    return outcome(chmod(setting("view-dir"), 0777), "chmod");
}

static struct answer truncate_view(const char *variant) {
    (void)variant;
    const char *path = on_control() ? joined(setting("view-dir"), "cut") : setting("given");
    if (on_control()) close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
    return outcome(truncate(path, 0), "truncate");
}

static struct answer make_device(const char *variant) {
    const char *path = joined(setting("writable"), "node");
    mode_t kind = strcmp(variant, "block") == 0 ? S_IFBLK : S_IFCHR;
    struct answer answer = outcome(mknod(path, kind | 0600, makedev(0, 99)), "mknod");
    unlink(path);
    return answer;
}

// The device that holds the secret's file system, by a node of our own. It is only read.
static struct answer raw_disk(const char *variant) {
    (void)variant;
    struct stat root;
    const char *path = joined(setting("writable"), "disk");
    const char *shown = on_control() ? "/usr" : "/";
    if (stat(shown, &root) != 0) return broken("stat");
    if (mknod(path, S_IFBLK | 0600, root.st_dev) != 0) return refused("mknod");
    int file = open(path, O_RDONLY | O_CLOEXEC);
    int error = errno;
    char part[512];
    ssize_t length = file < 0 ? -1 : read(file, part, sizeof part);
    unlink(path);
    if (file >= 0) close(file);
    errno = error;
    // A file system without a device of its own (overlay, btrfs) has nothing to open.
    if (file < 0 && on_control()) return lacks("open");
    return length > 0 ? works() : refused("open");
}

static struct answer run_and_wait(const char *path, int file) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        char *arguments[] = {(char *)"invigilator-probe", (char *)"list", NULL};
        int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
        dup2(nothing, 1);
        if (path != NULL) execv(path, arguments);
        else syscall(SYS_execveat, file, "", arguments, NULL, 0x1000 /* AT_EMPTY_PATH */);
        _exit(errno);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) < 0) return broken("wait");
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return works();
    errno = WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
    return refused("execve");
}

static struct answer execute_scratch(const char *variant) {
    (void)variant;
    const char *path = own_copy();
    struct answer answer = path == NULL ? broken("copy") : run_and_wait(path, -1);
    if (path != NULL) unlink(path);
    return answer;
}

static struct answer execute_memory(const char *variant) {
    (void)variant;
    int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    int to = (int)syscall(SYS_memfd_create, "probe", 0);
    if (to < 0) return refused("memfd_create");
    static char part[1 << 16];
    for (ssize_t length; (length = read(from, part, sizeof part)) > 0;)
        if (write(to, part, (size_t)length) != length) return broken("write");
    return run_and_wait(NULL, to);
}

static struct answer map_scratch(const char *variant) {
    (void)variant;
    const char *path = joined(setting("writable"), "code");
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
    if (file < 0 || write(file, "\xc3", 1) != 1) return broken("write");
    void *code = mmap(NULL, 1, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
    return code == MAP_FAILED ? refused("mmap") : works();
}

// The handle of a file, opened again by a process that no path led there.
static struct answer open_by_handle(const char *variant) {
    (void)variant;
    struct {
        struct file_handle handle;
        unsigned char rest[128];
    } named = {.handle = {.handle_bytes = 128}};
    int mount = 0;
    const char *target = on_control() ? setting("secret") : setting("program");
    if (name_to_handle_at(AT_FDCWD, target, &named.handle, &mount, 0) != 0)
        return refused("name_to_handle_at");
    int root = open(on_control() ? setting("writable") : "/", O_RDONLY | O_CLOEXEC);
    return outcome(open_by_handle_at(root, &named.handle, O_RDONLY | O_CLOEXEC),
                   "open_by_handle_at");
}

static struct answer shared_memory_files(const char *variant) {
    (void)variant;
    // A sandbox's own leads to its own scratch directory: a file there is nobody else's.
    struct stat shared, scratch;
    if (stat("/dev/shm", &shared) != 0) return refused("stat");
    if (stat("/tmp", &scratch) != 0) return broken("stat /tmp");
    if (shared.st_dev == scratch.st_dev && shared.st_ino == scratch.st_ino) return absent();
    return create_in("/dev/shm");
}

static struct answer kernel_messages(const char *variant) {
    (void)variant;
    return open_path("/dev/kmsg", O_WRONLY);
}

// A device that is not there, or that nobody serves. EACCES says that it is there, and for others.
static struct answer open_device(const char *path) {
    struct answer answer = open_path(path, O_RDWR);
    bool missing = answer.verdict == REFUSED && answer.error != EACCES;
    return on_control() && missing ? lacks(path) : answer;
}

static struct answer virtual_machines(const char *variant) {
    (void)variant;
    return open_device("/dev/kvm");
}

static struct answer loop_devices(const char *variant) {
    (void)variant;
    return open_device("/dev/loop-control");
}

static struct answer user_file_systems(const char *variant) {
    (void)variant;
    return open_device("/dev/fuse");
}

static struct answer host_sockets_device(const char *variant) {
    (void)variant;
    return open_device("/dev/vsock");
}

// A signal for each file that is made in a directory (F_NOTIFY of fcntl(2)). Signals with a number of
// their own queue while the guest stands still, as many as there were uses.
static struct answer watch_directory(const char *variant) {
    unsigned long high = strcmp(variant, "high") == 0 ? 1UL << 32 : 0;
    int directory = open(setting("writable"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0) return broken("open");
    sigset_t awaited;
    sigemptyset(&awaited);
    sigaddset(&awaited, SIGRTMIN + 3);
    sigprocmask(SIG_BLOCK, &awaited, NULL);
    if (syscall(SYS_fcntl, directory, F_SETSIG | high, SIGRTMIN + 3) < 0
        || syscall(SYS_fcntl, directory, F_NOTIFY | high, DN_CREATE | DN_MULTISHOT) < 0)
        return refused("fcntl");
    const char *path = joined(setting("writable"), "watched");
    int made = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    if (made < 0) return broken("open");
    close(made);
    unlink(path);
    struct timespec second = {.tv_sec = 1};
    struct answer answer = sigtimedwait(&awaited, NULL, &second) < 0 ? broken("sigtimedwait") : works();
    close(directory);
    return answer;
}

// How full a file system of the host is, which anything on the host moves.
static struct answer free_space(const char *variant) {
    (void)variant;
    char buffer[256];
    return outcome(syscall(SYS_statfs, on_control() ? "/" : "/usr", buffer), "statfs");
}

const struct probe file_probes[] = {
    {"files.host-secret", host_secret},
    {"files.supervisor-state", supervisor_state},
    {"files.parent-escape", parent_escape},
    {"files.through-init", through_init},
    {"files.through-own-root", through_own_root},
    {"files.symlink-out", symlink_out},
    {"files.hard-link", hard_link},
    {"files.write-root", write_root},
    {"files.write-programs", write_programs},
    {"files.write-view", write_view},
    {"files.write-own-program", write_own_program},
    {"files.plant-configuration", plant_configuration},
    {"files.rename-mount-point", rename_mount_point},
    {"files.change-mode", change_mode},
    {"files.truncate", truncate_view},
    {"files.make-device", make_device},
    {"files.raw-disk", raw_disk},
    {"files.execute-scratch", execute_scratch},
    {"files.execute-memory", execute_memory},
    {"files.map-scratch", map_scratch},
    {"files.open-by-handle", open_by_handle},
    {"files.shared-memory", shared_memory_files},
    {"files.kernel-messages", kernel_messages},
    {"files.virtual-machines", virtual_machines},
    {"files.loop-devices", loop_devices},
    {"files.user-file-systems", user_file_systems},
    {"files.vsock-device", host_sockets_device},
    {"files.watch-directory", watch_directory},
    {"files.free-space", free_space},
    {NULL, NULL},
};
