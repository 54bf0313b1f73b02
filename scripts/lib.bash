# shellcheck shell=bash
# What the scripts of this folder share: where the repository is, how they speak, and how tiers of
# tests are run, timed and counted. It is sourced, never run.
#
# A tier is one command with a time budget. Its result is one line in the tally file: name, tests
# passed, tests failed, seconds, budget. A command that prints "tests: P passed, F failed" as its
# last such line is counted by that; any other command counts as one test. A tier that fails
# without saying so still counts as one failure, and one that runs past three times its budget is
# ended, so that a hang is a failure and not a silence.

REPOSITORY=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck disable=SC2034  # read by the scripts that source this file
readonly REPOSITORY BINARIES="$REPOSITORY/.build/release"

# shellcheck disable=SC2034  # as above
readonly UV_VERSION=0.13.9

# install_uv FOLDER: puts uv, which installs packages, into a folder; nothing of it is run.
install_uv() {
    PIP_ROOT_USER_ACTION=ignore python3 -m pip install --quiet --only-binary :all: --target "$1" \
        "uv==$UV_VERSION" >&2
}

say() { printf '%s\n' "$*"; }
complain() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; }

# usage_error MESSAGE: ends with the status for wrong use.
usage_error() {
    complain "$1"
    exit 2
}

# What runs now, by process: ended with the script.
declare -A RUNNING=()

# end_running: ends every tier that runs, and the script.
end_running() {
    trap - INT TERM
    if [ "${#RUNNING[@]}" -gt 0 ]; then kill -TERM "${!RUNNING[@]}" 2>/dev/null || true; fi
    exit 130
}

# begin_tally: makes the tally file unless a caller (scripts/test) already made one.
begin_tally() {
    trap end_running INT TERM
    if [ -n "${INVIGILATOR_TALLY:-}" ]; then
        TALLY_IS_OURS=no
        return
    fi
    TALLY_IS_OURS=yes TALLY_STARTED=$SECONDS
    TALLY_FOLDER=$(mktemp -d "${TMPDIR:-/tmp}/invigilator-tally.XXXXXX")
    INVIGILATOR_TALLY="$TALLY_FOLDER/tally"
    export INVIGILATOR_TALLY
    : >"$INVIGILATOR_TALLY"
    trap 'rm -rf -- "$TALLY_FOLDER"' EXIT
}

# tier NAME BUDGET_SECONDS COMMAND [ARGUMENT…]: runs, times and counts one tier; status of the
# command, so that a caller decides whether to go on. The command gets no standard input.
tier() {
    local name=$1 budget=$2 folder started seconds writer command status=0
    shift 2
    say "== $name (budget ${budget} s)"
    folder=$(mktemp -d "${TMPDIR:-/tmp}/invigilator-tier.XXXXXX")
    mkfifo "$folder/output"
    started=$SECONDS
    tee "$folder/log" <"$folder/output" &
    writer=$!
    timeout --kill-after=20 "$((budget * 3))" "$@" >"$folder/output" 2>&1 </dev/null &
    command=$!
    # timeout leads a process group of its own and passes the signal on to it.
    RUNNING[$command]=yes
    wait "$command" || status=$?
    unset "RUNNING[$command]"
    seconds=$((SECONDS - started))
    # A process that outlived its tier still holds the pipe: a failure, but it must not hold up
    # the run.
    if ! timeout 10 tail --pid="$writer" -f /dev/null; then
        say "-- $name: a process outlived the tier and holds its output"
        kill "$writer" 2>/dev/null || true
        if [ "$status" -eq 0 ]; then status=1; fi
    fi
    wait "$writer" || true
    record_tier "$name" "$budget" "$seconds" "$status" "$folder/log"
    rm -rf -- "$folder"
    return "$status"
}

# beside LABEL COMMAND [ARGUMENT…]: runs a command (a tier, say) beside what follows; its words are kept.
beside() {
    local label=$1
    shift
    (
        RUNNING=()
        trap end_running TERM
        "$@"
    ) >"$TALLY_FOLDER/beside-$label" 2>&1 &
    RUNNING[$!]=yes
    BESIDE[$label]=$!
}
declare -A BESIDE=()

# joined LABEL: waits for what runs beside, prints its words, and has its status; nothing if none does.
joined() {
    local status=0
    if [ -z "${BESIDE[$1]:-}" ]; then return 0; fi
    wait "${BESIDE[$1]}" || status=$?
    cat "$TALLY_FOLDER/beside-$1"
    unset "RUNNING[${BESIDE[$1]}]" "BESIDE[$1]"
    return "$status"
}

# record_tier NAME BUDGET SECONDS STATUS LOG: appends the tier's line to the tally and prints it.
record_tier() {
    local name=$1 budget=$2 seconds=$3 status=$4 log=$5 counted passed=0 failed=0 note=""
    counted=$(sed -n 's/^tests: \([0-9]\{1,\}\) passed, \([0-9]\{1,\}\) failed$/\1 \2/p' "$log" | tail -n 1)
    if [ -n "$counted" ]; then
        read -r passed failed <<<"$counted"
    elif [ "$status" -eq 0 ]; then
        passed=1
    fi
    if [ "$status" -ne 0 ] && [ "$failed" -eq 0 ]; then failed=1; fi
    if [ "$status" -eq 124 ] || [ "$status" -eq 137 ]; then note=", ended after three times its budget"; fi
    if [ "$seconds" -gt "$budget" ] && [ -z "$note" ]; then note=", over budget"; fi
    printf '%s\t%s\t%s\t%s\t%s\n' "$name" "$passed" "$failed" "$seconds" "$budget" >>"$INVIGILATOR_TALLY"
    say "-- $name: $passed passed, $failed failed in $seconds s of $budget s$note"
}

# end_tally: prints the table and the last line "N passed, N failed"; fails unless all passed.
# Prints nothing when a caller made the tally, because the caller prints it.
end_tally() {
    if [ "$TALLY_IS_OURS" = no ]; then return 0; fi
    say ""
    awk -F '\t' -v elapsed="$((SECONDS - TALLY_STARTED))" '
        BEGIN { printf "%-32s %8s %8s %8s %8s\n", "tier", "passed", "failed", "seconds", "budget" }
        { printf "%-32s %8d %8d %8d %8d\n", $1, $2, $3, $4, $5
          passed += $2; failed += $3; budget += $5 }
        END { printf "%-32s %8d %8d %8d %8d\n", "all (some side by side)", passed, failed, elapsed, budget
              printf "%d passed, %d failed\n", passed, failed
              exit (failed > 0 || passed == 0) ? 1 : 0 }' "$INVIGILATOR_TALLY"
}
