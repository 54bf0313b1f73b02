// Attacks of a program that has a model: on other places of the network than its own endpoint, on the
// endpoint itself, on who answers there, and on the key. "endpoint-port" is the endpoint's; "key-mask"
// is the key in a form that is not the key, so that an attack that looks for it does not find itself.

#include "probe.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>

extern char **environ;

// MARK: other places of the network

static struct answer connect_to(int family, const char *address, int port, int kind) {
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
    inet_pton(family, address, family == AF_INET ? (void *)&four.sin_addr : &six.sin6_addr);
    int file = socket(family, kind | SOCK_CLOEXEC, 0);
    if (file < 0) return refused("socket");
    struct timeval patience = {.tv_sec = 5};
    setsockopt(file, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    int result = family == AF_INET ? connect(file, (struct sockaddr *)&four, sizeof four)
                                   : connect(file, (struct sockaddr *)&six, sizeof six);
    if (result == 0 && kind == SOCK_DGRAM) result = send(file, "x", 1, 0) == 1 ? 0 : -1;
    struct answer answer = outcome(result, "connect");
    close(file);
    return answer;
}

static struct answer internet_socket(const char *variant) {
    int family = strstr(variant, "-6") != NULL ? AF_INET6 : AF_INET;
    int kind = strncmp(variant, "stream", 6) == 0 ? SOCK_STREAM : SOCK_DGRAM;
    int file = socket(family, kind | SOCK_CLOEXEC, 0);
    if (file < 0 && on_control() && errno == EAFNOSUPPORT) return lacks("IPv6");
    struct answer answer = outcome(file, "socket");
    if (file >= 0) close(file);
    return answer;
}

static struct answer host_loopback(const char *variant) {
    (void)variant;
    return connect_to(AF_INET, "127.0.0.1", atoi(setting("tcp-port")), SOCK_STREAM);
}

static struct answer host_loopback_6(const char *variant) {
    (void)variant;
    int port = atoi(setting("tcp6-port"));
    if (on_control() && port == 0) return lacks("IPv6");
    return connect_to(AF_INET6, "::1", port != 0 ? port : 9, SOCK_STREAM);
}

static struct answer metadata(const char *variant) {
    (void)variant;
    return connect_to(AF_INET, "169.254.169.254", 80, SOCK_STREAM);
}

static struct answer resolver(const char *variant) {
    int kind = strcmp(variant, "stream") == 0 ? SOCK_STREAM : SOCK_DGRAM;
    return connect_to(AF_INET, "192.0.2.53", 53, kind);
}

// Whoever listens at any port of loopback but the endpoint's. A socket that is given the port it connects
// to meets itself, and shows nothing.
static struct answer every_port(const char *variant) {
    (void)variant;
    int own = atoi(setting("endpoint-port"));
    for (int port = 1; port < 65536; port++) {
        if (port == own) continue;
        struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)}, from = {0};
        socklen_t length = sizeof from;
        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        int file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (file < 0) return refused("socket");
        bool is_open = connect(file, (struct sockaddr *)&to, sizeof to) == 0
            && getsockname(file, (struct sockaddr *)&from, &length) == 0
            && from.sin_port != to.sin_port;
        close(file);
        if (is_open) return works();
    }
    return absent();
}

static struct answer abstract_name(const char *variant) {
    (void)variant;
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    snprintf(to.sun_path + 1, sizeof to.sun_path - 1, "%s", setting("abstract"));
    int file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (file < 0) return refused("socket");
    socklen_t length = (socklen_t)(sizeof(sa_family_t) + 1 + strlen(setting("abstract")));
    struct answer answer = outcome(connect(file, (struct sockaddr *)&to, length), "connect");
    close(file);
    return answer;
}

static struct answer hypervisor(const char *variant) {
    (void)variant;
    int file = socket(40 /* AF_VSOCK */, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (file < 0 && on_control() && errno == EAFNOSUPPORT) return lacks("vsock");
    return outcome(file, "socket");
}

// A way to addresses that have none.
static struct answer add_route(const char *variant) {
    (void)variant;
    struct {
        struct nlmsghdr header;
        struct rtmsg message;
        struct rtattr to;
        struct in_addr address;
        struct rtattr over;
        int interface;
    } request = {
        .header = {.nlmsg_len = sizeof request,
                   .nlmsg_type = RTM_NEWROUTE,
                   .nlmsg_flags = NLM_F_REQUEST | NLM_F_CREATE | NLM_F_ACK},
        .message = {.rtm_family = AF_INET,
                    .rtm_dst_len = 32,
                    .rtm_table = RT_TABLE_MAIN,
                    .rtm_protocol = RTPROT_STATIC,
                    .rtm_scope = RT_SCOPE_LINK,
                    .rtm_type = RTN_UNICAST},
        .to = {.rta_len = sizeof(struct rtattr) + sizeof(struct in_addr), .rta_type = RTA_DST},
        .over = {.rta_len = sizeof(struct rtattr) + sizeof(int), .rta_type = RTA_OIF},
        .interface = 1,
    };
    inet_pton(AF_INET, "203.0.113.1", &request.address);
    return ask_routes(&request, sizeof request, "RTM_NEWROUTE");
}

// MARK: the endpoint and who answers there

// A server's socket of the usual kind, which lets another process have the same port.
static int sharing_listener(int port) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int yes = 1, file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (file < 0 || setsockopt(file, SOL_SOCKET, SO_REUSEPORT, &yes, sizeof yes) != 0
        || setsockopt(file, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0
        || bind(file, (struct sockaddr *)&at, sizeof at) != 0 || listen(file, 16) != 0)
        return -1;
    return file;
}

static struct answer take_port(const char *variant) {
    (void)variant;
    int port = atoi(setting("endpoint-port"));
    if (on_control()) {
        struct sockaddr_in at;
        socklen_t length = sizeof at;
        int first = sharing_listener(0);
        if (first < 0 || getsockname(first, (struct sockaddr *)&at, &length) != 0)
            return broken("listen");
        port = ntohs(at.sin_port);
    }
    return outcome(sharing_listener(port), "bind");
}

static struct answer take_socket(const char *variant) {
    (void)variant;
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    const char *path = on_control() ? joined(setting("writable"), "model") : "/dev/model";
    snprintf(at.sun_path, sizeof at.sun_path, "%s", path);
    int first = on_control() ? socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0) : 0;
    if (first < 0 || (on_control() && bind(first, (struct sockaddr *)&at, sizeof at) != 0))
        return broken("bind");
    if (unlink(at.sun_path) != 0) return refused("unlink");
    int file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (file < 0) return refused("socket");
    return outcome(bind(file, (struct sockaddr *)&at, sizeof at), "bind");
}

// A listener is who it serves: whoever holds it takes the questions of others; and a socket that keeps
// message boundaries is how a broker is told what to do.
static struct answer held_socket(const char *variant) {
    bool is_listener = strcmp(variant, "listener") == 0;
    if (on_control()) {
        int ends[2];
        if (is_listener ? sharing_listener(0) < 0 : socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0)
            return broken("socket");
    }
    for (int number = 0; number < 4096; number++) {
        int value = 0;
        socklen_t length = sizeof value;
        int option = is_listener ? SO_ACCEPTCONN : SO_TYPE;
        if (getsockopt(number, SOL_SOCKET, option, &value, &length) != 0) continue;
        if (value == (is_listener ? 1 : SOCK_SEQPACKET)) return works();
    }
    return absent();
}

// Calls a visitor for each process that procfs shows, until one is true.
static bool any_process(bool (*visit)(const char *folder)) {
    DIR *processes = opendir("/proc");
    if (processes == NULL) return false;
    bool found = false;
    for (struct dirent *entry; !found && (entry = readdir(processes)) != NULL;) {
        if (atoi(entry->d_name) <= 0) continue;
        found = visit(joined("/proc", entry->d_name));
    }
    closedir(processes);
    return found;
}

// The broker, by the name of its program, which the kernel cuts off at 15 bytes (proc(5), comm).
static bool is_broker(const char *folder) {
    char name[32] = {0};
    int file = open(joined(folder, "comm"), O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    bool is_read = read(file, name, sizeof name - 1) > 0;
    close(file);
    return is_read && strncmp(name, "invigilator-bro", 15) == 0;
}

static struct answer find_broker(const char *variant) {
    (void)variant;
    pid_t child = on_control() ? fork() : -1;
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        prctl(PR_SET_NAME, "invigilator-bro");
        for (;;) pause();
    }
    // The child needs a moment to take its name.
    for (int turn = 0; turn < (on_control() ? 100 : 1); turn++) {
        if (any_process(is_broker)) {
            if (child > 0) kill(child, SIGKILL);
            return works();
        }
        usleep(10000);
    }
    return absent();
}

// MARK: the key

static unsigned char mask[64];
static size_t mask_length;

static void read_mask(void) {
    const char *text = setting("key-mask");
    mask_length = 0;
    for (; mask_length < sizeof mask && text[2 * mask_length] != 0; mask_length++) {
        char digits[3] = {text[2 * mask_length], text[2 * mask_length + 1], 0};
        mask[mask_length] = (unsigned char)strtol(digits, NULL, 16);
    }
}

static bool holds_key(const unsigned char *bytes, size_t length) {
    for (size_t start = 0; start + mask_length <= length; start++) {
        size_t same = 0;
        while (same < mask_length && (bytes[start + same] ^ 0x5a) == mask[same]) same++;
        if (same == mask_length) return true;
    }
    return false;
}

static int looked_at;

static bool file_holds_key(const char *path) {
    static unsigned char bytes[1 << 18];
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    if (file < 0) return false;
    looked_at++;
    bool found = false;
    size_t kept = 0;
    for (int part = 0; part < 16 && !found; part++) {
        ssize_t length = read(file, bytes + kept, sizeof bytes - kept);
        if (length <= 0) break;
        found = holds_key(bytes, kept + (size_t)length);
        // What a part ends with may be a beginning.
        size_t all = kept + (size_t)length;
        kept = all < mask_length ? all : mask_length;
        memmove(bytes, bytes + all - kept, kept);
    }
    memset(bytes, 0, sizeof bytes);
    close(file);
    return found;
}

static bool tree_holds_key(const char *folder, int depth) {
    static const char *const left_out[] = {"/proc", "/sys", "/dev", "/usr"};
    for (size_t index = 0; index < sizeof left_out / sizeof *left_out; index++)
        if (strcmp(folder, left_out[index]) == 0) return false;
    DIR *entries = depth > 0 ? opendir(folder) : NULL;
    if (entries == NULL) return false;
    bool found = false;
    for (struct dirent *entry; !found && looked_at < 20000 && (entry = readdir(entries)) != NULL;) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        char path[1024];
        struct stat status;
        snprintf(path, sizeof path, "%s/%s", strcmp(folder, "/") == 0 ? "" : folder, entry->d_name);
        if (lstat(path, &status) != 0) continue;
        if (S_ISDIR(status.st_mode)) found = tree_holds_key(path, depth - 1);
        else if (S_ISREG(status.st_mode)) found = file_holds_key(path);
    }
    closedir(entries);
    return found;
}

static bool words_hold_key(const char *folder) {
    return file_holds_key(joined(folder, "environ")) || file_holds_key(joined(folder, "cmdline"));
}

// What this process itself was given, and came by: where it may not read its own map, it looks at
// nothing.
static struct answer look_at_memory(void) {
    FILE *maps = fopen("/proc/self/maps", "re");
    if (maps == NULL) return refused("fopen");
    char line[512], rights[8];
    unsigned long first, last;
    bool found = false;
    while (!found && fgets(line, sizeof line, maps) != NULL) {
        if (sscanf(line, "%lx-%lx %7s", &first, &last, rights) != 3 || rights[0] != 'r'
            || strstr(line, "[v") != NULL)
            continue;
        found = holds_key((const unsigned char *)first, last - first);
    }
    fclose(maps);
    return found ? works() : absent();
}

// On the control the key is where it usually is.
static void leave_key(const char *variant) {
    static volatile char key[sizeof mask + 1];
    for (size_t index = 0; index < mask_length; index++) key[index] = (char)(mask[index] ^ 0x5a);
    const char *text = (const char *)key;
    if (strcmp(variant, "environment") == 0) setenv("OPENAI_API_KEY", text, 1);
    if (strcmp(variant, "files") == 0) {
        int file = open(joined(setting("writable"), ".netrc"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        if (file < 0 || write(file, text, mask_length) < 0) perror("leave a key");
    }
}

static struct answer find_key(const char *variant) {
    read_mask();
    if (mask_length < 16) return broken("no key to look for");
    if (on_control()) leave_key(variant);
    if (strcmp(variant, "memory") == 0) return look_at_memory();
    looked_at = 0;
    bool found = false;
    if (strcmp(variant, "environment") == 0) {
        for (char **entry = environ; *entry != NULL; entry++)
            found = found || holds_key((const unsigned char *)*entry, strlen(*entry));
        found = found || any_process(words_hold_key);
    } else {
        found = tree_holds_key(on_control() ? setting("writable") : "/", 12);
    }
    if (!found && looked_at == 0) return broken("nothing to look at");
    return found ? works() : absent();
}

const struct probe endpoint_probes[] = {
    {"endpoint.internet-socket", internet_socket},
    {"endpoint.host-loopback", host_loopback},
    {"endpoint.host-loopback-6", host_loopback_6},
    {"endpoint.metadata", metadata},
    {"endpoint.resolver", resolver},
    {"endpoint.every-port", every_port},
    {"endpoint.abstract-name", abstract_name},
    {"endpoint.hypervisor", hypervisor},
    {"endpoint.add-route", add_route},
    {"endpoint.take-port", take_port},
    {"endpoint.take-socket", take_socket},
    {"endpoint.held-socket", held_socket},
    {"endpoint.find-broker", find_broker},
    {"endpoint.find-key", find_key},
    {NULL, NULL},
};
