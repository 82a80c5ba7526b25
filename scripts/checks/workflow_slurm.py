#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""workflow_slurm.py --program build/bin/bigbird-dna --snakemake PATH --output DIR   (scripts/workflow/check --slurm calls it)

Tries the workflow under a Slurm that runs in this machine alone, through Snakemake's executor (needs root, slurmctld, slurmd, srun, sbatch, squeue):

  1. The demo's bins are trained and scored by one job.
  2. The same prediction is scattered over 4 jobs of Slurm. One is killed with -9, then the node is drained, and resumed while jobs wait.
  3. A part that was whole is truncated behind Snakemake's back. The workflow runs again.
  4. The end result has the bytes of the single run. Truncated itself, it is made again to the same bytes.
  5. Pretraining runs by srun from its rule, as two tasks, and has the losses of one process.
"""
import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from launchers import slurm

REPOSITORY = Path(__file__).resolve().parents[2]
SCORES = "chromatin/scores.tsv.gz"
NEEDED = ("slurmctld", "slurmd", "srun", "sbatch", "squeue", "scontrol")


class Workflow:
    def __init__(self, program, snakemake, folder, environment):
        self.program, self.snakemake, self.folder = program, snakemake, folder
        self.environment = {**os.environ, **environment, "PATH": f"{self.own_srun(environment)}:{os.environ['PATH']}"}
        self.node = os.uname().nodename.split(".")[0]

    def own_srun(self, environment):
        """A folder with an srun that finds this Slurm: the executor clears SLURM_CONF in its jobs, and a real one has its file in /etc."""
        place = self.folder / "bin"
        place.mkdir(exist_ok=True)
        (place / "srun").write_text(f'#!/bin/sh\nSLURM_CONF={environment["SLURM_CONF"]} exec {shutil.which("srun")} "$@"\n')
        (place / "srun").chmod(0o755)
        return place

    def command(self, target, *more, folder="workflow", **config):
        settings = [f"{key}={value}" for key, value in {"program": self.program, "threads": 1, **config}.items()]
        return [self.snakemake, "--snakefile", REPOSITORY / "scripts/workflow/Snakefile", "--configfile", REPOSITORY / "scripts/workflow/config/demo.yaml",
                "--directory", self.folder / folder, "--cores", "2", "--rerun-incomplete", *more, "--config", *settings, "--", target]

    def on_slurm(self, target, **more):
        return self.command(target, "--executor", "slurm", "--jobs", "8", "--retries", "0", "--keep-going", "--default-resources", "mem_mb=500", "runtime=30",
                            "--slurm-no-account", "--slurm-status-command", "squeue", "--slurm-init-seconds-before-status-checks", "2",
                            "--seconds-between-status-checks", "2", **more)

    def start(self, name, command):
        with (self.folder / f"{name}.log").open("w") as log:
            return subprocess.Popen([str(word) for word in command], env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def run(self, name, command):
        if self.start(name, command).wait() != 0:
            sys.exit(f"{name} failed:\n{(self.folder / f'{name}.log').read_text()[-4000:]}")

    def scontrol(self, *words):
        subprocess.run(["scontrol", "update", f"NodeName={self.node}", *words], env=self.environment, check=True)

    def slurm_says(self, *command):
        return subprocess.run(command, env=self.environment, capture_output=True, text=True, check=True).stdout

    def scores(self):
        return (self.folder / "workflow" / SCORES).read_bytes()

    def finished_parts(self):
        return sorted((self.folder / "workflow/parts/chromatin/scores").glob("*-of-4/part.tsv.gz"))


def shard_process(workflow, snakemake):
    """A process of the program that makes a part of this check, once there is one."""
    while snakemake.poll() is None:
        for place in Path("/proc").glob("[0-9]*"):
            try:
                words = (place / "cmdline").read_bytes().split(b"\0")
                ours = os.readlink(place / "cwd") == str(workflow.folder / "workflow")
            except OSError:
                continue
            if ours and words[0] == str(workflow.program).encode() and b"--shard" in words:
                return int(place.name)
        time.sleep(0.01)
    sys.exit(f"scattered: no job of a part was seen:\n{(workflow.folder / 'scattered.log').read_text()[-4000:]}")


def scatter_and_disturb(workflow):
    snakemake = workflow.start("scattered", workflow.on_slurm(SCORES, parts=4))
    os.kill(shard_process(workflow, snakemake), signal.SIGKILL)
    workflow.scontrol("State=DRAIN", "Reason=check")
    time.sleep(6)
    waiting = workflow.slurm_says("squeue", "-h", "-t", "PD").splitlines()
    state = workflow.slurm_says("sinfo", "-h", "-o", "%T").strip()
    if not waiting or "drain" not in state:
        sys.exit(f"drained: {len(waiting)} jobs wait, the node is {state}")
    print(f"one job killed with -9; {len(waiting)} jobs waited for the node, which was {state}", flush=True)
    workflow.scontrol("State=RESUME")
    if snakemake.wait() == 0 or len(workflow.finished_parts()) != 3:
        sys.exit(f"scattered: {len(workflow.finished_parts())} parts after a killed job, 3 were expected:\n{(workflow.folder / 'scattered.log').read_text()[-4000:]}")
    print("Snakemake ended with an error; the other 3 parts are there", flush=True)


def truncate(path, more=200):
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size - more)


def check_scattered(workflow):
    workflow.run("single", workflow.command(SCORES))
    whole = workflow.scores()
    (workflow.folder / "workflow" / SCORES).unlink()
    shutil.rmtree(workflow.folder / "workflow/parts")
    scatter_and_disturb(workflow)
    truncate(workflow.finished_parts()[0])
    print(f"{workflow.finished_parts()[0].parent.name} truncated behind Snakemake's back", flush=True)
    for name, what in (("again", "killed, drained and truncated"), ("repaired", "the end result truncated")):
        workflow.run(name, workflow.on_slurm(SCORES, parts=4))
        if workflow.scores() != whole:
            sys.exit(f"{name}: {SCORES} is not what the single run wrote")
        print(f"{what}: run again, {len(whole)} bytes equal to those of the single run", flush=True)
        truncate(workflow.folder / "workflow" / SCORES)


def losses(folder):
    return [json.loads(line)["loss"] for line in (folder / "pretrained/metrics.jsonl").read_text().splitlines()]


def check_srun(workflow):
    """Pretraining from the rule, as two tasks of srun and by one process, from the same documents and tokenizer."""
    target = "pretrained/model/model.safetensors"
    workflow.run("one", workflow.command(target))
    (workflow.folder / "srun").mkdir()
    for name in ("documents", "tokenizer", "held_out", ".snakemake"):
        shutil.copytree(workflow.folder / "workflow" / name, workflow.folder / "srun" / name)
    workflow.run("srun", workflow.on_slurm(target, folder="srun", tasks_per_node=2))
    one, two = losses(workflow.folder / "workflow"), losses(workflow.folder / "srun")
    if len(one) != len(two) or any(abs(a - b) > 2e-5 * abs(b) for a, b in zip(one, two)):
        sys.exit(f"srun: losses {two}, one process has {one}")
    print(f"pretraining by srun from the rule, two tasks: the losses of one process over {len(one)} steps", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=Path, default=REPOSITORY / "build/bin/bigbird-dna")
    parser.add_argument("--snakemake", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    missing = [name for name in NEEDED if not shutil.which(name)] + ([] if os.geteuid() == 0 else ["root"])
    if missing:
        print(f"not tried, for want of {', '.join(missing)}")
        sys.exit(77)
    folder = options.output.resolve()
    with slurm(folder) as environment:
        workflow = Workflow(options.program.resolve(), options.snakemake, folder, environment)
        check_scattered(workflow)
        check_srun(workflow)


if __name__ == "__main__":
    main()
