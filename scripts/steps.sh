# Sourced by the test scripts. `step GROUP NAME` says what starts; at the end a table says how long each step took
# (elapsed, and processor time of all its processes), with each group beside its budget.
# A script started by another adds its steps to the table of that one.

export LC_ALL=C.UTF-8

# Minutes on two quiet cores from a clean clone; what does not fit belongs into scripts/nightly.sh.
budget_of() { case "$1" in rust) echo 7 ;; python) echo 5 ;; docs) echo 2 ;; browser) echo 1 ;; *) echo 0 ;; esac; }

steps_times=$(mktemp)
steps_outermost=
if [ -z "${STICTION_STEPS:-}" ]; then
    steps_outermost=1
    STICTION_STEPS=$(mktemp)
    export STICTION_STEPS
fi
steps_group=
steps_name=

# Processor seconds of all processes that ended so far, in `steps_cpu`. `times` in a subshell would know of none.
read_cpu() {
    times > "$steps_times"
    steps_cpu=$(awk 'NR == 2 { for (i = 1; i <= 2; i++) { split($i, part, /[ms]/); sum += 60 * part[1] + part[2] } printf "%.1f", sum }' "$steps_times")
}

end_step() {
    [ -n "$steps_name" ] || return 0
    read_cpu
    awk -v group="$steps_group" -v name="$steps_name" -v wall="$((SECONDS - steps_start))" -v from="$steps_cpu_start" -v to="$steps_cpu" \
        'BEGIN { printf "%s\t%s\t%s\t%.1f\n", group, name, wall, to - from }' >> "$STICTION_STEPS"
    steps_name=
}

step() {
    end_step
    printf '\n== %s: %s\n' "$1" "$2"
    read_cpu
    steps_group=$1 steps_name=$2 steps_start=$SECONDS steps_cpu_start=$steps_cpu
}

print_steps() {
    local status=$?
    [ $status = 0 ] || steps_name="$steps_name (FAILED)"
    end_step
    rm -f "$steps_times"
    [ -n "$steps_outermost" ] || return $status
    printf '\n%8s %8s  %s\n' elapsed CPU 'seconds of each step'
    for group in rust python docs browser; do
        awk -F '\t' -v group="$group" -v budget="$(budget_of "$group")" '
            $1 == group { printf "%8d %8.1f  %s: %s\n", $3, $4, $1, $2; wall += $3; cpu += $4; found = 1 }
            END { if (found) printf "%8d %8.1f  %s, %.1f of %d minutes\n\n", wall, cpu, toupper(group), wall / 60, budget }' "$STICTION_STEPS"
    done
    awk -F '\t' '{ wall += $3; cpu += $4 } END { printf "%8d %8.1f  all, %.1f of 15 minutes\n", wall, cpu, wall / 60 }' "$STICTION_STEPS"
    rm -f "$STICTION_STEPS"
    return $status
}
trap print_steps EXIT
