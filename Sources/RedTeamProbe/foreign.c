// Numbers of the 32-bit table for the calls that are refused. This file alone includes that table: its
// names are those of the 64-bit one.

#include <asm/unistd_32.h>
#include <string.h>

int number_in_32_bits(const char *name);

static const struct {
    const char *name;
    int number;
} table[] = {
#ifdef __NR__sysctl
    {"_sysctl", __NR__sysctl},
#endif
#ifdef __NR_acct
    {"acct", __NR_acct},
#endif
#ifdef __NR_add_key
    {"add_key", __NR_add_key},
#endif
#ifdef __NR_adjtimex
    {"adjtimex", __NR_adjtimex},
#endif
#ifdef __NR_bpf
    {"bpf", __NR_bpf},
#endif
    {"cachestat", 451},
#ifdef __NR_chroot
    {"chroot", __NR_chroot},
#endif
#ifdef __NR_clock_adjtime
    {"clock_adjtime", __NR_clock_adjtime},
#endif
#ifdef __NR_clock_settime
    {"clock_settime", __NR_clock_settime},
#endif
#ifdef __NR_clone3
    {"clone3", __NR_clone3},
#endif
#ifdef __NR_delete_module
    {"delete_module", __NR_delete_module},
#endif
#ifdef __NR_fadvise64
    {"fadvise64", __NR_fadvise64},
#endif
#ifdef __NR_fanotify_init
    {"fanotify_init", __NR_fanotify_init},
#endif
#ifdef __NR_fanotify_mark
    {"fanotify_mark", __NR_fanotify_mark},
#endif
#ifdef __NR_finit_module
    {"finit_module", __NR_finit_module},
#endif
#ifdef __NR_fsconfig
    {"fsconfig", __NR_fsconfig},
#endif
#ifdef __NR_fsmount
    {"fsmount", __NR_fsmount},
#endif
#ifdef __NR_fsopen
    {"fsopen", __NR_fsopen},
#endif
#ifdef __NR_fspick
    {"fspick", __NR_fspick},
#endif
#ifdef __NR_init_module
    {"init_module", __NR_init_module},
#endif
#ifdef __NR_io_uring_enter
    {"io_uring_enter", __NR_io_uring_enter},
#endif
#ifdef __NR_io_uring_register
    {"io_uring_register", __NR_io_uring_register},
#endif
#ifdef __NR_io_uring_setup
    {"io_uring_setup", __NR_io_uring_setup},
#endif
#ifdef __NR_ioperm
    {"ioperm", __NR_ioperm},
#endif
#ifdef __NR_iopl
    {"iopl", __NR_iopl},
#endif
#ifdef __NR_kcmp
    {"kcmp", __NR_kcmp},
#endif
#ifdef __NR_kexec_file_load
    {"kexec_file_load", __NR_kexec_file_load},
#endif
#ifdef __NR_kexec_load
    {"kexec_load", __NR_kexec_load},
#endif
#ifdef __NR_keyctl
    {"keyctl", __NR_keyctl},
#endif
    {"listmount", 458},
#ifdef __NR_lookup_dcookie
    {"lookup_dcookie", __NR_lookup_dcookie},
#endif
    {"memfd_secret", 447},
#ifdef __NR_mincore
    {"mincore", __NR_mincore},
#endif
#ifdef __NR_modify_ldt
    {"modify_ldt", __NR_modify_ldt},
#endif
#ifdef __NR_mount
    {"mount", __NR_mount},
#endif
#ifdef __NR_mount_setattr
    {"mount_setattr", __NR_mount_setattr},
#endif
#ifdef __NR_move_mount
    {"move_mount", __NR_move_mount},
#endif
#ifdef __NR_name_to_handle_at
    {"name_to_handle_at", __NR_name_to_handle_at},
#endif
#ifdef __NR_nfsservctl
    {"nfsservctl", __NR_nfsservctl},
#endif
#ifdef __NR_open_by_handle_at
    {"open_by_handle_at", __NR_open_by_handle_at},
#endif
#ifdef __NR_open_tree
    {"open_tree", __NR_open_tree},
#endif
    {"open_tree_attr", 467},
#ifdef __NR_perf_event_open
    {"perf_event_open", __NR_perf_event_open},
#endif
#ifdef __NR_pidfd_getfd
    {"pidfd_getfd", __NR_pidfd_getfd},
#endif
#ifdef __NR_pidfd_open
    {"pidfd_open", __NR_pidfd_open},
#endif
#ifdef __NR_pivot_root
    {"pivot_root", __NR_pivot_root},
#endif
#ifdef __NR_preadv2
    {"preadv2", __NR_preadv2},
#endif
#ifdef __NR_process_madvise
    {"process_madvise", __NR_process_madvise},
#endif
    {"process_mrelease", 448},
#ifdef __NR_process_vm_readv
    {"process_vm_readv", __NR_process_vm_readv},
#endif
#ifdef __NR_process_vm_writev
    {"process_vm_writev", __NR_process_vm_writev},
#endif
#ifdef __NR_ptrace
    {"ptrace", __NR_ptrace},
#endif
#ifdef __NR_pwritev2
    {"pwritev2", __NR_pwritev2},
#endif
#ifdef __NR_quotactl
    {"quotactl", __NR_quotactl},
#endif
    {"quotactl_fd", 443},
#ifdef __NR_readahead
    {"readahead", __NR_readahead},
#endif
#ifdef __NR_reboot
    {"reboot", __NR_reboot},
#endif
#ifdef __NR_request_key
    {"request_key", __NR_request_key},
#endif
#ifdef __NR_setdomainname
    {"setdomainname", __NR_setdomainname},
#endif
#ifdef __NR_sethostname
    {"sethostname", __NR_sethostname},
#endif
#ifdef __NR_setns
    {"setns", __NR_setns},
#endif
#ifdef __NR_settimeofday
    {"settimeofday", __NR_settimeofday},
#endif
    {"statmount", 457},
#ifdef __NR_swapoff
    {"swapoff", __NR_swapoff},
#endif
#ifdef __NR_swapon
    {"swapon", __NR_swapon},
#endif
#ifdef __NR_sysfs
    {"sysfs", __NR_sysfs},
#endif
#ifdef __NR_syslog
    {"syslog", __NR_syslog},
#endif
#ifdef __NR_umount2
    {"umount2", __NR_umount2},
#endif
#ifdef __NR_unshare
    {"unshare", __NR_unshare},
#endif
#ifdef __NR_uselib
    {"uselib", __NR_uselib},
#endif
#ifdef __NR_userfaultfd
    {"userfaultfd", __NR_userfaultfd},
#endif
#ifdef __NR_ustat
    {"ustat", __NR_ustat},
#endif
#ifdef __NR_vhangup
    {"vhangup", __NR_vhangup},
#endif
};

int number_in_32_bits(const char *name) {
    for (size_t index = 0; index < sizeof table / sizeof *table; index++)
        if (strcmp(table[index].name, name) == 0) return table[index].number;
    return -1;
}
