#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tutorial.py [--program PATH] [--update] runs the `bash` blocks of docs/tutorial.md one after the other in tutorial/, a new folder of the clone, and compares
what they print on standard output with the `text` block behind each: words exactly, numbers of four decimals and more to a tenth of themselves or 0.01, all
others exactly. `sh` blocks are not run. --update writes what was printed into the page. It trains a model: some minutes on two cores. Exit code 1 at the
first block that fails or prints something else."""
import argparse
import os
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/tutorial.md"
BLOCK = re.compile(r"^```bash\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.DOTALL | re.MULTILINE)
DECIMAL = re.compile(r"-?\d+\.\d{4,}(?:e-?\d+)?")


def is_near(found, wanted):
    one, other = float(found), float(wanted)
    return abs(one - other) <= max(0.01, 0.1 * abs(other))


def same(found, wanted):
    numbers = DECIMAL.findall(found), DECIMAL.findall(wanted)
    return DECIMAL.sub("#", found) == DECIMAL.sub("#", wanted) and all(map(is_near, *numbers))


def run(commands, folder, environment):
    print(commands, end="", flush=True)
    began = time.monotonic()
    done = subprocess.run(["bash", "-euc", commands], cwd=folder, env=environment, stdout=subprocess.PIPE, text=True)
    print(f"{done.stdout}-- {time.monotonic() - began:.1f} s", flush=True)
    if done.returncode:
        sys.exit(f"tutorial.py: ended with exit code {done.returncode}: {commands}")
    return done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=Path, default=ROOT / "build/bin/bigbird-dna")
    parser.add_argument("--update", action="store_true")
    arguments = parser.parse_args()
    if not os.access(arguments.program, os.X_OK):
        sys.exit(f"tutorial.py: {arguments.program} is no program: run scripts/build, or give --program")
    folder = ROOT / "tutorial"
    if folder.exists():
        sys.exit(f"tutorial.py: {folder} must be a new folder of the clone")
    folder.mkdir()
    environment = os.environ | {"PATH": f"{arguments.program.resolve().parent}:{os.environ['PATH']}", "LC_ALL": "C"}

    def run_block(match):
        commands, wanted = match.group(1), match.group(2) or ""
        found = run(commands, folder, environment)
        if not arguments.update and not same(found, wanted):
            sys.exit(f"tutorial.py: the page has\n{wanted}after {commands}")
        return f"```bash\n{commands}```\n" + (f"\n```text\n{found}```\n" if found else "")

    page = BLOCK.sub(run_block, PAGE.read_text())
    if arguments.update:
        PAGE.write_text(page)


if __name__ == "__main__":
    main()
