// FaultInjector: makes one system call of a program or of its children fail, or ends the process that
// makes it, and writes down what then happened. For the privileged tests alone.
//
//   FaultInjector REPORT [--inside PID] [--at PROCESS CALL ERRNO|kill] run PROGRAM [ARGUMENT]...
//   FaultInjector REPORT [--at PROCESS CALL ERRNO|kill] attach PID
//
// Processes are named by birth: 0 is the program, 0.1 its first child, 0.1.1 the first child of that.
// Calls are counted from 1 for each process, until a child becomes another program. Without --at
// every call is listed. The report has one record a line:
//
//   call PROCESS CALL NAME DETAIL      a call; the one that was made to fail, if one was
//   at KEY VALUE                       what a child was when it became another program
//   end CODE | end -SIGNAL             how the program ended
//   left PROCESS                       what outlived it by more than three seconds
//
// attach prints "ready" when it traces, and lets go when it is asked to end (SIGTERM).

#define _GNU_SOURCE 1
#include "names.h"
#include "walls.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

// elf.h's and linux/ptrace.h's names clash with sys/ptrace.h on some C libraries.
struct call_info {
    uint8_t op, pad[3];
    uint32_t arch;
    uint64_t instruction, stack;
    union {
        struct { uint64_t number, arguments[6]; };
        struct { int64_t result; uint8_t is_error; };
    };
};
enum { call_entry = 1, call_exit = 2 };

struct tracee {
    pid_t pid;
    char name[64];
    int calls, children;
    uint64_t number; // of the call that it is in
    bool isNamed, isStopped, isCounted, isFailing, isGone, isLandlocked;
};

static struct tracee tracees[256];
static int known;
static FILE *report;
static const char *wanted;
static int wanted_call, wanted_error;
static bool kills, is_done;
static volatile sig_atomic_t is_asked, is_late;

static void give_up(const char *what) {
    fprintf(stderr, "FaultInjector: %s: %s\n", what, strerrorname_np(errno));
    exit(70);
}

static struct tracee *find(pid_t pid) {
    for (int index = known; index-- > 0;)
        if (tracees[index].pid == pid && !tracees[index].isGone) return &tracees[index];
    if (known == sizeof tracees / sizeof *tracees) give_up("too many processes");
    tracees[known] = (struct tracee){.pid = pid};
    return &tracees[known++];
}

static void print_program(const struct tracee *tracee) {
    char name[64];
    snprintf(name, sizeof name, "%s", tracee->name);
    *strrchr(name, '.') = 0;
    pid_t parent = 0;
    for (int index = 0; index < known; index++)
        if (strcmp(tracees[index].name, name) == 0) parent = tracees[index].pid;
    // A process that is killed meanwhile leaves its groups first: of it nothing can be said.
    char *text = NULL;
    size_t length = 0;
    unsigned long message;
    FILE *facts = open_memstream(&text, &length);
    if (facts == NULL) give_up("keep facts");
    print_walls(facts, tracee->pid, parent, tracees[0].pid);
    fclose(facts);
    bool isGone = ptrace(PTRACE_GETEVENTMSG, tracee->pid, 0, &message) != 0;
    fputs(isGone ? "at payload killed meanwhile\n" : text, report);
    free(text);
    if (isGone) return;
    // The kernel shows nobody who is landlocked, so what the call answered has to do.
    fprintf(report, "at payload landlock %s\n", tracee->isLandlocked ? "on" : "off");
}

// --- tracing -------------------------------------------------------------------------------------

static void detail(pid_t pid, const struct call_info *info, char *text, size_t size) {
    text[0] = 0;
    int kind = info->number < call_count ? call_names[info->number].shows : shows_nothing;
    if (kind == shows_number) snprintf(text, size, "%lld", (long long)info->arguments[0]);
    if (kind == shows_second) snprintf(text, size, "%lld", (long long)info->arguments[1]);
    if (kind == shows_path || kind == shows_path_in) {
        uint64_t address = info->arguments[kind == shows_path ? 0 : 1];
        // A path is short, but must not be read past the end of its page.
        size_t room = 4096 - address % 4096;
        struct iovec here = {text, room < size - 1 ? room : size - 1};
        struct iovec there = {(void *)(uintptr_t)address, here.iov_len};
        ssize_t length = process_vm_readv(pid, &here, 1, &there, 1, 0);
        text[length < 0 ? 0 : length] = 0;
    }
    for (char *at = text; *at != 0; at++)
        if (*at < ' ' || *at > '~') *at = '?';
}

static void print_call(const struct tracee *tracee, const struct call_info *info) {
    char text[128], number[16];
    detail(tracee->pid, info, text, sizeof text);
    snprintf(number, sizeof number, "%llu", (unsigned long long)info->number);
    const char *name = info->number < call_count ? call_names[info->number].name : NULL;
    fprintf(report, "call %s %d %s %s\n", tracee->name, tracee->calls, name != NULL ? name : number, text);
}

static void poke(pid_t pid, size_t where, long value) {
    if (ptrace(PTRACE_POKEUSER, pid, where, value) != 0 && errno != ESRCH) give_up("poke");
}

static void enter_call(struct tracee *tracee, const struct call_info *info) {
    tracee->number = info->number;
    if (!tracee->isCounted || is_done) return;
    tracee->calls++;
    if (wanted == NULL) return print_call(tracee, info);
    if (tracee->calls != wanted_call || strcmp(tracee->name, wanted) != 0) return;
    print_call(tracee, info);
    is_done = true;
    if (kills) {
        kill(tracee->pid, SIGKILL);
    } else if (info->number == SYS_execve) {
        // The filter is loaded by now and ends whoever makes a call of no number: EFAULT instead.
        poke(tracee->pid, offsetof(struct user_regs_struct, rdi), 1);
    } else {
        // A close that fails has closed all the same (close(2)), so it is made.
        if (info->number != SYS_close) poke(tracee->pid, offsetof(struct user_regs_struct, orig_rax), -1);
        tracee->isFailing = true;
    }
}

static void leave_call(struct tracee *tracee, const struct call_info *info) {
    if (tracee->number == SYS_landlock_restrict_self && !tracee->isFailing)
        tracee->isLandlocked = info->result == 0;
    if (!tracee->isFailing) return;
    tracee->isFailing = false;
    poke(tracee->pid, offsetof(struct user_regs_struct, rax), -wanted_error);
}

static void resume(struct tracee *tracee, int signal) {
    tracee->isStopped = false;
    // After the failure nothing is counted any more, and the launcher need not stop at each call.
    bool isFree = is_done && !tracee->isFailing && tracee == tracees;
    int how = isFree ? PTRACE_CONT : PTRACE_SYSCALL;
    if (ptrace(how, tracee->pid, 0, signal) != 0 && errno != ESRCH) give_up("resume");
}

static void name_child(struct tracee *parent, pid_t pid) {
    struct tracee *child = find(pid);
    snprintf(child->name, sizeof child->name, "%.50s.%d", parent->name, ++parent->children);
    child->isNamed = child->isCounted = true;
    if (child->isStopped) resume(child, 0);
}

static void stopped(struct tracee *tracee, int status) {
    int signal = WSTOPSIG(status), event = status >> 16;
    tracee->isStopped = true;
    if (signal == (SIGTRAP | 0x80)) {
        struct call_info info = {0};
        if (ptrace(PTRACE_GET_SYSCALL_INFO, tracee->pid, sizeof info, &info) > 0) {
            if (info.op == call_entry) enter_call(tracee, &info);
            if (info.op == call_exit) leave_call(tracee, &info);
        }
        return resume(tracee, 0);
    }
    if (event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_CLONE || event == PTRACE_EVENT_VFORK) {
        unsigned long child = 0;
        if (ptrace(PTRACE_GETEVENTMSG, tracee->pid, 0, &child) == 0) name_child(tracee, (pid_t)child);
        return resume(tracee, 0);
    }
    if (event == PTRACE_EVENT_EXEC) {
        // The program of ours begins to count here; any other is what the sandbox was made for.
        if (tracee == tracees) {
            tracee->isCounted = true;
            return resume(tracee, 0);
        }
        print_program(tracee);
        ptrace(PTRACE_DETACH, tracee->pid, 0, 0);
        tracee->isGone = true;
        return;
    }
    // Traced, the first process of a namespace outlives its own faults (kernel/signal.c,
    // force_sig_info_to_task): let go, it meets the fault once more and dies of it, as it would have.
    if (event == 0 && (signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGTRAP)) {
        ptrace(PTRACE_DETACH, tracee->pid, 0, 0);
        tracee->isGone = tracee != tracees;
        return;
    }
    // A child may stop for the first time before its parent's stop tells who it is.
    if (event == PTRACE_EVENT_STOP && !tracee->isNamed) return;
    resume(tracee, event == 0 ? signal : 0);
}

static void on_signal(int signal) {
    if (signal == SIGALRM) is_late = 1;
    else is_asked = 1;
}

static void follow(void) {
    while (!is_asked) {
        int status;
        pid_t pid = waitpid(-1, &status, __WALL);
        if (pid < 0 && errno == EINTR && !is_late) continue;
        if (pid < 0) break;
        struct tracee *tracee = find(pid);
        if (WIFSTOPPED(status)) {
            stopped(tracee, status);
            continue;
        }
        tracee->isGone = true;
        if (tracee != tracees) continue;
        if (WIFEXITED(status)) fprintf(report, "end %d\n", WEXITSTATUS(status));
        else fprintf(report, "end -%d\n", WTERMSIG(status));
        setitimer(ITIMER_REAL, &(struct itimerval){.it_value = {.tv_sec = 3}}, NULL);
    }
    for (int index = 0; index < known && !is_asked; index++) {
        if (tracees[index].isGone) continue;
        fprintf(report, "left %s\n", tracees[index].name);
        kill(tracees[index].pid, SIGKILL);
    }
    fclose(report);
}

static void enter_mounts(const char *pid) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%s/ns/mnt", pid);
    int namespace = open(path, O_RDONLY | O_CLOEXEC);
    if (namespace < 0 || setns(namespace, CLONE_NEWNS) != 0) give_up("enter a mount namespace");
    close(namespace);
}

static const long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACECLONE |
                            PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC;

static void start(char **words) {
    int gate[2];
    if (pipe2(gate, O_CLOEXEC) != 0) give_up("pipe");
    pid_t pid = fork();
    if (pid == 0) {
        char byte;
        int nothing = fcntl(open("/dev/null", O_RDWR), F_DUPFD_CLOEXEC, 64);
        close(gate[1]);
        if (read(gate[0], &byte, 1) != 1) _exit(71);
        // A plan's first slot is this, and not the first file that the launcher opens.
        if (nothing >= 0 && dup2(nothing, 3) == 3) execv(words[0], words);
        _exit(71);
    }
    struct tracee *root = find(pid);
    strcpy(root->name, "0");
    root->isNamed = true;
    if (ptrace(PTRACE_SEIZE, pid, 0, options) != 0) give_up("trace");
    if (write(gate[1], "", 1) != 1) give_up("start");
    close(gate[0]);
    close(gate[1]);
}

static void attach(pid_t pid) {
    struct tracee *root = find(pid);
    strcpy(root->name, "0");
    root->isNamed = root->isCounted = true;
    if (ptrace(PTRACE_SEIZE, pid, 0, options) != 0) give_up("trace");
    if (ptrace(PTRACE_INTERRUPT, pid, 0, 0) != 0 || waitpid(pid, NULL, __WALL) != pid) give_up("stop");
    if (ptrace(PTRACE_SYSCALL, pid, 0, 0) != 0) give_up("go on");
    puts("ready");
    fflush(stdout);
}

int main(int count, char **words) {
    int at = 2;
    if (count < 4) return 2;
    report = fopen(words[1], "we");
    if (report == NULL) give_up(words[1]);
    setvbuf(report, NULL, _IOFBF, 1 << 16);
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGALRM, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    // What the program leaves behind becomes ours, and is seen.
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    if (strcmp(words[at], "--inside") == 0 && at + 2 < count) {
        enter_mounts(words[at + 1]);
        at += 2;
    }
    if (strcmp(words[at], "--at") == 0 && at + 4 < count) {
        wanted = words[at + 1];
        wanted_call = atoi(words[at + 2]);
        kills = strcmp(words[at + 3], "kill") == 0;
        wanted_error = atoi(words[at + 3]);
        at += 4;
    }
    if (at + 1 >= count) return 2;
    if (strcmp(words[at], "run") == 0) start(words + at + 1);
    else if (strcmp(words[at], "attach") == 0) attach(atoi(words[at + 1]));
    else return 2;
    follow();
    return 0;
}
