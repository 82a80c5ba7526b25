# SPDX-License-Identifier: Apache-2.0
"""What the measurements in Python share; standard library only."""
import argparse
import csv
import gzip
import os
import resource
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ELEMENTS = ("HNF4A", "F9", "LDLR", "PKLR-24h")  # of saturation mutagenesis
PROGRAM = Path(os.environ.get("BIGBIRD_DNA", ROOT / "build/bin/bigbird-dna"))
MODEL = ROOT / "test_data/models/chromatin-grch37"


def parser_of(description, *required):
    """A parser whose usage is the description's first line, with paths that are required."""
    parser = argparse.ArgumentParser(usage=description.split("\n")[0], description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in required:
        parser.add_argument(f"--{name}", type=Path, required=True)
    return parser


def run(*words):
    subprocess.run([PROGRAM, *map(str, words), "--quiet"], check=True, stdout=subprocess.DEVNULL)


def row(*cells):
    """A row of a Markdown table."""
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def table(*header):
    print()
    row(*header)
    row(*["---"] * len(header))


def processor():
    """The processor's name, and which of the features that decide speed it has."""
    words = ("avx2", "avx512f", "avx512_bf16", "amx_bf16")
    try:
        with open("/proc/cpuinfo") as file:
            fields = dict(line.split(":", 1) for line in file.read().split("\n\n")[0].splitlines() if ":" in line)
    except OSError:
        return "an unknown processor"
    fields = {name.strip(): value.strip() for name, value in fields.items()}
    flags = fields.get("flags", "").split()
    kept = os.environ.get("BIGBIRD_CPU")
    kept = f" (ours kept to {kept} by BIGBIRD_CPU)" if kept else ""
    return f"{fields.get('model name', 'unknown')}{kept}: " + ", ".join(word if word in flags else f"no {word}" for word in words)


def processor_seconds():
    """Of all programs that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def opened(path):
    return gzip.open(path, "rt") if str(path).endswith("gz") else open(path)


def sequences_of(path):
    """{contig: sequence in upper case} of a FASTA file."""
    with opened(path) as lines:
        records = (record.partition("\n") for record in f"\n{lines.read()}".split("\n>")[1:])
        return {header.split()[0]: lines.replace("\n", "").upper() for header, _, lines in records}


def region_of(text):
    """Contig and slice of 22:16050001-20000000 (1-based, both ends included) or of a contig."""
    contig, _, span = text.partition(":")
    first, _, last = span.replace(",", "").partition("-")
    return contig, slice(int(first) - 1, int(last)) if span else slice(None)


def read_elements(path):
    """Rows of each element of saturation mutagenesis (kircherlab/MPRA_SaturationMutagenesis)."""
    elements = {}
    with opened(path) as file:
        for row in csv.DictReader(file, delimiter="\t"):
            elements.setdefault(row["Element"], []).append(row)
    return elements


def rebuild(rows):
    """The reference sequence of an element and its first position."""
    bases = {int(row["Pos"]): row["Ref"] for row in rows}
    first, last = min(bases), max(bases)
    missing = [at for at in range(first, last + 1) if at not in bases]
    if missing:
        sys.exit(f"{rows[0]['Element']}: {len(missing)} positions have no row, the first {missing[0]}")
    return "".join(bases[at] for at in range(first, last + 1)), first
