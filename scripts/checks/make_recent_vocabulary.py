#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Make test_data/tokenizer/small_0.2.3.vocab: 2,000 pieces of sentences.txt by Python's sentencepiece 0.2.3.

From 0.1.99 on SentencePiece counts every AA of AAA, before every other one, so its pieces differ from small.vocab's.
"""
import sentencepiece
from make_tokenizer_fixtures import OPTIONS, folder

assert sentencepiece.__version__ == "0.2.3", sentencepiece.__version__
sentences = (folder / "sentences.txt").read_text().split() + ["N"]
sentencepiece.SentencePieceTrainer.train(
    sentence_iterator=iter(sentences), model_prefix=str(folder / "small_0.2.3"), vocab_size=2000, max_sentence_length=30000, **OPTIONS)
(folder / "small_0.2.3.model").unlink()
