#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scripts/measure/explanations.py --output FOLDER [--threads N]

What explanations of the bundled model say of held-out peaks of 22:16-22M, factor by factor, in the cells that have most of them: 100 bp about the 60 highest
peaks, of which 10 are attributed.
  1. Spearman's correlation between what attributions predict of a substitution (the letter's contribution less the reference's) and what mutagenesis finds,
     over all substitutions, for integrated gradients, DeepLIFT and input times gradient
  2. whether `motifs find` on the effects of mutagenesis finds the factor's motif: the three JASPAR motifs nearest to each found one, by `motifs compare`
A factor counts as found where JASPAR's motif of it, or of a factor of its family (FAMILIES), is among them with p <= 0.001.
Prints a table; FOLDER/figures.tsv has it. What is there already is not computed again. Needs numpy, scipy and pyjaspar, which brings JASPAR 2024.
"""
import subprocess
import sys
from pathlib import Path

import numpy
from scipy.stats import spearmanr

import shared

FIRST, LAST, HALF, FEWEST, SITES, ATTRIBUTED = 16_000_000, 21_990_000, 50, 30, 60, 10
METHODS = ("integrated-gradients", "deeplift", "input-x-gradient")
# Factors whose sites are the same, by what they bind.
FAMILIES = ({"MAX", "MYC", "MXI1", "MNT", "MLX", "USF1", "USF2", "MYCN", "BHLHE40", "HEY1", "HEY2", "ARNT"}, {"FOXA1", "FOXA2", "FOXA3", "FOXP1", "FOXK1", "FOXO1"},
            {"JUND", "JUN", "JUNB", "FOS", "FOSL1", "FOSL2", "FOSB", "ATF3", "BATF", "BATF3", "BACH1"}, {"CREB1", "ATF7", "ATF1", "ATF2", "CREM", "ATF3", "CREB5", "CREB3"},
            {"E2F1", "E2F4", "E2F6", "E2F2", "E2F3"}, {"SPI1", "SPIB", "SPIC"}, {"GABPA", "ELK1", "ELK4", "ETS1", "ELF1", "ETV6", "ERF", "FLI1"},
            {"MAFK", "MAFF", "MAFG", "NFE2L2", "BACH1", "NFE2"}, {"TEAD4", "TEAD1", "TEAD2", "TEAD3"}, {"HNF4A", "HNF4G"}, {"TCF7L2", "TCF7", "LEF1", "TCF7L1"},
            {"RFX5", "RFX1", "RFX2", "RFX3"}, {"ZNF143", "THAP11"}, {"EGR1", "EGR2", "EGR3", "EGR4", "WT1"}, {"CEBPB", "CEBPA", "CEBPD", "CEBPE", "CEBPG"},
            {"GATA3", "GATA1", "GATA2", "GATA4", "GATA6"}, {"TCF12", "TCF3", "TCF4", "MYOD1", "ASCL1"})


def held_out(file):
    with shared.opened(file) as lines:
        rows = [line.split("\t") for line in lines]
    return sorted((row for row in rows if FIRST < int(row[1]) and int(row[2]) < LAST), key=lambda row: -float(row[6]))


def factors():
    """{factor: (cell, rows)} of the cell with most held-out peaks."""
    most = {}
    for file in sorted((shared.ROOT / "test_data/chromatin").glob("*.narrowPeak.gz")):
        cell, factor = file.name.split(".")[:2]
        rows = held_out(file)
        if len(rows) >= FEWEST and len(rows) > len(most.get(factor, ("", []))[1]):
            most[factor] = (cell, rows)
    return most


def write_jaspar(file):
    from pyjaspar import jaspardb
    motifs = jaspardb(release="JASPAR2024").fetch_motifs(collection="CORE", tax_group=["vertebrates"])
    file.write_text("".join(motif.format("jaspar") for motif in motifs))


def scores_of(table):
    """(bases, 4), NaN where there is none; and the letters."""
    rows = [line.split("\t") for line in open(table) if not line.startswith("#")]
    return numpy.array([[float("nan") if x == "NA" else float(x) for x in row[6:10]] for row in rows]), [row[5] for row in rows]


def family_of(factor):
    return set().union({factor}, *(family for family in FAMILIES if factor in family))


def main():
    parser = shared.parser_of(__doc__, "output")
    parser.add_argument("--threads", default="1")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    known = options.output / "jaspar.jaspar"
    if not known.exists():
        write_jaspar(known)

    def run(output, *words):
        if not output.exists():
            done = subprocess.run([shared.PROGRAM, *map(str, words), "--quiet"], stderr=subprocess.PIPE, text=True)
            if "give more regions" in done.stderr:  # no motif
                output.write_text("")
            elif done.returncode:
                sys.exit(done.stderr)

    lines = ["factor\tcell\tsites\tmotif found\tits sites\tnearest in JASPAR\tp\t" + "\t".join(f"rho {method}" for method in METHODS)]
    for factor, (cell, rows) in sorted(factors().items()):
        stem, label = str(options.output / factor), f"{cell}|{factor}|None"
        bed, few = Path(stem + ".bed"), Path(stem + ".few.bed")
        for file, count in ((bed, SITES), (few, ATTRIBUTED)):
            middles = [int(row[1]) + int(row[9]) for row in rows[:count]]
            file.write_text("".join(f"22\t{middle - HALF}\t{middle + HALF}\tp{i}\n" for i, middle in enumerate(middles)))
        base = ["--model", shared.MODEL, "--reference", shared.ROOT / "test_data/genome/22.fa.gz", "--labels", label, "--threads", options.threads]
        effects = Path(stem + ".h5")
        run(effects, "predict-mutagenesis", *base, "--regions", bed, "--output", effects, "--output", stem + ".tsv", "--device", "cpu")
        run(Path(stem + ".meme"), "motifs", "find", "--attributions", effects, "--output", stem + ".meme")
        if Path(stem + ".meme").stat().st_size > 0:
            run(Path(stem + ".nearest.tsv"), "motifs", "compare", stem + ".meme", known, "--nearest", "3", "--output", stem + ".nearest.tsv")
        compared = Path(stem + ".nearest.tsv")
        nearest = [line.split("\t") for line in compared.read_text().splitlines() if not line.startswith("#")] if compared.exists() else []
        own = [row for row in nearest if family_of(factor) & {part.split("(")[0].upper() for part in row[3].split("::")} and float(row[4]) <= 1e-3]
        shown = own or nearest
        sites = {line.split()[1]: line for line in open(stem + ".meme") if line.startswith("MOTIF")}
        counts = dict(zip(sites, [line.split("nsites=")[1].split()[0] for line in open(stem + ".meme") if "nsites=" in line]))
        effect, letters = scores_of(stem + ".tsv")
        correlations = []
        for method in METHODS:
            table = Path(f"{stem}.{method}.tsv")
            run(table, "attribute", *base, "--regions", few, "--method", method, "--output", table)
            found, same = scores_of(table)
            assert same == letters[:len(same)]
            at = numpy.array(["ACGT".index(letter) for letter in same])
            change = found - found[numpy.arange(len(at)), at][:, None]
            others = numpy.arange(4) != at[:, None]
            correlations.append(spearmanr(change[others], effect[:len(at)][others]).statistic)
        best = shown[0] if shown else None
        verdict = "yes" if own else "another" if nearest else "none"
        lines.append("\t".join([factor, cell, str(min(len(rows), SITES)), verdict, counts[best[0]] if best else "0", best[3] if best else ".", best[4] if best else "."] +
                               [f"{value:.3f}" for value in correlations]))
        print(lines[-1], flush=True)
    values = numpy.array([[float(x) for x in line.split("\t")[7:]] for line in lines[1:]])
    for method, column in zip(METHODS, values.T):
        print(f"{method}: median rho {numpy.median(column):.3f}, least {column.min():.3f}, of {len(column)} labels")
    (options.output / "figures.tsv").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
