/* CSeccomp: what Swift cannot import from libseccomp(3), one call or macro each, no policy. */
#ifndef INVIGILATOR_CSECCOMP_SHIM_H
#define INVIGILATOR_CSECCOMP_SHIM_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include <errno.h>
#include <seccomp.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

/* SCMP_ACT_ERRNO is a function-like macro. */
static inline uint32_t cseccomp_action_errno(uint16_t code) { return SCMP_ACT_ERRNO(code); }

/* The architecture token is a macro over an expression that the importer does not evaluate. */
static inline uint32_t cseccomp_architecture_x86_64(void) { return SCMP_ARCH_X86_64; }

/* The comparison `(argument & mask) == value`. */
static inline struct scmp_arg_cmp cseccomp_masked_equal(unsigned argument, uint64_t mask,
                                                        uint64_t value) {
    struct scmp_arg_cmp comparison = {argument, SCMP_CMP_MASKED_EQ, mask, value};
    return comparison;
}

/* memfd_create(2) is hidden from the importer; returns a descriptor or -errno. */
static inline int cseccomp_memory_file(const char *name) {
    int descriptor = memfd_create(name, MFD_CLOEXEC);
    return descriptor < 0 ? -errno : descriptor;
}

/* pread(2); returns a count or -errno. */
static inline ssize_t cseccomp_read_at(int descriptor, void *bytes, size_t count, off_t offset) {
    ssize_t result = pread(descriptor, bytes, count, offset);
    return result < 0 ? -errno : result;
}

/* close(2), whose result carries no information that a caller could act on here. */
static inline void cseccomp_close(int descriptor) { (void)close(descriptor); }

#endif
