#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Make test_data/tokenizer/hf: Hugging Face tokenizers and what they encode (tokenizers, transformers 5).

  gena_like.json   BPE trained by tokenizers' BpeTrainer with the settings of GENA-LM's T2T tokenizer
                   (special tokens [UNK] [CLS] [SEP] [PAD] [MASK], strip, runs of ten and more N as "-", "-" alone)
  encodings.tsv    sequence, ids of gena_like.json, ids that AutoTokenizer gives with our small.model's files
                   (argument: a folder with config.json, tokenizer.json and tokenizer_config.json, as
                   tokenizers_tests writes it with BIGBIRD_WRITE_HF set)
"""
import random
import sys
from pathlib import Path

from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from transformers import AutoTokenizer

folder = Path(__file__).resolve().parents[2] / "test_data" / "tokenizer"
out = folder / "hf"
out.mkdir(exist_ok=True)
sentences = (folder / "sentences.txt").read_text().split()


def train_gena_like():
    tokenizer = Tokenizer(models.BPE(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Strip(), normalizers.Replace(Regex("N{10,}"), "-")])
    tokenizer.pre_tokenizer = pre_tokenizers.Split("-", "isolated")
    trainer = trainers.BpeTrainer(
        vocab_size=600, special_tokens=["[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]", "-"], max_token_length=64,
        initial_alphabet=list("-ABCGKMNRSTWY"), show_progress=False)
    tokenizer.train_from_iterator(sentences + ["A" * 300, "N" * 9, "NN" * 4 + "ACGT"] * 3, trainer)
    tokenizer.post_processor = processors.BertProcessing(
        ("[SEP]", tokenizer.token_to_id("[SEP]")), ("[CLS]", tokenizer.token_to_id("[CLS]")))
    tokenizer.save(str(out / "gena_like.json"))
    return tokenizer


def texts():
    yield from ["ACGTACGTTTTGGAACC", "ACGT" + "N" * 15 + "ACGT", "N" * 9, "acgt", "ACGTDHVR", "A", "ACGTU", " ACGT ",
                "N" * 10, "A" * 777, "AT" * 300, "ATT" * 200, "GATTACA" * 60]
    rng = random.Random(3)
    for _ in range(40):
        letters = rng.choice(["ACGT", "ACGT", "AT", "ACGTN", "ACGTNRYacgtn"])
        text = ""
        unit, repeat = rng.randint(1, 6), rng.random()
        while len(text) < rng.randint(1, 300):
            text += text[-unit] if len(text) >= unit and rng.random() < repeat else rng.choice(letters)
        yield text
    yield from sentences[::10]


gena = train_gena_like()
ours = AutoTokenizer.from_pretrained(sys.argv[1])
with open(out / "encodings.tsv", "w") as lines:
    for text in texts():
        ids = " ".join(map(str, gena.encode(text).ids)), " ".join(map(str, ours(text)["input_ids"]))
        lines.write("\t".join((text, *ids)) + "\n")
