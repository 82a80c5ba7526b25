#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each message of docs/faq.md is in the sources: its stretches of fixed words, `…` between them, are in their string literals."""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LITERAL = r'"(?:[^"\\\n]|\\.)*"'
SHORTEST = 10  # letters of a stretch that is looked for


def literals():
    """All string literals of the program, neighbours joined as the compiler joins them."""
    joined = []
    for path in [*(ROOT / "lib").rglob("*.?pp"), *(ROOT / "apps").rglob("*.?pp")]:
        for run in re.findall(rf"{LITERAL}(?:\s*{LITERAL})*", path.read_text()):
            joined.append("".join(part[1:-1] for part in re.findall(LITERAL, run)))
    return "\n".join(joined).replace('\\"', '"')


def messages(text):
    tables = [table for table in re.split(r"\n\n", text) if "| message | why |" in table]
    return [row.split("`")[1] for table in tables for row in table.splitlines() if row.startswith("| `")]


def main():
    found, sources = messages((ROOT / "docs/faq.md").read_text()), literals()
    stretches = [(message, part.strip(" '")) for message in found for part in message.split("…")]
    missing = sorted({f"{part!r} of {message!r}" for message, part in stretches if len(part) >= SHORTEST and part not in sources})
    if len(found) < 30 or len(stretches) < 40:
        sys.exit(f"FAILED: docs/faq.md has {len(found)} messages; its tables are no longer read")
    unproved = [message for message in found if all(len(part.strip(" '")) < SHORTEST for part in message.split("…"))]
    if missing or unproved:
        sys.exit("\n".join(["FAILED: docs/faq.md has messages that no source has:", *missing, *unproved]))


main()
