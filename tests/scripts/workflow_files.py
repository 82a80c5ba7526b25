#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The workflow's plan of a prediction, and its watch over results: costs.py and damage.py of scripts/workflow, on test_data."""
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
DATA = REPOSITORY / "test_data"
sys.path.insert(0, str(REPOSITORY / "scripts/workflow"))
import costs  # noqa: E402
import damage  # noqa: E402


def equal(what, found, wanted):
    if found != wanted:
        sys.exit(f"FAILED: {what}: {found}, {wanted} was expected")


def check_windows(folder):
    three = DATA / "regions/three.bed"
    equal("rows, without the header", costs.windows_of("chromatin", three), 3)
    equal("tiles of 200-bp rows", costs.windows_of("chromatin", three, tile=150), 6)
    equal("a scan, on both strands", costs.windows_of("promoter", three, tile=100), 12)
    equal("alleles of a bgzip VCF", costs.windows_of("variants", DATA / "variants/1000g.chr22.vcf.gz"), 110)
    several = folder / "several.vcf"
    several.write_text("##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\n22\t1\t.\tA\tC,G\n\n22\t2\t.\tA\tT\n")
    equal("alleles of a row with two", costs.windows_of("variants", several), 3)
    browser = folder / "browser.bed"
    browser.write_text("browser position chr22:1-2\ntrack name=a\n#x\n22\t0\t10\n")
    equal("lines of browsers", costs.windows_of("chromatin", browser), 1)


def check_parts():
    def parts(windows, parts=0, most=1000):
        return costs.plan(windows, passes=2, rate=100, parts=parts, part_minutes=1, most=most)["parts"]

    equal("a minute of work", parts(3000), 1)
    equal("more than a minute", parts(3001), 2)
    equal("no more than are allowed", parts(3_000_000, most=50), 50)
    equal("as many as are asked for", parts(3000, parts=4), 4)
    equal("never more than rows", parts(3, parts=4), 3)
    equal("no rows", parts(0, parts=4), 1)
    equal("a training that stops itself", costs.training_minutes({"max-hours": 1.5}, 2), 120)
    equal("a training that does not, again", costs.training_minutes({}, 2), 2880)


def write_record(path):
    with Path(f"{path}.sha256").open("w") as record:
        subprocess.run(["sha256sum", path.name], cwd=path.parent, stdout=record, check=True)


def later(path):
    os.utime(path, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns + 2_000_000_000))


def check_results(folder):
    result = folder / "scores.tsv"
    result.write_text("a\tb\n")
    write_record(result)
    equal("a whole result", damage.set_aside([result, folder / "absent"], folder / "parts"), [])
    later(result)
    equal("a whole result that was touched", damage.set_aside([result], folder / "parts"), [])
    result.write_text("a\t")
    later(result)
    equal("a truncated result", damage.set_aside([result], folder / "parts"), [str(result)])
    equal("it is kept aside", (result.exists(), Path(f"{result}.damaged").read_text()), (False, "a\t"))


def write_part(parts, number):
    part = parts / f"{number}-of-2"
    part.mkdir(parents=True)
    (part / "part.tsv").write_text(f"{number}\n")
    total = hashlib.sha256(f"{number}\n".encode()).hexdigest()
    (part / "part.tsv.part.json").write_text(json.dumps({"name": "part.tsv", "sha256": total}))
    return part


def check_parts_of_results(folder):
    parts = folder / "parts"
    first, second = (write_part(parts / "name", number) for number in (1, 2))
    equal("whole parts", damage.set_aside([], parts), [])
    (first / "part.tsv").write_text("")
    later(first / "part.tsv")
    equal("a truncated part", damage.set_aside([], parts), [str(first)])
    (second / "part.tsv").unlink()
    equal("a part whose file is gone", damage.set_aside([], parts), [str(second)])
    equal("both are removed", list((parts / "name").iterdir()), [])


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_windows(Path(folder))
        check_parts()
        check_results(Path(folder))
        check_parts_of_results(Path(folder))
    print("windows, parts and damage are what they should be")


if __name__ == "__main__":
    main()
