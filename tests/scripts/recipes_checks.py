#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""recipes_checks.py BUILD runs README.md's first command, and the blocks of docs/recipes.md and docs/explain.md one after the other, in folders that have the
pages' names for files of test_data; then those of docs/sequences.md, tracks.md, pretraining.md,
variants.md, install.md and motifs.md, with inputs made from test_data and shorter training. Blocks that
begin with "takes long" are left out, and so are those that need a package, a program or another block's file that is not there."""
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "test_data"
WRITTEN = re.compile(r'(?:to_csv|open)\("([^"]+)", (?:"w"|index)')
BLOCK = re.compile(r"^```(bash|python|r)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
PAGES = ("recipes.md", "explain.md")
FILES = {"test_data": "", "scripts": "../scripts", "model": "models/chromatin-grch37", "genome.fa.gz": "genome/22.fa.gz", "regions.bed": "models/example.bed",
         "promoters.csv.gz": "sequences/promoters.csv.gz"}
SEQUENCES = r"""gzip -dc test_data/sequences/promoters.csv.gz >all.csv
awk 'NR == 1 || NR <= 151' all.csv >train.csv; awk 'NR == 1 || NR > 151 && NR <= 181' all.csv >dev.csv; awk 'NR == 1 || NR > 181' all.csv >test.csv
awk -F, 'NR > 1 { print ">" $1 "\n" $3 }' test.csv >new.fa
awk -F, '$2 == "promoter" { print $3 }' all.csv >hs_pos_TATA.txt; awk -F, '$2 == "other" { print $3 }' all.csv >neg.txt"""
# Chromosome I of yeast with its fragments, and four parts of VI under the names of chromosomes that the page holds out.
TRACKS = r"""gzip -dc test_data/genome/yeast.fa.gz | awk '/^>/ { name = $1; next } { bases[name] = bases[name] $0 } END { print ">I\n" bases[">I"]
    split("XII XIII XV XVI", part, " "); for (k = 1; k <= 4; ++k) print ">" part[k] "\n" substr(bases[">VI"], (k - 1) * 67500 + 1, 67500) }' >genome.fa
gzip -dc test_data/tracks/yeast.bedpe.gz | awk -v OFS='\t' 'BEGIN { split("XII XIII XV XVI", part, " ") } $1 == "chrVI" { k = int($2 / 67500)
    if (k > 3 || $5 < k * 67500 || $6 > (k + 1) * 67500) next; $1 = part[k + 1]; for (i = 2; i <= 6; ++i) if (i != 4) $i -= k * 67500 }
    { sub("chr", "", $1); $4 = $1; print }' | gzip >atac.bedpe.gz
printf 'I\t0\t1000\n' | tee blacklist.bed >>tracks.bed"""
PRETRAINING = r"""gzip -dc genome.fa.gz >genome.fa; printf '22\t20500000\t22000000\n' >held_out.bed; rm peaks.bed
for name in A549.CTCF K562.MAX; do printf '%s\tTF\tpeaks/%s.narrowPeak.gz\n' $name $name; done | sed '1i name\tgroup\tpath' >peaks.tsv
bigbird-dna build-chromatin --peaks peaks.tsv --reference genome.fa --window 1000 --include 22:19000001-20200000 --validation 22:20000001-20100000 \
    --output examples
bigbird-dna build-promoters --tss test_data/promoter/tss.hg19.bed --reference genome.fa --window=-1000:500 --validation 22:20000001-20500000 \
    --output promoters"""
# How a page's inputs are made, and what in its blocks is replaced.
SHORTENED = {
    "sequences.md": (SEQUENCES, {" train ": " train --members 1 --epochs 2 ", "my-sequences --output my-run": "my-sequences --output my-run --members 1 --epochs 2"}),
    "tracks.md": (TRACKS, {" train ": " train --steps 20 ", "--output run\n": "--output run --steps 20\n", "--output run-1bp\n": "--output run-1bp --steps 10\n", " regions.bed": " tracks.bed"}),
    "pretraining.md": (PRETRAINING, {"--steps 500": "--steps 2", "--output mlm.json": "--output mlm.json --max-sequences 8", "--pooling mean": "--pooling mean --steps 2",
                                     "tensorboard --logdir": "ls", "--documents other": "--documents corpus --steps 2"}),
    "variants.md": ("", {"$MODEL": "model", "$GENOME": "genome.fa.gz", "$VCF": "variants.vcf.gz"}),
    # Packages and the clone's build have tests of their own (tests/scripts/package, tests/install).
    "install.md": ("mkdir -p share/example; ln -s ../../test_data/models/example.bed ../../test_data/genome/22.fa.gz share/example/; ln -s ../test_data/models share/models\n"
                   "ln -s ../../test_data/chromatin/K562.CTCF.chr22.narrowPeak.gz share/example/",
                   {"$share": "share", **{word: f"# takes long\n{word}" for word in ("tar -xzf", "BIGBIRD_TORCH=", "pip install", "scripts/build\n")}}),
    "motifs.md": ("cp test_data/motifs/queries.meme known.meme",
                  {"$MODEL": "model", "$GENOME": "genome.fa.gz", "sheet.png": "sheet.svg"}),
}
PEAKS = ("A549.CTCF", "K562.CTCF", "K562.MAX")


def lay_out(folder):
    for name, path in FILES.items():
        (folder / name).symlink_to(DATA / path)
    (folder / "peaks").mkdir()
    for name in PEAKS:
        (folder / f"peaks/{name}.narrowPeak.gz").symlink_to(DATA / f"chromatin/{name}.chr22.narrowPeak.gz")
    shell = f"gzip -dc peaks/K562.CTCF.narrowPeak.gz > peaks.bed; gzip -dc {DATA}/variants/1000g.chr22.vcf.gz > all.vcf; " \
            "(grep '^#' all.vcf; grep -v '^#' all.vcf | head -n 40) | gzip > variants.vcf.gz; " \
            "printf '>one\\n%s\\n' $(gzip -dc genome.fa.gz | tail -n +2 | tr -d '\\n' | head -c 20000400 | tail -c 600) > sequences.fa"
    subprocess.run(["bash", "-c", shell], cwd=folder, check=True)


def missing(language, text):
    if language == "bash":
        words = [word for word in ("tabix", "bcftools", "torchrun", "srun") if re.search(rf"^{word} ", text, re.MULTILINE)]
        return next((word for word in words if not shutil.which(word)), None)
    if language == "r":
        return None if shutil.which("Rscript") else "Rscript"
    names = {name.strip().split(".")[0] for line in re.findall(r"^(?:import|from) ([\w., ]+?)(?: import .*)?$", text, re.MULTILINE) for name in line.split(",")}
    return next((name for name in sorted(names) if subprocess.run([sys.executable, "-c", f"import {name}"], capture_output=True).returncode), None)


def command(language, text):
    return {"bash": ["bash", "-euc", text], "python": [sys.executable, "-c", text], "r": ["Rscript", "-e", text]}[language]


def same(found, wanted):
    """Words exactly, numbers to a twentieth of themselves, for processors round differently."""
    try:
        return math.isclose(float(found), float(wanted), rel_tol=0.05)
    except ValueError:
        return found == wanted


def check_readme(folder, environment):
    block = next(part for part in re.findall(r"(?:(?<=\n\n)|^)((?: {4}.*\n)+\n(?: {4}.*\n)+)", (ROOT / "README.md").read_text()) if "bigbird-dna predict" in part)
    commands, wanted = block.split("\n\n")
    done = subprocess.run(["bash", "-euc", commands], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=True)
    words = done.stdout.split(), wanted.split()
    if len(words[0]) != len(words[1]) or not all(map(same, *words)):
        sys.exit(f"FAILED: README.md has\n{wanted}\nand its first command prints\n{done.stdout}")


def run_page(page, folder, environment, replaced):
    """How many blocks the page has, and how many were run."""
    blocks, done, lost = BLOCK.findall((ROOT / "docs" / page).read_text()), 0, set()
    for language, text in blocks:
        for old, new in replaced.items():
            text = text.replace(old, new)
        lacks = "time" if text.startswith("# takes long") else next((one for one in lost if one in text), None) or missing(language, text)
        print(f"-- {language}{f', left out: no {lacks}' if lacks else ''}\n{text}", flush=True)
        if lacks:
            lost.update(WRITTEN.findall(text))
            continue
        ended = subprocess.run(command(language, text), cwd=folder, env=environment, stdin=subprocess.DEVNULL)
        if ended.returncode:
            sys.exit(f"FAILED: exit code {ended.returncode} of the block above")
        done += 1
    return len(blocks), done


def main():
    binaries = (Path(sys.argv[1]) / "bin").resolve()
    environment = os.environ | {"PATH": f"{binaries}:{ROOT}/scripts:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}
    total = 0
    for page in (*PAGES, *SHORTENED):
        inputs, replaced = SHORTENED.get(page, ("", {}))
        with tempfile.TemporaryDirectory() as name:
            lay_out(Path(name))
            if page == PAGES[0]:
                check_readme(name, environment)
            subprocess.run(["bash", "-euc", inputs], cwd=name, env=environment, check=True)
            count, done = run_page(page, name, environment, replaced)
        print(f"{page}: {done} of {count} blocks were run")
        total += count
    assert total > 35, "the blocks of the pages are no longer read"


main()
