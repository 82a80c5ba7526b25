#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Make test_data/tokens/labels.bed.gz: a label a base of 22:16,050,000-22,000,000, out of what lies in test_data.

  repeat  bases that genome/22.fa.gz has in lower case (RepeatMasker and Tandem Repeats Finder, as the assembly comes)
  bound   other bases that lie in peaks of at least 5 of the 109 files of chromatin/
Bases that are neither have no row. Rows do not overlap; the same bytes on every run.
"""
import gzip
import re
from pathlib import Path

DATA = Path(__file__).resolve().parents[2] / "test_data"
BEGIN, END, FEWEST = 16_050_000, 22_000_000, 5


def contig():
    with gzip.open(DATA / "genome" / "22.fa.gz", "rt") as lines:
        return "".join(line.strip() for line in lines if not line.startswith(">"))


def depth_of_peaks():
    """How many files have a peak over each base."""
    depth = bytearray(END)
    for path in sorted((DATA / "chromatin").glob("*.narrowPeak.gz")):
        bound = set()
        with gzip.open(path, "rt") as rows:
            for row in rows:
                name, begin, end = row.split("\t")[:3]
                if name in ("22", "chr22"):
                    bound.update(range(max(BEGIN, int(begin)), min(END, int(end))))
        for base in bound:
            depth[base] += 1
    return depth


def main():
    dna = contig()
    repeat = [(found.start(), found.end(), "repeat") for found in re.finditer("[acgtn]+", dna[:END]) if found.start() >= BEGIN]
    depth = depth_of_peaks()
    masks = bytes(base.islower() or depth[place] < FEWEST for place, base in enumerate(dna[:END]))
    bound = [(found.start(), found.end(), "bound") for found in re.finditer(b"\x00+", masks) if found.start() >= BEGIN]
    text = "".join(f"22\t{begin}\t{end}\t{label}\n" for begin, end, label in sorted(repeat + bound))
    target = DATA / "tokens" / "labels.bed.gz"
    target.parent.mkdir(exist_ok=True)
    with open(target, "wb") as raw, gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as out:
        out.write(text.encode())


if __name__ == "__main__":
    main()
