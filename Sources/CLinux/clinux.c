// The shims are inline; this file gives the target an object to link.
#include "clinux.h"

// glibc hands the start's arguments to every constructor; a static program needs no other way to them.
static int kept_count;
static char **kept_arguments;
__attribute__((constructor)) static void keep_arguments(int count, char **arguments) {
    kept_count = count;
    kept_arguments = arguments;
}
int clx_argument_count(void) { return kept_count; }
const char *clx_argument(int index) { return kept_arguments[index]; }
