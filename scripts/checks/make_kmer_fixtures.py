#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Make test_data/tokenizer/hf/kmers.tsv and kmers_3_saved.json: what transformers makes of our tokenizers of k-mers.

    make_kmer_fixtures.py FOLDER

FOLDER holds kmers_1, kmers_3 and kmers_6, as tokenizer_tests writes them with BIGBIRD_WRITE_HF set to it.

  kmers.tsv            k, sequence, ids that AutoTokenizer gives
  kmers_3_saved.json   the tokenizer.json that save_pretrained writes for kmers_3
"""
import random
import sys
import tempfile
from pathlib import Path

from transformers import AutoTokenizer

out = Path(__file__).resolve().parents[2] / "test_data" / "tokenizer" / "hf"


def texts():
    yield from ["A", "N", "ACG", "ACGT", "ACGTAC", "ACGTACG", "acgtacgtu", "ACGTDHVRACGTAC", "N" * 9, "NACGTACGTACGTN",
                "GATTACA" * 5, " ACGTACGT ", "ACG TAC-GTA.CGT*"]
    rng = random.Random(5)
    for letters in ("ACGT", "ACGTN", "ACGTNRYacgtnuU", "ACGTacgtACGTacgtACGTacgtN"):
        for _ in range(4):
            yield "".join(rng.choice(letters) for _ in range(rng.randint(1, 80)))


with open(out / "kmers.tsv", "w") as lines:
    for k in (1, 3, 6):
        tokenizer = AutoTokenizer.from_pretrained(Path(sys.argv[1]) / f"kmers_{k}")
        assert tokenizer.mask_token_id == 4 and tokenizer.pad_token_id == 0
        for text in texts():
            ids = tokenizer(text)["input_ids"]
            spelt = tokenizer.decode(ids, skip_special_tokens=True)
            assert len(spelt) == len(text) and set(spelt) <= set("ACGTN"), spelt
            print(k, text, " ".join(map(str, ids)), sep="\t", file=lines)

with tempfile.TemporaryDirectory() as folder:
    AutoTokenizer.from_pretrained(Path(sys.argv[1]) / "kmers_3").save_pretrained(folder)
    (out / "kmers_3_saved.json").write_bytes((Path(folder) / "tokenizer.json").read_bytes())
