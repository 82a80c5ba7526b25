#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Make test_data/tokenizer/small_0.2.3.vocab: 2,000 pieces of sentences.txt by Python's sentencepiece 0.2.3.

From 0.1.99 on SentencePiece counts every AA of AAA, before every other one, so its pieces differ from small.vocab's.
"""
from pathlib import Path

import sentencepiece

folder = Path(__file__).resolve().parents[2] / "test_data" / "tokenizer"
assert sentencepiece.__version__ == "0.2.3", sentencepiece.__version__
sentences = (folder / "sentences.txt").read_text().split() + ["N"]
sentencepiece.SentencePieceTrainer.train(
    sentence_iterator=iter(sentences), model_prefix=str(folder / "small_0.2.3"), model_type="bpe", vocab_size=2000,
    max_sentencepiece_length=16, max_sentence_length=30000, character_coverage=1.0, normalization_rule_name="identity",
    add_dummy_prefix=False, remove_extra_whitespaces=False, split_by_unicode_script=False, split_by_number=False,
    split_by_whitespace=False, pad_id=0, unk_id=1, bos_id=2, eos_id=3, pad_piece="[PAD]", unk_piece="[UNK]",
    bos_piece="[CLS]", eos_piece="[SEP]", control_symbols=["[MASK]"], minloglevel=2)
(folder / "small_0.2.3.model").unlink()
