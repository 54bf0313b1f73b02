// Every refused system call, by four ways into the kernel: as it is, with arguments whose bit 32 is set,
// with the x32 bit in its number, and through the 32-bit gate with the number of that table.
//
// The arguments are such that no call does anything even for root: every one is -1, or a number without
// meaning, so the kernel answers EFAULT, EBADF or EINVAL. That answer, on the control, is the proof that
// the call reaches the kernel. vhangup has no argument; it hangs up the session's terminal, and the
// session of an attack has none.

#include "probe.h"

#include <stdlib.h>
#include <sys/syscall.h>

// Calls whose answer to -1 would hide whether they exist get arguments of their own.
static void choose_arguments(const char *name, long *arguments) {
    for (int index = 0; index < 6; index++) arguments[index] = -1;
    if (strcmp(name, "modify_ldt") == 0) arguments[0] = arguments[1] = arguments[2] = 0;
    // A length of -1 is one that the kernel would try to allocate, and complain about in its log.
    if (strcmp(name, "init_module") == 0) arguments[0] = arguments[1] = arguments[2] = 0;
}

static long through_32_bit_gate(int number, const long *arguments) {
    long answer = number;
    __asm__ volatile("int $0x80"
                     : "+a"(answer)
                     : "b"((unsigned)arguments[0]), "c"((unsigned)arguments[1]),
                       "d"((unsigned)arguments[2]), "S"((unsigned)arguments[3]),
                       "D"((unsigned)arguments[4])
                     : "memory", "r8", "r9", "r10", "r11");
    answer = (int)answer;
    if (answer >= 0 || answer < -4095) return answer;
    errno = (int)-answer;
    return -1;
}

struct answer sweep_call(const char *id, const char *variant) {
    char name[64];
    snprintf(name, sizeof name, "%s", id + strlen("calls."));
    char *number = strchr(name, '@');
    if (number == NULL) return broken("no number");
    *number++ = 0;
    long call = atol(number), result;
    long arguments[6];
    choose_arguments(name, arguments);
    // Whoever hangs up must have no terminal, whatever the way in.
    if (strcmp(name, "vhangup") == 0 && getsid(0) != getpid() && on_control())
        return broken("no session");
    if (strcmp(variant, "int80") == 0) {
        int foreign = number_in_32_bits(name);
        // Any number ends the process where the gate is closed: getpid, for a call it never had.
        result = through_32_bit_gate(foreign >= 0 ? foreign : 20, arguments);
    } else {
        if (strcmp(variant, "x32") == 0) call |= 0x40000000;
        for (int index = 0; index < 6 && strcmp(variant, "high") == 0; index++)
            if (arguments[index] == -1) arguments[index] = 0x1ffffffffL;
        result = syscall(call, arguments[0], arguments[1], arguments[2], arguments[3],
                         arguments[4], arguments[5]);
    }
    return outcome(result, name);
}
