// Attacks with kernel keyrings, which outlive a sandbox. On the control a fresh session keyring is
// joined first, so that no keyring of anybody else is touched.

#include "probe.h"

#include <fcntl.h>
#include <sys/syscall.h>

static const int session = -3, process = -2;

static bool has_own_session(void) {
    return !on_control() || syscall(SYS_keyctl, 1 /* JOIN_SESSION_KEYRING */, NULL) >= 0;
}

static struct answer add_key(const char *variant) {
    (void)variant;
    if (!has_own_session()) return lacks("keyctl");
    return outcome(syscall(SYS_add_key, "user", "probe", "x", 1, on_control() ? session : process),
                   "add_key");
}

static struct answer request_key(const char *variant) {
    (void)variant;
    if (!has_own_session()) return lacks("keyctl");
    if (on_control()) syscall(SYS_add_key, "user", "probe", "x", 1, session);
    return outcome(syscall(SYS_request_key, "user", "probe", NULL, 0), "request_key");
}

static struct answer join_session(const char *variant) {
    (void)variant;
    long answer = syscall(SYS_keyctl, 1, NULL);
    return on_control() && answer < 0 ? lacks("keyctl") : outcome(answer, "keyctl");
}

static struct answer list_keys(const char *variant) {
    (void)variant;
    struct answer answer = open_kernel_file("/proc/keys", O_RDONLY);
    return on_control() && answer.verdict == REFUSED ? lacks("/proc/keys") : answer;
}

static struct answer count_keys(const char *variant) {
    (void)variant;
    struct answer answer = open_kernel_file("/proc/key-users", O_RDONLY);
    return on_control() && answer.verdict == REFUSED ? lacks("/proc/key-users") : answer;
}

const struct probe key_probes[] = {
    {"keys.add", add_key},
    {"keys.request", request_key},
    {"keys.join-session", join_session},
    {"keys.list", list_keys},
    {"keys.count", count_keys},
    {NULL, NULL},
};
