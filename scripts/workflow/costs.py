# SPDX-License-Identifier: Apache-2.0
"""What a job costs: windows, seconds, parts, memory and minutes.

Rates and memory are of the demo's models on an Intel Xeon with AVX-512; `rates` in the configuration replaces the rates.
"""
import gzip
import json
import math
import re
from pathlib import Path

# Windows (alleles of variants) a second of processor time, on one strand, by one model: three quarters of what was measured. Promoters and
# embeddings have windows of 1,500 bases there.
RATES = {"promoter": 100, "chromatin": 1500, "tracks": 1800, "variants": 20, "embeddings": 100}
# Memory of a prediction: measured were 170 to 430 MB with one thread. A model's weights are read and packed.
PROGRAM_MB, THREAD_MB, WEIGHTS_TIMES = 600, 300, 3
# Memory of training. `pretrain --dry-run` says 0.3 GB for tiny, 0.7 for small and 5.1 for base, one sequence of 4,096 tokens at a time; large is a guess.
PRETRAINING_MB = {"tiny": 2000, "tiny-modern": 2000, "modern": 4000, "small": 3000, "genomics": 8000, "base": 8000, "base-etc": 8000, "large": 20000}
BCF_BYTES = 40  # of a row, compressed; a BCF is not read


def windows_of(kind, file, tile=0):
    """How many windows a file of regions or variants is, on one strand."""
    if str(file).endswith(".bcf"):
        return max(1, Path(file).stat().st_size // BCF_BYTES)
    rows = (line.split(b"\t", 5) for line in lines_of(file))
    if kind == "variants":
        return sum(row[4].count(b",") + 1 for row in rows)
    strands = 2 if kind == "promoter" else 1
    return sum(strands * math.ceil(length(row) / tile) if tile else 1 for row in rows)


def length(row):
    return int(row[2]) - int(row[1])


def lines_of(file):
    """The rows, plain or gzip, without headers and empty lines."""
    with open(file, "rb") as start:
        packed = start.read(2) == b"\x1f\x8b"
    with (gzip.open if packed else open)(file, "rb") as lines:
        for line in lines:
            if line.strip() and not re.match(rb"#|(track|browser)(\s+[^\s\d]|\s*$)", line):
                yield line


def parts_of(windows, seconds, part_minutes, most):
    """Parts of about part_minutes each; never more than windows."""
    return max(1, min(most, windows, math.ceil(seconds / (60 * part_minutes))))


def plan(windows, passes, rate, parts, part_minutes, most):
    """What a prediction takes at `rate` windows a second, and its parts: as many as are asked for or, with 0, by the time."""
    seconds = windows * passes / rate
    count = min(parts, max(windows, 1)) if parts else parts_of(windows, seconds, part_minutes, most)
    return {"windows": windows, "passes": passes, "seconds": round(seconds, 1), "parts": count}


def training_minutes(options, attempt):
    """A limit of time for training: half an hour beyond --max-hours, which ends it with a checkpoint; else a day, for each attempt more."""
    hours = options.get("max-hours", 0)
    return math.ceil(hours * 60) + 30 if hours else 24 * 60 * attempt


def write_plan(output, files, kind, tile, **size):
    """Counts the rows of BED or the alleles of VCF files, and writes the plan as JSON."""
    windows = sum(windows_of(kind, file, tile) for file in files)
    Path(output).write_text(json.dumps(plan(windows, **size)) + "\n")


def part_minutes(seconds, parts, attempt):
    """A limit of time, three times what is expected and ten minutes, for each attempt more."""
    return math.ceil((10 + 3 * seconds / parts / 60) * attempt)


def prediction_mb(threads, weights, attempt):
    """Memory of one part; `weights` are the bytes of its models."""
    return math.ceil((PROGRAM_MB + THREAD_MB * threads + WEIGHTS_TIMES * weights / 1e6) * attempt)


def pretraining_mb(config, attempt):
    return PRETRAINING_MB.get(config, PRETRAINING_MB["base"]) * attempt
