#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_profile_variant_fixtures.py [OUTPUT]

Writes test_data/variants/profiles.json: a genome, peaks, variants, and what variant-scorer's formulas make of the networks of
make_profile_fixtures.py in float64, for one model, two folds, both components joined, two strands of a profile, and two groups. Letters
beyond the contig are zeros, where variant-scorer leaves a variant out. Peaks are centered on their summits. Needs numpy and h5py.
"""
import json
import sys
import tempfile
from pathlib import Path

import numpy as np

import make_profile_fixtures as networks

ROOT = Path(__file__).resolve().parents[2]
rng = np.random.default_rng(5)
BASES = "".join(rng.choice(list("ACGT"), 3000))
GENOME = BASES[:1700] + "N" * 7 + BASES[1707:]
PEAKS = "".join(f"c\t{start}\t{start + 200}\t.\t0\t.\t0\t0\t0\t{summit}\n" for start, summit in
                zip(range(1000, 1790, 10), rng.integers(0, 200, 79).tolist()))
#         name, models and components, strands, labels, columns of each, what exp(log count) is above the reads
RUNS = [("one", [("chrombpnet_nobias.h5", "nobias")], "average", ["0"], [1], 1),
        ("folds", [("chrombpnet_nobias.h5", "nobias"), ("bias.h5", "bias")], "average", ["0"], [1], 1),
        ("joined", [("chrombpnet.h5", "joined")], "average", ["0"], [1], 1),
        ("strands", [("bpnet.h5", "")], "average", ["0"], [2], 2),
        ("forward", [("bpnet.h5", "")], "none", ["0"], [2], 2),
        ("reverse", [("bpnet.h5", "")], "only", ["0"], [2], 2),
        ("groups", [("cherimoya_groups.torch", "")], "average", ["0", "1"], [1, 2], 1)]
LENGTHS = {266: ["chrombpnet_nobias.h5", "bias.h5", "chrombpnet.h5"], 210: ["bpnet.h5"], 2114: ["cherimoya_groups.torch"]}


def other(position, count=1):
    return "".join("ACGT"[("ACGT".index(letter) + 1 + i) % 4] for i, letter in enumerate(GENOME[position:position + count]))


def variants():
    """(position from 0, ref, alt), each as bcftools norm writes it."""
    cut = lambda position, count: GENOME[position:position + count]
    inserted = lambda position, count: (position, cut(position, 1), cut(position, 1) + "".join(rng.choice(list("ACGT"), count - 1)) + other(position))
    deleted = lambda position, count: (position, cut(position, count + 1), cut(position, 1))
    found = [(position, cut(position, 1), other(position)) for position in (3, 120, 1200, 1201, 1500, 1690, 2995)]
    found += [(1200, cut(1200, 1), other(1200, 1).translate(str.maketrans("ACGT", "CGTA")))]
    found = [one for one in found if one[1] != one[2]]
    found += [inserted(1200, 1), inserted(1310, 3), inserted(1410, 60)]
    found += [deleted(next(p for p in range(start, start + 50) if GENOME[p] != GENOME[p + count]), count) for start, count in
              ((1210, 1), (1320, 4), (1420, 50), (2950, 2))]
    found += [(1600, cut(1600, 3), other(1600) + cut(1601, 1) + other(1602)), (1620, cut(1620, 2), other(1620) + "T" + other(1621)),
              (1640, cut(1640, 4), other(1640) + other(1643))]
    for position, ref, alt in found:
        assert ref == cut(position, len(ref)) and ref[-1] != alt[-1] and (min(len(ref), len(alt)) == 1 or ref[0] != alt[0])
    return sorted(set(found), key=lambda one: (one[0], len(one[1]), one[2]))


def letters(begin, count):
    return "".join(GENOME[i] if 0 <= i < len(GENOME) else "N" for i in range(begin, begin + count))


def windows_of(position, ref, alt, length):
    """The left flank stays, and the right end takes more or fewer bases."""
    left, behind = letters(position - length // 2, length // 2), position + len(ref)
    rest = lambda allele: letters(behind, length - len(left) - len(allele))
    return left + ref + rest(ref), left + alt + rest(alt)


def read_networks(windows):
    """{file: {component: [(logits, log counts) of the windows and of their reverse complements]}}."""
    complement = str.maketrans("ACGTN", "TGCAN")
    both = lambda texts: [[text, text[::-1].translate(complement)] for text in texts]
    networks.results = lambda own, forward: [[forward(networks.one_hot(text)) for text in pair] for pair in both(windows.get(len(own[0]), []))]
    with tempfile.TemporaryDirectory() as folder:
        return networks.keras_files(Path(folder)) | networks.torch_files(Path(folder))


def on_window(strands, pair, columns):
    """(logits, exp(log counts)) on the window's own strand, of the strands that are read."""
    (logits, counts), (turned, other_counts) = pair
    begins = np.cumsum([0, *columns])
    turned = np.hstack([turned[::-1, begin:end][:, ::-1] for begin, end in zip(begins, begins[1:])])
    kept = {"average": [0, 1], "none": [0], "only": [1]}[strands]
    return np.mean([[logits, turned][i] for i in kept], 0), np.mean([np.exp([counts, other_counts][i]) for i in kept], 0)


def softmax(x):
    x = np.exp(x - x.max())
    return x / x.sum()


def distance(p, q, ref, alt):
    """variant-scorer's adjust_indel_jsd, of positions with one column or two."""
    middle, short, long = len(p) // 2, min(len(ref), len(alt)), max(len(ref), len(alt))
    cut = len(p[middle + short:middle + long])
    longer, shorter = lambda x: np.delete(x, range(middle + short, middle + short + cut), 0), lambda x: x[:len(x) - cut]
    p, q = (longer(p), shorter(q)) if len(ref) > len(alt) else (shorter(p), longer(q))
    p, q = p / p.sum(), q / q.sum()
    to_mean = lambda x: (x * np.log2(2 * x / (p + q))).sum()
    return np.sqrt((to_mean(p) + to_mean(q)) / 2)


def peak_windows(length):
    summits = [int(fields[1]) + int(fields[9]) for fields in (line.split("\t") for line in PEAKS.splitlines())]
    begins = sorted({summit - length // 2 for summit in summits})
    return [letters(begin, length) for begin in begins if begin >= 0 and begin + length <= len(GENOME)]


def main():
    alleles = variants()
    windows = {length: [window for one in alleles for window in windows_of(*one, length)] + peak_windows(length) for length in LENGTHS}
    heads, runs = read_networks(windows), []
    for name, models, strands, labels, columns, offset in RUNS:
        begins, lines = np.cumsum([0, *columns]), []
        folds = [[on_window(strands, pair, columns) for pair in heads[file][component]] for file, component in models]
        for i, (position, ref, alt) in enumerate(alleles):
            for g in range(len(columns)):
                figures = []
                for fold in folds:
                    (ref_logits, ref_counts), (alt_logits, alt_counts) = fold[2 * i:2 * i + 2]
                    profile = lambda logits: softmax(logits[:, begins[g]:begins[g + 1]])
                    peaks = np.array([counts[g] for _, counts in fold[2 * len(alleles):]])
                    quantile = max(max(np.mean(peaks < counts[g]), 1 / len(peaks)) for counts in (ref_counts, alt_counts))
                    figures.append([ref_counts[g] - offset, alt_counts[g] - offset, np.log2(alt_counts[g] / ref_counts[g]),
                                    distance(profile(ref_logits), profile(alt_logits), ref, alt), quantile])
                of_ref, of_alt, *rest = np.mean(figures, 0)
                lines.append([position + 1, ref, alt, g, *(float(f"{value:.9g}") for value in
                                                           (of_ref, of_alt, np.log((of_alt + offset) / (of_ref + offset)), *rest))])
        runs.append({"name": name, "models": [file for file, _ in models], "component": models[0][1], "strands": strands, "peaks": len(peaks),
                     "rows": lines})
    output = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "test_data/variants/profiles.json")
    output.write_text(json.dumps({"genome": GENOME, "peaks": PEAKS, "columns": "pos ref alt label ref_reads alt_reads log_odds log2_fold_change jsd "
                                  "active_allele_quantile".split(), "runs": runs}, separators=(",", ":")).replace("],[", "],\n[") + "\n")


if __name__ == "__main__":
    main()
