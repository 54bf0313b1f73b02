// Attacks on terminals: typing for whoever looks at one. On the control the terminal is a pair that the
// attack makes; in a sandbox it is standard input, or one of the sandbox's own where it has one.

#include "probe.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

// A terminal that controls this process, made of a new pair; standard input where that fails.
static int terminal(void) {
    if (!on_control()) return 0;
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0) return 0;
    int peer = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (peer < 0) return 0;
    ioctl(peer, TIOCSCTTY, 0);
    return peer;
}

static struct answer request(unsigned long number, void *argument, const char *variant) {
    if (strcmp(variant, "high") == 0) number |= 1UL << 32;
    return outcome(syscall(SYS_ioctl, terminal(), number, argument), "ioctl");
}

static struct answer inject(const char *variant) {
    char byte = '\n';
    return request(0x5412 /* TIOCSTI */, &byte, variant);
}

// Subcode 6 asks for the state of the shift keys: harmless where it is answered.
static struct answer linux_console(const char *variant) {
    char subcode = 6;
    return request(0x541c /* TIOCLINUX */, &subcode, variant);
}

static struct answer line_discipline(const char *variant) {
    int number = 0;
    return request(0x5423 /* TIOCSETD, N_TTY */, &number, variant);
}

static struct answer map_keys(const char *variant) {
    char argument[8] = {0};
    return request(0x4b46 /* KDGKBENT */, argument, variant);
}

// The terminal that another session may still have open.
static struct answer controlling(const char *variant) {
    (void)variant;
    if (on_control()) terminal();
    return open_path("/dev/tty", O_RDWR);
}

static struct answer host_terminals(const char *variant) {
    (void)variant;
    return open_path(on_control() ? "/dev/pts" : "/dev/pts/0", O_RDONLY);
}

const struct probe terminal_probes[] = {
    {"terminals.inject", inject},
    {"terminals.console", linux_console},
    {"terminals.line-discipline", line_discipline},
    {"terminals.keyboard-map", map_keys},
    {"terminals.controlling", controlling},
    {"terminals.host", host_terminals},
    {NULL, NULL},
};
