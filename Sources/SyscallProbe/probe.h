// SyscallProbe: a static program that the privileged tests run inside a sandbox to learn what it can
// do there. Every verb prints lines of the form key=value; an attempt prints OK or the error's name.
#ifndef SYSCALL_PROBE_H
#define SYSCALL_PROBE_H

#define _GNU_SOURCE 1
#include <errno.h>
#include <stdio.h>
#include <string.h>

// Prints the outcome of one attempt: OK for a result that is not negative, else the error's name.
static inline void report(const char *key, long outcome) {
    const char *name = outcome < 0 ? strerrorname_np(errno) : "OK";
    printf("%s=%s\n", key, name != NULL ? name : "unknown");
    fflush(stdout);
}

// A verb gets the words after its name and returns the exit code; -1 when it is used wrongly.
typedef int (*verb_body)(int count, char **words);

struct verb {
    const char *name;
    verb_body body;
};

extern const struct verb fact_verbs[];
extern const struct verb file_verbs[];
extern const struct verb call_verbs[];
extern const struct verb load_verbs[];
extern const struct verb entry_verbs[];

// Runs a verb by name; -1 when there is none.
int perform(const char *name, int count, char **words);

#endif
