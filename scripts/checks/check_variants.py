#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_variants.py [--program PATH] [--write TABLE]

Compares predict-variants with the same variants applied by `bcftools consensus`. Each allele, as `bcftools norm` writes it, is put into the reference; the
sequence about it is cut so that windows are where the grid of the whole contig has them; `predict-chromatin` scores both sequences, and numpy computes every
scorer from these tracks. Of indels the bins behind the variant's own are read from a cut in which the bases behind the allele keep their places. A bin in the
margin of the variant's window belongs to the neighboring window's core, so predict-chromatin gives another window's score for it: such bins are read from a
copy of the model with smaller margins, on cuts where its windows are the same. Prints the largest difference of log odds per scorer, and fails above 1e-4.
--write keeps some log odds as a fixture (test_data/variants/effects.tsv). Needs bcftools, samtools and numpy; takes two minutes on two cores.
"""
import argparse
import gzip
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
MODEL = ROOT / "test_data/models/chromatin-grch37"
BIN, CORE, MARGIN = 200, 48, 8  # of the model
SIDE, PLACES = 2, 3  # bins on either side; cores before and behind
# Of differences of log odds, (alleles, bins, labels).
SCORERS = {
    "centre": lambda odds: odds[:, SIDE],
    "max": lambda odds: np.take_along_axis(odds, np.abs(odds).argmax(1)[:, None], 1)[:, 0],
    "mean": lambda odds: odds.mean(1),
    "l2": lambda odds: np.sqrt((odds ** 2).sum(1)),
    "sum": lambda odds: odds.sum(1),
}


def run(*words, **more):
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True, **more).stdout


def alleles(vcf, fasta):
    """(contig, position from 0, ref, alt) of alleles that spell bases, normalised."""
    for line in run("bcftools", "norm", "-m", "-any", "-f", fasta, vcf).splitlines():
        fields = line.split("\t")
        if not line.startswith("#") and set(fields[4]) <= set("ACGT"):
            yield fields[0], int(fields[1]) - 1, fields[3], fields[4]


def cut(fasta, contig, begin, end, allele, folder):
    """Letters of the reference with the allele put in; the reference's own where there is none."""
    region = run("samtools", "faidx", fasta, f"{contig}:{begin + 1}-{end}")
    if allele is not None:
        vcf = folder / "one.vcf.gz"
        text = f"##fileformat=VCFv4.2\n##contig=<ID={contig}>\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n{contig}\t{allele[1] + 1}\t.\t{allele[2]}\t{allele[3]}\t.\t.\t.\n"
        vcf.write_bytes(subprocess.run(["bgzip", "-c"], input=text.encode(), capture_output=True, check=True).stdout)
        run("tabix", "-f", "-p", "vcf", vcf)
        region = run("bcftools", "consensus", vcf, input=region)
    return "".join(region.splitlines()[1:]).upper()


def with_margin(model, margin, folder):
    """A copy of the model that gives more bins of the same windows."""
    copy = folder / f"margin{margin}"
    shutil.copytree(model, copy)
    config = json.loads((copy / "config.json").read_text())
    config["bigbird_dna"]["task_model"]["network"]["margin_bins"] = margin
    (copy / "config.json").write_text(json.dumps(config))
    return copy


def write_cuts(found, fasta, margin, folder):
    """Three contigs per allele: the reference, the allele with the bases before it in place, and with those behind it. The window whose core holds the variant is
    the reference's for a model with `margin`."""
    core = CORE + 2 * (MARGIN - margin)
    with open(folder / "cuts.fa", "w") as out, open(folder / "bins.bed", "w") as bed:
        for i, allele in enumerate(found):
            contig, position, ref, alt = allele
            growth, window = len(alt) - len(ref), position // BIN // CORE * CORE - MARGIN
            first = window + margin - PLACES * core
            begin, end = first * BIN, (first + (2 * PLACES + 1) * core) * BIN
            for name, start, applied in (("ref", begin, None), ("left", begin, allele), ("right", begin + growth, allele)):
                out.write(f">{name}{i}\n{cut(fasta, contig, start, end, applied, folder)}\n")
                for number in range(position // BIN - first - SIDE, position // BIN - first + SIDE + 1):
                    bed.write(f"{name}{i}\t{number * BIN}\t{number * BIN + BIN}\n")


def differences(found, fasta, program, model, margin, folder):
    """Of log odds, (alleles, bins, labels)."""
    write_cuts(found, fasta, margin, folder)
    run(program, "predict-chromatin", "--model", model, "--reference", folder / "cuts.fa", "--regions", folder / "bins.bed", "--output",
        folder / "tracks.npy", "--force")
    tracks = np.load(folder / "tracks.npy").astype(np.float64).reshape(len(found), 3, 2 * SIDE + 1, -1)
    return log_odds(np.concatenate([tracks[:, 1, :SIDE + 1], tracks[:, 2, SIDE + 1:]], 1)) - log_odds(tracks[:, 0])


def log_odds(p):
    return np.log(p) - np.log1p(-p)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=Path, default=ROOT / "build/bin/bigbird-dna")
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        fasta = folder / "genome.fa"
        with gzip.open(ROOT / "test_data/genome/22.fa.gz", "rb") as packed, open(fasta, "wb") as plain:
            shutil.copyfileobj(packed, plain)
        run("samtools", "faidx", fasta)
        found = list(alleles(ROOT / "test_data/variants/1000g.chr22.vcf.gz", fasta))
        with open(folder / "norm.vcf", "w") as vcf:
            vcf.write("##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n")
            vcf.writelines(f"{c}\t{p + 1}\t.\t{r}\t{a}\t.\t.\t.\n" for c, p, r, a in found)
        odds = differences(found, fasta, options.program, MODEL, MARGIN, folder)
        wide = differences(found, fasta, options.program, with_margin(MODEL, MARGIN - SIDE, folder), MARGIN - SIDE, folder)
        bins = np.array([p // BIN % CORE for _, p, _, _ in found])[:, None] + np.arange(-SIDE, SIDE + 1)
        in_core = (bins >= 0) & (bins < CORE)
        print(f"{in_core.sum()} bins of cores: both ways differ by at most {np.abs(odds - wide)[in_core].max():.2g}; {(~in_core).sum()} bins of margins", flush=True)
        odds[~in_core], inside = wide[~in_core], in_core.all(1)
        worst, kept = 0, {}
        for scorer, score in SCORERS.items():
            words = [] if scorer == "centre" else ["--scorer", f"{scorer}:{2 * SIDE + 1}"]
            output = folder / f"{scorer}.npy"
            run(options.program, "predict-variants", "--model", MODEL, "--reference", fasta, "--variants", folder / "norm.vcf", "--write", "log-odds",
                *words, "--output", output)
            ours = np.load(output)
            theirs = score(odds)
            difference = np.abs(ours - theirs).max()
            print(f"{scorer}: {len(found)} alleles, {ours.shape[1]} labels, largest difference of log odds {difference:.2g}", flush=True)
            worst, kept[scorer] = max(worst, difference), theirs
        if options.write:
            is_indel = np.array([len(r) != len(a) for _, _, r, a in found])
            of = lambda indel, core, count: list(np.flatnonzero((is_indel == indel) & (inside == core))[:count])
            with open(options.write, "w") as table:
                table.write("#contig\tpos\tref\talt\tlabel\tcentre\tl2\n")
                for i in sorted(of(False, True, 3) + of(True, True, 5) + of(False, False, 1) + of(True, False, 2)):
                    for label in (0, 1, 80):
                        c, p, r, a = found[i]
                        table.write(f"{c}\t{p + 1}\t{r}\t{a}\t{label}\t{kept['centre'][i, label]:.5f}\t{kept['l2'][i, label]:.5f}\n")
        return int(worst > 1e-4)


if __name__ == "__main__":
    sys.exit(main())
