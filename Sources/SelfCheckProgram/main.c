// Says what it finds in the sandbox that it was started in, and judges nothing.
//
//   invigilator-selfcheck facts PROCESSES [PATH]...   facts, one a line, then "ready"; then one "pong N"
//                                                     for each line of its input, to the end of that
//   invigilator-selfcheck eat MEBIBYTES               touches so much memory, then says "survived"
//
// It asks for nothing that would do harm where nothing refuses it: calls that must be refused get
// arguments with which the kernel itself refuses them, by another error.

#include "facts.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int eat(const char *word) {
    size_t length = strtoul(word, NULL, 10) << 20;
    char *memory = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return 1;
    for (size_t at = 0; at < length; at += 4096) memory[at] = 1;
    puts("survived");
    return 0;
}

// A terminal's echo repeats what was written to it, also while its reader is frozen: an answer is
// another word.
static int answer_input(void) {
    char bytes[64];
    int count = 0;
    for (ssize_t length; (length = read(0, bytes, sizeof bytes)) > 0;)
        for (ssize_t at = 0; at < length; at++)
            if (bytes[at] == '\n') printf("pong %d\n", ++count);
    return 0;
}

int main(int count, char **words) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (count == 3 && strcmp(words[1], "eat") == 0) return eat(words[2]);
    if (count < 4 || strcmp(words[1], "facts") != 0) return 2;
    say_identity();
    say_namespaces();
    say_procfs();
    say_interfaces();
    say_network_files();
    say_mounts();
    say_descriptors();
    say_limits();
    say_calls();
    for (int index = 4; index < count; index++) say_path(words[index]);
    say_objects(atoi(words[3]));
    say_threads(atoi(words[2]));
    puts("ready");
    return answer_input();
}
