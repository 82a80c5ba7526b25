#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs clang-tidy 14 by .clang-tidy on the sources named or, without names, on all of lib and apps that do not include LibTorch (with --all, on those, too,
which take half a minute each). What passed is remembered under BIGBIRD_DEPS by the bytes of the source, of the headers that it reaches and of
.clang-tidy, so that a second run is quick. Exit code 77, which ctest shows as skipped, where clang-tidy 14 or compile_commands.json is missing, and with
--in-ctest unless BIGBIRD_LINT is set: all sources take two cores a quarter of an hour the first time."""
import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
INCLUDE = re.compile(r'^\s*#\s*include\s+[<"]([^>"]+)', re.MULTILINE)
ROOTS = [ROOT / "lib", ROOT / "apps/bigbird-dna", ROOT / "tests"]
TORCH = ("ATen/", "torch/", "c10/")


def reach(source):
    """The files of ours that a source reaches, itself first, and whether LibTorch is among what they include."""
    seen, torch, queue = {}, False, [source]
    while queue:
        path = queue.pop()
        if path in seen:
            continue
        seen[path] = path.read_bytes()
        for name in INCLUDE.findall(seen[path].decode(errors="replace")):
            torch |= name.startswith(TORCH)
            queue += [root / name for root in ROOTS if (root / name).is_file()]
    return seen, torch


def key_of(seen):
    digest = hashlib.sha256((ROOT / ".clang-tidy").read_bytes())
    for path in sorted(seen):
        digest.update(seen[path])
    return digest.hexdigest()


def copy_commands(build, folder):
    """The compile database without g++'s precompiled header, which clang cannot read; sources include what they use."""
    commands = (build / "compile_commands.json").read_text()
    (folder / "compile_commands.json").write_text(re.sub(r"-Winvalid-pch -include \S+/cmake_pch\.hxx ", "", commands))


def check(tidy, commands, passed, source, torch_too):
    seen, torch = reach(source)
    mark = passed / key_of(seen)
    if (torch and not torch_too) or mark.exists():
        return ""
    # clang does not know all of g++'s flags.
    flags = ["-Wno-unknown-warning-option", "-Wno-ignored-optimization-argument", "-Wno-unused-command-line-argument"]
    command = [tidy, "--quiet", "-p", commands, *(f"--extra-arg={flag}" for flag in flags), source]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if run.returncode == 0:
        mark.touch()
        return ""
    return run.stdout or run.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="build folder (default: build)")
    parser.add_argument("--all", action="store_true", help="sources with LibTorch, too")
    parser.add_argument("--in-ctest", action="store_true", help="only where BIGBIRD_LINT is set")
    parser.add_argument("files", nargs="*", type=Path)
    options = parser.parse_args()
    if options.in_ctest and not os.environ.get("BIGBIRD_LINT"):
        print("lint: skipped: BIGBIRD_LINT is not set")
        return 77
    tidy = shutil.which("clang-tidy-14")
    if not tidy or not (options.build / "compile_commands.json").exists():
        print(f"lint: skipped: {'there is no compile_commands.json: run scripts/build' if tidy else 'clang-tidy-14 is missing'}")
        return 77
    named = [path.resolve() for path in options.files]
    listed = subprocess.run(["git", "ls-files", "lib/*.cpp", "apps/*.cpp"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    passed = Path(os.environ.get("BIGBIRD_DEPS") or Path.home() / ".cache/bigbird-dna") / "lint"
    passed.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as commands, ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        copy_commands(options.build, Path(commands))
        jobs = [pool.submit(check, tidy, commands, passed, path, bool(named) or options.all) for path in named or [ROOT / name for name in listed]]
        found = False
        for job in jobs:
            found |= bool(job.result())
            print(job.result(), end="", flush=True)
    print("" if found else "lint: nothing to report")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
