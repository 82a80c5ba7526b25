#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Changes the sources as mutants.toml lists, one change at a time, and runs the test file that each change must make fail: whether the tests notice wrong code.
Works in a copy of the tracked files under build/mutants, with the arguments of scripts/build, so that the working tree stays as it is. Prints a line for each
change; exit code 1 where one survives, does not compile or no longer finds its text. The first build of the copy takes minutes, each change 5 to 30 s."""
import argparse
import contextlib
import filecmp
import os
import shutil
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COPY = ROOT / "build/mutants"
PATIENCE = 100  # seconds
CACHE = Path(os.environ.get("BIGBIRD_DEPS") or Path.home() / ".cache/bigbird-dna") / "ccache"
ENVIRONMENT = {"CCACHE_DIR": str(CACHE), "CCACHE_NOHASHDIR": "1", **os.environ, "CCACHE_BASEDIR": str(COPY)}


def make_copy():
    """Brings the copy up to date, unchanged files untouched, and configures it."""
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    for name in names:
        source, target = ROOT / name, COPY / name
        if source.is_file() and not (target.exists() and filecmp.cmp(source, target, shallow=False)):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
    arguments = (ROOT / "build/configured-with").read_text().splitlines()[1:]
    subprocess.run(["cmake", "-S", COPY, "-B", COPY / "build", *arguments], env=ENVIRONMENT, stdout=subprocess.DEVNULL, check=True)
    program = COPY / "build/bin/bigbird-dna"  # one test looks for it there
    program.parent.mkdir(exist_ok=True)
    if not program.exists():
        program.symlink_to(ROOT / "build/bin/bigbird-dna")


def program_of(test):
    return f"tests/{Path(test).parts[2]}_tests"


def build(test, jobs):
    return subprocess.run(["ninja", "-C", COPY / "build", "-j", str(jobs), program_of(test)], env=ENVIRONMENT, capture_output=True).returncode == 0


def passes(test):
    """Whether the cases of a test file pass; what hangs, and what it started, is killed."""
    command = [COPY / "build" / program_of(test), "--minimal", f"--source-file=*{test.removeprefix('tests/')}"]
    run = subprocess.Popen(command, cwd=COPY, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        return run.wait(timeout=PATIENCE) == 0
    except subprocess.TimeoutExpired:
        return False
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(run.pid, signal.SIGKILL)
        run.wait()


def try_mutant(test, source, old, new, jobs):
    path = COPY / source
    text = path.read_text()
    if old not in text:
        return "NOT FOUND"
    path.write_text(text.replace(old, new, 1))
    try:
        return "NO BUILD" if not build(test, jobs) else "SURVIVED" if passes(test) else "killed"
    finally:
        path.write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), help="compiler jobs (default: a job a core)")
    parser.add_argument("tests", nargs="*", help="test files (default: all of mutants.toml)")
    options = parser.parse_args()
    listed = tomllib.loads(Path(__file__).with_suffix(".toml").read_text())
    make_copy()
    failures = 0
    for test in options.tests or listed:
        if not build(test, options.jobs) or not passes(test):
            failures += 1
            print(f"{test} fails before anything is changed", flush=True)
            continue
        for source, changes in listed[test].items():
            for old, new in changes:
                result = try_mutant(test, source, old, new, options.jobs)
                failures += result != "killed"
                print(f"{result:9}  {test}  {source}: {old.strip()!r} -> {new.strip()!r}", flush=True)
    print(f"{failures} not killed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
