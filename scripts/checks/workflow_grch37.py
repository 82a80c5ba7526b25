#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""workflow_grch37.py --program build/bin/bigbird-dna --snakemake PATH --output DIR [--fasta FASTA]   (scripts/workflow/check --grch37 calls it)

Runs config/grch37.yaml, the paper's complete job, at a small size on one thread of a CPU:

  1. Makes data called as scripts/data/fetch calls them: chromosomes 7 and 8 (0.9 and 0.1 Mb of test_data's 22), drawn TSSs with a chain, and drawn
     peaks for each of DeepSEA's 919 labels. With --fasta: all of 20 and 22 that this file has, with TSSs and peaks on 2.2 Mb of them.
  2. Pretrains without interruption.
  3. Runs everything in another folder, and kills pretraining with -9 after its second checkpoint. Run again, it resumes and ends.
  4. The pretrained weights are those of step 2, the chromatin model has 919 labels, and a third run has nothing to do.
"""
import argparse
import gzip
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
# Where TSSs and peaks are: contig, first and last base.
CUT = {"7": (0, 900_000), "8": (0, 100_000)}
COMPLETE = {"20": (10_000_000, 12_000_000), "22": (20_000_000, 20_200_000)}
MOVED = 10  # bases from hg19 to hg38
SMALL = """validation: ["{validation}"]
test: ["{test}"]
promoter:
  baselines:
    deepromoter: {{steps: 4, batch-size: 8, evaluate-every: 0}}
chromatin:
  baselines:
    deepsea: {{steps: 4, batch-size: 8, evaluate-every: 0}}
device: cpu
threads: 1
options:
  build-documents: {{passes: 2}}
  train-tokenizer: {{vocab-size: 2000}}
  pretrain: {{config: tiny, steps: 40, batch-size: 4, sequence-length: 1024, checkpoint-every: 5}}
  evaluate-mlm: {{max-sequences: 16}}
  finetune-promoter: {{epochs: null, batch-size: 8, steps: 6, evaluate-every: 0}}
  finetune-chromatin: {{epochs: null, batch-size: 8, steps: 6, evaluate-every: 0}}
  evaluate-promoter: {{resamples: 100}}
  evaluate-chromatin: {{resamples: 100, min-positives: 3}}
"""


def write_lines(file, lines):
    opened = gzip.open(file, "wt", compresslevel=1) if file.suffix == ".gz" else file.open("w")
    with opened as out:
        out.writelines(f"{line}\n" for line in lines)


def read_fasta(file):
    """The sequence of each contig, by the first word of its header."""
    parts, name = {}, ""
    with gzip.open(file, "rt") as fasta:
        for line in fasta:
            if line[0] == ">":
                name = line[1:].split()[0]
            parts.setdefault(name, []).append("" if line[0] == ">" else line.strip())
    return {name: "".join(lines) for name, lines in parts.items()}


def make_data(folder, fasta):
    draw = random.Random(1)
    (folder / "peaks").mkdir(parents=True)
    dna = read_fasta(fasta or REPOSITORY / "test_data/genome/22.fa.gz")
    spans = COMPLETE if fasta else CUT
    genome = {contig: dna[contig] for contig in spans} if fasta else {"7": dna["22"][16_050_000:16_950_000], "8": dna["22"][16_950_000:17_050_000]}
    write_lines(folder / "grch37.fa.gz", (line for contig in spans for line in (f">{contig}", genome[contig])))
    sites = [(contig, site) for contig, (first, last) in spans.items() for site in sorted(draw.sample(range(first + 9000, last - 9000), (last - first) // 9000))]
    write_lines(folder / "tss.hg38.bed", (f"chr{contig}\t{site + MOVED}\t{site + MOVED + 1}\tGENE{i}\t900\t{draw.choice('+-')}"
                                          for i, (contig, site) in enumerate(sites)))
    write_lines(folder / "hg38ToHg19.over.chain.gz", (f"chain 1000 chr{contig} {size + MOVED} + {MOVED} {size + MOVED} chr{contig} {size} + 0 {size} {i}\n{size}\n"
                                                      for i, (contig, size) in enumerate(((contig, len(genome[contig])) for contig in spans), 1)))
    write_lines(folder / "bins.bed", (f"chr{contig}\t{first + 4000}\t{last - 4000}" for contig, (first, last) in spans.items()))
    sheet = ["name\tgroup\tpath"]
    for row in (REPOSITORY / "lib/bigbird/rows/data/deepsea_919.tsv").read_text().splitlines():
        index, group, name, *_ = (*row.split("\t"), "", "")
        if not index.isdigit():
            continue
        sheet.append(f"{int(index):03}_{re.sub('[^A-Za-z0-9+.-]+', '_', name)}\t{group}\tpeaks/{index}.narrowPeak")
        peaks = [(contig, at) for contig, (first, last) in spans.items()
                 for at in sorted(draw.sample(range(first + 1000, last - 1000, 200), (last - first) // 30_000))]
        write_lines(folder / f"peaks/{index}.narrowPeak", (f"chr{contig}\t{at}\t{at + draw.choice([200, 400, 600])}\t.\t0\t.\t1\t1\t1\t100" for contig, at in peaks))
    write_lines(folder / "peaks.tsv", sheet)


def start(options, folder, log, *targets):
    small = options.output / "small.yaml"
    command = [options.snakemake, "--snakefile", REPOSITORY / "scripts/workflow/Snakefile", "--configfile", REPOSITORY / "scripts/workflow/config/grch37.yaml", small,
               "--directory", options.output / folder, "--cores", "1", "--resources", "gpu=1", "--rerun-incomplete", "--config", f"program={options.program}", "--", *targets]
    with (options.output / log).open("w") as out:
        return subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=out, stderr=out)


def run(options, folder, log, *targets):
    if start(options, folder, log, *targets).wait() != 0:
        sys.exit(f"{log}: the workflow failed:\n{(options.output / log).read_text()[-4000:]}")


def kill_training(options, run_folder, snakemake):
    """Kills the process that pretrains in this folder once it has two checkpoints."""
    while snakemake.poll() is None:
        time.sleep(0.2)
        if len(list(run_folder.glob("checkpoints/step-*"))) < 2:
            continue
        for process in Path("/proc").glob("[0-9]*"):
            try:
                words = (process / "cmdline").read_bytes().split(b"\0")
                here = (process / "cwd").resolve() == run_folder.parent
            except OSError:
                continue
            if here and words[0].startswith(str(options.program).encode()) and b"pretrain" in words:
                os.kill(int(process.name), signal.SIGKILL)
                return
    sys.exit("pretraining ended before it could be killed")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("--program", "--snakemake", "--output"):
        parser.add_argument(name, type=Path, required=True)
    parser.add_argument("--fasta", type=Path)
    options = parser.parse_args()
    options.output = options.output.resolve()
    validation, test = ("20:11800001-12000000", "22") if options.fasta else ("7:400001-500000", "8")
    (options.output / "small.yaml").write_text(SMALL.format(validation=validation, test=test))
    for folder in ("straight", "killed"):
        make_data(options.output / folder / "data", options.fasta)
    weights = "pretrained/model/model.safetensors"
    run(options, "straight", "straight.log", weights)
    began = time.monotonic()
    snakemake = start(options, "killed", "first.log")
    kill_training(options, options.output / "killed/pretrained", snakemake)
    if snakemake.wait() == 0:
        sys.exit("the workflow did not notice that pretraining was killed")
    run(options, "killed", "second.log")
    seconds = time.monotonic() - began
    killed = options.output / "killed"
    resumed = re.search(r"resuming after step \d+ of 40", (killed / "logs/pretrain.log").read_text()) or sys.exit("pretraining began anew")
    if (killed / weights).read_bytes() != (options.output / "straight" / weights).read_bytes():
        sys.exit("the resumed run has other weights than the uninterrupted one")
    labels = [line for line in (killed / "chromatin/run/model/labels.tsv").read_text().splitlines() if line[:1].isdigit()]
    if len(labels) != 919:
        sys.exit(f"the chromatin model has {len(labels)} labels in place of 919")
    run(options, "killed", "third.log")
    if "Nothing to be done" not in (options.output / "third.log").read_text():
        sys.exit("a third run had something to do")
    jobs = sum((options.output / log).read_text().count("\nFinished job") for log in ("first.log", "second.log"))
    print(f"grch37.yaml at a small size: {jobs} jobs in {seconds:.0f} s, {resumed[0]} to the weights of an uninterrupted run, 919 labels; a third run had nothing to do")


if __name__ == "__main__":
    main()
