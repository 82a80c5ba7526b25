# SPDX-License-Identifier: Apache-2.0
"""Texts of shell commands that several rules share; braces are Snakemake's, doubled ones the shell's."""

# Keeps a stopped job's run folder, to go on from its checkpoints, where inputs and options are still the same.
RESUMABLE = """
key=$(cat INPUTS | sha256sum; echo "{params.options}")
[ "$(cat {params.run}.key 2> /dev/null)" = "$key" ] || rm -rf {params.run}
mkdir -p $(dirname {params.run})
echo "$key" > {params.run}.key
"""

# Each file of a prediction that is not cut names a result: part.h5 becomes NAME.h5, and partLABEL.bw NAME/LABEL.bw. Several parts are tables,
# of which `merge` makes the result. Where it refuses, parts that are not what their records say are removed, and the next run of Snakemake makes
# them again.
GATHER = """
exec > {log} 2>&1
whole() {{
    for file in $1/*; do
        case $file in *.part.json) continue ;; esac
        grep -q $(sha256sum < $file | cut -c 1-64) $1/*.part.json || return 1
    done
}}
discard() {{
    for part in {params.parts}; do whole $part || {{ echo "removing $part" && rm -rf $part; }}; done
    exit 3
}}
set -- {params.parts}
mkdir -p $(dirname {params.stem}x)
if (($# == 1)); then
    for path in "$1"/part*; do
        result={params.stem}${{path##*/part}}
        ln -f $path $result 2> /dev/null || cp $path $result
        touch $result
    done
else
    {params.program} merge "${{@/%//part.tsv.gz}}" --output '{params.result}' --force || discard
fi
cd $(dirname {output.sums})
sha256sum {params.records} > $(basename {output.sums})
"""


def resumable(inputs):
    return RESUMABLE.replace("INPUTS", inputs)
