#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""wrappers.py BUILD: scripts/packaging/wrappers. Snakemake runs its wrappers, each with the Snakefile that comes with it, to the bytes of the command itself. The
shell commands of the Nextflow modules and of the Galaxy tools run, with values in place of variables, and meta files are YAML. Exit code 77 without Snakemake."""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree

from interpreters import python_with

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "test_data"
INPUTS = {"22.fa.gz": DATA / "genome/22.fa.gz", "peaks.narrowPeak.gz": DATA / "chromatin/K562.CTCF.chr22.narrowPeak.gz", "model": DATA / "models/chromatin-grch37",
          "regions.bed": DATA / "models/example.bed", "variants.vcf.gz": DATA / "variants/1000g.chr22.vcf.gz"}
NAMES = {"peaks": "peaks.narrowPeak.gz", "regions": "regions.bed", "variants": "variants.vcf.gz", "model": "model", "reference": "22.fa.gz"}


def run(folder, *command):
    ended = subprocess.run([str(word) for word in command], cwd=folder, capture_output=True, text=True)
    if ended.returncode != 0:
        sys.exit(f"FAILED: exit code {ended.returncode} of {' '.join(map(str, command))}\n{ended.stdout[-2000:]}\n{ended.stderr[-4000:]}")
    return ended.stdout


def place(folder):
    """A folder with the inputs of all tests."""
    folder.mkdir(parents=True)
    for name, path in INPUTS.items():
        (folder / name).symlink_to(path)
    return folder


def rows(path, folder):
    """What a result says, without the head that names commands and paths."""
    text = run(folder, "gzip", "-dcf", path)
    return [line for line in text.splitlines() if not line.startswith("##")]


def check_equal(what, found, wanted):
    if found != wanted or not wanted:
        sys.exit(f"FAILED: {what} is not what the command writes")


def check_snakemake(work, python, command):
    source = work / "master/bio/bigbird-dna" / command
    folder = place(work / f"snakemake {command}")
    run(folder, python, "-m", "snakemake", "--snakefile", source / "test/Snakefile", "--wrapper-prefix", f"file://{work}/", "--cores", "2")
    snakefile = (source / "test/Snakefile").read_text()
    extra = re.search(r'extra="(.*)"', snakefile)[1].split()
    named = [word for name, file in re.findall(r'^        (\w+)="(.*)",$', snakefile, re.M) if name in NAMES for word in (f"--{name}", file)]
    if command == "train":
        return folder / "trained", extra
    run(folder, "bigbird-dna", command, *named, *extra, "--threads", "2", "--output", "direct.tsv.gz")
    check_equal(f"snakemake {command}", rows(f"{command}.tsv.gz", folder), rows("direct.tsv.gz", folder))
    return folder, extra


def filled(text, values):
    """A script of Nextflow or Galaxy as its shell gets it."""
    text = re.sub(r"(?<!\\)\$\{?(task\.\w+|\w+)\}?", lambda match: str(values[match[1]]), text)
    return text.replace("\\$", "$").replace("\\\\", "\\")


def check_nextflow(work, command, folder, extra):
    module = (work / "nextflow/bigbirddna" / command.replace("-", "") / "main.nf").read_text()
    script, stub = re.findall(r'"""\n(.*?)"""', module, re.S)
    values = NAMES | {"args": " ".join(extra), "task.cpus": "2", "task.process": "TEST", "prefix": "sample", "suffix": "tsv.gz"}
    run(folder, "bash", "-euo", "pipefail", "-c", "\n".join(line.removeprefix("    ") for line in filled(stub, values).splitlines()))
    run(folder, "rm", "-rf", "sample", "sample.tsv.gz", "versions.yml")
    if command != "train":
        run(folder, "bash", "-euo", "pipefail", "-c", "\n".join(line.removeprefix("    ") for line in filled(script, values).splitlines()))
        check_equal(f"nextflow {command}", rows("sample.tsv.gz", folder), rows("direct.tsv.gz", folder))
        version = run(folder, "bigbird-dna", "--version").split()[1]
        check_equal("versions.yml", (folder / "versions.yml").read_text(), f'"TEST":\n    bigbird-dna: {version}\n')


def check_galaxy(work, command, folder, extra):
    tool = ElementTree.parse(work / f"galaxy/bigbird_dna_{command.replace('-', '_')}.xml")
    if command == "train":
        return
    job = folder / "job"
    job.mkdir()
    run(job, "tar", "-C", INPUTS["model"].parent, "-cf", "model.tar", INPUTS["model"].name)
    values = {name: INPUTS[file] for name, file in NAMES.items()} | {"model": "model.tar", "extra": " ".join(extra)}
    run(job, "bash", "-euo", "pipefail", "-c", filled(tool.findtext("command"), values))
    check_equal(f"galaxy {command}", rows("scores.tsv", job), rows("direct.tsv.gz", folder))


def main():
    python = python_with("snakemake", "yaml")
    if python is None:
        print("SKIPPED: Snakemake is not here (scripts/setup --workflow)")
        return 77
    os.environ["PATH"] = f"{Path(sys.argv[1]).resolve() / 'bin'}:{os.environ['PATH']}"
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        run(work, ROOT / "scripts/packaging/wrappers", work)
        (work / "snakemake").rename(work / "master")
        meta = sorted(str(path) for path in work.rglob("*.y*ml"))
        run(work, python, "-c", "import sys, yaml; [yaml.safe_load(open(path)) for path in sys.argv[1:]]", *meta)
        for command in ("predict", "predict-variants", "train"):
            folder, extra = check_snakemake(work, python, command)
            check_nextflow(work, command, folder, extra)
            check_galaxy(work, command, folder, extra)
        check_equal("the folder of train", sorted(path.name for path in folder.glob("*.html")), ["report.html"])
    print(f"wrappers: {len(meta)} meta files, 3 wrappers run by Snakemake")
    return 0


if __name__ == "__main__":
    sys.exit(main())
