#!/usr/bin/env python3
"""Bits a base of parts of the sequence, from `evaluate-mlm --token-scores`.

With --classes (of plant_copies.py): originals and copies apart, for each distance and share of substituted
bases. With --documents: by the distance to the nearest place of the same document where a 24-mer of the token
comes again, on the same strand; tokens with a 24-mer of the --known documents, on either strand, are a class of
their own. 95 % intervals: percentiles of 1,000 bootstrap samples of documents. Several
tables are printed one below the other, each line with its name."""

import argparse
import collections
import csv
import itertools
import random

import shared

WORD, LIMITS = 24, (1500, 14000)
COMPLEMENT = str.maketrans("ACGT", "TGCA")


def token_rows(path):
    with shared.opened(path) as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            yield int(row["#document"]), int(row["sentence"]), int(row["start"]), int(row["end"]), float(row["bits"])


def copy_classes(path):
    kinds = {}
    for line in open(path):
        document, distance, percent = line.split()
        kinds[int(document)] = (distance, percent)
    return lambda document, sentence, start, end: (*kinds[document], "original" if sentence % 2 else "copy")


def nearest_recurrence(text):
    """For each base the least distance between two places of a 24-mer that covers it; 0: none."""
    places = collections.defaultdict(list)
    for at in range(len(text) - WORD + 1):
        word = text[at : at + WORD]
        if "N" not in word:
            places[word].append(at)
    nearest = [0] * len(text)
    for found in places.values():
        gaps = [later - earlier for earlier, later in itertools.pairwise(found)]
        for i, at in enumerate(found if gaps else []):
            gap = min(gaps[max(0, i - 1) : i + 1])
            for base in range(at, at + WORD):
                if nearest[base] == 0 or nearest[base] > gap:
                    nearest[base] = gap
    return nearest


def read_documents(path):
    with shared.opened(path) as lines:
        return [block.split() for block in lines.read().split("\n\n") if block.split()]


def canonical_words(text):
    """Each 24-mer or its reverse complement, the lesser."""
    other = text[::-1].translate(COMPLEMENT)
    for at in range(len(text) - WORD + 1):
        end = len(text) - at
        yield min(text[at : at + WORD], other[end - WORD : end])


def known_bases(text, known):
    """Whether a base is in a 24-mer of `known`."""
    marks = bytearray(len(text))
    for at, word in enumerate(canonical_words(text)):
        if word in known:
            marks[at : at + WORD] = b"\1" * WORD
    return marks


def recurrence_classes(path, known_path):
    known = {word for document in read_documents(known_path) for word in canonical_words("".join(document))} if known_path else set()
    nearest, begins, seen = {}, {}, {}
    for number, sentences in enumerate(read_documents(path), 1):
        text = "".join(sentences)
        nearest[number] = nearest_recurrence(text)
        seen[number] = known_bases(text, known)
        begins[number] = list(itertools.accumulate(map(len, sentences), initial=0))
    names = [f"recurs within {limit:,} bases" for limit in LIMITS] + ["recurs farther off", "does not recur"]

    def kind(document, sentence, start, end):
        begin = begins[document][sentence - 1]
        if any(seen[document][begin + start : begin + end]):
            return ("known",)
        gaps = [gap for gap in nearest[document][begin + start : begin + end] if gap > 0]
        if not gaps:
            return (names[-1],)
        return (names[next((i for i, limit in enumerate(LIMITS) if min(gaps) <= limit), len(LIMITS))],)

    return kind


def bits_a_base(parts):
    return sum(bits for bits, _ in parts) / sum(bases for _, bases in parts)


def figures(sums, rng):
    """Bits a base of sums[document] = [bits, bases], with an interval over documents."""
    parts = list(sums.values())
    samples = sorted(bits_a_base(rng.choices(parts, k=len(parts))) for _ in range(1000))
    return bits_a_base(parts), samples[24], samples[974]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    how = parser.add_mutually_exclusive_group(required=True)
    how.add_argument("--classes", help="table of plant_copies.py")
    how.add_argument("--documents", help="text documents that were scored")
    parser.add_argument("--known", help="text documents that the model learnt from, with --documents")
    parser.add_argument("scores", nargs="+", metavar="NAME=TABLE[,TABLE]")
    arguments = parser.parse_args()
    if arguments.classes:
        kind = copy_classes(arguments.classes)
    else:
        kind = recurrence_classes(arguments.documents, arguments.known)
    for named in arguments.scores:
        name, _, paths = named.partition("=")
        sums = collections.defaultdict(lambda: collections.defaultdict(lambda: [0.0, 0]))
        for document, sentence, start, end, bits in itertools.chain.from_iterable(map(token_rows, paths.split(","))):
            part = sums[kind(document, sentence, start, end)][document]
            part[0] += bits
            part[1] += end - start
        rng = random.Random(1)
        for key in sorted(sums):
            bits, low, high = figures(sums[key], rng)
            bases = sum(part[1] for part in sums[key].values())
            print(name, *key, f"{bits:.3f}", f"{low:.3f}", f"{high:.3f}", bases, sep="\t")


if __name__ == "__main__":
    main()
