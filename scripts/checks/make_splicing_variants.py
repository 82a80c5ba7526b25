#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_splicing_variants.py [FOLDER]

Writes into FOLDER (default: test_data/variants/splicing) a small genome with genes on both strands, their exons as SpliceAI's table and as
GTF, variants of all kinds, and expected.tsv: the value of INFO SpliceAI of each record by the steps of `spliceai` 1.3.1 and by the mode
`exact`, for distances and masks. The network is test_data/models/splicing/keras/splice1.h5 in float64, window by window, without any
sharing. Variants whose scores lie on the edge of rounding, or whose positions on that of a tie, are left out. Needs numpy and h5py.
"""
import json
import sys
from pathlib import Path

import h5py
import numpy as np

ROOT = Path(__file__).resolve().parents[2]
SIDE = 40  # bases of context on each side
rng = np.random.default_rng(681)


# ---------------------------------------------------------------- the network, by its graph
class Network:
    def __init__(self, path):
        with h5py.File(path) as file:
            self.graph = json.loads(file.attrs["model_config"])["config"]["layers"]
            self.weights = {layer: [np.asarray(group[name], float) for name in names]
                            for layer, group in file["model_weights"].items()
                            for names in [[str(name) for name in group.attrs["weight_names"]]]}

    def layer(self, kind, name, config, inputs):
        if kind == "Conv1D":
            kernel, bias = self.weights[name]
            gap = config["dilation_rate"][0]
            side = gap * (len(kernel) // 2)
            wide = np.pad(inputs[0], ((side, side), (0, 0)))
            x = bias + sum(wide[tap * gap:tap * gap + len(inputs[0])] @ kernel[tap] for tap in range(len(kernel)))
            if config["activation"] == "softmax":
                x = np.exp(x - x.max(1, keepdims=True))
                x /= x.sum(1, keepdims=True)
            return x
        if kind == "BatchNormalization":
            gamma, beta, mean, variance = self.weights[name]
            return (inputs[0] - mean) / np.sqrt(variance + config["epsilon"]) * gamma + beta
        if kind == "Activation":
            return np.maximum(inputs[0], 0)
        if kind == "Add":
            return inputs[0] + inputs[1]
        assert kind == "Cropping1D"
        return inputs[0][config["cropping"][0]:len(inputs[0]) - config["cropping"][1]]

    def __call__(self, x):
        values = {}
        for layer in self.graph:
            below = [values[one[0]] for node in layer["inbound_nodes"] for one in node]
            name = layer["name"]
            values[name] = x if layer["class_name"] == "InputLayer" else self.layer(layer["class_name"], name, layer["config"], below)
        return values[name].astype("f4")


NETWORK = Network(ROOT / "test_data/models/splicing/keras/splice1.h5")


def probabilities(text, strand):
    x = np.array([[letter == base for base in "ACGT"] for letter in text.upper()], float)
    return NETWORK(x[::-1, ::-1])[::-1] if strand == "-" else NETWORK(x)


# ---------------------------------------------------------------- genome, genes, variants
def random_text(length):
    return "".join(rng.choice(list("ACGT"), length))


def make_gene(contig, name, strand, exons):
    for (_, end), (begin, _) in zip(exons, exons[1:]):
        contig[end:end + 2] = "GT" if strand == "+" else "CT"
        contig[begin - 2:begin] = "AG" if strand == "+" else "AC"
    return {"name": name, "strand": strand, "exons": exons, "begin": exons[0][0], "end": exons[-1][1]}


def make_genome():
    contigs = {"1": list(random_text(2000)), "2": list(random_text(700))}
    genes = [("1", make_gene(contigs["1"], "ONE", "+", [(200, 290), (350, 420), (520, 600), (700, 800)])),
             ("1", make_gene(contigs["1"], "OTHER", "-", [(750, 830), (900, 960), (1000, 1100), (1180, 1300)])),
             ("1", make_gene(contigs["1"], "IN;SIDE", "-", [(540, 590)])),
             ("2", make_gene(contigs["2"], "EDGES", "+", [(0, 150), (260, 400), (500, 700)]))]
    return {name: "".join(letters) for name, letters in contigs.items()}, genes


def candidates(genome):
    """(contig, position from 0, REF, ALTs)"""
    def text(contig, at, length):
        return genome[contig][at:at + length]

    def snvs(contig, at):
        return (contig, at, text(contig, at, 1), [base for base in "ACGT" if base != text(contig, at, 1)][:1 + at % 3])
    rows = [snvs("1", at) for at in list(range(205, 800, 13)) + list(range(800, 1300, 11))]
    rows += [snvs("2", at) for at in (0, 89, 90, 130, 149, 150, 300, 560, 609, 610, 699)]
    for at in range(210, 1290, 22):
        length = 2 + at % 7
        rows.append(("1", at, text("1", at, length), [text("1", at, 1)]))
        rows.append(("1", at + 5, text("1", at + 5, 1), [text("1", at + 5, 1) + random_text(1 + at % 9)]))
    for at in range(230, 1290, 60):  # deletions longer than D, of at most 2 D, and longer ones
        for length in (52, 60, 77, 90, 101):
            rows.append(("1", at, text("1", at, length), [text("1", at, 1)]))
        rows.append(("1", at + 3, text("1", at + 3, 3), [random_text(3), random_text(2), text("1", at + 3, 1), random_text(5)]))
    rows.append(("1", 180, text("1", 180, 40), [text("1", 180, 1)]))  # begins before a gene
    rows.append(("1", 790, text("1", 790, 30), [text("1", 790, 1)]))  # ends behind one
    for at, ref, alts in [(400, None, ["<DEL>", "A", "*"]), (401, None, []), (402, None, ["."]), (405, "small", ["A"]),
                          (410, "other", ["A"]), (411, None, ["a"]), (412, None, ["N"]), (1500, None, ["A"])]:
        letter = text("1", at, 1)
        rows.append(("1", at, {None: letter, "small": letter.lower(), "other": "ACGT"["CGTA".index(letter)]}[ref], alts))
    rows.append(("3", 400, "A", ["C"]))
    return rows


# ---------------------------------------------------------------- scores
class Unsure(Exception):
    """A score on the edge of two decimals, or a position on that of a tie."""


def largest(values, used=None):
    """The first largest, which must not be in doubt."""
    at = int(np.argmax(values))
    rest = np.delete(values, at)
    if values[at] != 0 and len(rest) and values[at] - rest.max() < 2e-5:
        raise Unsure
    if values[at] == 0 and 0 < np.abs(values).max() < 1e-4:
        raise Unsure
    if abs(values[at] * 100 % 1 - 0.5) < 1e-3:
        raise Unsure
    return at


def entry(alt, name, scores, places):
    symbol = name.replace(";", "_")
    return "|".join([alt, symbol] + ["%.2f" % score for score in scores] + [str(place) for place in places])


def by_program(genome, contig, gene, at, ref, alt, distance, mask):
    """Steps 8 to 13 of the reference."""
    anchor = SIDE + distance
    window = genome[contig][at - anchor:at + anchor + 1]
    inside = ["N" if not gene["begin"] <= at - anchor + i < gene["end"] else letter for i, letter in enumerate(window)]
    x_ref = "".join(inside)
    x_alt = x_ref[:anchor] + alt + x_ref[anchor + len(ref):]
    y_ref, y_alt = probabilities(x_ref, gene["strand"]), probabilities(x_alt, gene["strand"])
    if len(ref) > 1 and len(alt) == 1:
        y_alt = np.concatenate([y_alt[:distance + 1], np.zeros((len(ref) - 1, 3)), y_alt[distance + 1:]])
    elif len(ref) == 1 and len(alt) > 1:
        y_alt = np.concatenate([y_alt[:distance], y_alt[distance:distance + len(alt)].max(0, keepdims=True), y_alt[distance + len(alt):]])
    ends = sorted({begin + 1 for begin, _ in gene["exons"]} | {end for _, end in gene["exons"]})
    nearest = min((end - (at + 1) for end in ends), key=abs)
    scores, places = [], []
    for channel in (1, 2):
        for gain in (True, False):
            change = y_alt[:, channel] - y_ref[:, channel] if gain else y_ref[:, channel] - y_alt[:, channel]
            place = largest(change)
            hidden = mask and (place - distance == nearest) == gain
            scores.append(float(change[place]) * (0 if hidden else 1))
            places.append(place - distance)
    return scores, places


def exactly(genome, contig, gene, at, ref, alt, distance, mask):
    first, last = at - distance - SIDE, at + len(ref) + distance + SIDE
    letters = [genome[contig][i] if gene["begin"] <= i < gene["end"] else "N" for i in range(first, last)]
    x_ref = "".join(letters)
    x_alt = x_ref[:at - first] + alt + x_ref[at - first + len(ref):]
    y_ref, y_alt = probabilities(x_ref, gene["strand"]), probabilities(x_alt, gene["strand"])
    if len(ref) != len(alt):
        y_alt = np.concatenate([y_alt[:distance], y_alt[distance:distance + len(alt)].max(0, keepdims=True),
                                np.zeros((len(ref) - 1, 3), "f4"), y_alt[distance + len(alt):]])
    inner = gene["exons"]
    firsts = [begin for begin, _ in inner[1:]]
    lasts = [end - 1 for _, end in inner[:-1]]
    acceptors, donors = (firsts, lasts) if gene["strand"] == "+" else (lasts, firsts)
    scores, places = [], []
    for channel, sites in ((1, acceptors), (2, donors)):
        known = np.array([at - distance + i in sites for i in range(len(y_ref))])
        for gain in (True, False):
            change = y_alt[:, channel] - y_ref[:, channel] if gain else y_ref[:, channel] - y_alt[:, channel]
            if mask:
                change = np.where(known == gain, 0, change)
            place = largest(change)
            scores.append(max(0.0, float(change[place])))
            places.append(place - distance)
    return scores, places


def info(genome, genes, row, mode, distance, mask):
    contig, at, ref, alts = row
    there = [gene for name, gene in genes if name == contig and gene["begin"] <= at < gene["end"]]
    if not alts or contig not in genome or not there:
        return "."
    exact = mode == "exact"
    given = ref.upper() if exact else ref
    span = len(ref) if exact else 1
    if genome[contig][at:at + len(ref)] != given:
        return "."
    if at - SIDE - distance < 0 or at + span + SIDE + distance > len(genome[contig]):
        return "."
    if not exact and len(ref) > 2 * distance:
        return "."
    entries = []
    for alt in alts:
        for gene in there:
            if set(alt) & set(".-*<>"):
                continue
            if not exact and len(ref) > 1 and len(alt) > 1:
                entries.append("|".join([alt, gene["name"].replace(";", "_")] + ["."] * 8))
                continue
            score = exactly if exact else by_program
            entries.append(entry(alt, gene["name"], *score(genome, contig, gene, at, ref, alt, distance, mask)))
    return ",".join(entries) or "."


RUNS = [("spliceai", 50, 0), ("spliceai", 50, 1), ("spliceai", 20, 0), ("spliceai", 40, 1), ("exact", 50, 0), ("exact", 50, 1), ("exact", 20, 1)]


def main():
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "test_data/variants/splicing"
    folder.mkdir(parents=True, exist_ok=True)
    genome, genes = make_genome()
    (folder / "genome.fa").write_text("".join(f">{name}\n{text}\n" for name, text in genome.items()))
    table, gtf = ["#NAME\tCHROM\tSTRAND\tTX_START\tTX_END\tEXON_START\tEXON_END"], []
    for number, (contig, gene) in enumerate(genes):
        begins, ends = ("".join(f"{exon[side]}," for exon in gene["exons"]) for side in (0, 1))
        if number % 2:
            begins, ends = begins[:-1], ends[:-1]
        table.append("\t".join([gene["name"], contig, gene["strand"], str(gene["begin"]), str(gene["end"]), begins, ends]))
        ids = f"gene_id \"G{number}\"; transcript_id \"T{number}\"; gene_name \"{gene['name'].replace(';', '_')}\";"
        gtf.append(f"chr{contig}\tmade\ttranscript\t{gene['begin'] + 1}\t{gene['end']}\t.\t{gene['strand']}\t.\t{ids}")
        gtf += [f"chr{contig}\tmade\texon\t{begin + 1}\t{end}\t.\t{gene['strand']}\t.\t{ids}" for begin, end in gene["exons"]]
    (folder / "genes.tsv").write_text("\n".join(table) + "\n")
    (folder / "genes.gtf").write_text("\n".join(gtf) + "\n")
    records, expected = [], []
    for row in candidates(genome):
        try:
            infos = [info(genome, genes, row, *run) for run in RUNS]
        except Unsure:
            continue
        contig, at, ref, alts = row
        records.append((contig, at, f"{contig}\t{at + 1}\tv{len(records) + 1}\t{ref}\t{','.join(alts) or '.'}\t.\t.\t."))
        expected += ["\t".join(map(str, (*run, f"v{len(records)}", text))) for run, text in zip(RUNS, infos)]
    header = "##fileformat=VCFv4.2\n##contig=<ID=1>\n##contig=<ID=2>\n##contig=<ID=3>\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n"
    (folder / "variants.vcf").write_text(header + "".join(line + "\n" for _, _, line in records))
    (folder / "expected.tsv").write_text("#mode\tdistance\tmask\tid\tSpliceAI\n" + "\n".join(expected) + "\n")
    print(f"{len(records)} records, {len(expected)} values of INFO")


if __name__ == "__main__":
    main()
