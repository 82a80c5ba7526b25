#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""readers_checks.py BUILD: other programs read what bigbird-dna writes: pandas, polars and R by the recipes of docs/formats.md, h5py, and pyBigWig and
bx-python a bigWig without a scored row. Each is left out where it is not installed; exit code 77 where none is."""
import csv
import gzip
import importlib.util
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from interpreters import python_with

ROOT = Path(__file__).resolve().parents[2]
HEAD = "chrom start end name score strand status n_fraction".split()
ROWS = "22\t20748342\t20748542\tone of 2|4\t7\t+\n22\t20600000\t20600200\n22\t16050000\t16050200\t.\t.\t-\nX\t1\t2\n"


def recipes():
    """Language and text of each block of the section."""
    section = (ROOT / "docs/formats.md").read_text().split("## Score tables in pandas, polars and R")[1].split("\n## ")[0]
    return re.findall(r"```(python|r)\n(.*?)```", section, re.S)


def predict(program, rows, *more):
    Path("rows.bed").write_text(rows)
    data = ROOT / "test_data"
    words = ["predict-chromatin", "--model", data / "models/chromatin-grch37", "--reference", data / "genome/22.fa.gz", "--regions", "rows.bed"]
    subprocess.run([program, *words, "--skip-invalid", "--quiet", *more], check=True)


def expected():
    with gzip.open("scores.tsv.gz", "rt") as file:
        lines = [line.rstrip("\n").split("\t") for line in file if not line.startswith("##")]
    return [lines[0][0][1:], *lines[0][1:]], lines[1:]


def is_missing(value):
    return value is None or value != value or value == ""


def check(columns, rows, found_columns, found_rows, recipe):
    assert list(found_columns) == columns, (recipe, found_columns)
    assert len(found_rows) == len(rows), (recipe, len(found_rows), len(rows))
    for want, found in zip(rows, found_rows):
        for column, text, value in zip(columns, want, found):
            if column in ("chrom", "name") and ".csv" in recipe:  # names are as they went in
                assert value == text, (recipe, column, text, value)
            elif text in (".", "NA"):
                assert is_missing(value), (recipe, column, text, value)
            elif column in ("chrom", "name", "strand", "status"):
                assert value == text, (recipe, column, text, value)
            else:
                assert math.isclose(float(value), float(text), rel_tol=1e-6), (recipe, column, text, value)


def run_python(text):
    """Columns and rows; nothing where a package is missing."""
    if not all(has(name) for name in re.search(r"^import (.*)$", text, re.M)[1].split(", ")):
        return None
    names = {}
    exec(text, names)
    scores = names["scores"]
    rows = scores.rows() if hasattr(scores, "rows") else scores.values.tolist()
    return list(scores.columns), rows


def run_r(text):
    if not shutil.which("Rscript"):
        return None
    end = 'write.table(scores, "found.tsv", sep = "\\t", na = "", quote = FALSE, row.names = FALSE)\n'
    subprocess.run(["Rscript", "-e", text + end], check=True)
    with open("found.tsv") as file:
        lines = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return lines[0], lines[1:]


def run_recipe(language, text):
    return run_python(text) if language == "python" else run_r(text)


def has(package):
    return importlib.util.find_spec(package) is not None


def check_names(language, text):
    """A contig and a name that are called NA, in a CSV, where only an empty field is missing."""
    with gzip.open("scores.csv.gz", "wt") as file:
        file.write(",".join(HEAD) + ",a|b\nNA,1,201,NA,,,ok,0,0.5\nNA,1,201,,,,all_n,1,\n")
    _, ((chrom, _, _, name, *_, score), (_, _, _, no_name, *_, no_score)) = run_recipe(language, text)
    assert chrom == name == "NA" and float(score) == 0.5 and is_missing(no_name) and is_missing(no_score), text


def check_h5(rows):
    """h5py's numbers and texts are the table's."""
    if not has("h5py"):
        return False
    import h5py
    with h5py.File("scores.h5") as file:
        names, starts, scores = file["rows/name"].asstr()[:], file["rows/start"][:], file["scores"][:]
    assert [[name, str(start)] for name, start in zip(names, starts)] == [[row[3], row[1]] for row in rows]
    for found, row in zip(scores, rows):
        assert all(text == "NA" and value != value or text != "NA" and math.isclose(value, float(text), rel_tol=1e-6) for value, text in zip(found, row[8:])), row
    assert os.path.getsize("scores.h5") < 2 * scores.nbytes + 16384, os.path.getsize("scores.h5")
    return True


def check_empty_bigwig(program):
    predict(program, "X\t1\t2\n", "--labels", "0", "--output", "empty.bw")
    done = False
    if has("pyBigWig"):
        import pyBigWig
        with pyBigWig.open("empty.bw") as file:
            assert list(file.chroms()) == ["22"] and file.header()["nBasesCovered"] == file.header()["maxVal"] == file.header()["minVal"] == 0
            assert not file.intervals("22") and file.stats("22", 0, 1000) == [None] and all(value != value for value in file.values("22", 0, 9))
        done = True
    if has("bx"):
        from bx.bbi.bigwig_file import BigWigFile
        with open("empty.bw", "rb") as file:
            assert not BigWigFile(file).get(b"22", 0, 1000)
        done = True
    return done


def main():
    python = python_with("pandas", "polars", "h5py") or python_with("pandas")
    if python not in (None, sys.executable):
        os.execv(python, [python, *sys.argv])
    program = Path(sys.argv[1]).resolve() / "bin/bigbird-dna"
    found = recipes()
    assert [language for language, _ in found] == ["python"] * 4 + ["r"] * 2, found
    readable = []
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        predict(program, ROWS * 1000, "--labels", "0-5", *(f"--output=scores.{ending}" for ending in ("tsv.gz", "csv.gz", "h5")))  # several blocks of bgzip
        columns, rows = expected()
        assert columns[:8] == HEAD and len(columns) == 14 and len(rows) == 4000, columns
        for language, text in found:
            read = run_recipe(language, text)
            if read:
                readable.append((language, text))
                check(columns, rows, *read, text)
        for language, text in readable:
            if "scores.csv.gz" in text:
                check_names(language, text)
        done = len(readable) + check_h5(rows) + check_empty_bigwig(program)
        os.chdir("/")
    print(f"{done} of {len(found) + 2} readers were there and read the files")
    sys.exit(0 if done else 77)


main()
