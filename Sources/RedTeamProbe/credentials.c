// Attacks on what a host trusts its users with: sockets of its services, files with keys. The control
// has one of each in file systems of its own.

#include "probe.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>

static struct answer connect_to(const char *path) {
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    snprintf(to.sun_path, sizeof to.sun_path, "%s", path);
    int file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (file < 0) return refused("socket");
    return outcome(connect(file, (struct sockaddr *)&to, (socklen_t)(sizeof(sa_family_t) + 1
                                                                       + strlen(path))),
                   "connect");
}

static struct answer munge(const char *variant) {
    (void)variant;
    return connect_to("/run/munge/munge.socket.2");
}

static struct answer message_bus(const char *variant) {
    (void)variant;
    return connect_to("/run/dbus/system_bus_socket");
}

static struct answer docker(const char *variant) {
    (void)variant;
    return connect_to("/run/docker.sock");
}

static struct answer containerd(const char *variant) {
    (void)variant;
    return connect_to("/run/containerd/containerd.sock");
}

static struct answer podman(const char *variant) {
    (void)variant;
    return connect_to("/run/podman/podman.sock");
}

static struct answer key_agent(const char *variant) {
    (void)variant;
    return connect_to("/run/ssh-agent.sock");
}

static struct answer passwords(const char *variant) {
    (void)variant;
    return open_path("/etc/shadow", O_RDONLY);
}

static struct answer private_key(const char *variant) {
    (void)variant;
    return open_path("/root/.ssh/id_ed25519", O_RDONLY);
}

static struct answer cloud_credentials(const char *variant) {
    (void)variant;
    return open_path("/root/.aws/credentials", O_RDONLY);
}

static struct answer stored_logins(const char *variant) {
    (void)variant;
    return open_path("/root/.netrc", O_RDONLY);
}

static struct answer service_token(const char *variant) {
    (void)variant;
    return open_path("/run/secrets/token", O_RDONLY);
}

// The address at which clouds hand out a machine's credentials.
static struct answer metadata(const char *variant) {
    (void)variant;
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)atoi(setting("metadata-port")))};
    inet_pton(AF_INET, setting("metadata-address"), &to.sin_addr);
    int file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (file < 0) return refused("socket");
    return outcome(connect(file, (struct sockaddr *)&to, sizeof to), "connect");
}

const struct probe credential_probes[] = {
    {"credentials.munge", munge},
    {"credentials.message-bus", message_bus},
    {"credentials.docker", docker},
    {"credentials.containerd", containerd},
    {"credentials.podman", podman},
    {"credentials.key-agent", key_agent},
    {"credentials.passwords", passwords},
    {"credentials.private-key", private_key},
    {"credentials.cloud", cloud_credentials},
    {"credentials.logins", stored_logins},
    {"credentials.service-token", service_token},
    {"credentials.metadata", metadata},
    {NULL, NULL},
};
