// Channels through something that holds bytes: files, attributes, times, keys, objects, locks, a
// process that stays.

#include "probe.h"
#include "pairs.h"

#include <fcntl.h>
#include <mqueue.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/msg.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>

enum { SIZE = PAIR_BITS / 8 };

static bool write_message(const char *path, uint64_t seed) {
    unsigned char bytes[SIZE];
    message_bytes(seed, bytes);
    int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    bool written = file >= 0 && write(file, bytes, SIZE) == SIZE;
    if (file >= 0) close(file);
    return written;
}

static bool read_message(const char *path, unsigned char *bytes) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    bool read_all = file >= 0 && read(file, bytes, SIZE) == SIZE;
    if (file >= 0) close(file);
    return read_all;
}

// MARK: files

// Every place that a sandbox might share with the next one.
static const char *const places[] = {"/tmp", "/var/tmp", "/dev/shm", "/home/agent", "/work/agent",
                                     "/work", "/candidate", "/examiner", "/run"};

static void send_file(uint64_t seed) {
    if (on_control()) write_message(joined(setting("writable"), ".pair"), seed);
    for (size_t index = 0; index < sizeof places / sizeof *places && !on_control(); index++)
        write_message(joined(places[index], ".pair"), seed);
}

static bool receive_file(unsigned char *bytes) {
    if (on_control()) return read_message(joined(setting("writable"), ".pair"), bytes);
    for (size_t index = 0; index < sizeof places / sizeof *places; index++)
        if (read_message(joined(places[index], ".pair"), bytes)) return true;
    return false;
}

// Where Python would keep compiled code beside its source.
static const char *cache(const char *place) {
    const char *folder = joined(place, "__pycache__");
    mkdir(folder, 0755);
    return joined(folder, "agent.cpython-311.pyc");
}

static void send_bytecode(uint64_t seed) {
    write_message(cache(setting("view-dir")), seed);
    write_message(cache(setting("program-dir")), seed);
}

static bool receive_bytecode(unsigned char *bytes) {
    return read_message(cache(setting("view-dir")), bytes)
        || read_message(cache(setting("program-dir")), bytes);
}

// Sixty-four files that both may see, each with 32 bits in its time.
static void send_times(uint64_t seed) {
    unsigned char bytes[SIZE];
    message_bytes(seed, bytes);
    for (int index = 0; index < SIZE / 4; index++) {
        char name[32];
        unsigned word;
        memcpy(&word, bytes + index * 4, 4);
        snprintf(name, sizeof name, ".time%d", index);
        const char *path = joined(setting("writable"), name);
        int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
        struct timespec times[2] = {{.tv_sec = word & 0x7fffffff}, {.tv_sec = word >> 31}};
        if (file >= 0) futimens(file, times);
        if (file >= 0) close(file);
    }
}

static bool receive_times(unsigned char *bytes) {
    for (int index = 0; index < SIZE / 4; index++) {
        char name[32];
        struct stat status;
        snprintf(name, sizeof name, ".time%d", index);
        if (stat(joined(setting("writable"), name), &status) != 0) return false;
        unsigned word = (unsigned)status.st_atim.tv_sec | (unsigned)status.st_mtim.tv_sec << 31;
        memcpy(bytes + index * 4, &word, 4);
    }
    return true;
}

static void send_attribute(uint64_t seed) {
    unsigned char bytes[SIZE];
    message_bytes(seed, bytes);
    const char *paths[] = {setting("view-dir"), setting("program-dir"), setting("library")};
    for (size_t index = 0; index < sizeof paths / sizeof *paths; index++)
        setxattr(paths[index], on_control() ? "trusted.pair" : "user.pair", bytes, SIZE, 0);
}

static bool receive_attribute(unsigned char *bytes) {
    const char *paths[] = {setting("view-dir"), setting("program-dir"), setting("library")};
    for (size_t index = 0; index < sizeof paths / sizeof *paths; index++)
        if (getxattr(paths[index], on_control() ? "trusted.pair" : "user.pair", bytes, SIZE) == SIZE)
            return true;
    return false;
}

// MARK: objects of the kernel

// The control joins a session keyring of its own first; nobody else's is touched.
static void send_key(uint64_t seed) {
    unsigned char bytes[SIZE];
    message_bytes(seed, bytes);
    if (on_control() && syscall(SYS_keyctl, 1, NULL) < 0) return;
    syscall(SYS_add_key, "user", "pair", bytes, SIZE, on_control() ? -3 : -4);
}

static bool receive_key(unsigned char *bytes) {
    long key = syscall(SYS_request_key, "user", "pair", NULL, on_control() ? -3 : -4);
    return key >= 0 && syscall(SYS_keyctl, 11 /* READ */, key, bytes, SIZE) == SIZE;
}

static const key_t pair_key = 0x52544000;

static void send_memory(uint64_t seed) {
    int segment = (int)syscall(SYS_shmget, pair_key, 4096, IPC_CREAT | 0666);
    void *at = segment < 0 ? (void *)-1 : shmat(segment, NULL, 0);
    if (at != (void *)-1) message_bytes(seed, at);
}

static bool receive_memory(unsigned char *bytes) {
    int segment = (int)syscall(SYS_shmget, pair_key, 0, 0);
    void *at = segment < 0 ? (void *)-1 : shmat(segment, NULL, SHM_RDONLY);
    if (at == (void *)-1) return false;
    memcpy(bytes, at, SIZE);
    return true;
}

struct message {
    long kind;
    unsigned char bytes[SIZE];
};

static void send_queue(uint64_t seed) {
    struct message message = {.kind = 1};
    message_bytes(seed, message.bytes);
    int queue = (int)syscall(SYS_msgget, pair_key, IPC_CREAT | 0666);
    if (queue >= 0) msgsnd(queue, &message, SIZE, IPC_NOWAIT);
}

static bool receive_queue(unsigned char *bytes) {
    struct message message;
    int queue = (int)syscall(SYS_msgget, pair_key, 0);
    if (queue < 0 || msgrcv(queue, &message, SIZE, 1, IPC_NOWAIT) != SIZE) return false;
    memcpy(bytes, message.bytes, SIZE);
    return true;
}

static void send_posix(uint64_t seed) {
    unsigned char bytes[SIZE];
    message_bytes(seed, bytes);
    struct mq_attr shape = {.mq_maxmsg = 1, .mq_msgsize = SIZE};
    mqd_t queue = mq_open("/invigilator-pair", O_RDWR | O_CREAT | O_NONBLOCK, 0666, &shape);
    if (queue >= 0) mq_send(queue, (const char *)bytes, SIZE, 0);
}

static bool receive_posix(unsigned char *bytes) {
    mqd_t queue = mq_open("/invigilator-pair", O_RDONLY | O_NONBLOCK);
    return queue >= 0 && mq_receive(queue, (char *)bytes, SIZE, NULL) == SIZE;
}

// MARK: a process that stays

static const char abstract_name[] = "invigilator-pair";

static socklen_t pair_address(struct sockaddr_un *address) {
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    memcpy(address->sun_path + 1, abstract_name, sizeof abstract_name - 1);
    return (socklen_t)(sizeof(sa_family_t) + sizeof abstract_name);
}

// A child that ignores every signal and lasts two seconds; says when it is ready.
static void stay(void (*body)(uint64_t, int), uint64_t seed) {
    int ready[2];
    if (pipe(ready) != 0) return;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        setsid();
        for (int number = 1; number < 65; number++) signal(number, SIG_IGN);
        int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
        dup2(nothing, 1);
        alarm(0);
        body(seed, ready[1]);
        _exit(0);
    }
    close(ready[1]);
    char byte;
    if (read(ready[0], &byte, 1) < 0) return;
    close(ready[0]);
}

static void serve(uint64_t seed, int ready) {
    struct sockaddr_un address;
    unsigned char bytes[SIZE];
    message_bytes(seed, bytes);
    socklen_t length = pair_address(&address);
    int file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool listens = file >= 0 && bind(file, (struct sockaddr *)&address, length) == 0
        && listen(file, 4) == 0;
    if (write(ready, "r", 1) != 1 || !listens) return;
    struct pollfd waiting = {.fd = file, .events = POLLIN};
    if (poll(&waiting, 1, 2000) <= 0) return;
    int peer = accept(file, NULL, NULL);
    if (peer >= 0 && write(peer, bytes, SIZE) != SIZE) return;
}

static void send_socket(uint64_t seed) { stay(serve, seed); }

static bool receive_socket(unsigned char *bytes) {
    struct sockaddr_un address;
    socklen_t length = pair_address(&address);
    int file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (file < 0 || connect(file, (struct sockaddr *)&address, length) != 0) return false;
    return recv(file, bytes, SIZE, MSG_WAITALL) == SIZE;
}

// Locks on bytes of a file that nobody may write to: reading is enough to hold and to see them.
static void hold_locks(uint64_t seed, int ready) {
    int file = open(setting("library"), O_RDONLY | O_CLOEXEC);
    for (int index = 0; index < PAIR_BITS && file >= 0; index++) {
        struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = index * 2, .l_len = 1};
        if (message_bit(seed, index)) fcntl(file, F_SETLK, &lock);
    }
    if (write(ready, "r", 1) != 1) return;
    poll(NULL, 0, 2000);
}

static void send_locks(uint64_t seed) { stay(hold_locks, seed); }

static bool receive_locks(unsigned char *bytes) {
    int file = open(setting("library"), O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    for (int index = 0; index < PAIR_BITS; index++) {
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = index * 2, .l_len = 1};
        if (fcntl(file, F_GETLK, &lock) != 0) return false;
        if (lock.l_type != F_UNLCK) bytes[index / 8] |= (unsigned char)(1 << index % 8);
    }
    return true;
}

// MARK: a watch on what both have

// Two devices that every sandbox has, opened in the order of the message's bits. The receiver watches both
// from before the sender starts; what happens while it is frozen waits in its queue.
static void send_devices(uint64_t seed) {
    if (on_control()) poll(NULL, 0, 100);
    for (int index = 0; index < PAIR_BITS; index++) {
        int file = open(message_bit(seed, index) ? "/dev/zero" : "/dev/full", O_RDONLY | O_CLOEXEC);
        if (file >= 0) close(file);
    }
}

static bool receive_devices(unsigned char *bytes) {
    int watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    int zero = inotify_add_watch(watch, "/dev/zero", IN_OPEN);
    int full = inotify_add_watch(watch, "/dev/full", IN_OPEN | IN_CLOSE);
    // Closing counts for one of them, so that two equal events in a row are never merged into one.
    int other = inotify_add_watch(watch, "/dev/zero", IN_OPEN | IN_CLOSE);
    if (zero < 0 || full < 0 || other < 0) return false;
    puts("ready");
    int index = 0;
    char events[1 << 16];
    struct pollfd waiting = {.fd = watch, .events = POLLIN};
    while (index < PAIR_BITS && poll(&waiting, 1, 1500) > 0) {
        ssize_t length = read(watch, events, sizeof events);
        for (char *at = events; at < events + length;) {
            const struct inotify_event *event = (const struct inotify_event *)at;
            at += sizeof *event + event->len;
            if ((event->mask & IN_OPEN) == 0 || index == PAIR_BITS) continue;
            if (event->wd == zero) bytes[index / 8] |= (unsigned char)(1 << index % 8);
            index++;
        }
    }
    return index > 0;
}

const struct channel byte_channels[] = {
    {"file", send_file, receive_file, NULL},
    {"bytecode", send_bytecode, receive_bytecode, NULL},
    {"times", send_times, receive_times, NULL},
    {"attribute", send_attribute, receive_attribute, NULL},
    {"key", send_key, receive_key, NULL},
    {"shared-memory", send_memory, receive_memory, NULL},
    {"message-queue", send_queue, receive_queue, NULL},
    {"posix-queue", send_posix, receive_posix, NULL},
    {"abstract-socket", send_socket, receive_socket, NULL},
    {"device-watch", send_devices, receive_devices, NULL},
    {"file-locks", send_locks, receive_locks, NULL},
    {NULL, NULL, NULL, NULL},
};
