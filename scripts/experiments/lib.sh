# shellcheck shell=bash
# What the experiments share; sourced. Commands write complete outputs or none, so that an experiment goes on where it stopped.
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
# shellcheck disable=SC2034  # for those who source this
chromosome_22=$repository/test_data/genome/22.fa.gz

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

# Every bin of chromosome 22 as examples/: trained below 20.01 Mb, validated to 20.51 Mb, tested from 20.61 Mb on.
build_chromatin() {
    printf '22\t20510000\t20610000\n' >between.bed
    make_once examples build-chromatin --peaks "$repository/test_data/chromatin/peaks.tsv" --reference "$chromosome_22" --exclude between.bed \
        --validation 22:20010001-20510000 --test 22:20610001-22000000
}

# For awk -F'\t': a figure of a line of evaluation.tsv's header, with its interval.
# shellcheck disable=SC2016,SC2034
awk_mean='
    function mean(key,    i, figure) {
        for (i = 2; i <= NF; ++i)
            if (index($i, key "=") == 1) {
                split(substr($i, length(key) + 2), figure, ",")
                return sprintf("%.3f [%.3f, %.3f]", figure[1], figure[2], figure[3])
            }
    }'
