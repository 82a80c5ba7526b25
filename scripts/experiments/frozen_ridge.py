#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""frozen_ridge.py --examples DIR --pretrained PREFIX --random PREFIX...

Ridge regression from frozen vectors of bins (`embed`: PREFIX.SPLIT.npy and PREFIX.SPLIT.rows.tsv for train, validation and test) to the labels of
`build-chromatin --bins all` (DIR). The penalty of each is chosen on validation, by the mean AUROC of labels with 10 positives. Prints the mean AUROC on test of
each random one and of the pretrained one, and the paired difference, with 95 % intervals (bootstrap over blocks of 100 kb, 1,000 draws). Needs numpy.
"""
import argparse
from pathlib import Path

import numpy as np

PENALTIES = (1e1, 1e2, 1e3, 1e4, 1e5)
FEWEST, BLOCK, DRAWS = 10, 100_000, 1_000


def labels_of(examples):
    """(contig, begin) -> the place of a bin's row, and those rows: (bins, labels)."""
    count = len((examples / "labels.tsv").read_text().splitlines()) - 1
    truth = np.unpackbits(np.load(examples / "bins.npy"), axis=1, count=count, bitorder="little")
    places = {}
    for line in (examples / "bins.bed").read_text().splitlines():
        contig, begin, end = line.split("\t")[:3]
        for start in range(int(begin), int(end), 200):
            places[contig, start] = len(places)
    return places, truth


def load(prefix, split, places, truth):
    """Vectors, labels and begins of the rows that have a vector."""
    vectors = np.load(f"{prefix}.{split}.npy").astype(np.float64)
    rows = [line.split("\t") for line in Path(f"{prefix}.{split}.rows.tsv").read_text().splitlines() if not line.startswith("#")]
    rows = [row for row in rows if row[1].isdigit()]
    kept = ~np.isnan(vectors).any(1)
    begins = np.array([int(row[1]) for row in rows])
    found = np.array([places[row[0], int(row[1])] for row in rows])
    return vectors[kept], truth[found][kept], begins[kept]


def aurocs(scores, positive, weights):
    """One a row of weights (draws, rows): how often each row counts. Equal scores count half."""
    order = np.argsort(scores, kind="stable")
    s, weighted = scores[order], weights[:, order]
    starts = np.flatnonzero(np.r_[True, s[1:] != s[:-1]])
    ones = np.add.reduceat(weighted * positive[order], starts, axis=1)
    zeros = np.add.reduceat(weighted * (1 - positive[order]), starts, axis=1)
    pairs = ones.sum(1) * zeros.sum(1)
    wins = (ones * (np.cumsum(zeros, axis=1) - zeros / 2)).sum(1)
    return np.where(pairs > 0, wins / np.maximum(pairs, 1), np.nan)


def mean_auroc(scores, truth, labels, weights):
    return np.nanmean([aurocs(scores[:, label], truth[:, label].astype(float), weights) for label in labels], axis=0)


def test_scores(prefix, places, truth):
    (x, y, _), (xv, yv, _), (xt, yt, begins) = (load(prefix, split, places, truth) for split in ("train", "validation", "test"))
    centre, spread = x.mean(0), x.std(0) + 1e-8
    x, xv, xt = ((part - centre) / spread for part in (x, xv, xt))
    product, target, best = x.T @ x, x.T @ (y - y.mean(0)), (-1.0, None)
    labels = np.flatnonzero(yv.sum(0) >= FEWEST)
    for penalty in PENALTIES:
        weights = np.linalg.solve(product + penalty * np.eye(len(product)), target)
        best = max(best, (mean_auroc(xv @ weights, yv, labels, np.ones((1, len(xv))))[0], penalty))
    weights = np.linalg.solve(product + best[1] * np.eye(len(product)), target)
    return xt @ weights, yt, begins


def interval(draws):
    return "[{:.3f}, {:.3f}]".format(*np.percentile(draws, (2.5, 97.5)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--examples", type=Path, required=True)
    parser.add_argument("--pretrained", required=True)
    parser.add_argument("--random", nargs="+", required=True)
    arguments = parser.parse_args()
    places, truth = labels_of(arguments.examples)
    pretrained, y, begins = test_scores(arguments.pretrained, places, truth)
    labels = np.flatnonzero(y.sum(0) >= FEWEST)
    _, block = np.unique(begins // BLOCK, return_inverse=True)
    generator = np.random.default_rng(1)
    blocks = block.max() + 1
    draws = np.array([np.bincount(generator.integers(0, blocks, blocks), minlength=blocks)[block] for _ in range(DRAWS)], dtype=np.float64)

    def figures(scores):
        return mean_auroc(scores, y, labels, np.ones((1, len(y))))[0], mean_auroc(scores, y, labels, draws)

    own, own_draws = figures(pretrained)
    print("| random encoder | AUROC | pretrained | difference, paired |\n|---|---|---|---|")
    for number, prefix in enumerate(arguments.random, 1):
        other, other_draws = figures(test_scores(prefix, places, truth)[0])
        print(f"| {number} | {other:.3f} {interval(other_draws)} | {own:.3f} {interval(own_draws)} | {own - other:.3f} {interval(own_draws - other_draws)} |", flush=True)


if __name__ == "__main__":
    main()
