// invigilator-probe: the hostile program of the red team. It runs inside a sandbox, or on a control
// that it makes for itself, performs attacks one by one and says how each was answered. It is static
// C: attacks through the 32-bit gate and raw calls cannot be written otherwise, and it must run where
// there is no loader.
//
// An attack is one function that does the same on the control and in a sandbox; only its settings
// differ (which file is the secret, which process the victim). Adding a probe is one such function
// with its entry in the family's table here, and one entry in the catalogue (Sources/RedTeam).
#ifndef RED_TEAM_PROBE_H
#define RED_TEAM_PROBE_H

#define _GNU_SOURCE 1
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum verdict {
    WORKS,    // the attack did what it is for
    REFUSED,  // a call of it failed, with the error
    ABSENT,   // what it looks for is not there
    LACKS,    // this kernel has no such feature
    BROKEN,   // the attack could not be carried out at all
};

struct answer {
    enum verdict verdict;
    int error;
    char detail[160];
};

static inline struct answer said(enum verdict verdict, int error, const char *detail) {
    struct answer answer = {.verdict = verdict, .error = error};
    strncpy(answer.detail, detail, sizeof answer.detail - 1);
    return answer;
}

static inline struct answer works(void) { return said(WORKS, 0, ""); }
static inline struct answer refused(const char *call) { return said(REFUSED, errno, call); }
static inline struct answer absent(void) { return said(ABSENT, 0, ""); }
static inline struct answer lacks(const char *what) { return said(LACKS, errno, what); }
static inline struct answer broken(const char *what) { return said(BROKEN, errno, what); }

// What a call answered, where nothing more is to be done with its result.
static inline struct answer outcome(long result, const char *call) {
    return result >= 0 ? works() : refused(call);
}

// The attack gets the name of its variant, an empty one where it has none.
typedef struct answer (*attack)(const char *variant);

struct probe {
    const char *id;
    attack attack;
};

extern const struct probe file_probes[];
extern const struct probe mount_probes[];
extern const struct probe process_probes[];
extern const struct probe namespace_probes[];
extern const struct probe capability_probes[];
extern const struct probe socket_probes[];
extern const struct probe terminal_probes[];
extern const struct probe descriptor_probes[];
extern const struct probe key_probes[];
extern const struct probe ipc_probes[];
extern const struct probe credential_probes[];
extern const struct probe kernel_file_probes[];
extern const struct probe exhaustion_probes[];
extern const struct probe endpoint_probes[];

// A value that whoever started the program gave by name; an empty text when there is none.
const char *setting(const char *name);
void set_setting(const char *name, const char *value);

// Whether this is the control, where attacks must work.
bool on_control(void);

// How long getppid and a read of one byte take, in nanoseconds; under a filter that allows everything,
// where that is asked for.
int run_timing(const char *word, bool has_shortest_filter);

// One call of the family of refused calls; the id is "calls.NAME@NUMBER".
struct answer sweep_call(const char *id, const char *variant);

// The number of a call in the 32-bit table; -1 when that table has none.
int number_in_32_bits(const char *name);

// Makes the control of this process: namespaces of its own, nothing shared, everything read-only but
// for one directory. Returns in the process that runs the attacks; ends the program with 77 when any
// of it is not as it must be.
void become_control(const char *directory, const char *token);

// Starts the process that attacks are aimed at, and notes what it is in the settings.
bool start_victims(const char *directory);
void end_victims(void);

// Prints the settings of the victims and keeps them until standard input ends.
int keep_victims(const char *directory, const char *token);

// The race over a mount's source: "data" below a directory is, in turns, what was checked and what must
// not be seen (race.c). The variant says how they are swapped; an empty one is both by turns.
bool make_race(const char *directory);
int start_swapping(const char *directory, const char *variant);
void remove_race(const char *directory);
extern const struct probe race_probes[];

// Runs one attack of ID[/VARIANT] words, each in a process of its own; prints a line for each.
int run_probes(int count, char **ids);
struct answer perform(const char *id);

// The two ends of a channel between two sandboxes (pairs.c).
int run_pair(int count, char **words);

// A program that is its own launch: floods, hogs, and waits (loads.c).
int run_load(int count, char **words);

// Helpers of attacks.
struct answer read_secret(const char *path);
struct answer open_path(const char *path, int flags);
struct answer open_kernel_file(const char *path, int flags);
struct answer ask_routes(const void *request, size_t length, const char *name);
const char *joined(const char *directory, const char *name);

#endif
