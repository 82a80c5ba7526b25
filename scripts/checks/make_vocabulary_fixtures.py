#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Make test_data/tokenizer/vocabularies.json: what transformers (5.24) encodes with small vocabularies of k-mers, and tokenizers with a BPE behind Whitespace.

esm: EsmTokenizer with 3-mers of A T C G and single letters, as Nucleotide Transformer's vocab.txt; overlapping: BertTokenizer without lower-casing, given
DNABERT's k-mers with blanks between them; whitespace: a tokenizer.json with DNABERT-2's pre-tokenizer. Texts are fuzzed: N, IUPAC letters, lower case,
<mask>, blanks. ids are those between [CLS] and [SEP].
"""
import itertools
import json
import pathlib
import random
import tempfile

from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import BertTokenizer, EsmTokenizer

target = pathlib.Path(__file__).parents[2] / "test_data/tokenizer/vocabularies.json"
KMERS = ["".join(letters) for letters in itertools.product("ATCG", repeat=3)]


def texts(extra):
    yield from ["", "A", "AC", "ACGTGTACNTGCACGGANCGACTAGTCTGA", "N" * 7, "ACGRYACG", "ACGacgACG", " ACG TTT ", "RACGT", "ACGTR"]
    rng = random.Random(5)
    for _ in range(30):
        parts = [rng.choice(["ACGT", "ACGT", "ACGT", "ACGTN", "ACGTNRYacgt"]) for _ in range(rng.randint(1, 4))]
        text = "".join("".join(rng.choice(letters) for _ in range(rng.randint(0, 12))) + rng.choice(["", "", "N", extra, " "]) for letters in parts)
        yield text


def with_file(lines, encode):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "vocab.txt"
        path.write_text("".join(line + "\n" for line in lines))
        return encode(str(path))


def esm(path):
    tokenizer = EsmTokenizer(path, eos_token=None)
    return [[text, tokenizer(text)["input_ids"][1:]] for text in texts("<mask>")]


def overlapping(path):
    tokenizer = BertTokenizer(path, do_lower_case=False, do_basic_tokenize=True)
    kmers = lambda text: " ".join(text[i:i + 3] for i in range(len(text) - 2))
    return [[text, tokenizer(kmers(text))["input_ids"][1:-1]] for text in texts("") if " " not in text]


def whitespace():
    tokenizer = Tokenizer(models.BPE(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    rng = random.Random(1)
    lines = ["".join(rng.choice("AAACGT") for _ in range(80)) for _ in range(20)]
    tokenizer.train_from_iterator(lines, trainers.BpeTrainer(vocab_size=24, special_tokens=["[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"], show_progress=False))
    return json.loads(tokenizer.to_str()), [[text, tokenizer.encode(text).ids] for text in texts("[MASK]-")]


vocabularies = {"esm": ["<unk>", "<pad>", "<mask>", "<cls>", *KMERS, *"ATCGN"], "overlapping": ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *KMERS]}
content = {name: {"vocabulary": lines, "texts": with_file(lines, {"esm": esm, "overlapping": overlapping}[name])} for name, lines in vocabularies.items()}
tokenizer_json, encoded = whitespace()
content["whitespace"] = {"tokenizer": tokenizer_json, "texts": encoded}
target.write_text(json.dumps(content, separators=(",", ":")) + "\n")
print(target, target.stat().st_size, "bytes")
