#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""launchers.py [--torchrun PATH] [--program build/bin/bigbird-dna]

Trains a small network on real sequence under the launchers that people use, and compares the losses of every step with those of one process
(to 2e-5: sums are made in another order):

  processes  --processes 2, from documents (tokenised once for both), and with accumulation
  torchrun   torchrun --no-python, two processes; a killed rank ends the other, with a message; SIGTERM to torchrun writes a checkpoint; a run
             stopped on two goes on with one and three
  nodes      two torchrun agents in two network namespaces joined by a veth pair, two processes each: two machines, as far as sockets can tell
             (needs root and ip)
  srun       two and three tasks under srun of a Slurm that runs in this machine alone (needs root, slurmctld, slurmd and srun)

A launcher that is not installed is said and left out; exit code 0 where the rest agree. torchrun is that of a Python
environment with torch (tried with 2.11.0; it need not be the LibTorch that bigbird-dna was built with). Otherwise only Python's standard library.
"""
import argparse
import contextlib
import getpass
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
STEPS, TOLERANCE = 6, 2e-5
NODES = [("bigbird-node0", "10.77.0.1"), ("bigbird-node1", "10.77.0.2")]


class Check:
    def __init__(self, program, torchrun, folder):
        self.program, self.torchrun, self.folder = program, torchrun, folder
        self.environment = {**os.environ, "OMP_NUM_THREADS": "1"}

    def prepare(self):
        tokenizer = REPOSITORY / "test_data/tokenizer/small.model"
        documents = self.folder / "documents.txt"
        run([self.program, "build-documents", "--reference", REPOSITORY / "test_data/genome/22.fa.gz", "--include", "22:20000001-20300000", "--passes", "1",
             "--seed", "1", "--output", documents])
        self.options = ["--documents", documents, "--tokenizer", tokenizer, "--config", "tiny", "--batch-size", "6", "--sequence-length", "128", "--device",
                        "cpu", "--threads", "1", "--seed", "1"]
        run(self.command("one"))

    def command(self, name, *more, steps=STEPS):
        return [self.program, "pretrain", *self.options, "--steps", str(steps), "--output", self.folder / name, *more]

    def losses(self, name):
        return [json.loads(line)["loss"] for line in (self.folder / name / "metrics.jsonl").read_text().splitlines()]

    def same_as_one(self, name):
        ours, one = self.losses(name), self.losses("one")
        if len(ours) != len(one) or any(abs(a - b) > TOLERANCE * abs(b) for a, b in zip(ours, one)):
            sys.exit(f"{name}: losses {ours}, one process has {one}")
        greatest = max(abs(a - b) / abs(b) for a, b in zip(ours, one))
        print(f"{name}: the losses of one process, to {greatest:.1g}", flush=True)

    # ------------------------------------------------------------------------------------------------- launchers

    def check_processes(self):
        run(self.command("processes", "--processes", "2"))
        self.same_as_one("processes")
        run(self.command("processes-accumulation", "--processes", "2", "--micro-batch-size", "1"))
        self.same_as_one("processes-accumulation")

    def under_torchrun(self, count, *more):
        return [self.torchrun, "--no-python", "--nproc-per-node", str(count), *more]

    def check_torchrun(self):
        run(self.under_torchrun(2) + self.command("torchrun"), self.environment)
        self.same_as_one("torchrun")
        self.check_killed_rank(0)
        self.check_killed_rank(1)
        self.check_terminated_agent()
        self.check_stop_and_resume()

    def check_killed_rank(self, victim):
        name = f"torchrun-killed-{victim}"
        log = self.folder / f"{name}.log"
        with log.open("w") as out:
            agent = subprocess.Popen(self.under_torchrun(2) + self.command(name, "--checkpoint-every", "5", steps=100000), env=self.environment,
                                     stdout=out, stderr=out, start_new_session=True)
            wait_for(self.folder / name / "checkpoints/step-00000010", agent)
            os.kill(ranks_of(agent.pid)[victim], signal.SIGKILL)
            start = time.monotonic()
            code = agent.wait(60)
        text = log.read_text()
        lost = f"process {1 - victim} of 2 lost the others"
        if code == 0 or lost not in text:
            sys.exit(f"{name}: exit code {code}, and no '{lost}' in {text}")
        print(f"{name}: the other rank said that it lost the others, torchrun ended with {code} after {time.monotonic() - start:.0f} s", flush=True)

    def check_terminated_agent(self):
        name = "torchrun-terminated"
        agent = subprocess.Popen(self.under_torchrun(2) + self.command(name, "--checkpoint-every", "100000", steps=100000), env=self.environment,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        metrics = self.folder / name / "metrics.jsonl"
        while not metrics.exists() or metrics.stat().st_size < 1000:
            time.sleep(0.05)
        agent.terminate()
        agent.wait(60)
        step = len(self.losses(name))
        if not (self.folder / name / f"checkpoints/step-{step:08d}").exists():
            sys.exit(f"{name}: no checkpoint of step {step}, its last")
        print(f"{name}: SIGTERM to torchrun wrote the checkpoint of the last step, {step}", flush=True)

    def check_stop_and_resume(self):
        code = subprocess.run(self.under_torchrun(2) + self.command("torchrun-resumed", "--max-hours", "1e-9"), env=self.environment,
                              capture_output=True, check=False).returncode
        if code == 0 or len(self.losses("torchrun-resumed")) != 1:
            sys.exit(f"torchrun-resumed: exit code {code}, {len(self.losses('torchrun-resumed'))} steps")
        shutil.copytree(self.folder / "torchrun-resumed", self.folder / "torchrun-resumed-3")
        run(self.command("torchrun-resumed"))
        self.same_as_one("torchrun-resumed")
        run(self.under_torchrun(3) + self.command("torchrun-resumed-3"), self.environment)
        self.same_as_one("torchrun-resumed-3")

    def check_nodes(self):
        with two_nodes():
            self.train_on_nodes()
            self.same_as_one("nodes")
            self.train_on_nodes()  # finished: all see it, though the first alone holds the run folder
        if (self.folder / "nodes-1").exists():
            sys.exit("nodes: the second machine wrote into its run folder, which is the first one's alone")

    def train_on_nodes(self):
        """Each machine has its own TMPDIR and run folder: they share no disk."""
        agents = []
        for number, (name, address) in enumerate(NODES):
            (self.folder / name).mkdir(exist_ok=True)
            environment = {**self.environment, "GLOO_SOCKET_IFNAME": "veth0", "TMPDIR": str(self.folder / name)}
            launch = self.under_torchrun(2, "--nnodes", "2", "--node-rank", str(number), "--master-addr", NODES[0][1], "--master-port", "29411",
                                         "--local-addr", address)
            command = self.command("nodes" if number == 0 else f"nodes-{number}")
            agents.append(subprocess.Popen(["ip", "netns", "exec", name] + launch + command, env=environment, stdout=subprocess.PIPE,
                                           stderr=subprocess.STDOUT, text=True))
        results = [(agent.communicate(timeout=240)[0], agent.returncode) for agent in agents]
        for text, code in results:
            if code != 0:
                sys.exit(f"nodes: exit code {code}: {text}")

    def check_srun(self):
        with slurm(self.folder) as environment:
            for count in (2, 3):
                name = f"srun-{count}"
                run(["srun", "--ntasks", str(count), "--overcommit"] + self.command(name), {**self.environment, **environment})
                self.same_as_one(name)


# ------------------------------------------------------------------------------------------------------- helpers


def run(command, environment=None):
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit code {result.returncode}: {result.stdout}{result.stderr}")


def wait_for(path, process):
    while not path.exists():
        if process.poll() is not None:
            sys.exit(f"{path}: ended with {process.returncode} before it was there")
        time.sleep(0.05)


def ranks_of(agent):
    """The processes that a torchrun agent started, by rank."""
    ranks = {}
    for task in Path(f"/proc/{agent}/task").iterdir():
        for child in (task / "children").read_text().split():
            for variable in Path(f"/proc/{child}/environ").read_bytes().split(b"\0"):
                if variable.startswith(b"RANK="):
                    ranks[int(variable[5:])] = int(child)
    return ranks


@contextlib.contextmanager
def two_nodes():
    commands = [f"ip netns add {name}" for name, _ in NODES]
    commands.append(f"ip link add veth0 netns {NODES[0][0]} type veth peer name veth0 netns {NODES[1][0]}")
    for name, address in NODES:
        commands += [f"ip -n {name} addr add {address}/24 dev veth0", f"ip -n {name} link set veth0 up", f"ip -n {name} link set lo up"]
    try:
        for command in commands:
            run(command.split())
        yield
    finally:
        for name, _ in NODES:
            subprocess.run(["ip", "netns", "del", name], stderr=subprocess.DEVNULL, check=False)


def memory_mb():
    """Memory that the node says it has, without which Slurm takes no job that asks for any."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20


@contextlib.contextmanager
def slurm(folder):
    """A Slurm of one node, this machine, for as long as it is needed; without munge."""
    place = folder / "slurm"
    place.mkdir()
    host = os.uname().nodename.split(".")[0]
    (place / "slurm.conf").write_text(f"""ClusterName=check
SlurmctldHost={host}(127.0.0.1)
SlurmUser={getpass.getuser()}
SlurmdUser={getpass.getuser()}
AuthType=auth/none
CredType=cred/none
CryptoType=crypto/none
SlurmctldPort=26817
SlurmdPort=26818
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/linear
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SlurmctldPidFile={place}/slurmctld.pid
SlurmdPidFile={place}/slurmd.pid
SlurmdSpoolDir={place}/spool
StateSaveLocation={place}/state
SlurmctldLogFile={place}/slurmctld.log
SlurmdLogFile={place}/slurmd.log
NodeName={host} NodeAddr=127.0.0.1 CPUs={os.cpu_count()} RealMemory={memory_mb()} State=UNKNOWN
PartitionName=all Nodes={host} Default=YES State=UP
""")
    (place / "spool").mkdir()
    (place / "state").mkdir()
    environment = {"SLURM_CONF": str(place / "slurm.conf")}
    daemons = [subprocess.Popen([shutil.which(name), "-D"], env={**os.environ, **environment}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
               for name in ("slurmctld", "slurmd")]
    try:
        for _ in range(100):
            state = subprocess.run(["sinfo", "-h", "-o", "%t"], env={**os.environ, **environment}, capture_output=True, text=True, check=False).stdout.strip()
            if state == "idle":
                break
            time.sleep(0.2)
        else:
            sys.exit(f"srun: Slurm did not come up: {(place / 'slurmctld.log').read_text()[-2000:]}")
        yield environment
    finally:
        for daemon in daemons:
            daemon.terminate()
        for daemon in daemons:
            daemon.wait(30)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--torchrun", type=Path, help="(default: the one on the PATH)")
    parser.add_argument("--program", type=Path, default=REPOSITORY / "build/bin/bigbird-dna")
    options = parser.parse_args()
    torchrun = options.torchrun.absolute() if options.torchrun else shutil.which("torchrun")
    lacks = {"processes": [], "torchrun": [] if torchrun else ["torchrun"]}
    lacks["nodes"] = lacks["torchrun"] + ([] if os.geteuid() == 0 and shutil.which("ip") else ["root and ip"])
    lacks["srun"] = [name for name in ("slurmctld", "slurmd", "srun") if not shutil.which(name)] + ([] if os.geteuid() == 0 else ["root"])
    with tempfile.TemporaryDirectory() as folder:
        check = Check(options.program.resolve(), torchrun, Path(folder))
        check.prepare()
        for name, missing in lacks.items():
            if missing:
                print(f"{name}: not tried, for want of {', '.join(missing)}", flush=True)
            else:
                getattr(check, f"check_{name}")()


if __name__ == "__main__":
    main()
