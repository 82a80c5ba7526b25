#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares build-tracks on BAM or CRAM with pysam: reads by reason, and cut sites base by base.

    check_alignments.py build/bin/bigbird-dna GENOME.fa FILE.bam... [--exclude-contigs chr2 ...]

Reads of contigs that GENOME.fa lacks do not count ("chr1" is "1"). Real reads of ATAC-seq, which are not in the repository:
jianhong/ATACseqQC, inst/extdata/GL2.bam to GL4.bam, with the first 1,000,000 bases of GRCh37's chromosome 1. Needs pysam, numpy.
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy
import pysam

MINIMUM, BIN = 30, 1


def answer(path, lengths):
    """Reads by reason, and the number of 5' ends on each base, moved by 4 and -4."""
    counts, sites = {}, {name: numpy.zeros(length) for name, length in lengths.items()}
    with pysam.AlignmentFile(path, check_sq=False) as file:
        for read in file:
            name = None if read.is_unmapped else read.reference_name.removeprefix("chr")
            reason = ("unmapped" if read.is_unmapped else "secondary" if read.is_secondary else
                      "supplementary" if read.is_supplementary else "failed quality checks" if read.is_qcfail else
                      "duplicates" if read.is_duplicate else
                      "not properly paired" if read.is_paired and not read.is_proper_pair else
                      "mapping quality too low" if read.mapping_quality < MINIMUM else
                      "off the reference" if name not in sites or read.reference_end > lengths[name] else "counted")
            counts[reason] = counts.get(reason, 0) + 1
            if reason == "counted":
                base = read.reference_end - 1 - 4 if read.is_reverse else read.reference_start + 4
                if 0 <= base < lengths[name]:
                    sites[name][base] += 1
    return counts, sites


def main():
    program, genome, files = sys.argv[1], sys.argv[2], sys.argv[3:]
    lengths, name = {}, None
    for line in open(genome):
        if line.startswith(">"):
            lengths[name := line[1:].split()[0].removeprefix("chr")] = 0
        else:
            lengths[name] += len(line.strip())
    for path in files:
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "examples"
            last = list(lengths)[-1]
            run = subprocess.run([program, "build-tracks", "--signal", path, "--assay", "atac", "--reference", genome, "--bin",
                                  str(BIN), "--validation", f"{last}:{lengths[last] * 9 // 10}-{lengths[last]}", "--output",
                                  str(out)], capture_output=True, text=True, check=False)
            if run.returncode != 0:
                sys.exit(run.stderr)
            counts, sites = answer(path, lengths)
            read = json.loads((out / "manifest.json").read_text())["parameters"]["tracks"][0]["files"][0]
            ours = {reason: count for reason, count in read["reads"].items() if count > 0 and reason != "all"}
            numbers, rows = numpy.load(out / "targets.npy")[:, 0], 0
            for line in open(out / "bins.bed"):
                contig, begin, end = line.split("\t")[:3]
                expected = sites[contig.removeprefix("chr")][int(begin):int(end)]
                assert (numbers[rows:rows + len(expected)] == expected).all(), (path, contig, begin)
                rows += len(expected)
            assert ours == counts, (ours, counts)
            shift = [line for line in run.stderr.splitlines() if "shift" in line]
            print(f"{path}: {sum(counts.values())} reads and {int(numbers.sum())} cut sites on {rows} bases are pysam's: {counts}")
            print(f"  {shift}")


main()
