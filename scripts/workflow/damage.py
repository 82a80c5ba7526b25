# SPDX-License-Identifier: Apache-2.0
"""Which predictions were changed behind Snakemake's back: truncated, or written over.

Beside a prediction stands its name with .sha256, and beside each file of a part FILE.part.json, both written last. A file that is younger than
its record is read again; one whose sum differs is damaged. A file older than its record is taken to be whole.
"""
import hashlib
import json
import shutil
from pathlib import Path


def set_aside(outputs, parts):
    """Renames damaged predictions to NAME.damaged, and removes damaged parts of the folder `parts`; returns their names."""
    found = []
    for output in map(Path, outputs):
        sums = Path(f"{output}.sha256")
        if output.exists() and any(changed(path, total, sums) for path, total in recorded(sums)):
            rename(output, Path(f"{output}.damaged"))
            found.append(str(output))
    for record in list(Path(parts).glob("**/*.part.json")):
        if record.exists() and changed(*part_of(record), record):
            shutil.rmtree(record.parent)
            found.append(str(record.parent))
    return found


def rename(path, new):
    if new.is_dir():
        shutil.rmtree(new)
    path.rename(new)


def recorded(sums):
    """File and sum, for each line of sha256sum's format; names are relative to the record."""
    lines = sums.read_text().splitlines() if sums.exists() else []
    return [(sums.parent / line[66:], line[:64]) for line in lines]


def part_of(record):
    """File and sum of the part that a record is of."""
    try:
        part = json.loads(record.read_text())
        return record.parent / part["name"], part["sha256"]
    except (ValueError, KeyError):
        return record, None  # a record that cannot be read is damaged itself


def changed(path, total, record):
    """Is a file gone, or younger than its record and not of that sum?"""
    if not path.exists():
        return True
    return total is None or (path.stat().st_mtime_ns > record.stat().st_mtime_ns and sha256(path) != total)


def sha256(path):
    sums = hashlib.sha256()
    with path.open("rb") as data:
        while block := data.read(1 << 22):
            sums.update(block)
    return sums.hexdigest()
