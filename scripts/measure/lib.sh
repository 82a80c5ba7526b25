# shellcheck shell=bash
# What the measurements in bash share; sourced. Commands write complete outputs or none, so that a measurement goes on where it stopped.
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

# Runs the program unless its output is there.
make_once() { # OUTPUT COMMAND...
    local output=$1
    shift
    [[ -e $output ]] || "$program" "$@" --output "$output"
}
enter() { # FOLDER
    mkdir -p "$1"
    cd "$1" || exit
}
