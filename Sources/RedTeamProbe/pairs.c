// Channels between two sandboxes: what one leaves behind and the next finds. A channel carries 2,048 bits
// at once, or a number that the sender moves and the receiver reads before and after.
//
//   pair send CHANNEL SEED         in the first sandbox; the message is made of the seed
//   pair receive CHANNEL           in the second: prints "bits CHANNEL HEX" or "none CHANNEL ERROR"
//   pair read CHANNEL              in the second: prints "number CHANNEL N" or "none CHANNEL ERROR"
//   pair both CHANNEL SEED...      on the control: both ends, one seed a round
//   pair beside CHANNEL SEED       on the control: both ends at once

#include "probe.h"
#include "pairs.h"

#include <stdlib.h>
#include <sys/wait.h>

bool message_bit(uint64_t seed, int index) {
    // splitmix64, so that the command can make the same message.
    uint64_t z = seed + (uint64_t)(index + 1) * 0x9e3779b97f4a7c15ULL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return ((z ^ (z >> 31)) & 1) != 0;
}

void message_bytes(uint64_t seed, unsigned char *bytes) {
    memset(bytes, 0, PAIR_BITS / 8);
    for (int index = 0; index < PAIR_BITS; index++)
        if (message_bit(seed, index)) bytes[index / 8] |= (unsigned char)(1 << index % 8);
}

static const struct channel *find(const char *name) {
    const struct channel *const tables[] = {byte_channels, timing_channels, number_channels};
    for (size_t table = 0; table < sizeof tables / sizeof *tables; table++)
        for (const struct channel *channel = tables[table]; channel->name != NULL; channel++)
            if (strcmp(channel->name, name) == 0) return channel;
    return NULL;
}

static void print_none(const char *name) {
    const char *error = strerrorname_np(errno);
    printf("none\t%s\t%s\n", name, error != NULL ? error : "-");
}

static void receive_bits(const struct channel *channel) {
    unsigned char bytes[PAIR_BITS / 8] = {0};
    errno = 0;
    if (!channel->receive(bytes)) {
        print_none(channel->name);
        return;
    }
    printf("bits\t%s\t", channel->name);
    for (size_t index = 0; index < sizeof bytes; index++) printf("%02x", bytes[index]);
    printf("\n");
}

static bool read_number(const struct channel *channel) {
    long number = 0;
    errno = 0;
    if (!channel->read(&number)) {
        print_none(channel->name);
        return false;
    }
    printf("number\t%s\t%ld\n", channel->name, number);
    return true;
}

int run_pair(int count, char **words) {
    const struct channel *channel = count >= 2 ? find(words[1]) : NULL;
    if (channel == NULL) return 2;
    bool is_number = channel->read != NULL;
    if (strcmp(words[0], "send") == 0 && count == 3) {
        channel->send(strtoull(words[2], NULL, 10));
    } else if (strcmp(words[0], "receive") == 0 && !is_number) {
        receive_bits(channel);
    } else if (strcmp(words[0], "read") == 0 && is_number) {
        read_number(channel);
    } else if (strcmp(words[0], "beside") == 0 && on_control() && count == 3) {
        fflush(stdout);
        pid_t sender = fork();
        if (sender == 0) {
            channel->send(strtoull(words[2], NULL, 10));
            _exit(0);
        }
        receive_bits(channel);
        waitpid(sender, NULL, 0);
    } else if (strcmp(words[0], "both") == 0 && on_control()) {
        for (int index = 2; index < count; index++) {
            if (is_number) read_number(channel);
            channel->send(strtoull(words[index], NULL, 10));
            if (is_number) read_number(channel);
            else receive_bits(channel);
        }
    } else {
        return 2;
    }
    puts("end");
    return 0;
}
