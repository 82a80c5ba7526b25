# shellcheck shell=bash
# shellcheck disable=SC2034  # some variables are for those who source this
# What the scripts share: messages, places, and how many jobs this machine carries. Sourced, never run.

# Where the clone is, whatever folder the caller stands in.
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# Heavy things that several clones share: LibTorch, the compiler cache, Snakemake.
dependencies=${BIGBIRD_DEPS:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/bigbird-dna}
libtorch_version=2.11.0
libtorch_prefix=$dependencies/libtorch-$libtorch_version

say() { printf '%s\n' "$*" >&2; }

# One sentence, then out. Exit codes are those of bigbird-dna: 2 usage, 70 anything else.
die() {
    say "$(basename "$0"): $*"
    exit 70
}
usage_error() {
    say "$(basename "$0"): $* (see --help)"
    exit 2
}

# A script's help is the comment at its head, between its first line and the first line that is no comment.
print_help() { sed -n '2,/^\([^#]\|$\)/{/^# \{0,1\}/s///p}' "$0"; }

# Sets a variable per option of the script's help: `--real-steps 5` sets real_steps, or appends to it where it is an array. An option whose
# name two blanks follow in the help takes no value and sets "yes".
read_options() { # ARGUMENT...
    local help variable
    help=$(print_help)
    while (($#)); do
        variable=${1#--} && variable=${variable//-/_}
        case $1 in
            --help | -h) printf '%s\n' "$help" && exit 0 ;;
            --*) [[ $help == *$'\n'"  $1 "* ]] || usage_error "unknown argument '$1'" ;;
            *) usage_error "unknown argument '$1'" ;;
        esac
        if [[ $help == *$'\n'"  $1  "* ]]; then
            printf -v "$variable" yes
            shift
            continue
        fi
        [[ -n ${2:-} ]] || usage_error "$1 needs a value"
        if [[ $(declare -p "$variable" 2>/dev/null) == 'declare -a'* ]]; then
            local -n values=$variable
            values+=("$2")
            unset -n values
        else
            printf -v "$variable" %s "$2"
        fi
        shift 2
    done
}

# The program of the clone's build, or the one that BIGBIRD_DNA names.
find_program() {
    program=${BIGBIRD_DNA:-$repository/build/bin/bigbird-dna}
    [[ -x $program ]] || die "$program is missing: run scripts/build, or name the program in BIGBIRD_DNA."
}

# The LibTorch that the build uses: $LIBTORCH where the caller has one, else the one that setup unpacks.
libtorch_folder() { printf '%s\n' "${LIBTORCH:-$libtorch_prefix/torch}"; }

# Is an NVIDIA driver there? (A CUDA toolkit alone is none.)
has_cuda_driver() {
    { command -v nvidia-smi && nvidia-smi -L; } >/dev/null 2>&1 && return 0
    PATH=$PATH:/sbin:/usr/sbin ldconfig -p 2>/dev/null | grep 'libcuda\.so\.1 ' >/dev/null
}

# Kilobytes free where a path is, or will be.
free_kilobytes() {
    local path=$1
    while [[ ! -e $path ]]; do path=$(dirname "$path"); done
    df -Pk "$path" | awk 'NR == 2 { print $4 }'
}

# Compiler jobs: one a core, fewer where memory is short (a source that includes LibTorch takes about 2 GB).
default_jobs() {
    local cores kilobytes limit
    cores=$(nproc)
    kilobytes=$(awk '/^MemAvailable:/ { print $2 }' /proc/meminfo)
    limit=$(cat /sys/fs/cgroup/memory.max 2>/dev/null || echo max)
    if [[ $limit != max ]] && ((limit / 1024 < kilobytes)); then kilobytes=$((limit / 1024)); fi
    local by_memory=$((kilobytes / (2 * 1024 * 1024)))
    local jobs=$((cores < by_memory ? cores : by_memory))
    echo $((jobs < 1 ? 1 : jobs))
}
