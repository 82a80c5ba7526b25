#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares `bigbird-dna encode` and `decode` with Hugging Face tokenizers on somebody's own tokenizer.json.

    compare_hf_tokenizer.py TOKENIZER_JSON FASTA

Encodes windows of the FASTA (200 of 8,000 bases and 2,000 of up to 300), windows with runs of N of 1 to 40, in lower case and
with IUPAC letters, and the five sequences whose ids GENA-LM's T2T tokenizer is known to give (reported, not required: other
tokenizers give others). Needs the package tokenizers. BIGBIRD_DNA names the program (default: build/bin/bigbird-dna).
"""

import gzip
import os
import pathlib
import random
import subprocess
import sys

import tokenizers

# AIRI-Institute/GENA_LM, data/tokenizers/t2t_1000h_multi_32k: sequence, ids without [CLS] and [SEP].
GENA_LM = {
    "ACGTACGTTTTGGAACC": "120 425 375 94",
    "ACGT" + "N" * 15 + "ACGT": "120 15 5 120 15",
    "N" * 9: "11642 11642 11642 11642 12",
    "acgt": "0 0 0 0",
    "ACGTDHVR": "120 15 0 0 0 13",
}


def read_fasta(path):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt") as file:
        return "".join(line.strip() for line in file if not line.startswith(">"))


def windows(sequence):
    rng = random.Random(7)

    def window(longest):
        size = rng.randint(1, longest)
        begin = rng.randrange(max(1, len(sequence) - size))
        return sequence[begin : begin + size]

    for _ in range(200):
        begin = rng.randrange(max(1, len(sequence) - 8000))
        yield sequence[begin : begin + 8000]
    for _ in range(2000):
        yield window(300)
    for n in range(1, 41):
        yield window(100) + "N" * n + window(100)
    for _ in range(100):
        yield window(50) + window(50).lower() + window(50)
        yield "".join(base if rng.random() < 0.97 else rng.choice("RYSWKMBDHV") for base in window(300))


def run(program, command, tokenizer, lines):
    words = [program, command, "--tokenizer", tokenizer, "--quiet"]
    result = subprocess.run(words, input="".join(line + "\n" for line in lines), capture_output=True, text=True, check=True)
    return result.stdout.splitlines()


def main():
    if len(sys.argv) != 3 or sys.argv[1] in ("-h", "--help"):
        print(__doc__)
        return 0 if sys.argv[1:2] in (["-h"], ["--help"]) else 2
    path, fasta = sys.argv[1:]
    default = pathlib.Path(__file__).parents[2] / "build/bin/bigbird-dna"
    program = os.environ.get("BIGBIRD_DNA", str(default))
    theirs = tokenizers.Tokenizer.from_file(path)
    texts = list(GENA_LM) + list(windows(read_fasta(fasta)))
    ours = run(program, "encode", path, texts)
    different = 0
    for text, ids in zip(texts, ours, strict=True):
        expected = " ".join(map(str, theirs.encode(text, add_special_tokens=False).ids))
        if ids != expected:
            different += 1
            print(f"DIFFERENT: {text[:60]}...\n  ours   {ids[:100]}\n  theirs {expected[:100]}")
    known = sum(ids == expected for ids, expected in zip(ours, GENA_LM.values()))
    plain = [text for text in texts if set(text) <= set("ACGT")]
    back = run(program, "decode", path, run(program, "encode", path, plain))
    lost = sum(a != b for a, b in zip(plain, back, strict=True))
    print(f"{len(texts) - different} of {len(texts)} sequences have the ids that tokenizers {tokenizers.__version__} gives")
    print(f"{len(plain) - lost} of {len(plain)} sequences of A C G T come back when decoded")
    print(f"{known} of {len(GENA_LM)} sequences have the ids known of GENA-LM's T2T tokenizer")
    return 1 if different or lost else 0


if __name__ == "__main__":
    sys.exit(main())
