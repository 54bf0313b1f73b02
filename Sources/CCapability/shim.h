// libcap's interface. Every module header names the same feature macro, or debug builds see two
// definitions of fd_set.
#ifndef CCAPABILITY_SHIM_H
#define CCAPABILITY_SHIM_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include <sys/capability.h>
#endif
