#!/usr/bin/env python3
"""Writes test_data/motifs: motifs and a sequence of our own making, their hits by numpy, their similarities by
memelite's Tomtom; effects of substitutions at planted sites, as HDF5 that TF-MoDISco reads.

Needs h5py, numpy and memelite:  make_motif_fixtures.py test_data/motifs
"""

import sys
from pathlib import Path

import h5py
import numpy as np
from memelite import tomtom

PSEUDOCOUNTS, P_VALUE = 0.1, 1e-4
# A consensus like that of CTCF, 9 of 10 sites at each position.
CTCF = "TGGCCACCAGGGGGCGCTA"


def make_motifs(rng):
    motifs = []
    for index in range(59):
        width, sites = int(rng.integers(6, 22)), int(rng.integers(30, 300))
        shares = rng.dirichlet([0.35] * 4, width)
        motifs.append((f"M{index:02d}", np.array([rng.multinomial(sites, row) for row in shares]).T))
    counts = np.full((4, len(CTCF)), 3)
    for position, letter in enumerate(CTCF):
        counts["ACGT".index(letter), position] = 81
    return motifs + [("M59", counts)]


def log_odds(counts):
    sites = counts.sum(axis=0)
    return np.log2((counts + PSEUDOCOUNTS / 4) / (sites + PSEUDOCOUNTS) / 0.25)


def exact_p(matrix, sites, unit=0.001):
    """P(score or more) of each site (codes of letters), on a grid ten times finer than the program's. A site's
    score is the sum of rounded ones, as those of the distribution are, so that its own word is counted."""
    whole = np.rint(matrix / unit).astype(int)
    least = whole.min(axis=0)
    chance = np.ones(1)
    for column, low in zip(whole.T, least):
        longer = np.zeros(len(chance) + (column - low).max())
        for shift in column - low:
            longer[shift : shift + len(chance)] += chance / 4
        chance = longer
    tail = chance[::-1].cumsum()[::-1]
    return tail[whole[sites, np.arange(whole.shape[1])].sum(axis=1) - least.sum()]


def write_effects(path):
    """40 regions of 60 bases, each with GATTACA, whose substitutions lower the score by 1."""
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 4, (40, 60))
    codes[:, 25:32] = ["ACGT".index(letter) for letter in "GATTACA"]
    sequence = (codes[:, None, :] == np.arange(4)[None, :, None]).astype(np.int8)
    effects = rng.normal(0, 0.02, sequence.shape)
    effects[:, :, 25:32] = -1
    with h5py.File(path, "w") as file:
        file.attrs["label"] = "cell factor"
        file.create_dataset("raw/seq", data=sequence, compression=9)
        file.create_dataset("shap/seq", data=np.where(sequence == 1, 0, effects).astype(np.float32), compression=9)


def main(folder):
    rng = np.random.default_rng(41)
    motifs = make_motifs(rng)
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "known.jaspar", "w") as out:
        for name, counts in motifs:
            out.write(f">{name}\tfactor_{name}\n")
            for letter, row in zip("ACGT", counts):
                out.write(f"{letter} [ {' '.join(map(str, row))} ]\n")
    letters = rng.choice(list("ACGT"), 20000)
    letters[5000:5300], letters[9000] = "N", "N"
    for start, site in [(100, CTCF), (7000, CTCF[::-1].translate(str.maketrans("ACGT", "TGCA")))]:
        letters[start : start + len(site)] = list(site)
    dna = "".join(letters)
    (folder / "sequence.fa").write_text(f">random\n{dna}\n")

    codes = np.array(["ACGTN".index(letter) for letter in dna])
    with open(folder / "hits.tsv", "w") as out:
        for name, counts in motifs:
            matrix = log_odds(counts)
            for strand in "+-":
                oriented = matrix if strand == "+" else matrix[::-1, ::-1]
                width = oriented.shape[1]
                sites = np.lib.stride_tricks.sliding_window_view(codes, width)
                scores = np.vstack([oriented, np.full(width, -np.inf)])[sites, np.arange(width)].sum(axis=1)
                starts = np.flatnonzero(scores > 3)
                for start, p in zip(starts, exact_p(oriented, sites[starts])):
                    if p <= 1.1 * P_VALUE:  # some more, since scores are rounded differently
                        out.write(f"{start}\t{name}\t{strand}\t{scores[start]:.4f}\t{p:.4g}\n")

    write_effects(folder / "effects.h5")
    queries = []
    for index in range(0, 60, 6):
        shares = (motifs[index][1] + rng.random(motifs[index][1].shape) * 8)[:, int(rng.integers(0, 3)) :]
        shares = shares / shares.sum(axis=0)
        queries.append(shares[::-1, ::-1] if index % 12 else shares)
    with open(folder / "queries.meme", "w") as out:
        out.write("MEME version 4\n\nALPHABET= ACGT\n\nstrands: + -\n")
        for index, shares in enumerate(queries):
            out.write(f"\nMOTIF Q{index}\nletter-probability matrix: alength= 4 w= {shares.shape[1]}\n")
            for row in shares.T:
                out.write(" ".join(f"{value:.6f}" for value in row) + "\n")
    known = [counts / counts.sum(axis=0) for _, counts in motifs]
    p, _, _, _, strands = tomtom([np.round(query, 6) for query in queries], known, n_target_bins=None)
    with open(folder / "similarities.tsv", "w") as out:
        for query in range(len(queries)):
            for target in range(len(known)):
                out.write(f"{query}\t{target}\t{p[query, target]:.4g}\t{int(strands[query, target])}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
