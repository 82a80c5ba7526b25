#!/usr/bin/env bash
# The stages of scripts/gpu-check, and how their rows are told. Sourced by it for the table; run by it, a process a stage:
#   gpu-stages.sh NAME
# with build, device, own, out, preset, processes, scratch, steps and torch in the environment.
# shellcheck disable=SC2154  # those variables

gpu_tests=tests/gpu_tests bench=bench/gpu_bench program=bin/bigbird-dna
tensors=bin/bigbird-dna-tensors

# PART NAME LIMIT NEEDS : COMMAND, the most valuable facts first. The limits of a part may come to more than its time: not all stages hang.
stage_table() {
    local backend hopper='' tests="$gpu_tests libtorch bin/bigbird-cuda.so" timing="$bench libtorch" training="$program $tensors libtorch"
    [[ $own != fused-hopper* ]] || hopper=yes
    cat <<END
facts driver 20 nvidia-smi : nvidia-smi --query-gpu=name,driver_version,memory.total,compute_cap --format=csv,noheader
facts start 60 $tests : run_tests 'gpu start*'
facts general-forward 40 $tests : run_tests 'gpu attention: general forward'
facts general-dq 30 $tests : run_tests 'gpu attention: general dq'
facts general-dkdv 30 $tests : run_tests 'gpu attention: general dk and dv'
facts elementwise 30 $tests : run_tests 'gpu elementwise*'
${hopper:+facts hopper-forward 45 $tests : run_tests 'gpu attention: hopper forward'
facts hopper-dq 45 $tests : run_tests 'gpu attention: hopper dq'
facts hopper-dkdv 45 $tests : run_tests 'gpu attention: hopper dk and dv'}
END
    for backend in ${own//,/ } blocked dense; do echo "facts attention-$backend 25 $timing : run_bench attention $(sizes 4096 512) $backend"; done
    for backend in ${own//,/ }; do echo "facts train-$backend 50 $timing : run_training $backend"; done
    for backend in ${own//,/ }; do echo "facts ncu-$backend 60 ncu $timing : run_ncu $backend"; done
    echo "facts pretrain-blocked 40 $training : run_pretraining blocked blocked"
    for backend in ${own//,/ }; do
        echo "facts pretrain-$backend 40 python3 $training : run_pretraining $backend $backend && compare_losses $backend 0.02"
    done
    cat <<END
${hopper:+checks bounded-wait 40 $tests : run_tests 'gpu hang*'}
checks memcheck 120 compute-sanitizer $tests : run_sanitizer memcheck
checks racecheck 120 compute-sanitizer $tests : run_sanitizer racecheck
checks killed-and-resumed 60 python3 $training : kill_and_resume
checks same-bytes 45 $tests : run_tests 'gpu attention: the same bytes*'
checks graph 30 $tests : run_tests 'gpu attention: works on the caller*' 0
checks network 60 $tests : run_tests 'gpu network*'
checks automatic 30 $tests : run_tests 'gpu attention: automatic*'
checks nccl 40 $gpu_tests libtorch bin/bigbird-nccl.so : run_tests 'gpu nccl*'
checks processes 60 python3 $training : run_processes
END
    for backend in ${own//,/ } blocked; do
        echo "checks lengths-$backend 60 $timing : run_lengths $backend"
        echo "checks infer-$backend 30 $timing : run_bench infer $(sizes base tiny) $(sizes 1024 512) $(sizes 64 1) $backend"
    done
    cat <<END
checks longest 60 $timing : run_longest
baselines train-blocked 60 $timing : run_training blocked
baselines lengths-dense 60 $timing : run_lengths dense
baselines transformers 180 python3 : python3 "\$repository/scripts/measure/gpu-baselines" "\${on_cpu[@]}"
END
}

# The first of a stage's needs that is not there: a file of the build tree, a command or LibTorch.
first_missing() { # NEEDS
    local need
    for need in $1; do
        case $need in
            libtorch) [[ -e $torch/lib/libtorch_cpu.so ]] || { echo "LibTorch (run scripts/setup, or name its folder in LIBTORCH)" && return; } ;;
            bench/*) [[ -x $build/$need ]] || { echo "$need (build with -DBIGBIRD_BENCH=ON)" && return; } ;;
            */*) [[ -e $build/$need ]] || { echo "$need (run scripts/build --all)" && return; } ;;
            *) command -v "$need" >/dev/null || { echo "the command $need" && return; } ;;
        esac
    done
}

# ---- what a row says ----

# The shell's own words about processes that ended tell less than what those said.
last_line() { tr '\r' '\n' <"$1" | grep -Ev '^ *$|gpu-stages\.sh: line [0-9]+: +[0-9]+ |^ *[0-9]+ Done |^Terminated$' | tail -n 1 | cut -c1-160; }
doctest_counts() { sed -n 's/.*\[doctest\] assertions: *\([0-9]*\) *| *\([0-9]*\) passed.*/\2 of \1 assertions/p' "$1" | tail -n 1; }
measured() { # the figures of each line of JSON
    sed -n 's/^{"what": "[a-z]*", //p' "$1" | sed 's/[{}"]//g' | paste -sd ';' | cut -c1-230
}
training_speed() { sed -n 's/.*"tokens_per_second":\([0-9.]*\).*/\1 tokens\/s at the last step/p' "$out/pretrain-blocked.metrics.jsonl" | tail -n 1; }
detail_of() { # NAME LOG
    if grep -q '\[doctest\] assertions' "$2"; then
        echo "$(doctest_counts "$2")$(sed -n 's/^=* \(ERROR\|RACECHECK\) SUMMARY/, summary/p' "$2" | tail -n 1)"
    elif grep -q '^{"what"' "$2"; then
        measured "$2"
    elif [[ $1 == pretrain-blocked ]]; then
        training_speed
    else
        last_line "$2"
    fi
}

# ---- the stages ----

# Launches wait for their ends, so that an error is met where it was made.
run_tests() { # CASES [0, to launch without waiting]
    CUDA_LAUNCH_BLOCKING=${2:-1} "$build/$gpu_tests" --no-version --test-case="$1" && has_checked
}
run_sanitizer() { # TOOL
    compute-sanitizer --tool "$1" --error-exitcode 1 "$build/$gpu_tests" --no-version \
        --test-case='gpu attention: the slow twins alone*,gpu elementwise: norm*' && has_checked
}
# Tests that check nothing have not passed. Asked of the log, into which programs write without a pipe between: what a pipe holds back is lost
# when its processes are killed.
has_checked() { ! grep -q '\[doctest\] assertions: *0 ' "$out/$stage.log"; }

on_cpu=()
[[ ${device:-cuda} == cuda ]] || on_cpu=(--try-on-cpu)
run_bench() {
    "$build/$bench" "${on_cpu[@]}" "$@"
}
sizes() { # GPU-SIZE CPU-SIZE
    [[ $device == cuda ]] && echo "$1" || echo "$2"
}
run_training() { run_bench train "$(sizes base tiny)" "$(sizes 4096 512)" "$(sizes 16 1)" "$1"; }
run_lengths() { run_bench attention "$(sizes 1024,2048,8192,16384,32768,65536 512,1024)" "$1"; }
run_longest() {
    [[ $device == cuda ]] || return 77
    run_bench longest base "${own%%,*}"
}

# Three processes, each of which ends at its kernel's second launch.
run_ncu() { # BACKEND
    local kernel status=0 kernels='ForwardKernel QueryGradientKernel KeyGradientKernel'
    [[ $device == cuda ]] || return 77
    [[ $1 == fused ]] || kernels='GroupForwardKernel GroupQueryGradientKernel GroupKeyGradientKernel'
    for kernel in $kernels; do
        timeout -k 5 20 ncu --clock-control none --kernel-name-base mangled --kernel-name "regex:[0-9]$kernel" --launch-skip 1 --launch-count 1 --kill yes \
            --section SpeedOfLight --section Occupancy --section WarpStateStats "$build/$bench" attention 4096 "$1" || status=$?
        echo "ncu: $kernel ended with $status"
    done
    return "$status"
}

make_corpus() {
    [[ ! -e $scratch/tokenizer.model ]] || return 0
    "$build/$program" build-documents --reference "$repository/test_data/genome/22.fa.gz" --passes 1 --seed 1 --output "$scratch/documents.txt.gz" &&
        "$build/$program" train-tokenizer --documents "$scratch/documents.txt.gz" --vocab-size 4096 --seed 1 --output "$scratch/tokenizer.model"
}
# A short pretraining. All see the same batches and drop nothing (backends' masks would differ), so the losses stay together.
run_pretraining() { # NAME BACKEND OPTION...
    local name=$1 backend=$2 batch status=0
    shift 2
    batch=$(sizes '--sequence-length 1024 --batch-size 8' '--sequence-length 512 --batch-size 2')
    make_corpus || return
    # shellcheck disable=SC2086  # words
    ${start:-} "$build/$program" pretrain --documents "$scratch/documents.txt.gz" --tokenizer "$scratch/tokenizer.model" --config "$preset" --steps "$steps" \
        $batch --device "$device" --seed 1 --dropout 0 --attention "$backend" --output "$scratch/run-$name" "$@" || status=$?
    cp "$scratch/run-$name/metrics.jsonl" "$out/pretrain-$name.metrics.jsonl"
    return "$status"
}
# Every loss of a run beside that of run-blocked, which is made where its stage was left out or failed.
compare_losses() { # NAME TOLERANCE
    [[ -e $scratch/run-blocked/model/config.json ]] || run_pretraining blocked blocked || return
    python3 - "$scratch/run-blocked/metrics.jsonl" "$scratch/run-$1/metrics.jsonl" "$2" <<'END'
import json, sys
wanted, found = ([json.loads(line)["loss"] for line in open(path) if '"loss"' in line] for path in sys.argv[1:3])
apart = max(abs(a / b - 1) for a, b in zip(found, wanted))
print(f"last loss {found[-1]:.4f}, blocked {wanted[-1]:.4f}; at most {apart:.4%} apart in {len(found)} steps")
sys.exit(apart > float(sys.argv[3]) or len(found) != len(wanted))
END
}
# kill -9 behind the first half of the steps, then the same command again; README promises 1 %.
kill_and_resume() {
    local log=$scratch/run-resumed/metrics.jsonl every=$(((steps + 4) / 5)) process
    make_corpus || return
    start='exec' run_pretraining resumed blocked --checkpoint-every "$every" &
    process=$!
    while kill -0 "$process" 2>/dev/null && (($(grep -c '"loss"' "$log" 2>/dev/null) < steps / 2)); do sleep 0.02; done
    kill -KILL "$process" 2>/dev/null
    wait "$process"
    [[ ! -e $scratch/run-resumed/model/config.json ]] || { echo "the run ended before it could be killed: more --steps are needed" && return 1; }
    run_pretraining resumed blocked --checkpoint-every "$every" && compare_losses resumed 0.01
}
# One process a GPU, meeting by NCCL (on a CPU by Gloo): the losses of one process.
run_processes() {
    local count=$processes batch
    batch=$(sizes 8 2)
    ((count > 1)) || { echo "one GPU; NCCL in a group of one is the stage nccl" && return 77; }
    # The batch is to be divided evenly.
    while ((count > batch || batch % count)); do count=$((count - 1)); done
    run_pretraining processes blocked --processes "$count" && compare_losses processes 0.01
}

run_named() { # STAGE
    local stage=$1 line
    line=$(stage_table | grep "^[a-z]* $1 ") || { echo "gpu-stages: no stage '$1'" && return 2; }
    eval "${line#* : }"
}

# ---- what is printed at the end ----

print_measurements() {
    [[ -s $out/measurements.jsonl ]] && command -v python3 >/dev/null || return 0
    python3 - "$out/measurements.jsonl" <<'END'
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1]) if line.endswith("}\n")]
def show(title, rows):
    if len(rows) > 1:
        print("\n" + title)
        widths = [max(len(str(row[i])) for row in rows) for i in range(len(rows[0]))]
        for row in rows:
            print("  " + "  ".join(str(cell).rjust(width) if i else str(cell).ljust(width) for i, (cell, width) in enumerate(zip(row, widths))))
for what, keys in (("attention", ["backend", "length", "batch", "forward_ms", "backward_ms", "forward_tflops", "backward_tflops"]),
                   ("train", ["backend", "preset", "length", "batch", "tokens_per_second", "tflops", "mfu_of_989", "peak_gb"]),
                   ("kernel", ["backend", "share", "ms", "calls", "name"]),
                   ("infer", ["backend", "preset", "length", "batch", "windows_per_second"]), ("longest", ["backend", "preset", "length"])):
    show(what + (" (TFLOP/s: of the attended blocks alone; dense of all)" if what == "attention" else ""),
         [keys] + [[line.get(key, "-") for key in keys] for line in lines if line["what"] == what])
END
}

# Run, not sourced: one stage. A process that hangs in a driver does not heed SIGTERM; this shell waits for what
# it runs, so that timeout goes on to kill both.
if [[ ${BASH_SOURCE[0]} == "$0" ]]; then
    set -uo pipefail
    # shellcheck source=scripts/lib.sh
    source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
    trap 'exit 143' TERM
    run_named "$1"
fi
