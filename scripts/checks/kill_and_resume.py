#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kill_and_resume.py [--rounds N] [--seed N] [--program build/bin/bigbird-dna]

Trains small networks on real sequence, disturbs each run again and again at random moments (SIGKILL, SIGKILL in the middle of writing a
checkpoint, SIGTERM, SIGINT, SIGHUP, --max-hours, a full disk), gives the same command again each time, and compares metrics, weights, moments and
configuration with those of an undisturbed run, bit for bit. After every disturbance each checkpoint that bears a name must be whole.
Exit code 0 where all rounds agree. As root the runs lie on a small tmpfs, so that the disk can be filled; else a limit on file sizes stands for
that. The option --checkpoint-every, which changes no result, is drawn anew for every start. Only Python's standard library.
"""
import argparse
import contextlib
import hashlib
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from launchers import run as run_whole

REPOSITORY = Path(__file__).resolve().parents[2]
CLOCK = {"seconds", "tokens_per_second", "eval_seconds", "data_wait_share", "flops_per_second", "mfu", "memory_bytes"}
VARIANTS = {
    "plain": [],
    "accumulation": ["--micro-batch-size", "1"],
    "recompute": ["--recompute", "on"],
    "bf16": ["--dtype", "bf16"],
    "two processes": ["--processes", "2"],
    "two processes, documents": ["--processes", "2", "--documents"],
}
STEPS = 24
TMPFS_BYTES = 160 << 20


class Campaign:
    def __init__(self, program, folder, generator):
        self.program, self.folder, self.random = program, folder, generator
        self.counts = {}

    def make_inputs(self):
        tokenizer = REPOSITORY / "test_data/tokenizer/small.model"
        documents, corpus = self.folder / "documents.txt", self.folder / "corpus"
        run_whole([self.program, "build-documents", "--reference", REPOSITORY / "test_data/genome/22.fa.gz", "--include", "22:20000001-20300000",
                   "--passes", "1", "--sentences", "5:10", "--seed", "1", "--output", documents])
        run_whole([self.program, "tokenize", "--documents", documents, "--tokenizer", tokenizer, "--output", corpus])
        self.shards = ["--documents", str(corpus)]
        self.documents = ["--documents", str(documents), "--tokenizer", str(tokenizer)]

    def command(self, options, run, more=()):
        options = list(options)
        inputs = self.shards
        if "--documents" in options:
            options.remove("--documents")
            inputs = self.documents
        return [str(self.program), "pretrain", *inputs, "--config", "tiny", "--steps", str(STEPS), "--batch-size", "4", "--sequence-length", "192",
                "--evaluate-documents", self.shards[1], "--evaluate-every", "7", "--device", "cpu", "--threads",
                "2" if "--processes" in options else "1", "--seed", "7", "--output", str(run), *options, *more]

    def undisturbed(self, name, run):
        start = time.monotonic()
        run_whole(self.command(VARIANTS[name], run))
        return time.monotonic() - start

    def disturb(self, name, run, seconds):
        """One start of the run with one disturbance. Returns its kind and exit code."""
        kind = self.random.choice(["kill", "kill while writing", "terminate", "interrupt", "hang up", "hours", "full disk"])
        more = ["--checkpoint-every", str(self.random.randint(1, 6))]
        after = self.random.uniform(0, 0.9 * seconds)
        if kind == "hours":
            more += ["--max-hours", f"{after / 3600:.9f}"]
        with contextlib.ExitStack() as stack:
            limit = self.fill_disk(stack, run) if kind == "full disk" else None
            process = subprocess.Popen(self.command(VARIANTS[name], run, more), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, preexec_fn=limit)
            if kind == "kill while writing":
                self.wait_for_write(process, run)
            elif kind not in ("hours", "full disk"):
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(after)
            number = {"terminate": signal.SIGTERM, "interrupt": signal.SIGINT, "hang up": signal.SIGHUP}.get(kind, signal.SIGKILL)
            if kind not in ("hours", "full disk") and process.poll() is None:
                victims = [process.pid]
                if number == signal.SIGKILL and self.random.random() < 0.5:
                    victims = children(process.pid) or victims
                os.kill(self.random.choice(victims), number)
            _, error = process.communicate()
        self.expect(kind, process.returncode, error)
        self.counts[kind] = self.counts.get(kind, 0) + 1
        return process.returncode

    def fill_disk(self, stack, run):
        free = self.random.randint(0, 24 << 20)
        if os.path.ismount(self.folder / "runs"):
            filler = run.parent / "filler"
            stack.callback(lambda: filler.unlink(missing_ok=True))
            space = os.statvfs(run.parent)
            with filler.open("wb") as out:
                os.posix_fallocate(out.fileno(), 0, max(1, space.f_bavail * space.f_bsize - free))
            return None
        return lambda: (signal.signal(signal.SIGXFSZ, signal.SIG_IGN), resource.setrlimit(resource.RLIMIT_FSIZE, (free // 4 + 1, free // 4 + 1)))

    def wait_for_write(self, process, run):
        """Until the n-th checkpoint, or the model, is being written."""
        wanted, seen = self.random.randint(1, 4), set()
        while process.poll() is None:
            for place in (run / "checkpoints", run):
                with contextlib.suppress(FileNotFoundError):
                    seen.update(entry.name for entry in os.scandir(place) if ".tmp." in entry.name)
            if len(seen) >= wanted:
                time.sleep(self.random.uniform(0, 0.02))
                return
            time.sleep(0.0005)

    @staticmethod
    def expect(kind, code, error):
        allowed = {"kill": {0, -9, 137}, "kill while writing": {0, -9, 137}, "terminate": {0, 143, -15}, "interrupt": {0, 130, -2}, "hang up": {0, 129, -1}, "hours": {0, 75},
                   "full disk": {0, 74, 2}}[kind]
        if code not in allowed:
            sys.exit(f"{kind}: exit code {code}: {error}")

    def round(self, name, seconds, reference):
        run = self.folder / "runs" / "run"
        shutil.rmtree(run, ignore_errors=True)
        starts = 0
        while not (run / "model/config.json").exists():
            starts += 1
            self.disturb(name, run, seconds)
            check_checkpoints(run)
            if starts > 12:  # often enough disturbed
                run_whole(self.command(VARIANTS[name], run))
        compare(run, reference, name)
        return starts


def children(process):
    with contextlib.suppress(FileNotFoundError):
        return [int(word) for word in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    return []


def check_checkpoints(run):
    for folder in (run / "checkpoints").glob("step-*"):
        for line in (folder / "training_state/sha256.txt").read_text().splitlines():
            total, name = line.split("  ", 1)
            if hashlib.sha256((folder / name).read_bytes()).hexdigest() != total:
                sys.exit(f"{folder / name} is damaged")


def metrics(run):
    lines = map(json.loads, (run / "metrics.jsonl").read_text().splitlines())
    return [{key: value for key, value in line.items() if key not in CLOCK} for line in lines]


def compare(run, reference, name):
    ours, theirs = metrics(run), metrics(reference)
    if ours != theirs:
        first = next((pair for pair in zip(ours, theirs) if pair[0] != pair[1]), (len(ours), len(theirs)))
        sys.exit(f"{name}: the curves differ: {first}")
    last = f"checkpoints/step-{STEPS:08d}"
    for file in ["model/model.safetensors", "model/config.json", "model/tokenizer.model", f"{last}/training_state/optimizer.safetensors"]:
        if (run / file).read_bytes() != (reference / file).read_bytes():
            sys.exit(f"{name}: {file} differs")
    left = [str(path) for path in run.rglob("*") if ".tmp." in path.name]
    if left:
        sys.exit(f"{name}: left behind: {left}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=2, help="runs of each variant")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--program", type=Path, default=REPOSITORY / "build/bin/bigbird-dna")
    options = parser.parse_args()
    start = time.monotonic()
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        campaign = Campaign(options.program.resolve(), folder, random.Random(options.seed))
        runs = folder / "runs"
        runs.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={TMPFS_BYTES}", "none", str(runs)], stderr=subprocess.DEVNULL, check=False).returncode == 0:
            stack.callback(lambda: subprocess.run(["umount", "-l", str(runs)], check=False))
        campaign.make_inputs()
        references = {}
        for number in range(options.rounds):
            for name in VARIANTS:
                reference = folder / name.replace(" ", "-").replace(",", "")
                if name not in references:
                    references[name] = campaign.undisturbed(name, reference)
                starts = campaign.round(name, references[name], reference)
                print(f"{name}, round {number + 1}: equal after {starts} starts", flush=True)
        counts = ", ".join(f"{kind} {count}" for kind, count in sorted(campaign.counts.items()))
        print(f"all equal; disturbances: {counts}; {time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    main()
