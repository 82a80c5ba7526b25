#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tutorial.py [--program PATH] [--folder DIR] [--update] runs the commands of docs/tutorial.md, the lines after `$ ` of its console blocks, one after the other
in a new folder of the clone, and compares what they print on standard output: words exactly, numbers of four decimals and more to a tenth of themselves or
0.01, all others exactly. --update writes what was printed into the page. It trains a model: some minutes on two cores. Exit code 1 at the first command
that fails or prints something else."""
import argparse
import os
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/tutorial.md"
BLOCK = re.compile(r"(?<=^```console\n)(.*?)(?=^```$)", re.DOTALL | re.MULTILINE)
DECIMAL = re.compile(r"-?\d+\.\d{4,}(?:e-?\d+)?")


def steps_of(block):
    """(command, what it prints) of each command of a console block."""
    parts = re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
    return [tuple(re.split(r"(?<!\\)\n", part, maxsplit=1)) for part in parts]


def is_near(found, wanted):
    one, other = float(found), float(wanted)
    return abs(one - other) <= max(0.01, 0.1 * abs(other))


def same(found, wanted):
    numbers = DECIMAL.findall(found), DECIMAL.findall(wanted)
    return DECIMAL.sub("#", found) == DECIMAL.sub("#", wanted) and all(map(is_near, *numbers))


def run(command, folder, environment):
    print(f"$ {command}", flush=True)
    began = time.monotonic()
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=folder, env=environment, stdout=subprocess.PIPE, text=True)
    print(f"{done.stdout}-- {time.monotonic() - began:.1f} s", flush=True)
    # `head` ends before its pipe does.
    if done.returncode not in (0, 141):
        sys.exit(f"tutorial.py: ended with exit code {done.returncode}: {command}")
    return done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=Path, default=ROOT / "build/bin/bigbird-dna")
    parser.add_argument("--folder", type=Path, default=ROOT / "tutorial")
    parser.add_argument("--update", action="store_true")
    arguments = parser.parse_args()
    if not os.access(arguments.program, os.X_OK):
        sys.exit(f"tutorial.py: {arguments.program} is no program: run scripts/build, or give --program")
    folder = arguments.folder.resolve()
    if folder.parent != ROOT or folder.exists():
        sys.exit(f"tutorial.py: {folder} must be a new folder of the clone")
    folder.mkdir()
    environment = os.environ | {"PATH": f"{arguments.program.resolve().parent}:{os.environ['PATH']}", "LC_ALL": "C"}

    def run_block(match):
        text = ""
        for command, wanted in steps_of(match.group(1)):
            found = run(command, folder, environment)
            if not arguments.update and not same(found, wanted):
                sys.exit(f"tutorial.py: the page has\n{wanted}after {command}")
            text += f"$ {command}\n{found}"
        return text

    page = BLOCK.sub(run_block, PAGE.read_text())
    if arguments.update:
        PAGE.write_text(page)


if __name__ == "__main__":
    main()
