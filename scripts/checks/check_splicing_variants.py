#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_splicing_variants.py variants GENOME.fa OUT.vcf [COUNT]
check_splicing_variants.py expected GENOME.fa IN.vcf OUT.json DISTANCE
check_splicing_variants.py compare EXPECTED.json SCORED.vcf SCORED.tsv

Compares scores of splice variants with those of the Python program, spliceai 1.3.1. `variants` draws COUNT (200) variants of contig 20 of
GRCh37: substitutions, insertions, deletions (also longer than the distance), replacements, on both strands, at splice sites, at ends of
genes and elsewhere. `expected` scores them by the program, masked and not, through a cache of its networks. `compare` prints counts only:
entries; scores that are equal as printed, or 0.01 apart where the unrounded one is within 0.000001 of a rounding boundary; positions
that are equal, of scores of at least 0.01.
Needs for `variants` and `expected`:  pip install spliceai==1.3.1 tensorflow-cpu==2.15.1 keras==2.15.0 'numpy<2' 'pandas<3' 'setuptools<82'
SCORED.vcf and SCORED.tsv:  bigbird-dna predict-splicing --model spliceai/models --annotation spliceai/annotations/grch37.txt --reference GENOME.fa
--variants IN.vcf --distance DISTANCE [--mask] --output SCORED.vcf --output SCORED.tsv
"""
import json
import os
import random
import sys
from pathlib import Path

COLUMNS = ["DS_AG", "DS_AL", "DS_DG", "DS_DL", "DP_AG", "DP_AL", "DP_DG", "DP_DL"]


def write_variants(fasta, output, count=200):
    import pyfaidx
    import spliceai
    contig = pyfaidx.Fasta(fasta)["20"]
    random.seed(20)
    rows = (Path(spliceai.__file__).parent / "annotations/grch37.txt").read_text().splitlines()
    genes = [row.split("\t") for row in rows if row.split("\t")[1] == "20"]
    found = set()
    while len(found) < count:
        gene = random.choice(genes)
        ends = [int(number) for number in (gene[5] + gene[6]).rstrip(",").split(",")] + [int(gene[3]), int(gene[4])]
        near = random.random() < 0.7
        at = random.choice(ends) + random.randint(-40, 40) if near else random.randint(int(gene[3]), int(gene[4]))
        kind = random.choice(["snv", "snv", "snv", "ins", "del", "long", "mnv", "two"])
        length = {"del": random.randint(2, 12), "long": random.randint(45, 103), "mnv": 2}.get(kind, 1)
        ref = contig[at:at + length].seq.upper()
        if len(ref) < length or set(ref) - set("ACGT"):
            continue
        other = [base for base in "ACGT" if base != ref[0]]
        random.shuffle(other)
        alts = {"snv": other[:1], "two": other[:2], "ins": [ref + "".join(random.choices("ACGT", k=random.randint(1, 15)))],
                "mnv": [other[0] + other[1]]}.get(kind, [ref[0]])
        found.add((at + 1, ref, ",".join(alts)))
    lines = ["##fileformat=VCFv4.2", "##contig=<ID=20>", "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO"]
    Path(output).write_text("\n".join(lines + [f"20\t{at}\tv{at}\t{ref}\t{alts}\t.\t.\t." for at, ref, alts in sorted(found)]) + "\n")


class Cached:
    def __init__(self, model):
        self.model, self.known = model, {}

    def predict(self, x):
        key = x.tobytes()
        if key not in self.known:
            self.known[key] = self.model.predict(x, verbose=0)
        return self.known[key]


def write_expected(fasta, variants, output, distance):
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import pysam
    from spliceai.utils import Annotator, get_delta_scores
    annotator = Annotator(fasta, "grch37")
    result = {"distance": int(distance), "0": {}, "1": {}}
    for number, record in enumerate(pysam.VariantFile(variants)):
        annotator.models = [Cached(getattr(model, "model", model)) for model in annotator.models]
        for mask in (0, 1):
            key = f"{record.pos}:{record.ref}:{','.join(record.alts)}"
            result[str(mask)][key] = get_delta_scores(record, annotator, int(distance), mask)
        if number % 10 == 9:
            print(number + 1, flush=True)
        Path(output).write_text(json.dumps(result))


def unrounded(table):
    scores, header = {}, None
    for line in Path(table).read_text().splitlines():
        fields = line.lstrip("#").split("\t")
        if line.startswith("#chrom"):
            header = fields
        elif not line.startswith("##"):
            row = dict(zip(header, fields))
            scores.setdefault((row["pos"], row["ref"], row["alt"], row["gene"]), row)
    return scores


def compare(expected, vcf, table):
    text = Path(vcf).read_text()
    known = json.loads(Path(expected).read_text())["1" if "bigbird-dna_mask=1" in text else "0"]
    values = unrounded(table)
    counts = dict.fromkeys(["records", "entries", "dots", "scores", "scores at a boundary", "positions", "wrong"], 0)
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        _, pos, _, ref, alts, _, _, info = line.split("\t")[:8]
        if f"{pos}:{ref}:{alts}" not in known:
            continue
        wanted = known[f"{pos}:{ref}:{alts}"]
        entries = info.removeprefix("SpliceAI=").split(",") if info != "." else []
        counts["records"] += 1
        if [entry.split("|")[:2] for entry in entries] != [entry.split("|")[:2] for entry in wanted]:
            counts["wrong"] += 1
            print(f"{pos} {ref} {alts}: {info}, and not {','.join(wanted)}")
            continue
        for entry, other in zip(entries, wanted):
            counts["entries"] += 1
            ours, theirs = entry.split("|")[2:], other.split("|")[2:]
            if "." in (ours[0], theirs[0]):
                counts["dots"] += 1
                counts["wrong"] += ours != theirs
                continue
            row = values[(pos, ref, *entry.split("|")[:2])]
            for place in range(4):
                exact = abs(float(row[COLUMNS[place]]))
                boundary = abs(exact * 100 % 1 - 0.5) < 1e-4 and abs(float(ours[place]) - float(theirs[place])) < 0.011
                same_score = ours[place] == theirs[place] or boundary
                same_position = ours[place + 4] == theirs[place + 4] or exact < 0.01
                counts["scores"] += ours[place] == theirs[place]
                counts["scores at a boundary"] += ours[place] != theirs[place] and boundary
                counts["positions"] += exact >= 0.01 and ours[place + 4] == theirs[place + 4]
                if not (same_score and same_position):
                    counts["wrong"] += 1
                    print(f"{pos} {ref} {alts}: {COLUMNS[place]} differs ({entry}, and not {other}; {exact})")
    print(", ".join(f"{name} {count}" for name, count in counts.items()))
    sys.exit(1 if counts["wrong"] or not counts["records"] else 0)


if __name__ == "__main__":
    commands = {"variants": write_variants, "expected": write_expected, "compare": compare}
    if len(sys.argv) < 4 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    commands[sys.argv[1]](*(int(word) if sys.argv[1] == "variants" and word.isdigit() else word for word in sys.argv[2:]))
