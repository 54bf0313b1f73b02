// Attacks over sockets: families that reach past a network namespace, addresses outside it, options
// that tell of the host or load code.

#include "probe.h"

#include <arpa/inet.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

// The kernel reads the family as 32 bits; the variant "high" has a bit above them set.
static struct answer make(long family, long kind, long protocol, const char *variant) {
    if (strcmp(variant, "high") == 0) family |= 1L << 32;
    long file = syscall(SYS_socket, family, kind, protocol);
    if (file < 0 && on_control()
        && (errno == EAFNOSUPPORT || errno == EPROTONOSUPPORT || errno == ESOCKTNOSUPPORT))
        return lacks("socket");
    return outcome(file, "socket");
}

static struct answer vsock(const char *variant) { return make(40, SOCK_STREAM, 0, variant); }
static struct answer packet(const char *variant) { return make(17, SOCK_RAW, 0, variant); }
static struct answer algorithm(const char *variant) { return make(38, SOCK_SEQPACKET, 0, variant); }
static struct answer bluetooth(const char *variant) { return make(31, SOCK_RAW, 1, variant); }
static struct answer can(const char *variant) { return make(29, SOCK_RAW, 1, variant); }
static struct answer tipc(const char *variant) { return make(30, SOCK_RDM, 0, variant); }
static struct answer rds(const char *variant) { return make(21, SOCK_SEQPACKET, 0, variant); }
static struct answer xdp(const char *variant) { return make(44, SOCK_RAW, 0, variant); }
static struct answer kcm(const char *variant) { return make(41, SOCK_DGRAM, 0, variant); }
static struct answer smc(const char *variant) { return make(43, SOCK_STREAM, 0, variant); }
static struct answer inet(const char *variant) { return make(AF_INET, SOCK_DGRAM, 0, variant); }
static struct answer inet6(const char *variant) { return make(AF_INET6, SOCK_DGRAM, 0, variant); }
static struct answer raw_inet(const char *variant) { return make(AF_INET, SOCK_RAW, 1, variant); }
static struct answer audit(const char *variant) {
    return make(AF_NETLINK, SOCK_RAW, NETLINK_AUDIT, variant);
}
static struct answer uevents(const char *variant) {
    return make(AF_NETLINK, SOCK_RAW, NETLINK_KOBJECT_UEVENT, variant);
}
static struct answer diagnosis(const char *variant) {
    return make(AF_NETLINK, SOCK_RAW, NETLINK_SOCK_DIAG, variant);
}
static struct answer route(const char *variant) {
    return make(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE, variant);
}

static struct answer connect_inet(const char *address, int port, int kind) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    inet_pton(AF_INET, address, &to.sin_addr);
    int file = socket(AF_INET, kind | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (file < 0) return refused("socket");
    int result = connect(file, (struct sockaddr *)&to, sizeof to);
    if (result == 0 && kind == SOCK_DGRAM) result = send(file, "x", 1, 0) == 1 ? 0 : -1;
    // Being on the way is enough: a packet left.
    if (result != 0 && errno == EINPROGRESS) result = 0;
    struct answer answer = outcome(result, "connect");
    close(file);
    return answer;
}

static struct answer host_loopback(const char *variant) {
    (void)variant;
    int port = atoi(setting("tcp-port"));
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
    int file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (file < 0) return refused("socket");
    return outcome(connect(file, (struct sockaddr *)&to, sizeof to), "connect");
}

// A datagram to a resolver: a name that is looked up says something to whoever answers.
static struct answer name_look_up(const char *variant) {
    (void)variant;
    return connect_inet(setting("resolver-address"), 53, SOCK_DGRAM);
}

static struct answer connect_unix(const char *path, bool is_abstract) {
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    size_t length = strlen(path);
    if (length + 2 > sizeof to.sun_path) return broken("path");
    memcpy(to.sun_path + (is_abstract ? 1 : 0), path, length);
    int file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (file < 0) return refused("socket");
    struct answer answer = outcome(
        connect(file, (struct sockaddr *)&to, (socklen_t)(sizeof(sa_family_t) + 1 + length)),
        "connect");
    close(file);
    return answer;
}

static struct answer host_abstract(const char *variant) {
    (void)variant;
    return connect_unix(setting("abstract"), true);
}

static struct answer host_path(const char *variant) {
    (void)variant;
    return connect_unix(setting("socket"), false);
}

// Interfaces with an address, besides loopback itself.
static struct answer interfaces(const char *variant) {
    (void)variant;
    struct ifreq entries[32];
    struct ifconf list = {.ifc_len = sizeof entries};
    list.ifc_req = entries;
    int file = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (file < 0) return refused("socket");
    if (ioctl(file, SIOCGIFCONF, &list) != 0) return refused("ioctl");
    for (size_t index = 0; index < (size_t)list.ifc_len / sizeof *entries; index++)
        if (strcmp(entries[index].ifr_name, "lo") != 0) return works();
    return absent();
}

// Sends one request to the kernel's tables of routes and addresses (rtnetlink(7)).
struct answer ask_routes(const void *request, size_t length, const char *name) {
    int file = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (file < 0) return refused("socket");
    if (send(file, request, length, 0) < 0) return refused("send");
    struct {
        struct nlmsghdr header;
        struct nlmsgerr error;
        char rest[512];
    } reply;
    if (recv(file, &reply, sizeof reply, 0) < 0) return refused("recv");
    errno = -reply.error.error;
    return errno == 0 ? works() : refused(name);
}

// A second address for loopback: routes and addresses are not the payload's to change.
static struct answer add_address(const char *variant) {
    (void)variant;
    struct {
        struct nlmsghdr header;
        struct ifaddrmsg message;
        struct rtattr attribute;
        struct in_addr address;
    } request = {
        .header = {.nlmsg_len = sizeof request,
                   .nlmsg_type = RTM_NEWADDR,
                   .nlmsg_flags = NLM_F_REQUEST | NLM_F_CREATE | NLM_F_ACK},
        .message = {.ifa_family = AF_INET, .ifa_prefixlen = 32, .ifa_index = 1},
        .attribute = {.rta_len = sizeof(struct rtattr) + sizeof(struct in_addr),
                      .rta_type = IFA_LOCAL},
    };
    inet_pton(AF_INET, "192.0.2.99", &request.address);
    return ask_routes(&request, sizeof request, "RTM_NEWADDR");
}

static struct answer low_port(const char *variant) {
    (void)variant;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(80)};
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int file = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (file < 0) return refused("socket");
    return outcome(bind(file, (struct sockaddr *)&at, sizeof at), "bind");
}

static struct answer ask_option(int option, void *value, socklen_t length) {
    int file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (file < 0) return refused("socket");
    return outcome(getsockopt(file, SOL_SOCKET, option, value, &length), "getsockopt");
}

// A number that counts every socket of the network namespace.
static struct answer cookie(const char *variant) {
    (void)variant;
    unsigned long long number = 0;
    return ask_option(57, &number, sizeof number);
}

static struct answer namespace_cookie(const char *variant) {
    (void)variant;
    unsigned long long number = 0;
    return ask_option(71, &number, sizeof number);
}

static struct answer memory_counters(const char *variant) {
    (void)variant;
    unsigned numbers[16] = {0};
    return ask_option(55, numbers, sizeof numbers);
}

static struct answer peer_groups(const char *variant) {
    (void)variant;
    int ends[2];
    unsigned list[64];
    socklen_t length = sizeof list;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return refused("socketpair");
    return outcome(getsockopt(ends[0], SOL_SOCKET, 59, list, &length), "getsockopt");
}

// A program of one's own in the kernel.
static struct answer attach_program(const char *variant) {
    (void)variant;
    struct sock_filter accept = {.code = 6, .k = 0xffff};
    struct sock_fprog program = {.len = 1, .filter = &accept};
    int file = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (file < 0) return refused("socket");
    return outcome(setsockopt(file, SOL_SOCKET, 26, &program, sizeof program), "setsockopt");
}

static struct answer force_buffer(const char *variant) {
    (void)variant;
    int size = 1 << 20;
    int file = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (file < 0) return refused("socket");
    return outcome(setsockopt(file, SOL_SOCKET, 33, &size, sizeof size), "setsockopt");
}

// Another protocol layer on a TCP socket (tls, espintcp): kernel code that few have read.
static struct answer upper_protocol(const char *variant) {
    (void)variant;
    int file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (file < 0) return refused("socket");
    struct answer answer = outcome(setsockopt(file, 6, 31, "tls", 4), "setsockopt");
    return on_control() && answer.error == ENOENT ? lacks("tls") : answer;
}

const struct probe socket_probes[] = {
    {"sockets.vsock", vsock},
    {"sockets.packet", packet},
    {"sockets.algorithm", algorithm},
    {"sockets.bluetooth", bluetooth},
    {"sockets.can", can},
    {"sockets.tipc", tipc},
    {"sockets.rds", rds},
    {"sockets.xdp", xdp},
    {"sockets.kcm", kcm},
    {"sockets.smc", smc},
    {"sockets.inet", inet},
    {"sockets.inet6", inet6},
    {"sockets.raw-inet", raw_inet},
    {"sockets.audit", audit},
    {"sockets.uevents", uevents},
    {"sockets.diagnosis", diagnosis},
    {"sockets.route", route},
    {"sockets.host-loopback", host_loopback},
    {"sockets.name-look-up", name_look_up},
    {"sockets.host-abstract", host_abstract},
    {"sockets.host-path", host_path},
    {"sockets.interfaces", interfaces},
    {"sockets.add-address", add_address},
    {"sockets.low-port", low_port},
    {"sockets.cookie", cookie},
    {"sockets.namespace-cookie", namespace_cookie},
    {"sockets.memory-counters", memory_counters},
    {"sockets.peer-groups", peer_groups},
    {"sockets.attach-program", attach_program},
    {"sockets.force-buffer", force_buffer},
    {"sockets.upper-protocol", upper_protocol},
    {NULL, NULL},
};
