# SPDX-License-Identifier: Apache-2.0
"""Predicted effects of variants beside measured ones, for mpra-effects and allelic-effects."""
import csv
import math
from collections import defaultdict, namedtuple

import numpy as np
from scipy.stats import spearmanr

from shared import MODEL, run

Variant = namedtuple("Variant", "contig at ref alt measured p")
LONGEST_MOTIF, WEAKEST = 35, 1e-3
# As JASPAR calls factors that labels name otherwise.
OTHER_NAMES = {"EP300": [], "TAF1": [], "E2F1": ["E2F1"], "CREB1": ["CREB1"], "MYC": ["MYC", "MAX::MYC"]}


def of_model(folder, reference, variants, labels, *scorer):
    """Differences of log odds, summed over labels."""
    vcf, output = folder / "variants.vcf", folder / "effects.npy"
    rows = "".join(f"{variant.contig}\t{variant.at + 1}\t.\t{variant.ref}\t{variant.alt}\t.\t.\t.\n" for variant in variants)
    vcf.write_text("##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n" + rows)
    run("predict-variants", "--model", MODEL, "--reference", reference, "--variants", vcf, "--labels", labels, "--write", "log-odds", *scorer, "--output", output,
        "--force")
    return np.load(output).sum(1)


def of_motifs(folder, about, motifs):
    """The change of -log10(p) of each motif's best site about the variant, summed over motifs; `about`: sequences, positions in them, REF and ALT."""
    fasta, hits = folder / "alleles.fa", folder / "hits.tsv"
    with open(fasta, "w") as file:
        for i, (sequence, at, ref, alt) in enumerate(about):
            left, right = sequence[max(0, at - LONGEST_MOTIF):at], sequence[at + len(ref):at + len(ref) + LONGEST_MOTIF]
            file.write(f">r{i}\n{left}{ref}{right}\n>a{i}\n{left}{alt}{right}\n")
    run("motifs-scan", "--motifs", motifs, "--reference", fasta, "--p-value", WEAKEST, "--output", hits, "--force")
    best = defaultdict(lambda: WEAKEST)
    with open(hits) as file:
        for row in csv.DictReader(file, delimiter="\t"):
            key = row["#chrom"], row["name"]
            best[key] = min(best[key], float(row["p"]))
    change = np.zeros(len(about))
    for (sequence, _), p in best.items():
        change[int(sequence[1:])] += (1 if sequence[0] == "a" else -1) * math.log10(WEAKEST / p)
    return change


def of_gc(variants):
    return np.array([float(sum(variant.alt.count(base) - variant.ref.count(base) for base in "GC")) for variant in variants])


def motifs_of(path, cell, output):
    """Copies those motifs of a JASPAR file whose name is a factor of the cell's labels; returns how many."""
    with open(MODEL / "labels.tsv") as file:
        labels = [row["name"].split("|") for row in csv.DictReader(file, delimiter="\t")]
    factors = {factor for line, factor, *_ in labels if line == cell}
    names = {name.upper() for factor in factors for name in OTHER_NAMES.get(factor, [factor])}
    with open(path) as source:
        records = [record for record in source.read().split(">")[1:] if record.split()[1].upper() in names]
    output.write_text("".join(f">{record}" for record in records))
    return len(records)


def figures(predicted, variants, groups, certain):
    """Pearson's r, Spearman's rho and the share of certain variants whose sign agrees, each with a 95 % interval over groups of variants."""
    measured = np.array([variant.measured for variant in variants])

    def all_of(chosen):
        e, m = predicted[chosen], measured[chosen]
        told = certain[chosen] & (e != 0)
        r = np.corrcoef(e, m)[0, 1] if e.std() > 0 else math.nan
        return r, spearmanr(e, m).statistic, np.mean((e > 0)[told] == (m > 0)[told]) if told.any() else math.nan
    rng = np.random.default_rng(0)
    drawn = [all_of(np.concatenate([groups[g] for g in rng.integers(0, len(groups), len(groups))])) for _ in range(1000)]
    low, high = np.nanpercentile(np.array(drawn), [2.5, 97.5], axis=0)
    return " | ".join(f"{value:.2f} [{a:.2f}, {b:.2f}]" for value, a, b in zip(all_of(np.arange(len(variants))), low, high))
