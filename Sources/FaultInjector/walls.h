#ifndef FAULT_INJECTOR_WALLS_H
#define FAULT_INJECTOR_WALLS_H

#include <stdio.h>
#include <sys/types.h>

// Prints what a payload is, and its init, a line "at KEY VALUE" for each fact, without what differs
// from launch to launch. A namespace is "own" where its outer process has another one.
void print_walls(FILE *where, pid_t payload, pid_t init, pid_t launcher);

#endif
