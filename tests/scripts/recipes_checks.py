#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""recipes_checks.py BUILD PAGE runs the blocks of docs/PAGE one after the other (README.md: its first command), in a folder that has the page's names for
files of test_data, or inputs made from them and shorter training. Regions, variants and sequences hold a row without scores and a name with blanks, and
labels a `|`. A `text` block behind a block is what that prints: words exactly, numbers to a twentieth. Blocks that begin with "takes long" are left out, and
so are those that need a package, a program or another block's file that is not there. The last line says how many were run, and the processor's seconds."""
import csv
import gzip
import math
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from interpreters import python_with

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "test_data"
WRITTEN = re.compile(r'(?:to_csv|open)\("([^"]+)", (?:"w"|index)')
BLOCK = re.compile(r"^```(bash|python|r)\n(.*?)^```$(?:\n\n```text\n(.*?)^```$)?", re.DOTALL | re.MULTILINE)
FILES = {"test_data": "", "scripts": "../scripts", "model": "models/chromatin-grch37", "genome.fa.gz": "genome/22.fa.gz", "promoters.csv.gz": "sequences/promoters.csv.gz"}
SEQUENCES = r"""gzip -dc test_data/sequences/promoters.csv.gz >all.csv
awk 'NR == 1 || NR <= 151' all.csv >train.csv; awk 'NR == 1 || NR > 151 && NR <= 181' all.csv >dev.csv; awk 'NR == 1 || NR > 181' all.csv >test.csv
awk -F, 'NR > 1 { print ">" $1 "\n" $3 }' test.csv >new.fa
awk -F, '$2 == "promoter" { print $3 }' all.csv >hs_pos_TATA.txt; awk -F, '$2 == "other" { print $3 }' all.csv >neg.txt
gzip -dc genome.fa.gz >genome.fa; cp test_data/promoter/tss.hg19.bed tss.bed
awk -v OFS='\t' '{ print $1, "own", "transcript", $2 + 1, $3, ".", $6, ".", "transcript_id \"" $4 "\";" }' tss.bed | gzip >genes.gtf.gz"""
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
# A region of N beside the site, and a bin of the test split that was not scored.
UNSCORED = {r"\tsite\n": r"\tsite\n22\t1000000\t1000070\tno bases here\n",
            "--split test \\\n    --output test.tsv.gz\n": "--split test \\\n    --output all.tsv.gz\ngzip -dc all.tsv.gz | awk -v FS='\\t' -v OFS='\\t' "
            "'!/^#/ && ++row == 3 { $7 = \"all_n\"; for (i = 9; i <= NF; ++i) $i = \"NA\" } { print }' | gzip >test.tsv.gz\n"}
# A gene of 20 and random weights.
SPLICING = r"""mkdir -p spliceai/annotations grch37; ln -s test_data/models/splicing/keras ci-spliceai; ln -s ../test_data/models/splicing/keras spliceai/models
cp test_data/variants/splicing/20.fa.gz grch37/grch37.fa.gz; cp grch37/grch37.fa.gz GRCh37.fa.gz
printf '%s\n' '#NAME CHROM STRAND TX_START TX_END EXON_START EXON_END' 'DEFB125 20 + 68350 77174 68350,76645, 68408,77174,' | tr ' ' '\t' >spliceai/annotations/grch37.txt
printf '%s\n' '##fileformat=VCFv4.2' '##contig=<ID=20>' '#CHROM POS ID REF ALT QUAL FILTER INFO' '20 68409 . G A . . .' | sed '3,$s/ /\t/g' | bgzip >in.vcf.gz"""
# How a page's inputs are made, and what in its blocks is replaced.
PAGES = {
    "README.md": ("", {}),
    "recipes.md": ("", UNSCORED),
    "explain.md": ("", {}),
    "splicing.md": (SPLICING, {}),
    "sequences.md": (SEQUENCES, {" train ": " train --members 1 --epochs 2 ", "--members 1 --epochs 2 --tss": "--epochs 1 --tss", "my-sequences --output my-run": "my-sequences --output my-run --members 1 --epochs 2"}),
    "tracks.md": (TRACKS, {" train ": " train --steps 20 ", "--output run\n": "--output run --steps 20\n", "--output run-1bp\n": "--output run-1bp --steps 10\n", " regions.bed": " tracks.bed"}),
    "pretraining.md": (PRETRAINING, {"--steps 500": "--steps 2", "--output mlm.json": "--output mlm.json --max-sequences 8", "--pooling mean": "--pooling mean --steps 2",
                                     "tensorboard --logdir": "ls", "--documents other": "--documents corpus --steps 2"}),
    "variants.md": ("", {"$MODEL": "model", "$GENOME": "genome.fa.gz", "$VCF": str(DATA / "variants/1000g.chr22.vcf.gz"), "--output background.h5": "--count 200 --output background.h5"}),
    # Packages and the clone's build have tests of their own (tests/scripts/package, tests/install).
    "install.md": ("mkdir -p share/example; ln -s ../../test_data/models/example.bed ../../test_data/genome/22.fa.gz share/example/; ln -s ../test_data/models share/models\n"
                   "ln -s ../../test_data/chromatin/K562.CTCF.chr22.narrowPeak.gz share/example/",
                   {"$share": "share", **{word: f"# takes long\n{word}" for word in ("tar -xzf", "BIGBIRD_TORCH=", "pip install", "scripts/build\n")}}),
    "published-models.md": ("cp test_data/models/profiles/chrombpnet.h5 .; cp test_data/models/profiles/chrombpnet_nobias.h5 fold_0.h5; cp fold_0.h5 fold_1.h5\n"
                            "cp test_data/motifs/queries.meme known.meme; zcat peaks/K562.CTCF.narrowPeak.gz | awk '$2 > 16000000 && $3 < 21990000' | head -40 >peaks.bed", {}),
    "published-encoders.md": ("for form in nt-v2 dnabert-2; do python3 scripts/checks/make_random_encoder.py $form $form; done; gzip -dc promoters.csv.gz | head -201 >enhancers.csv",
                              {"--epochs 1": "--steps 2"}),
    "gallery.md": ("ln -s test_data/models/splicing/keras ci-spliceai; cp test_data/motifs/known.jaspar .", {"head -60": "head -24", "--steps 400": "--steps 4"}),
    "motifs.md": ("cp test_data/motifs/queries.meme known.meme",
                  {"$MODEL": "model", "$GENOME": "genome.fa.gz", "sheet.png": "sheet.svg", "head -120": "awk 'NR < 24 || $2 < 17980871 && $3 > 17980940'"}),
}
PEAKS = ("A549.CTCF", "K562.CTCF", "K562.MAX")


def lay_out(folder):
    for name, path in FILES.items():
        (folder / name).symlink_to(DATA / path)
    (folder / "peaks").mkdir()
    for name in PEAKS:
        (folder / f"peaks/{name}.narrowPeak.gz").symlink_to(DATA / f"chromatin/{name}.chr22.narrowPeak.gz")
    rows = (DATA / "models/example.bed").read_text().splitlines(keepends=True)
    (folder / "regions.bed").write_text("".join([*rows[:2], "22\t1000000\t1000200\tno bases here\n", *rows[2:]]).replace("LZTR1_promoter", "promoter of LZTR1"))
    with gzip.open(DATA / "variants/1000g.chr22.vcf.gz", "rt") as file:
        lines = file.readlines()
    records = [line for line in lines if line[0] != "#"][:40]
    chrom, pos, _, ref, *others = records[7].split("\t", 5)
    records.insert(7, "\t".join([chrom, pos, "unscored", ref, "<DEL>", others[-1]]))
    with gzip.open(folder / "variants.vcf.gz", "wt") as file:
        file.writelines([*(line for line in lines if line[0] == "#"), *records])
    shell = "gzip -dc peaks/K562.CTCF.narrowPeak.gz > peaks.bed; " \
            "printf '>one\\n%s\\n>nothing\\n%0300d\\n' $(gzip -dc genome.fa.gz | tail -n +2 | tr -d '\\n' | head -c 20000400 | tail -c 600) 0 | sed '$s/0/N/g' > sequences.fa"
    subprocess.run(["bash", "-c", shell], cwd=folder, check=True)


def missing(language, text):
    if language == "bash":
        words = [word for word in ("tabix", "bcftools", "torchrun", "srun") if re.search(rf"^{word} ", text, re.MULTILINE)]
        return next((word for word in words if not shutil.which(word)), None)
    if language == "r":
        return None if shutil.which("Rscript") else "Rscript"
    return None if python_with(*packages(text)) else " or no ".join(packages(text))


def packages(text):
    lines = re.findall(r"^(?:import|from) ([\w., ]+?)(?: import .*)?$", text, re.MULTILINE)
    return sorted({name.strip().split(".")[0] for line in lines for name in line.split(",")})


def command(language, text):
    if language == "python":
        return [python_with(*packages(text)), "-c", text]
    return {"bash": ["bash", "-euc", text], "r": ["Rscript", "-e", text]}[language]


def same(found, wanted):
    """Words exactly, numbers to a twentieth of themselves, for processors round differently."""
    try:
        return math.isclose(float(found), float(wanted), rel_tol=0.05)
    except ValueError:
        return found == wanted


def compare(found, wanted, text):
    words = found.split(), wanted.split()
    if len(words[0]) != len(words[1]) or not all(map(same, *words)):
        sys.exit(f"FAILED: the page has\n{wanted}\nand\n{text}\nprints\n{found}")


def table(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def largest(rows, columns, key, count):
    """The rows' `key` and columns of the `count` largest numbers, by hand; rows without scores have empty fields."""
    cells = [(abs(float(row[column])), row[key], column) for row in rows for column in columns if row[column]]
    return sorted(cells, reverse=True)[:count]


def check_scores(folder, printed):
    rows = table(folder / "scores.csv")
    wanted = largest(rows, list(rows[0])[8:], "name", 10)
    for (score, name, label), line in zip(wanted, printed.splitlines()[1:-1], strict=True):  # a name that repeats is printed once
        assert line.startswith((name, " ")) and line.split()[-2] == label and math.isclose(float(line.split()[-1]), score, rel_tol=1e-5), (name, label, line)


def check_ctcf(folder, printed):
    rows = table(folder / "scores.csv")
    labels = [label for label in list(rows[0])[8:] if "CTCF" in label]
    means = {row["name"]: sum(float(row[label]) for label in labels) for row in rows if row[labels[0]]}
    found = [line.split(None, 4)[4].rsplit(None, 1)[0] for line in printed.splitlines()[1:]]
    assert found == sorted(means, key=means.get, reverse=True)[:6], found


def check_effects(folder, printed):
    """Each allele with its largest effect of all labels, and that label."""
    rows = table(folder / "effects.csv")
    labels = [column for column in rows[0] if column.endswith(":log_odds")]
    each = sorted((cells[0] for cells in (largest([row], labels, "pos", 1) for row in rows) if cells), reverse=True)[:5]
    lines = printed.splitlines()[1:]
    assert len(each) == len(lines) == 5
    for (effect, pos, label), line in zip(each, lines):
        words = line.split()
        assert words[1] == pos and words[4] == label.removesuffix(":log_odds"), (pos, label, line)
        assert math.isclose(abs(float(words[5])), effect, rel_tol=1e-3), (effect, line)


def check_q(folder, printed):
    """Benjamini and Hochberg's step-up by its definition: the smallest of p times count / rank from this rank on."""
    p = sorted(float(row["top_p"]) for row in table(folder / "effects.csv") if row["top_p"])
    wanted = [min(p[k] * len(p) / (k + 1) for k in range(i, len(p))) for i in range(5)]
    found = [tuple(map(float, line.split()[-2:])) for line in printed.splitlines()[1:]]
    assert len(found) == 5 and all(math.isclose(one, other, rel_tol=1e-3) for one, other in zip(found, zip(p, wanted)) for one, other in zip(one, other)), (found, wanted)


# What is right of what a block with these words prints.
CHECKS = {"nlargest(10)": check_scores, "rowMeans": check_ctcf, 'sort_values("top_effect"': check_effects, "abs(effects$top_effect)": check_effects,
          'tested["q"]': check_q, "p.adjust": check_q}


def run_block(language, text, wanted, folder, environment):
    ended = subprocess.run(command(language, text), cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    print(ended.stdout, flush=True)
    if ended.returncode:
        sys.exit(f"FAILED: exit code {ended.returncode} of the block above")
    if wanted:
        compare(ended.stdout, wanted, text)
    for words, check in CHECKS.items():
        if words in text:
            check(folder, ended.stdout)


def blocks_of(page):
    """Language, text and output of each block."""
    if page != "README.md":
        return BLOCK.findall((ROOT / "docs" / page).read_text())
    parts = re.findall(r"(?:(?<=\n\n)|^)((?: {4}.*\n)+\n(?: {4}.*\n)+)", (ROOT / page).read_text())
    return [("bash", *next(part for part in parts if "bigbird-dna predict" in part).split("\n\n"))]


def run_page(page, folder, environment):
    """How many blocks the page has, and how many were run."""
    inputs, replaced = PAGES[page]
    subprocess.run(["bash", "-euc", inputs], cwd=folder, env=environment, check=True)
    blocks, done, lost = blocks_of(page), 0, set()
    for language, text, wanted in blocks:
        for old, new in replaced.items():
            text = text.replace(old, new)
        lacks = "time" if text.startswith("# takes long") else next((one for one in lost if one in text), None) or missing(language, text)
        print(f"-- {language}{f', left out: no {lacks}' if lacks else ''}\n{text}", flush=True)
        if lacks:
            lost.update(WRITTEN.findall(text))
            continue
        run_block(language, text, wanted, folder, environment)
        done += 1
    return len(blocks), done


def main():
    binaries, page = (Path(sys.argv[1]) / "bin").resolve(), sys.argv[2]
    environment = os.environ | {"PATH": f"{binaries}:{ROOT}/scripts:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}
    with tempfile.TemporaryDirectory() as name:
        lay_out(Path(name))
        count, done = run_page(page, Path(name), environment)
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{page}: {done} of {count} blocks were run, {usage.ru_utime + usage.ru_stime:.0f} processor seconds")
    assert done > 0, "the blocks of the page are no longer read"


main()
