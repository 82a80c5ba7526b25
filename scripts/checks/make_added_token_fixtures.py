#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Make test_data/tokenizer/hf/added_tokens.json: tokens added to gena_like.json, and what tokenizers (0.23.3) encodes.

Each case has the normalizer and the added_tokens that replace gena_like.json's, and rows of text, ids and spans.
"""
import json
import random

from make_token_labels import DATA, contig
from tokenizers import AddedToken, Regex, Tokenizer, normalizers

base = DATA / "tokenizer" / "hf" / "gena_like.json"
genome = contig().strip("N")
rng = random.Random(7)
own = Tokenizer.from_file(str(base)).normalizer
upper = normalizers.Sequence([normalizers.Replace(Regex("a"), "A"), normalizers.Replace(Regex("[tuU]"), "T")])
contents = ["TATAAA", "TATA", "CACGTG", "AA", "GGGCGG", "TATAAATA", "-A", "AC GT", "tata", "N", "CCAAT", "A"]


def token(content):
    return AddedToken(content, single_word=rng.random() < .3, lstrip=rng.random() < .4, rstrip=rng.random() < .4,
                      normalized=rng.random() < .5)


def text(added):
    parts = added + [" ", "  ", "\t", "-", "_", "[SEP]", "[MASK]", "N" * 12, "a", "t", "G", "CA", "TA"]
    begin = rng.randrange(len(genome) - 100)
    return "".join(rng.choice(parts) if rng.random() < .7 else genome[begin:begin + rng.randint(1, 12)]
                   for _ in range(rng.randint(1, 9)))


def case(normalizer, added, special):
    tokenizer = Tokenizer.from_file(str(base))
    tokenizer.normalizer = normalizer
    tokenizer.add_tokens(added)
    tokenizer.add_special_tokens(special)
    saved = json.loads(tokenizer.to_str())
    names = [str(t.content) for t in added + special]
    begin = rng.randrange(len(genome) - 150)
    rows = []
    for line in [genome[begin:begin + 150].upper(), " TATAAA TATA ", *(text(names) for _ in range(8))]:
        found = tokenizer.encode(line, add_special_tokens=False)
        rows.append([line, found.ids, [list(span) for span in found.offsets]])
    return {"normalizer": saved["normalizer"], "added_tokens": saved["added_tokens"], "rows": rows}


cases = [case(None, [AddedToken("TATAAA", normalized=True), AddedToken("CACGTG", normalized=False)], [])]
for normalizer in [None, own, own, upper, upper, normalizers.Lowercase(), normalizers.Strip()] * 2:
    picked = rng.sample(contents, 5)
    cases.append(case(normalizer, [token(c) for c in picked[:4]], [AddedToken(picked[4], normalized=False)]))
with open(DATA / "tokenizer" / "hf" / "added_tokens.json", "w") as out:
    out.write("[\n" + ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases) + "\n]\n")
