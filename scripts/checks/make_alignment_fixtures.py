#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes reads of yeast's fragments: BAM and CRAM with every kind of read that does not count, and pysam's answer.

    make_alignment_fixtures.py GENOME.fa FRAGMENTS.bedpe.gz FOLDER [--fragments 160] [--only bam]

GENOME.fa: uncompressed, with contigs I and VI (test_data/genome/yeast.fa.gz). FRAGMENTS: test_data/tracks/yeast.bedpe.gz.
Writes into FOLDER (test_data/tracks):
reads.bam    two mates per fragment, with soft and hard clips, insertions and deletions; and reads that are unmapped,
             secondary, supplementary, of low quality, duplicates, not properly paired, MAPQ 0, single, on a contig
             that the genome lacks
reads.cram   the same, without the reference's letters, in slices of several contigs
spliced.bam  a read over an intron
reads.json   what pysam counts: reads by reason, 5' ends of reads that count, fragments of pairs that count, and the
             spans of single reads, and of pairs whose mate that begins last counts
The same fragments always give the same reads. Needs pysam, numpy and samtools. With more fragments, reads are cycled to make a
file for measurements of speed; --only bam leaves the others out.
"""
import argparse
import gzip
import hashlib
import json
import subprocess
from pathlib import Path

import numpy
import pysam

LENGTH = 30
LENGTHS = {"chrI": 230218, "chrVI": 270161, "chrUn": 5000}
PAIRED, PROPER, UNMAPPED, MATE_UNMAPPED, REVERSE, MATE_REVERSE = 1, 2, 4, 8, 16, 32
FIRST, LAST, SECONDARY, FAILED, DUPLICATE, SUPPLEMENTARY = 64, 128, 256, 512, 1024, 2048
# CIGARs whose reads' letters are LENGTH; with the bases of the reference that they cover.
CIGARS = [("30M", 30), ("4S26M", 26), ("25M5S", 25), ("12M2I16M", 28), ("10M3D20M", 33), ("2H8=1X21=", 30),
          ("3S10M1D9M2I6M", 26), ("29M1P1M", 30)]
MINIMUM = 30


def letters(genome, contig, begin, cigar):
    """A read's letters, which match the genome where they are aligned."""
    text, at, number = "", begin, ""
    for sign in cigar:
        if sign.isdigit():
            number += sign
            continue
        count, number = int(number), ""
        if sign in "M=X":
            text += genome(contig, at, at + count)
        if sign in "SI":
            text += "ACGT"[at % 4] * count
        if sign in "M=XDN":
            at += count
    return text


def make_reads(fragments, genome, header):
    reads = []

    def add(name, flag, contig, begin, mapq, cigar, mate=None, size=0):
        read = pysam.AlignedSegment(header)
        read.query_name, read.flag, read.mapping_quality = name, flag, mapq
        read.query_sequence = letters(genome, contig, begin, cigar) if cigar else "A" * LENGTH
        read.query_qualities = pysam.qualitystring_to_array("I" * len(read.query_sequence))
        if contig:
            read.reference_name, read.reference_start = contig, begin
        if cigar:
            read.cigarstring = cigar
        if mate is not None:
            read.next_reference_name, read.next_reference_start = mate
        read.template_length = size
        reads.append(read)

    for i, (contig, begin, end) in enumerate(fragments):
        name, swap = f"f{i}", i % 2 == 1
        (one, covered_one), (two, covered_two) = CIGARS[i % len(CIGARS)], CIGARS[i // 8 % len(CIGARS)]
        if end - begin < max(covered_one, covered_two):
            one, covered_one = two, covered_two = f"{end - begin}M", end - begin
        extra = {3: DUPLICATE, 5: FAILED}.get(i % 20, 0)
        proper = 0 if i % 20 == 7 else PROPER
        mapq_one, mapq_two = {9: (0, 42), 11: (29, 30), 13: (255, 60)}.get(i % 20, (42, 40))
        forward, reverse = (LAST, FIRST) if swap else (FIRST, LAST)
        at_two = end - covered_two
        add(name, PAIRED | proper | extra | MATE_REVERSE | forward, contig, begin, mapq_one, one, (contig, at_two), end - begin)
        add(name, PAIRED | proper | extra | REVERSE | reverse, contig, at_two, mapq_two, two, (contig, begin), begin - end)
        kind = i % 40
        if kind == 1:
            add(name, PAIRED | PROPER | SECONDARY | MATE_REVERSE | forward, contig, begin + 50, 42, "30M", (contig, at_two), 0)
        if kind == 2:
            add(name, PAIRED | PROPER | SUPPLEMENTARY | REVERSE | forward, contig, begin + 60, 42, "20M10H", (contig, at_two), 0)
        if kind == 4:
            add(f"u{i}", UNMAPPED, None, -1, 0, None)
        if kind == 6:
            add(f"p{i}", PAIRED | MATE_UNMAPPED | FIRST, contig, begin, 42, "30M", (contig, begin))
            add(f"p{i}", PAIRED | UNMAPPED | LAST, contig, begin, 0, None, (contig, begin))
        if kind == 8:
            add(f"s{i}", 0, contig, begin, 60, "5S25M")
        if kind == 10:
            add(f"s{i}", REVERSE, contig, begin, 60, "25M5S")
        if kind == 12:
            add(f"n{i}", 0, "chrUn", 100 + i, 60, "30M")
    return reads


def count(path):
    counts = dict.fromkeys(["all", "unmapped", "secondary", "supplementary", "failed quality checks", "duplicates",
                            "not properly paired", "mapping quality too low", "off the reference", "counted"], 0)
    sites, fragments, spans, starts = [], {}, [], {}
    with pysam.AlignmentFile(path) as file:
        reads = list(file)
        for read in reads:
            if not read.flag & (SECONDARY | SUPPLEMENTARY | UNMAPPED):
                starts.setdefault(read.query_name, {})[read.flag & (FIRST | LAST)] = read.reference_start
        for read in reads:
            counts["all"] += 1
            reason = ("unmapped" if read.is_unmapped else "secondary" if read.is_secondary else
                      "supplementary" if read.is_supplementary else "failed quality checks" if read.is_qcfail else
                      "duplicates" if read.is_duplicate else
                      "not properly paired" if read.is_paired and not read.is_proper_pair else
                      "mapping quality too low" if read.mapping_quality < MINIMUM else
                      "off the reference" if read.reference_name == "chrUn" else "counted")
            counts[reason] += 1
            if reason != "counted":
                continue
            base = read.reference_end - 1 if read.is_reverse else read.reference_start
            sites.append([read.reference_name, base, "-" if read.is_reverse else "+"])
            if not read.is_paired:
                spans.append([read.reference_name, read.reference_start, read.reference_end])
                continue
            mate = next(start for of, start in starts[read.query_name].items() if not read.flag & of)
            if (mate, 0) < (read.reference_start, read.is_reverse):
                spans.append([read.reference_name, mate, read.reference_end])
            if read.is_paired:
                fragments.setdefault((read.reference_name, read.query_name), []).append(base)
    pairs = [[contig, min(ends), max(ends) + 1] for (contig, _), ends in fragments.items() if len(ends) == 2]
    return {"reads": counts, "sites": sorted(sites), "fragments": sorted(pairs), "spans": sorted(spans)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("genome"), parser.add_argument("fragments"), parser.add_argument("folder", type=Path)
    parser.add_argument("--fragments", dest="number", type=int, default=160), parser.add_argument("--only", default="")
    options = parser.parse_args()
    reference = pysam.FastaFile(options.genome)
    sequences = {f"chr{name}": reference.fetch(name).upper() for name in reference.references}
    sequences["chrUn"] = "A" * LENGTHS["chrUn"]
    rows = [line.split("\t")[:3] for line in gzip.open(options.fragments, "rt")]
    rows = [(contig, int(begin), int(end)) for contig, begin, end in rows if 300 < int(begin) < LENGTHS[contig] - 1000]
    chosen = [rows[i % len(rows)] for i in (numpy.arange(options.number) * 83)]
    header = pysam.AlignmentHeader.from_dict({"SQ": [
        {"SN": name, "LN": length, "M5": hashlib.md5(sequences[name].encode()).hexdigest()}
        for name, length in LENGTHS.items()]})
    reads = make_reads(chosen, lambda contig, begin, end: sequences[contig][begin:end], header)
    reads.sort(key=lambda read: (read.reference_id if read.reference_id >= 0 else 9, read.reference_start))
    with pysam.AlignmentFile(options.folder / "reads.bam", "wb", header=header) as file:
        for read in reads:
            file.write(read)
    if options.only == "bam":
        return
    spliced = pysam.AlignedSegment.fromstring(f"s\t16\tchrI\t1001\t60\t15M40N15M\t*\t0\t0\t{'A' * 30}\t{'I' * 30}", header)
    with pysam.AlignmentFile(options.folder / "spliced.bam", "wb", header=header) as file:
        file.write(spliced)
    fasta = options.folder / "renamed.fa"
    fasta.write_text("".join(f">{name}\n{sequence}\n" for name, sequence in sequences.items()))
    pysam.faidx(str(fasta))
    with pysam.AlignmentFile(options.folder / "renamed.fa.cram", "wc", header=header, reference_filename=str(fasta)) as file:
        for read in reads:
            file.write(read)
    with open(options.folder / "reads.cram", "wb") as file:  # without the path of the FASTA
        subprocess.run(["samtools", "reheader", "-P", "-c", "sed 's/UR:[^\\t]*/UR:missing.fa/'",
                        options.folder / "renamed.fa.cram"], stdout=file, check=True)
    for path in options.folder.glob("renamed.fa*"):
        path.unlink()
    answer = json.dumps(count(options.folder / "reads.bam"))
    (options.folder / "reads.json").write_text(answer.replace("]], ", "]],\n").replace("}, ", "},\n") + "\n")


if __name__ == "__main__":
    main()
