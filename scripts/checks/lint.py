#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs clang-tidy 14 by .clang-tidy on the sources named or, without names, on all of lib and apps that do not include LibTorch (with --all, on those, too,
which take half a minute each). Without names, up to ten sources of a folder are checked as one, since most of the time is the parsing of headers. What
passed is remembered under BIGBIRD_DEPS by the bytes of the sources, of the headers that they reach and of .clang-tidy, so that a second run is quick. Exit
code 77, which ctest shows as skipped, where clang-tidy 14 or compile_commands.json is missing, and with --in-ctest unless BIGBIRD_LINT is set."""
import argparse
import hashlib
import json
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
DEFINED = re.compile(r"^(?:(?:struct|class|enum class|using) (\w+)|(?!namespace)[A-Za-z_][^;=({\n]*?[\s&*](\w+)\s*[({=\[])", re.MULTILINE)
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


def commands_of(build):
    """The command that compiles each source, by itself or in one of the sources that CMake joins of several."""
    known = {}
    for command in json.loads((build / "compile_commands.json").read_text()):
        joined = re.findall(r'#include "(.+)"', Path(command["file"]).read_text()) if "/Unity/" in command["file"] else [command["file"]]
        known |= dict.fromkeys(joined, command)
    return known


def tidy_up(tidy, build, folder, group):
    """clang-tidy on a source, or on one that includes those of a group, compiled as the first of them is: without g++'s precompiled header, which clang
    cannot read."""
    known = commands_of(build)
    command = next((known[name] for name in map(str, group) if name in known), next(iter(known.values())))
    source = group[0]
    if len(group) > 1:
        source = folder / "joined.cpp"
        source.write_text("".join(f'#include "{path}"  // NOLINT\n' for path in group))
    line = re.sub(r"-Winvalid-pch -include \S+/cmake_pch\.hxx ", "", command["command"]).replace(command["file"], str(source))
    (folder / "compile_commands.json").write_text(json.dumps([{**command, "file": str(source), "command": line}]))
    # clang does not know all of g++'s flags.
    flags = ["-Wno-unknown-warning-option", "-Wno-ignored-optimization-argument", "-Wno-unused-command-line-argument"]
    return subprocess.run([tidy, "--quiet", "-p", folder, f"--config-file={ROOT / '.clang-tidy'}", r"--header-filter=.*\.cpp$",
                           *(f"--extra-arg={flag}" for flag in flags), source], cwd=ROOT, capture_output=True, text=True)


def check(tidy, build, passed, group):
    """What clang-tidy finds in a group of sources, nothing where it found nothing in the same bytes before."""
    mark = passed / key_of({path: data for source in group for path, data in reach(source)[0].items()})
    if mark.exists():
        return ""
    with tempfile.TemporaryDirectory() as folder:
        run = tidy_up(tidy, build, Path(folder), group)
    if run.returncode == 0:
        mark.touch()
        return ""
    if "clang-diagnostic-error" in run.stdout and len(group) > 1:
        half = len(group) // 2
        return check(tidy, build, passed, group[:half]) + check(tidy, build, passed, group[half:])
    return run.stdout or run.stderr


def groups_of(sources, torch_too):
    """The sources of each folder, by tens at most that define no name twice; those with LibTorch each by itself."""
    folders, alone = {}, []
    for source in sources:
        seen, torch = reach(source)
        if torch:
            alone += [[source]] if torch_too else []
            continue
        names = {function or kind for kind, function in DEFINED.findall(seen[source].decode())}
        groups = folders.setdefault(source.parent, [])
        group = next((group for group in groups if len(group) < 10 and not any(names & others for _, others in group)), None)
        if group is None:
            groups.append(group := [])
        group.append((source, names))
    joined = [[source for source, _ in group] for groups in folders.values() for group in groups]
    return sorted(joined, key=len, reverse=True) + alone


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
    groups = [[path] for path in named] or groups_of([ROOT / name for name in listed], options.all)
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        jobs = [pool.submit(check, tidy, options.build, passed, group) for group in groups]
        found = False
        for job in jobs:
            found |= bool(job.result())
            print(job.result(), end="", flush=True)
    print("" if found else "lint: nothing to report")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
