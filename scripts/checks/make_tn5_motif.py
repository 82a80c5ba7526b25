#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints lib/bigbird/examples/build/signals/tn5_motif.hpp: the letters that Tn5 prefers around 5' ends.

    make_tn5_motif.py GENOME.fa.gz FRAGMENTS.bedpe.gz

The header in the tree is made of yeast's genome R64-1-1 and the fragments of SRR1822137 (Schep and others 2015),
whose ends are not shifted: distinct ends on six chromosomes. Needs numpy.
"""
import gzip
import sys

import numpy as np

CHROMOSOMES = ["II", "IV", "VII", "XIII", "XV", "XVI"]
FIRST, LAST, FAR = -6, 15, range(20, 30)


def read_genome(path):
    code = np.full(256, 4)
    for i, letter in enumerate("ACGT"):
        code[ord(letter)] = i
    parts = {}
    for line in gzip.open(path, "rt"):
        if line.startswith(">"):
            parts[name := line[1:].split()[0]] = []
        else:
            parts[name].append(line.strip())
    return {name: code[np.frombuffer("".join(text).encode(), np.uint8)] for name, text in parts.items()}


def main():
    genome, ends = read_genome(sys.argv[1]), {}
    for line in gzip.open(sys.argv[2], "rt"):
        contig, begin, end = line.split("\t")[:3]
        ends.setdefault(contig.removeprefix("chr"), set()).update({(int(begin), 1), (int(end) - 1, -1)})

    def counts(offset):
        """Letters at an offset from the ends, in the direction of the read."""
        sums = np.zeros(4)
        for name in CHROMOSOMES:
            place = np.array([p for p in ends[name] if 40 < p[0] < len(genome[name]) - 40])
            letters = genome[name][place[:, 0] + offset * place[:, 1]]
            for strand in (1, -1):
                of_strand = np.bincount(letters[place[:, 1] == strand], minlength=5)[:4]
                sums += of_strand if strand > 0 else of_strand[::-1]
        return sums / sums.sum()

    background = np.mean([counts(sign * far) for far in FAR for sign in (1, -1)], axis=0)
    rows = [np.log2(counts(offset) / background) for offset in range(FIRST, LAST + 1)]
    print("""// SPDX-License-Identifier: Apache-2.0
// Made by scripts/checks/make_tn5_motif.py.
#pragma once

#include <array>
#include <cstdint>

namespace bigbird::examples {

/// The letters that Tn5 prefers around the 5' ends of unshifted reads of ATAC-seq of yeast (SRR1822137, six
/// chromosomes): log2 of the shares of A, C, G and T over the background's. Row i is tn5_first + i bases from the
/// 5' end, in the direction of the read. The rows are symmetric around base 4, the middle of the nine that Tn5
/// duplicates.""")
    print(f"inline constexpr std::int64_t tn5_first = {FIRST};")
    print(f"inline constexpr std::array<std::array<double, 4>, {len(rows)}> tn5_motif{{{{")
    for row in rows:
        print("    {" + ", ".join(f"{value + 0.0:.2f}" for value in row) + "},")
    print("}};\n\n}  // namespace bigbird::examples")


main()
