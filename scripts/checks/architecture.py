#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what a compiler does not: who includes whom, sizes, tests of every room, unfinished words. One line per finding; exit 1 if any."""
import re
import sys
import tomllib
from pathlib import Path

import links

ROOT = Path(__file__).resolve().parents[2]
RULES = tomllib.loads((Path(__file__).parent / "architecture.toml").read_text())
INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]', re.MULTILINE)
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX)\b")
# CMake splits such a name, and ctest then runs neither half.
SPLIT_NAME = re.compile(r'DOCTEST_TEST_CASE\w*\((?:\s*"[^"]*")*\s*"[^"]*;')
SWITCHED_OFF = re.compile(r"doctest::(skip|may_fail|should_fail)|(?<!HWY_)DISABLED_")
TOP_LEVEL = {"apps", "docs", "lib", "scripts", "test_data", "tests", "CMakeLists.txt", "CMakePresets.json"}
TOP_LEVEL |= {"README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "SECURITY.md"}
SOURCES = {".cpp", ".hpp", ".cu", ".cuh"}
FILES = links.tracked(ROOT)
findings = []


def tracked(*folders):
    return [Path(name) for name in FILES if not folders or name.startswith(tuple(f"{folder}/" for folder in folders))]


def find(path, message):
    findings.append(f"{path}: {message}")


def room_of(path):
    """lib/bigbird/tokenizer/encode/x.cpp -> tokenizer/encode"""
    return "/".join(path.parts[2:-1])


def check_includes(path, text):
    room = room_of(path)
    if room not in RULES["uses"]:
        find(path, f"room '{room}' is not in architecture.toml")
        return
    foreign = set().union({"CLI"}, *RULES["third_party"].values())
    for _, name in INCLUDE.findall(text):
        head = name.split("/")[0]
        if head == "bigbird":
            used = "/".join(name.split("/")[1:-1])
            if used != room and used not in RULES["uses"][room]:
                find(path, f"{room} must not include {name}")
        elif head in foreign:
            allowed = RULES["public" if path.suffix == ".hpp" else "third_party"]
            if head not in allowed.get(room, []):
                find(path, f"{head} does not belong into {'a public header of ' if path.suffix == '.hpp' else ''}{room}")
        if name in {"torch/torch.h", "torch/nn.h"}:
            find(path, f"include the narrow LibTorch headers, not <{name}>")


def check_rooms():
    """Rooms use only those above them, have tests, and say what lives there."""
    seen, tests_there = set(), tracked("tests")
    tested = {*tests_there, *(path.parent for path in tests_there)}
    for room, uses in RULES["uses"].items():
        folder = Path("lib/bigbird") / room
        files = [path for path in tracked(f"lib/bigbird/{room}") if path.parent == folder and path.suffix in SOURCES]
        if not files:
            find(folder, "is in architecture.toml, and empty")
        tests = Path(RULES["tested_by"].get(room, f"tests/unit/{room}"))
        if any(path.suffix == ".cpp" for path in files) and tests not in tested:
            find(folder, f"has no test in {tests}")
        for used in uses:
            if used not in seen:
                find(folder, f"uses {used}, which architecture.toml does not list above it")
        seen.add(room)
        list_file = ROOT / folder / "CMakeLists.txt"
        if list_file.exists() and not list_file.read_text().startswith("# "):
            find(folder, "its CMakeLists.txt does not begin with what lives there")


def check_text(path, text):
    lines = text.count("\n")
    limit = RULES["limits"]["header_lines" if path.suffix in {".hpp", ".cuh", ".h"} else "source_lines"]
    if lines > limit:
        find(path, f"{lines} lines, the limit is {limit}")
    if "SPDX-License-Identifier" not in text[:300] and path.suffix in {".cpp", ".hpp", ".cu"}:
        find(path, "no SPDX line at the top")
    for number, line in enumerate(text.splitlines(), 1):
        if UNFINISHED.search(line) and path.name != "architecture.py":
            find(f"{path}:{number}", "unfinished work in a comment")
        if SWITCHED_OFF.search(line) and path.name != "architecture.py":
            find(f"{path}:{number}", "a test that is switched off")
        if re.match(r"\s*using namespace", line) and path.suffix == ".hpp":
            find(f"{path}:{number}", "using namespace in a header")


def check_doctest(path, text):
    if path != Path("tests/support/testing.hpp") and path != Path("tests/support/main.cpp") and "doctest/doctest.h" in text:
        find(path, "only tests/support/testing.hpp includes doctest")
    if SPLIT_NAME.search(text):
        find(path, "a test's name has a semicolon")


def check_own_header_first(path, text):
    """The own header comes first, so that every header is known to compile alone."""
    own = Path(*path.parts[1:]).with_suffix(".hpp").as_posix()
    includes = INCLUDE.findall(text)
    if (ROOT / "lib" / own).exists() and includes and includes[0][1] != own:
        find(path, f"include {own} first")


def check_lib_manners(path, text):
    for number, line in enumerate(text.splitlines(), 1):
        if re.search(r"std::(cout|cerr)\b|\bprintf\(|\b(std::)?(exit|abort)\(", line) and not room_of(path).startswith("core"):
            find(f"{path}:{number}", "a library neither prints nor ends the program")


def check_test_data():
    total = 0
    for path in tracked("test_data"):
        size = (ROOT / path).stat().st_size
        total += size
        if size > RULES["limits"]["test_data_file_bytes"]:
            find(path, f"{size} bytes, over the limit of a file")
    if total > RULES["limits"]["test_data_bytes"]:
        find("test_data", f"{total} bytes, over the limit")


def check_top_level():
    for name in {path.parts[0] for path in tracked()}:
        if name not in TOP_LEVEL and not name.startswith("."):
            find(name, "does not belong at the top level")


def main():
    for path in tracked("apps", "lib", "tests", "scripts"):
        if path.suffix not in {".cpp", ".hpp", ".cu", ".cuh", ".py", ".cmake"} and path.suffix:
            continue
        text = (ROOT / path).read_text(errors="replace")
        check_text(path, text)
        if path.suffix in {".cpp", ".hpp"}:
            check_doctest(path, text)
        if path.parts[0] == "lib" and path.suffix in {".cpp", ".hpp"}:
            check_includes(path, text)
            check_lib_manners(path, text)
        if path.parts[0] == "lib" and path.suffix == ".cpp":
            check_own_header_first(path, text)
    check_rooms()
    check_test_data()
    check_top_level()
    print("\n".join(findings) if findings else "architecture: nothing to report")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
