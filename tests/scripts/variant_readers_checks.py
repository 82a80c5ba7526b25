#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""variant_readers_checks.py BUILD: other programs read the largest effect of each variant, its label and p as predict-variants writes them: bcftools and its
+split-vep, pysam and cyvcf2 from .vcf.gz and .bcf, pandas from .csv and .tsv, h5py from .h5, of a bin model and of a published model of profiles. Each is
left out where it is not installed; exit code 77 where none is."""
import csv
import gzip
import math
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from interpreters import python_with

ROOT = Path(__file__).resolve().parents[2]
MODEL, PROFILES, GENOME, VARIANTS, PEAKS = (ROOT / "test_data" / name for name in (
    "models/chromatin-grch37", "models/profiles/chrombpnet_nobias.h5", "genome/22.fa.gz", "variants/1000g.chr22.vcf.gz", "chromatin/K562.CTCF.chr22.narrowPeak.gz"))
OURS = ("pos", "alt", "top_label", "top_effect", "top_p")
# What a reader prints of each allele, tab-separated: position, allele, label, effect, p.
READERS = {
    "pysam": """import sys, pysam
for record in pysam.VariantFile(sys.argv[1]):
    each = [record.info.get("BIGBIRD_TOP_" + name, [None]) for name in ("LABEL", "EFFECT", "P")]
    for allele, *values in zip(record.alts or (), *each):
        print(record.pos, allele, *values, sep="\\t")
""",
    "cyvcf2": """import sys, cyvcf2
as_list = lambda value, count: list(value) if isinstance(value, tuple) else [value] * count if value is None else [value]
for record in cyvcf2.VCF(sys.argv[1]):
    labels = (record.INFO.get("BIGBIRD_TOP_LABEL") or ".").split(",")
    each = [as_list(record.INFO.get("BIGBIRD_TOP_" + name), len(labels)) for name in ("EFFECT", "P")]
    for allele, *values in zip(record.ALT, labels, *each):
        print(record.POS, allele, *values, sep="\\t")
""",
    "pandas": """import sys, pandas
path = sys.argv[1]
comments = sum(line.startswith("##") for line in open(path))
effects = pandas.read_csv(path, sep="," if path.endswith(".csv") else "\\t", skiprows=comments, na_values=".")
for values in effects[["pos", "alt", "top_label", "top_effect", "top_p"]].itertuples(index=False):
    print(*values, sep="\\t")
""",
    "h5py": """import sys, h5py
rows = h5py.File(sys.argv[1])["rows"]
each = [rows[name].asstr()[:] if name in ("alt", "top_label") else rows[name][:] for name in ("pos", "alt", "top_label", "top_effect", "top_p")]
for values in zip(*each):
    print(*values, sep="\\t")
""",
}
QUERY = "%POS\\t%ALT\\t%BIGBIRD_TOP_LABEL\\t%BIGBIRD_TOP_EFFECT\\t%BIGBIRD_TOP_P\\n"
FIELDS = {"LOGODDS": "log_odds", "PVALUE": "p", "QUANTILE": "quantile", "REF_SCORE": "ref", "ALT_SCORE": "alt"}
FIELDS_OF_PROFILES = {"LOG2FC": "log2_fold_change", "JSD": "jsd", "ACTIVE_QUANTILE": "active_allele_quantile"}


def write_variants(path):
    """The bundled records, one of them with a symbolic allele, too, and one without an allele."""
    with gzip.open(VARIANTS, "rt") as file:
        lines = file.read().splitlines()
    first = next(i for i, line in enumerate(lines) if line[0] != "#")
    for i, alt in ((first + 3, None), (first + 5, ".")):
        fields = lines[i].split("\t")
        fields[4] = alt or fields[4] + ",<DEL>"
        lines[i] = "\t".join(fields)
    path.write_text("\n".join(lines) + "\n")


def printed(*words):
    return [line.split("\t") for line in subprocess.run([str(word) for word in words], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()]


def is_missing(text):
    return text in (".", "None", "nan", "NA", "")


def same(found, wanted):
    """Texts exactly, with the characters that INFO replaces; numbers as INFO rounds them."""
    if is_missing(wanted) or is_missing(found):
        return is_missing(wanted) and is_missing(found)
    try:
        return math.isclose(float(found), float(wanted), rel_tol=2e-5)
    except ValueError:
        return found.replace("|", "/") == wanted.replace("|", "/")


def check(found, wanted, reader):
    assert len(found) == len(wanted), (reader, len(found), len(wanted))
    for one, other in zip(found, wanted):
        assert len(one) == len(other) and all(map(same, one, other)), (reader, one, other)


def per_allele(rows):
    """bcftools query prints the alleles of a record in one line."""
    return [[pos, *values] for pos, *others in rows for values in zip(*(other.split(",") for other in others))]


def check_split_vep(path, table, more):
    """Entries are numbers of the table, the first of an allele the largest, and numbers can be filtered. `more`: FIELDS of some models."""
    listed, fields = [name for _, name in printed("bcftools", "+split-vep", "-a", "BIGBIRD", "-l", path)], FIELDS | more
    assert listed == ["ALLELE", "Consequence", "LABEL", "REF_SCORE", "ALT_SCORE", "LOGODDS", "QUANTILE", "PVALUE", *more, "STATUS"], listed
    entry_format = "\\t".join(f"%{name}" for name in ("POS", "REF", "ALLELE", "LABEL", *fields, "Consequence", "STATUS"))
    entries = printed("bcftools", "+split-vep", "-a", "BIGBIRD", "-d", "-f", entry_format + "\\n", path)
    rows, seen = {(row["pos"], row["ref"], row["alt"]): row for row in table}, set()
    for pos, ref, alt, label, *numbers, consequence, status in entries:
        row, name = rows[pos, ref, alt], label.replace("/", "|")
        assert row["status"] == status, (pos, row["status"], status)
        if label == ".":
            assert row["top_label"] == "." and set(numbers) == {"."} and consequence == "."
            continue
        wanted = [row[f"{name}:{quantity}"] for quantity in fields.values()]
        assert all(map(same, numbers, wanted)), (pos, label, numbers, wanted)
        assert consequence == ("gain" if float(numbers[4]) > float(numbers[3]) else "loss"), (pos, label, consequence)
        if (pos, ref, alt) not in seen:
            assert name == row["top_label"] and same(numbers[0], row["top_effect"]), (pos, label)
            seen.add((pos, ref, alt))
    assert len(seen) == sum(row["top_label"] != "." for row in table), len(seen)
    rare = printed("bcftools", "+split-vep", "-a", "BIGBIRD", "-c", "PVALUE:Float", "-i", "PVALUE<0.05", "-f", "%POS\\n", path)
    assert {pos for pos, in rare} == {entry[0] for entry in entries if not is_missing(entry[5]) and float(entry[5]) < 0.05} and rare, rare


def check_bcftools(path, table, wanted, more):
    check(per_allele(printed("bcftools", "query", "-e", 'ALT="."', "-f", QUERY, path)), wanted, f"bcftools query {path}")
    rare = printed("bcftools", "query", "-i", "BIGBIRD_TOP_P<0.1", "-f", "%POS\\n", path)
    assert {pos for pos, in rare} == {row[0] for row in wanted if not is_missing(row[4]) and float(row[4]) < 0.1} and rare, rare
    check_split_vep(path, table, more)


def write_peaks(path):
    with gzip.open(PEAKS, "rt") as file:
        path.write_text("".join([line for line in file if int(line.split("\t")[2]) < 21990000][:50]))


def check_readers(program, model, more, done, left_out):
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        write_variants(Path("v.vcf"))
        words = ["--model", model, "--reference", GENOME, "--variants", "v.vcf", "--device", "cpu", "--quiet"]
        if more:
            write_peaks(Path("peaks.bed"))
            subprocess.run([program, "build-background", *words, "--regions", "peaks.bed", "--count", "200", "--output", "b.h5"], check=True)
            words += ["--background", "b.h5"]
        subprocess.run([program, "predict-variants", *words, *(f"--output=e.{ending}" for ending in ("tsv", "csv", "h5", "vcf.gz", "bcf"))], check=True)
        with open("e.tsv") as file:
            table = list(csv.DictReader((line for line in file if not line.startswith("##")), delimiter="\t"))
        everything = [[row[name] for name in OURS] for row in table]
        alleles = [row for row in everything if row[1] != "."]
        assert sum(row[2] != "." for row in everything) == sum(not is_missing(row[4]) for row in everything) > 100
        for path in ("e.vcf.gz", "e.bcf"):
            if not shutil.which("bcftools"):
                left_out.append("bcftools")
                break
            check_bcftools(path, table, alleles, more)
            done.append(f"bcftools, {path}")
        for package, paths, wanted in (("pysam", ("e.vcf.gz", "e.bcf"), alleles), ("cyvcf2", ("e.vcf.gz", "e.bcf"), alleles),
                                       ("pandas", ("e.csv", "e.tsv"), everything), ("h5py", ("e.h5",), everything)):
            python = python_with(package)
            if not python:
                left_out.append(package)
                continue
            for path in paths:
                check(printed(python, "-c", READERS[package], path), wanted, f"{package} {path}")
                done.append(f"{package}, {path}")
        os.chdir("/")


def main():
    program, done, left_out = Path(sys.argv[1]).resolve() / "bin/bigbird-dna", [], []
    check_readers(program, MODEL, {}, done, left_out)
    check_readers(program, PROFILES, FIELDS_OF_PROFILES, done, left_out)
    done, left_out = dict.fromkeys(done), dict.fromkeys(left_out)
    print(f"read by {'; '.join(done)}{'; not installed: ' + ', '.join(left_out) if left_out else ''}")
    sys.exit(0 if done else 77)


main()
