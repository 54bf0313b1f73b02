// Attacks on procfs and sysfs: settings through which the kernel would run something for the writer, and
// counters of the whole host. Everywhere the attack is to open the file: nothing is ever written.

#include "probe.h"

#include <fcntl.h>

static struct answer look(const char *path, int flags) {
    struct answer answer = open_kernel_file(path, flags);
    // A kernel without the file has nothing to protect.
    return on_control() && answer.verdict == REFUSED && answer.error == ENOENT ? lacks(path) : answer;
}

#define READS(name, path) \
    static struct answer name(const char *variant) { (void)variant; return look(path, O_RDONLY); }
#define WRITES(name, path) \
    static struct answer name(const char *variant) { (void)variant; return look(path, O_WRONLY); }

WRITES(core_pattern, "/proc/sys/kernel/core_pattern")
WRITES(modprobe, "/proc/sys/kernel/modprobe")
WRITES(hotplug, "/proc/sys/kernel/hotplug")
WRITES(system_requests, "/proc/sysrq-trigger")
WRITES(binary_formats, "/proc/sys/fs/binfmt_misc/register")
WRITES(last_process, "/proc/sys/kernel/ns_last_pid")
WRITES(uevent_helper, "/sys/kernel/uevent_helper")
WRITES(power_state, "/sys/power/state")
WRITES(cache_drop, "/proc/sys/vm/drop_caches")
WRITES(release_agent, "/sys/fs/cgroup/cgroup.procs")
READS(kernel_memory, "/proc/kcore")
READS(symbols, "/proc/kallsyms")
READS(configuration, "/proc/config.gz")
READS(kernel_log, "/proc/kmsg")
READS(timers, "/proc/timer_list")
READS(statistics, "/proc/stat")
READS(memory, "/proc/meminfo")
READS(paging, "/proc/vmstat")
READS(load, "/proc/loadavg")
READS(disks, "/proc/diskstats")
READS(interrupts, "/proc/interrupts")
READS(softirqs, "/proc/softirqs")
READS(pressure, "/proc/pressure/cpu")
READS(uptime, "/proc/uptime")
READS(locks, "/proc/locks")
READS(slabs, "/proc/slabinfo")
READS(command_line, "/proc/cmdline")
READS(swap, "/proc/swaps")
READS(thermal, "/sys/class/thermal")
READS(frequency, "/sys/devices/system/cpu/cpu0")
READS(debug_files, "/sys/kernel/debug")
READS(packets, "/proc/self/net/softnet_stat")
READS(socket_memory, "/proc/self/net/sockstat")
READS(protocols, "/proc/self/net/protocols")
READS(addresses, "/proc/self/net/stat/rt_cache")
READS(thread_packets, "/proc/thread-self/net/softnet_stat")
WRITES(own_name, "/proc/self/comm")
WRITES(own_score, "/proc/self/oom_score_adj")
WRITES(own_references, "/proc/self/clear_refs")
WRITES(own_dump_filter, "/proc/self/coredump_filter")

static struct answer connections(const char *variant) {
    (void)variant;
    FILE *file = fopen("/proc/self/net/unix", "re");
    if (file == NULL) return refused("open");
    char line[512];
    bool found = false;
    while (!found && fgets(line, sizeof line, file) != NULL)
        found = strstr(line, setting("abstract")) != NULL;
    fclose(file);
    return found ? works() : absent();
}

const struct probe kernel_file_probes[] = {
    {"kernel-files.core-pattern", core_pattern},
    {"kernel-files.modprobe", modprobe},
    {"kernel-files.hotplug", hotplug},
    {"kernel-files.system-requests", system_requests},
    {"kernel-files.binary-formats", binary_formats},
    {"kernel-files.last-process", last_process},
    {"kernel-files.uevent-helper", uevent_helper},
    {"kernel-files.power-state", power_state},
    {"kernel-files.cache-drop", cache_drop},
    {"kernel-files.release-agent", release_agent},
    {"kernel-files.kernel-memory", kernel_memory},
    {"kernel-files.symbols", symbols},
    {"kernel-files.configuration", configuration},
    {"kernel-files.kernel-log", kernel_log},
    {"kernel-files.timers", timers},
    {"kernel-files.statistics", statistics},
    {"kernel-files.memory", memory},
    {"kernel-files.paging", paging},
    {"kernel-files.load", load},
    {"kernel-files.disks", disks},
    {"kernel-files.interrupts", interrupts},
    {"kernel-files.softirqs", softirqs},
    {"kernel-files.pressure", pressure},
    {"kernel-files.uptime", uptime},
    {"kernel-files.locks", locks},
    {"kernel-files.slabs", slabs},
    {"kernel-files.command-line", command_line},
    {"kernel-files.connections", connections},
    {"kernel-files.packets", packets},
    {"kernel-files.socket-memory", socket_memory},
    {"kernel-files.protocols", protocols},
    {"kernel-files.addresses", addresses},
    {"kernel-files.thread-packets", thread_packets},
    {"kernel-files.swap", swap},
    {"kernel-files.thermal", thermal},
    {"kernel-files.frequency", frequency},
    {"kernel-files.debug", debug_files},
    {"kernel-files.own-name", own_name},
    {"kernel-files.own-score", own_score},
    {"kernel-files.own-references", own_references},
    {"kernel-files.own-dump-filter", own_dump_filter},
    {NULL, NULL},
};
