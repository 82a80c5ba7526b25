#!/usr/bin/env python3
"""Writes documents in which stretches of real sequence come back, a given distance on.

A document is pairs of sentences: a stretch drawn from the reference (either strand, no N), and the same
stretch with a share of its bases substituted. A stretch is as long as the distance, so a base of the second
sentence stands that far behind its original. Distances are in bases; "60-210" draws one for each pair, even
on a logarithmic scale. Documents take the distances and rates in turn; --classes gets a line for each:
document (from 1), distance, percent."""

import argparse
import gzip
import math
import random
import re

COMPLEMENT = str.maketrans("ACGT", "TGCA")


def contigs(path):
    """Sequences of a FASTA file by name, in upper case."""
    opener = gzip.open if path.endswith(".gz") else open
    parts, name = {}, ""
    with opener(path, "rt") as lines:
        for line in lines:
            if line.startswith(">"):
                name = line[1:].split()[0]
                parts[name] = []
            else:
                parts[name].append(line.strip().upper())
    return {name: "".join(lines) for name, lines in parts.items()}


def part(sequences, region):
    """22:16050001-20000000 (1-based, both ends included) or a contig."""
    name, _, span = region.partition(":")
    if not span:
        return sequences[name]
    low, high = (int(number) for number in span.split("-"))
    return sequences[name][low - 1 : high]


def drawn_stretch(sequence, length, rng):
    while True:
        begin = rng.randrange(len(sequence) - length)
        stretch = sequence[begin : begin + length]
        if re.fullmatch("[ACGT]+", stretch):
            return stretch if rng.random() < 0.5 else stretch[::-1].translate(COMPLEMENT)


def substituted(stretch, share, rng):
    return "".join(rng.choice("ACGT".replace(base, "")) if rng.random() < share else base for base in stretch)


def drawn_distance(text, rng):
    low, _, high = text.partition("-")
    return round(math.exp(rng.uniform(math.log(int(low)), math.log(int(high or low)))))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reference", required=True, help="FASTA")
    parser.add_argument("--include", required=True, help="region or contig that stretches are drawn from")
    parser.add_argument("--documents", type=int, required=True, help="how many")
    parser.add_argument("--bases", type=int, default=21000, help="of a document, at least")
    parser.add_argument("--distances", required=True, help="comma-separated")
    parser.add_argument("--percents", default="0,2,5,10", help="substituted; comma-separated")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", required=True, help="documents, gzip")
    parser.add_argument("--classes", required=True, help="table")
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    sequence = part(contigs(arguments.reference), arguments.include)
    kinds = [(distance, percent) for distance in arguments.distances.split(",") for percent in arguments.percents.split(",")]
    with gzip.open(arguments.output, "wt") as documents, open(arguments.classes, "w") as classes:
        for number in range(arguments.documents):
            distance, percent = kinds[number % len(kinds)]
            classes.write(f"{number + 1}\t{distance}\t{percent}\n")
            bases = 0
            while bases < arguments.bases:
                stretch = drawn_stretch(sequence, drawn_distance(distance, rng), rng)
                bases += 2 * len(stretch)
                documents.write(f"{stretch}\n{substituted(stretch, float(percent) / 100, rng)}\n")
            documents.write("\n")


if __name__ == "__main__":
    main()
