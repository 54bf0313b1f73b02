// Attacks that only a capability, or a way to get one back, makes possible.

#include "probe.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

// A set of /proc/self/status that is not empty; the variant is the line's name.
static struct answer set_of(const char *variant) {
    FILE *file = fopen("/proc/self/status", "re");
    if (file == NULL) return broken("status");
    char text[256];
    unsigned long long set = 0;
    size_t length = strlen(variant);
    while (fgets(text, sizeof text, file) != NULL)
        if (strncmp(text, variant, length) == 0 && text[length] == ':')
            set = strtoull(text + length + 1, NULL, 16);
    fclose(file);
    return set != 0 ? works() : absent();
}

static struct answer bounding_set(const char *variant) {
    (void)variant;
    for (int capability = 0; capability < 64; capability++)
        if (prctl(PR_CAPBSET_READ, capability, 0, 0, 0) > 0) return works();
    return absent();
}

// Whether a program of root's would gain everything when it is started (capabilities(7)).
static struct answer root_magic(const char *variant) {
    (void)variant;
    int bits = prctl(PR_GET_SECUREBITS, 0, 0, 0, 0);
    if (bits < 0) return refused("prctl");
    return (bits & 0xef) == 0xef ? absent() : works();
}

static struct answer unlock_magic(const char *variant) {
    (void)variant;
    return outcome(prctl(PR_SET_SECUREBITS, 0, 0, 0, 0), "prctl");
}

static struct answer raise_ambient(const char *variant) {
    (void)variant;
    return outcome(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0), "prctl");
}

static struct answer set_capabilities(const char *variant) {
    (void)variant;
    struct {
        unsigned version;
        int pid;
    } header = {0x20080522, 0};
    unsigned data[6] = {0};
    return outcome(syscall(SYS_capset, &header, data), "capset");
}

// A file of one's own that even its owner may not read: root may (CAP_DAC_OVERRIDE).
static struct answer override_modes(const char *variant) {
    (void)variant;
    const char *path = joined(setting("writable"), "closed");
    close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    if (chmod(path, 0) != 0) return broken("chmod");
    struct answer answer = open_path(path, O_RDONLY);
    unlink(path);
    return answer;
}

static struct answer override_search(const char *variant) {
    (void)variant;
    const char *path = joined(setting("writable"), "closed-directory");
    mkdir(path, 0700);
    if (chmod(path, 0) != 0) return broken("chmod");
    struct answer answer = open_path(joined(path, "."), O_RDONLY | O_DIRECTORY);
    rmdir(path);
    return answer;
}

static struct answer be_nicer(const char *variant) {
    (void)variant;
    return outcome(setpriority(PRIO_PROCESS, 0, -5), "setpriority");
}

static struct answer groups(const char *variant) {
    (void)variant;
    unsigned list[1] = {0};
    return outcome(syscall(SYS_setgroups, 0, list), "setgroups");
}

static struct answer keep_capabilities(const char *variant) {
    (void)variant;
    return outcome(prctl(PR_SET_KEEPCAPS, 0, 0, 0, 0), "prctl");
}

const struct probe capability_probes[] = {
    {"capabilities.set", set_of},
    {"capabilities.bounding-set", bounding_set},
    {"capabilities.root-magic", root_magic},
    {"capabilities.unlock-magic", unlock_magic},
    {"capabilities.ambient", raise_ambient},
    {"capabilities.capset", set_capabilities},
    {"capabilities.override-modes", override_modes},
    {"capabilities.override-search", override_search},
    {"capabilities.be-nicer", be_nicer},
    {"capabilities.groups", groups},
    {"capabilities.keep", keep_capabilities},
    {NULL, NULL},
};
