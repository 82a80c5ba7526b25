#!/usr/bin/env python3
"""plant_copies.py --reference FASTA --include REGION --documents N --distances N,N --percents N,N --seed N --classes TABLE --output FILE

Writes documents in which stretches of real sequence come back, a given distance on. A document is pairs of sentences: a stretch drawn from the reference (either strand, no N), and the same
stretch with a share of its bases substituted. A stretch is as long as the distance, so a base of the second
sentence stands that far behind its original. Distances are in bases; "60-210" draws one for each pair, even
on a logarithmic scale. Documents take the distances and rates in turn; --classes gets a line for each:
document (from 1), distance, percent."""
import gzip
import math
import random
import re

import shared

BASES = 21000  # of a document, at least
COMPLEMENT = str.maketrans("ACGT", "TGCA")


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
    parser = shared.parser_of(__doc__, "reference", "output", "classes")
    for name in ("include", "distances", "percents"):
        parser.add_argument(f"--{name}", required=True)
    for name in ("documents", "seed"):
        parser.add_argument(f"--{name}", type=int, required=True)
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    contig, span = shared.region_of(arguments.include)
    sequence = shared.sequences_of(arguments.reference)[contig][span]
    kinds = [(distance, percent) for distance in arguments.distances.split(",") for percent in arguments.percents.split(",")]
    with gzip.open(arguments.output, "wt") as documents, open(arguments.classes, "w") as classes:
        for number in range(arguments.documents):
            distance, percent = kinds[number % len(kinds)]
            classes.write(f"{number + 1}\t{distance}\t{percent}\n")
            bases = 0
            while bases < BASES:
                stretch = drawn_stretch(sequence, drawn_distance(distance, rng), rng)
                bases += 2 * len(stretch)
                documents.write(f"{stretch}\n{substituted(stretch, float(percent) / 100, rng)}\n")
            documents.write("\n")


if __name__ == "__main__":
    main()
