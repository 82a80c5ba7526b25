#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes test_data/promoter/lifted_points.tsv: points of hg38's chr22 lifted with pyliftover 0.4.1.

usage: lift_points.py CHAIN > lifted_points.tsv

Columns: position (0-based), contig, position and strand in hg19; empty where nothing lifts. Points are the ends of chains and of some blocks,
and their neighbours, so that every off-by-one shows. Points where chains of equal score meet are left out: which one counts is a convention.
"""
import gzip
import sys

from pyliftover import LiftOver


def edges(path: str) -> list[int]:
    points: set[int] = set()
    block = 0
    for line in gzip.open(path, "rt"):
        words = line.split()
        if not words:
            continue
        if words[0] == "chain":
            target, chain_number = int(words[5]), int(words[12])
            chosen = chain_number < 3000
            points |= {target - 1, target, int(words[6]) - 1, int(words[6])} if chosen else set()
            continue
        target += int(words[0])
        block += 1
        if block % 17 == 0:
            points |= {target - 1, target}
            if len(words) == 3:
                points |= {target + int(words[1]) - 1, target + int(words[1])}
        target += int(words[1]) if len(words) == 3 else 0
    return sorted(point for point in points if point >= 0)


def main(path: str) -> None:
    lift = LiftOver(path)
    for point in edges(path):
        found = lift.convert_coordinate("chr22", point, "+") or []
        if len(found) > 1 and found[0][3] == found[1][3]:
            continue
        print(point, *(found[0][:3] if found else ("", "", "")), sep="\t")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
