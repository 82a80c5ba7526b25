#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write a folder of a published encoder's form with random weights, for tests of docs and for measurements. Only Python's standard library.

scripts/checks/make_random_encoder.py FORM FOLDER [--hidden 32] [--layers 2] [--heads 4] [--inner 64] [--kmer 6]
FORM: nt-v1, nt-v2, dnabert-1, dnabert-2, gena-bert, modern-gena. Weights are float16.
"""
import argparse
import itertools
import json
import pathlib
import random
import struct

FORMS = ("nt-v1", "nt-v2", "dnabert-1", "dnabert-2", "gena-bert", "modern-gena")
SMALL = bytes((byte & 0x83) | 0x24 for byte in range(256))  # high bytes of float16 numbers between 2^-6 and 2^-5


def number_bytes(generator, name, shape):
    count = 1
    for size in shape:
        count *= size
    if len(shape) == 1:
        return struct.pack("<e", 1.0 if name.endswith("weight") else 0.0) * count
    data = bytearray(generator.randbytes(2 * count))
    data[1::2] = bytes(data[1::2]).translate(SMALL)
    return bytes(data)


def write_safetensors(path, shapes):
    generator, header, parts, end = random.Random(1), {}, [], 0
    for name, shape in sorted(shapes.items()):
        parts.append(number_bytes(generator, name, shape))
        header[name] = {"dtype": "F16", "shape": shape, "data_offsets": [end, end + len(parts[-1])]}
        end += len(parts[-1])
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(parts))


def dense(name, out, size, bias=True):
    return {f"{name}.weight": [out, size]} | ({f"{name}.bias": [out]} if bias else {})


def norm(name, size, bias=True):
    return {f"{name}.weight": [size]} | ({f"{name}.bias": [size]} if bias else {})


def separate(prefix, hidden):
    return {key: shape for part in ("query", "key", "value") for key, shape in dense(f"{prefix}attention.self.{part}", hidden, hidden).items()} \
        | dense(f"{prefix}attention.output.dense", hidden, hidden)


def esm(o, vocabulary, gated):
    shapes = {"esm.embeddings.word_embeddings.weight": [vocabulary, o.hidden], "esm.embeddings.position_embeddings.weight": [o.positions + 2, o.hidden]}
    for i in range(o.layers):
        at = f"esm.encoder.layer.{i}."
        shapes |= separate(at, o.hidden) | norm(f"{at}attention.LayerNorm", o.hidden) | norm(f"{at}LayerNorm", o.hidden)
        shapes |= dense(f"{at}intermediate.dense", (2 if gated else 1) * o.inner, o.hidden, not gated) | dense(f"{at}output.dense", o.hidden, o.inner, not gated)
    shapes |= norm("esm.encoder.emb_layer_norm_after", o.hidden) | dense("lm_head.dense", o.hidden, o.hidden) | norm("lm_head.layer_norm", o.hidden)
    return shapes | {"lm_head.bias": [vocabulary]} | ({"lm_head.decoder.weight": [vocabulary, o.hidden]} if gated else {})


def bert(o, vocabulary, form):
    shapes = {"bert.embeddings.word_embeddings.weight": [vocabulary, o.hidden], "bert.embeddings.token_type_embeddings.weight": [2, o.hidden]}
    shapes |= norm("bert.embeddings.LayerNorm", o.hidden)
    if form != "dnabert-2":
        shapes["bert.embeddings.position_embeddings.weight"] = [o.positions, o.hidden]
    for i in range(o.layers):
        at = f"bert.encoder.layer.{i}."
        if form == "dnabert-2":
            shapes |= dense(f"{at}attention.self.Wqkv", 3 * o.hidden, o.hidden) | dense(f"{at}attention.output.dense", o.hidden, o.hidden)
            shapes |= norm(f"{at}attention.output.LayerNorm", o.hidden) | norm(f"{at}mlp.layernorm", o.hidden)
            shapes |= dense(f"{at}mlp.gated_layers", 2 * o.inner, o.hidden, False) | dense(f"{at}mlp.wo", o.hidden, o.inner)
            continue
        norms = ("pre_attention_ln", "post_attention_ln") if form == "gena-bert" else ("attention.output.LayerNorm", "output.LayerNorm")
        shapes |= separate(at, o.hidden) | norm(at + norms[0], o.hidden) | norm(at + norms[1], o.hidden)
        shapes |= dense(f"{at}intermediate.dense", o.inner, o.hidden) | dense(f"{at}output.dense", o.hidden, o.inner)
    head = "cls.predictions."
    return shapes | dense(f"{head}transform.dense", o.hidden, o.hidden) | norm(f"{head}transform.LayerNorm", o.hidden) | {f"{head}bias": [vocabulary]}


def modernbert(o, vocabulary):
    shapes = {"model.embeddings.tok_embeddings.weight": [vocabulary, o.hidden]} | norm("model.embeddings.norm", o.hidden, False)
    for i in range(o.layers):
        at = f"model.layers.{i}."
        shapes |= dense(f"{at}attn.Wqkv", 3 * o.hidden, o.hidden, False) | dense(f"{at}attn.Wo", o.hidden, o.hidden, False)
        shapes |= norm(f"{at}mlp_norm", o.hidden, False) | dense(f"{at}mlp.Wi", 2 * o.inner, o.hidden, False) | dense(f"{at}mlp.Wo", o.hidden, o.inner, False)
        shapes |= norm(f"{at}attn_norm", o.hidden, False) if i > 0 else {}
    shapes |= norm("model.final_norm", o.hidden, False) | dense("head.dense", o.hidden, o.hidden, False) | norm("head.norm", o.hidden, False)
    return shapes | {"decoder.bias": [vocabulary]}


def bpe(start, with_gaps):
    """Merges of two letters, then of two of these: 5 special tokens, letters, 16 pairs, 256 of four letters."""
    letters = list("ACGTN") + (["-"] if with_gaps else [])
    pairs = [a + b for a in "ACGT" for b in "ACGT"]
    tokens = [*start, *letters, *pairs, *(a + b for a in pairs for b in pairs)]
    merges = [f"{p[0]} {p[1]}" for p in pairs] + [f"{a} {b}" for a in pairs for b in pairs]
    special = [{"id": i, "content": token, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
               for i, token in enumerate(start)]
    gaps = {"normalizer": {"type": "Sequence", "normalizers": [{"type": "Strip", "strip_left": True, "strip_right": True},
                                                               {"type": "Replace", "pattern": {"Regex": "N{10,}"}, "content": "-"}]},
            "pre_tokenizer": {"type": "Split", "pattern": {"String": "-"}, "behavior": "Isolated", "invert": False}}
    none = {"normalizer": None, "pre_tokenizer": {"type": "Whitespace"}}
    return len(tokens), {"version": "1.0", "truncation": None, "padding": None, "added_tokens": special, **(gaps if with_gaps else none),
                         "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", start.index("[SEP]")], "cls": ["[CLS]", start.index("[CLS]")]}, "decoder": None,
                         "model": {"type": "BPE", "dropout": None, "unk_token": "[UNK]", "continuing_subword_prefix": None, "end_of_word_suffix": None,
                                   "fuse_unk": False, "byte_fallback": False, "vocab": {token: i for i, token in enumerate(tokens)}, "merges": merges}}


def write(o):
    o.folder.mkdir(parents=True, exist_ok=True)
    kmers = ["".join(letters) for letters in itertools.product("ATCG", repeat=o.kmer)]
    sizes = {"hidden_size": o.hidden, "num_hidden_layers": o.layers, "num_attention_heads": o.heads, "intermediate_size": o.inner}
    o.positions = 512
    if o.form.startswith("nt"):
        gated = o.form == "nt-v2"
        o.positions = 2048 if gated else 1000
        tokens = ["<unk>", "<pad>", "<mask>", "<cls>", *(["<eos>", "<bos>"] if gated else []), *kmers, *"ATCGN"]
        config = {"pad_token_id": 1, "mask_token_id": 2, "max_position_embeddings": o.positions + 2, "layer_norm_eps": 1e-12, "token_dropout": False,
                  "position_embedding_type": "rotary" if gated else "absolute", "emb_layer_norm_before": False, "tie_word_embeddings": not gated,
                  "hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
        config |= {"add_bias_fnn": False, "auto_map": {"AutoModelForMaskedLM": "modeling_esm.EsmForMaskedLM"}} if gated else {"model_type": "esm"}
        shapes = esm(o, len(tokens), gated)
        settings = {"tokenizer_class": "EsmTokenizer", "cls_token": "<cls>", "eos_token": None, "model_max_length": o.positions}
        (o.folder / "vocab.txt").write_text("".join(f"{token}\n" for token in tokens))
    elif o.form == "dnabert-1":
        tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *kmers]
        config, shapes = {"model_type": "bert", "max_position_embeddings": 512}, bert(o, len(tokens), o.form)
        settings = {"do_lower_case": False}
        (o.folder / "vocab.txt").write_text("".join(f"{token}\n" for token in tokens))
    else:
        gaps = o.form != "dnabert-2"
        count, tokenizer = bpe(["[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"], gaps)
        tokens = range(count)
        settings = {"tokenizer_class": "PreTrainedTokenizerFast"}
        (o.folder / "tokenizer.json").write_text(json.dumps(tokenizer))
        if o.form == "modern-gena":
            config = {"model_type": "modernbert", "norm_eps": 1e-5, "local_attention": 128, "global_attn_every_n_layers": 3, "global_rope_theta": 10000.0,
                      "local_rope_theta": 10000.0, "max_position_embeddings": 1024, "pad_token_id": 3, "hidden_activation": "gelu"}
            shapes = modernbert(o, count)
        else:
            config = {"alibi_starting_size": 512} if o.form == "dnabert-2" else {"model_type": "bert", "pre_layer_norm": True, "last_layer_norm": False, "pad_token_id": 3}
            config |= {"max_position_embeddings": 512, "layer_norm_eps": 1e-12}
            shapes = bert(o, count, o.form)
    if "modern" not in o.form and not o.form.startswith("nt"):
        config |= {"type_vocab_size": 2, "hidden_act": "gelu"}
    (o.folder / "config.json").write_text(json.dumps({"architectures": ["ForMaskedLM"], "vocab_size": len(tokens), **sizes, **config}, indent=1))
    (o.folder / "tokenizer_config.json").write_text(json.dumps(settings))
    write_safetensors(o.folder / "model.safetensors", shapes)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("form", choices=FORMS)
    parser.add_argument("folder", type=pathlib.Path)
    for name, value in {"hidden": 32, "layers": 2, "heads": 4, "inner": 64, "kmer": 6}.items():
        parser.add_argument(f"--{name}", type=int, default=value)
    write(parser.parse_args())
