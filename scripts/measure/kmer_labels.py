#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scripts/measure/kmer_labels.py --labels BED --reference FASTA --train REGION --test REGION --output FILE.tsv

Naive Bayes of k-mers for labels of bases: the floor that finetune-tokens has to pass. A base's label is told from the k-mers that begin within 50 bases of it:
log p(label) + 4 / 101 * sum of log p(k-mer | label) / p(k-mer), counted in --train. The factor stands for k-mers being anything but independent. Writes a table as
predict-tokens does, a row for each base of --test that no N is near, so that `bigbird-dna evaluate-tokens` gives it the same figures.

Needs numpy. Regions are contig:first-last, both ends included.
"""
import numpy as np

import shared

LENGTH, AROUND = 6, 101
PER_WINDOW = 4.0  # how many independent k-mers a window counts for; 1 and 16 were no better on validation


def read_labels(path, contig, length):
    names, truth = ["none"], np.zeros(length, np.int64)
    with shared.opened(path) as lines:
        for line in lines:
            where, begin, end, name = line.split()[:4]
            if name not in names:
                names.append(name)
            if where == contig:
                truth[int(begin):int(end)] = names.index(name)
    return names, truth


def kmers_about(codes):
    """The k-mer in whose middle each base lies, and whether it has an N."""
    index, broken = np.zeros(len(codes), np.int64), np.zeros(len(codes), bool)
    for j in range(LENGTH):
        shifted = np.roll(codes, LENGTH // 2 - j)
        index = index * 4 + np.minimum(shifted, 3)
        broken |= shifted > 3
    return index, broken


def main():
    options = shared.parser_of(__doc__, "labels", "reference", "train", "test", "output").parse_args()
    contig, train = shared.region_of(str(options.train))
    _, test = shared.region_of(str(options.test))
    codes = np.full(256, 4, np.int64)
    codes[list(b"ACGT")] = range(4)
    codes = codes[np.frombuffer(shared.sequences_of(options.reference)[contig].encode(), np.uint8)]
    names, truth = read_labels(options.labels, contig, len(codes))
    index, broken = kmers_about(codes)
    fine = ~broken[train]
    counts = np.bincount(index[train][fine], minlength=4 ** LENGTH)
    scores = []
    for label in range(len(names)):
        share = (truth[train][fine] == label).mean()
        of_label = np.bincount(index[train][fine & (truth[train] == label)], minlength=4 ** LENGTH)
        told = np.log((of_label + share) / (counts + 1)) - np.log(share)
        told = np.where(broken, 0, told[index])
        sums = np.concatenate([[0], np.cumsum(told)])
        bases = np.arange(test.start, test.stop)
        half = AROUND // 2
        window = sums[np.minimum(bases + half + 1, len(codes))] - sums[np.maximum(bases - half, 0)]
        scores.append(np.log(share) + PER_WINDOW / AROUND * window)
    scores = np.exp(np.array(scores) - np.max(scores, axis=0))
    scores /= scores.sum(0)
    with open(options.output, "w") as out:
        out.write("##made_by=naive Bayes of %d-mers over %d bases\n" % (LENGTH, AROUND))
        out.write("#chrom\tstart\tend\tname\tscore\tstrand\tstatus\tn_fraction\t" + "\t".join(names) + "\n")
        for place in np.flatnonzero(~broken[test]):
            values = "\t".join("%.6g" % value for value in scores[:, place])
            out.write(f"{contig}\t{test.start + place}\t{test.start + place + 1}\t.\t.\t.\tok\t0\t{values}\n")


if __name__ == "__main__":
    main()
