# shellcheck shell=bash
# What the tests of scripts share; sourced. $folder is theirs alone and removed at the end.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export OUT=$folder/out

fail() {
    printf 'FAILED: %s\n' "$*"
    printf '%s\n' "--- what was printed" "$(cat "$folder/printed" 2>/dev/null)"
    exit 1
}
# Runs a command and compares its exit code; its output goes to $folder/printed, its seconds to $seconds.
expect_code() { # CODE COMMAND...
    local wanted=$1 code=0 began=$SECONDS
    shift
    "$@" >"$folder/printed" 2>&1 || code=$?
    seconds=$((SECONDS - began))
    ((code == wanted)) || fail "exit code $code in place of $wanted: $*"
}
# A row of gpu-check: the stage, what became of it, and a pattern for the rest.
expect_row() { # STAGE RESULT [REGEX]
    grep -qE "^$1 +$2 +[0-9]+ s  ${3:-}" "$folder/printed" || fail "no row '$1 $2 ${3:-}'"
    grep -qE "^$1 +$2 " "$OUT/rows.txt" || fail "rows.txt lacks $1"
}
expect_rows() { # COUNT
    (($(wc -l <"$OUT/rows.txt") == $1)) || fail "$(wc -l <"$OUT/rows.txt") rows in place of $1"
}
