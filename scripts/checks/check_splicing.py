#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_splicing.py TESTS [WHEEL]

Compares our forward pass with float64 formulas on SpliceAI's own weights, and two variants of TUBB8 with the scores that SpliceAI's authors
give for them. TESTS is build/tests/splicing_tests, beside build/bin/bigbird-dna. WHEEL is the package spliceai 1.3.1 of PyPI; without it pip
downloads it, and the check is skipped (exit code 77) where PyPI cannot be reached. The wheel is under GPLv3 and its weights, by their repository, under CC BY-NC 4.0: they are only read, in a folder that is deleted. Needs numpy and h5py.
"""
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

try:
    import h5py
    import numpy as np
    from make_profile_fixtures import one_hot, rounded
    from make_splicing_fixtures import PUBLISHED, logits, softmax
except ImportError:
    h5py = None

WHEEL, SHA256 = "spliceai-1.3.1-py2.py3-none-any.whl", "63c633b8de6803d4ffb613e6ef62f1a896fec9fc13245c0f000ff7adea279776"
GOLDEN = {"10\t94077\t.\tA\tC": "C|TUBB8|0.15|0.27|0.00|0.05|89|-23|-267|193", "10\t94555\t.\tC\tT": "T|TUBB8|0.01|0.18|0.15|0.62|-2|110|-190|0"}


def read_member(path):
    """By the names that layers have in these files."""
    with h5py.File(path) as file:
        weights = file["model_weights"]
        conv = lambda number: [weights[f"conv1d_{number}/conv1d_{number}/{kind}:0"][()] for kind in ("kernel", "bias")]
        norm = lambda number: [weights[f"batch_normalization_{number}/batch_normalization_{number}/{kind}:0"][()]
                               for kind in ("gamma", "beta", "moving_mean", "moving_variance")]
        units = []
        for unit, (_, dilation) in enumerate(PUBLISHED):
            number = 3 + 2 * unit + unit // 4
            units.append({"dilation": dilation, "norm1": norm(2 * unit + 1), "conv1": conv(number), "norm2": norm(2 * unit + 2),
                          "conv2": conv(number + 1)})
        return {"input": conv(1), "units": units, "skips": {0: conv(2), 4: conv(11), 8: conv(20), 12: conv(29), 16: conv(38)},
                "output": conv(39)}


def download(folder):
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest", folder, "spliceai==1.3.1"]
    if subprocess.run(pip, check=False).returncode != 0:
        print("check_splicing: skipped, since pip cannot download spliceai 1.3.1", file=sys.stderr)
        sys.exit(77)
    return Path(folder) / WHEEL


def check_golden(program, folder):
    """The scores of SpliceAI's own tests. The FASTA has GRCh37 10:88501-100200."""
    lines = ["##fileformat=VCFv4.2", "##contig=<ID=10>", "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO"] + [f"{variant}\t.\t.\t." for variant in GOLDEN]
    (folder / "golden.vcf").write_text("\n".join(lines) + "\n")
    fasta = Path(__file__).parents[2] / "test_data/variants/splicing/tubb8.fa.gz"
    command = [program, "predict-splicing", "--model", folder / "models", "--reference", fasta, "--annotation", folder / "grch37.txt", "--variants",
               folder / "golden.vcf", "--distance", "500", "--skip-invalid", "--output", "-"]
    found = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    wanted = [f"{variant}\t.\t.\tSpliceAI={info}" for variant, info in GOLDEN.items()]
    if [line for line in found if not line.startswith("#")] != wanted:
        sys.exit("check_splicing: the two known variants have other scores:\n" + "\n".join(found[-2:]))
    print("check_splicing: the two known variants have the known scores", file=sys.stderr)


def main():
    tests = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wheel = Path(sys.argv[2]) if len(sys.argv) > 2 else download(folder)
        if hashlib.sha256(wheel.read_bytes()).hexdigest() != SHA256:
            sys.exit(f"check_splicing: {wheel} has another checksum than {SHA256}")
        (folder / "models").mkdir()
        with zipfile.ZipFile(wheel) as package:
            for member in range(1, 6):
                (folder / f"models/spliceai{member}.h5").write_bytes(package.read(f"spliceai/models/spliceai{member}.h5"))
            (folder / "grch37.txt").write_bytes(package.read("spliceai/annotations/grch37.txt"))
        check_golden(tests.parents[1] / "bin/bigbird-dna", folder)
        if h5py is None:
            print("check_splicing: h5py or numpy is missing, so that probabilities are not compared", file=sys.stderr)
            return
        rng = np.random.default_rng(13)
        # Exons are too rare in random letters; strong splice sites in them make probabilities that differ from 0.
        sequence = "".join(rng.choice(list("ACGT"), 10_300))
        for place in (5080, 5200):
            sequence = sequence[:place - 60] + "TTCTTTTTCTTTCTCTTTTCCTTTTCTAG" * 2 + "AG" + sequence[place:place + 90] + "CAGGTAAGT" + sequence[place + 99:]
        sequence = (sequence[:9000] + "N" * 300 + sequence[9300:])[:10_300]
        found = np.mean([softmax(logits(read_member(path), one_hot(sequence))) for path in sorted((folder / "models").iterdir())], 0)
        print(f"check_splicing: largest probabilities {found.max(0).round(4).tolist()}", file=sys.stderr)
        expected = {"sequence": sequence, "context": 10_000, "probabilities": rounded(found)}
        (folder / "expected.json").write_text(json.dumps(expected))
        command = [tests, "--test-case=splice_network: the authors' weights*"]
        sys.exit(subprocess.run(command, env={**os.environ, "BIGBIRD_SPLICING_FOLDER": name}, check=False).returncode)


if __name__ == "__main__":
    main()
