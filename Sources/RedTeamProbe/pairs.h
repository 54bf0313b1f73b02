// One channel between two sandboxes.
#ifndef RED_TEAM_PAIRS_H
#define RED_TEAM_PAIRS_H

#include <stdbool.h>
#include <stdint.h>

// As many bits as a byte channel carries at once.
#define PAIR_BITS 2048
// Numbers carry four bits a round: the last four of the seed.
#define PAIR_VALUE(seed) ((long)((seed) & 15))

struct channel {
    const char *name;
    void (*send)(uint64_t seed);
    bool (*receive)(unsigned char *bytes);  // a byte channel
    bool (*read)(long *number);             // a number
};

extern const struct channel byte_channels[];
extern const struct channel timing_channels[];
extern const struct channel number_channels[];

bool message_bit(uint64_t seed, int index);
void message_bytes(uint64_t seed, unsigned char *bytes);

#endif
