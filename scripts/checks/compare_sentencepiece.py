#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare_sentencepiece.py --program BIGBIRD_DNA --folder DIR FASTA...: the exact trainer beside Python's sentencepiece.

Trains with both on the same sentences, one strand and both, without N and with it, for vocabularies of 512, 4,096 and
32,000 and pieces of up to 16 and 64 bases, and compares the .vocab files byte for byte, and the .model files but for the
recorded settings of the trainer.
Where no SentencePiece of that version is installed as a library, this is how to compare with it: 0.1.99 and later count
overlapping pairs, as --count-overlaps every does. Prints a line a comparison; fails where two differ.
"""
import argparse
import subprocess
import sys
import time
from itertools import product
from pathlib import Path

import sentencepiece

LONGEST_SENTENCE = 30000


def sentences_of(documents, path):
    """Cut at N, as bigbird-dna cuts them."""
    total = 0
    with open(documents) as lines, open(path, "w") as out:
        for line in lines:
            for part in line.strip().replace("N", " ").split():
                out.write(part + "\n")
                total += len(part)
        out.write("N\n" * (total // 2**24 + 1))  # every letter must be a piece
    return total


def train(sentences, vocabulary, limit, prefix):
    sentencepiece.SentencePieceTrainer.train(
        input=str(sentences), model_prefix=str(prefix), model_type="bpe", vocab_size=vocabulary,
        max_sentencepiece_length=limit, max_sentence_length=LONGEST_SENTENCE, num_threads=1, character_coverage=1.0,
        normalization_rule_name="identity", add_dummy_prefix=False, remove_extra_whitespaces=False,
        split_by_unicode_script=False, split_by_number=False, split_by_whitespace=False, pad_id=0, unk_id=1, bos_id=2,
        eos_id=3, pad_piece="[PAD]", unk_piece="[UNK]", bos_piece="[CLS]", eos_piece="[SEP]", control_symbols=["[MASK]"],
        minloglevel=2)


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value, at, shift = value | (byte & 0x7F) << shift, at + 1, shift + 7
        if byte < 0x80:
            return value, at


def without_trainer_settings(model):
    """The fields of a ModelProto, whose wire type is 2 throughout, but for trainer_spec."""
    trainer_spec, data, fields, at = 2, model.read_bytes(), [], 0
    while at < len(data):
        key, at = varint(data, at)
        assert key & 7 == 2, f"{model}: an unknown kind of field"
        size, at = varint(data, at)
        if key >> 3 != trainer_spec:
            fields.append((key >> 3, data[at:at + size]))
        at += size
    return fields


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--vocabularies", type=int, nargs="+", default=[512, 4096, 32000])
    parser.add_argument("--limits", type=int, nargs="+", default=[16, 64])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("fasta", nargs="+")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    documents, sentences = options.folder / "documents.txt", options.folder / "sentences.txt"
    compared = different = 0
    for strands, n_fraction in product(("none", "add"), ("0", "1")):
        subprocess.run([options.program, "build-documents", "--quiet", "--force", "--passes", "1", "--reference", *options.fasta,
                        "--reverse-complement", strands, "--max-n-fraction", n_fraction, "--output", documents], check=True)
        bases = sentences_of(documents, sentences)
        for vocabulary, limit in product(options.vocabularies, options.limits):
            start = time.perf_counter()
            subprocess.run([options.program, "train-tokenizer", "--quiet", "--force", "--documents", documents, "--vocab-size",
                            str(vocabulary), "--max-piece-length", str(limit), "--count-overlaps", "every", "--threads",
                            str(options.threads), "--output", options.folder / "ours.model"], check=True)
            middle = time.perf_counter()
            train(sentences, vocabulary, limit, options.folder / "theirs")
            end = time.perf_counter()
            ours, theirs = (((options.folder / f"{name}.vocab").read_bytes(), without_trainer_settings(options.folder / f"{name}.model"))
                            for name in ("ours", "theirs"))
            compared += 1
            different += ours != theirs
            print(f"{bases / 1e6:7.1f} Mb  strands {strands:4}  N up to {n_fraction}  {vocabulary:6} pieces of up to {limit:2}  "
                  f"{middle - start:6.1f} s {end - middle:6.1f} s  {'identical' if ours == theirs else 'DIFFERENT'}", flush=True)
    print(f"SentencePiece {sentencepiece.__version__}: {compared - different} of {compared} identical")
    sys.exit(different > 0)


if __name__ == "__main__":
    main()
