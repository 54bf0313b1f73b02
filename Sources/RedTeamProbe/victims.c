// What attacks are aimed at: a process with a secret, listeners, shared objects, files. The same
// victims are made on the control, in its namespaces, and once on the host, for the sandboxes to miss.
// On the host they are a process, sockets and objects with names of this run's own, removed at the end.

#include "probe.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <mqueue.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

static pid_t victim;
static int shared = -1, queue = -1, semaphore = -1;
static char message_queue[64];

static int listen_at(struct sockaddr *address, socklen_t length, int kind) {
    int file = socket(address->sa_family, kind | SOCK_CLOEXEC, 0);
    if (file < 0 || bind(file, address, length) != 0) return -1;
    if (kind == SOCK_STREAM && listen(file, 16) != 0) return -1;
    return file;
}

static int listen_unix(const char *path, bool is_abstract) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(path);
    if (length + 2 > sizeof address.sun_path) return -1;
    memcpy(address.sun_path + (is_abstract ? 1 : 0), path, length);
    socklen_t size = (socklen_t)(sizeof(sa_family_t) + 1 + length);
    return listen_at((struct sockaddr *)&address, size, SOCK_STREAM);
}

static int listen_inet(const char *text, int port, int kind) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    inet_pton(AF_INET, text, &address.sin_addr);
    return listen_at((struct sockaddr *)&address, sizeof address, kind);
}

// Where the kernel has no IPv6 there is none, and its port is 0.
static int listen_inet6(void) {
    struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    socklen_t length = sizeof address;
    int file = listen_at((struct sockaddr *)&address, length, SOCK_STREAM);
    if (file < 0 || getsockname(file, (struct sockaddr *)&address, &length) != 0) return 0;
    return ntohs(address.sin6_port);
}

static bool write_file(const char *path, const char *text, mode_t mode) {
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    bool written = file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text);
    if (file >= 0) close(file);
    return written;
}

static void note_number(const char *name, long number) {
    char text[32];
    snprintf(text, sizeof text, "%ld", number);
    set_setting(name, text);
}

// Ids of this process's namespaces, which a sandbox must not share.
static void note_namespaces(void) {
    static const char *const kinds[] = {"user", "mnt", "pid", "net", "ipc", "uts", "cgroup"};
    for (size_t index = 0; index < sizeof kinds / sizeof *kinds; index++) {
        char path[64], name[32];
        struct stat status;
        snprintf(path, sizeof path, "/proc/self/ns/%s", kinds[index]);
        snprintf(name, sizeof name, "ns-%s", kinds[index]);
        if (stat(path, &status) == 0) note_number(name, (long)status.st_ino);
    }
}

// System V and POSIX objects, whose keys come from the run's word.
static bool make_objects(void) {
    const char *word = setting("word");
    size_t length = strlen(word);
    long number = strtol(length > 4 ? word + length - 4 : "0", NULL, 16);
    key_t key = (key_t)(0x52540000 | (number & 0xffff));
    note_number("ipc-key", key);
    shared = shmget(key, 4096, IPC_CREAT | IPC_EXCL | 0666);
    queue = msgget(key, IPC_CREAT | IPC_EXCL | 0666);
    semaphore = semget(key, 1, IPC_CREAT | IPC_EXCL | 0666);
    snprintf(message_queue, sizeof message_queue, "/%s", setting("word"));
    mqd_t posix = mq_open(message_queue, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666, NULL);
    set_setting("posix-queue", message_queue);
    return shared >= 0 && queue >= 0 && semaphore >= 0 && posix >= 0;
}

void end_victims(void) {
    if (victim > 0) {
        kill(victim, SIGKILL);
        waitpid(victim, NULL, 0);
        victim = 0;
    }
    if (shared >= 0) shmctl(shared, IPC_RMID, NULL);
    if (queue >= 0) msgctl(queue, IPC_RMID, NULL);
    if (semaphore >= 0) semctl(semaphore, 0, IPC_RMID);
    if (message_queue[0] != 0) mq_unlink(message_queue);
    shared = queue = semaphore = -1;
    message_queue[0] = 0;
}

// Sockets and files of a host's services, on the control alone: /run and /root are its own there.
static bool make_services(void) {
    static const char *const folders[] = {"/run/munge", "/run/dbus", "/run/containerd",
                                          "/run/podman", "/run/secrets", "/root/.ssh",
                                          "/root/.aws", "/root/.config"};
    static const char *const sockets[] = {"/run/munge/munge.socket.2",
                                          "/run/dbus/system_bus_socket",
                                          "/run/docker.sock",
                                          "/run/containerd/containerd.sock",
                                          "/run/podman/podman.sock",
                                          "/run/ssh-agent.sock"};
    static const char *const files[] = {"/run/secrets/token", "/root/.ssh/id_ed25519",
                                        "/root/.aws/credentials", "/root/.netrc"};
    for (size_t index = 0; index < sizeof folders / sizeof *folders; index++)
        if (mkdir(folders[index], 0755) != 0) return false;
    for (size_t index = 0; index < sizeof sockets / sizeof *sockets; index++)
        if (listen_unix(sockets[index], false) < 0) return false;
    for (size_t index = 0; index < sizeof files / sizeof *files; index++)
        if (!write_file(files[index], setting("word"), 0644)) return false;
    return listen_inet("169.254.169.254", 80, SOCK_STREAM) >= 0
        && listen_inet("192.0.2.53", 53, SOCK_DGRAM) >= 0
        && listen_inet("192.0.2.53", 53, SOCK_STREAM) >= 0;
}

bool start_victims(const char *directory) {
    bool is_control = on_control();
    char abstract[64];
    set_setting("secret", joined(directory, "secret"));
    if (!write_file(setting("secret"), setting("word"), 0644)) return false;
    set_setting("socket", joined(directory, "socket"));
    snprintf(abstract, sizeof abstract, "%s", setting("word"));
    set_setting("abstract", abstract);
    if (listen_unix(setting("socket"), false) < 0 || listen_unix(abstract, true) < 0) return false;
    int tcp = listen_inet("127.0.0.1", 0, SOCK_STREAM);
    struct sockaddr_in address;
    socklen_t length = sizeof address;
    if (tcp < 0 || getsockname(tcp, (struct sockaddr *)&address, &length) != 0) return false;
    note_number("tcp-port", ntohs(address.sin_port));
    note_number("tcp6-port", listen_inet6());
    if (!make_objects() || (is_control && !make_services())) return false;
    note_namespaces();
    victim = fork();
    if (victim == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;) pause();
    }
    note_number("victim", victim);
    return victim > 0;
}

// The directory of a run belongs to root, and the command is an ordinary user by now.
static const char *kept_directory = "";

static void clear(void) {
    static const char *const names[] = {"secret", "socket", "marker", "pages"};
    end_victims();
    remove_race(kept_directory);
    for (size_t index = 0; index < sizeof names / sizeof *names; index++)
        unlink(joined(kept_directory, names[index]));
    rmdir(kept_directory);
}

static void on_end(int number) {
    (void)number;
    clear();
    _exit(0);
}

int keep_victims(const char *directory, const char *token) {
    static const char *const told[] = {"secret",  "socket", "abstract", "tcp-port",  "ipc-key", "tcp6-port",
                                       "posix-queue", "victim", "ns-user", "ns-mnt", "ns-pid",
                                       "ns-net", "ns-ipc", "ns-uts", "ns-cgroup", "race",
                                       "race-device", "race-inode"};
    char word[64];
    kept_directory = directory;
    snprintf(word, sizeof word, "probe%.32s", token);
    set_setting("word", word);
    signal(SIGTERM, on_end);
    signal(SIGINT, on_end);
    signal(SIGHUP, on_end);
    if (geteuid() != 0 || !start_victims(directory) || !make_race(directory)
        || start_swapping(directory, "") <= 0) {
        fprintf(stderr, "invigilator-probe: make victims: %s: %s\n", directory, strerror(errno));
        clear();
        return 1;
    }
    printf("setting\tword\t%s\n", word);
    for (size_t index = 0; index < sizeof told / sizeof *told; index++)
        printf("setting\t%s\t%s\n", told[index], setting(told[index]));
    puts("end");
    char byte;
    while (read(0, &byte, 1) > 0) {}
    clear();
    return 0;
}
