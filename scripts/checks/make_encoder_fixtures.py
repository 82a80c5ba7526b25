#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Make test_data/encoders/pytorch_model.bin and forms.json: what transformers (5.24) and the oracles below compute with published forms of encoders and random weights.

Each case has a config.json, the names and shapes of the weights, inputs, and at `positions` of every sample the hidden states of each layer and the logits
of masked-token prediction, in fp64. Weights are a function of the name and the index, `weight()`, so that the file need not hold them: the test makes the same.
transformers computes ESM, ModernBERT and BERT. Nucleotide Transformer v2 is its ESM with another feed-forward. BERT with ALiBi and GENA-LM's BERT are
written here from their papers' and repositories' descriptions; with zero slopes, or the norms moved, they are compared with BertForMaskedLM.
Needs torch, transformers and numpy. --folders DIR writes complete folders instead, of sizes of one's own, with expected.safetensors.
"""
import argparse
import json
import math
import pathlib
import zlib

import numpy
import torch
from torch import nn
from transformers import BertConfig, BertForMaskedLM, EsmConfig, EsmForMaskedLM, ModernBertConfig, ModernBertForMaskedLM

target = pathlib.Path(__file__).parents[2] / "test_data/encoders/forms.json"


def weight(name, shape):
    """Numbers in (-1, 1) by splitmix64 of the name's CRC-32 and the index, in multiples of 2^-24; around 1 for weights of norms."""
    count = math.prod(shape)
    with numpy.errstate(over="ignore"):
        x = numpy.arange(count, dtype=numpy.uint64) + (numpy.uint64(zlib.crc32(name.encode())) << numpy.uint64(32))
        x = (x + numpy.uint64(0x9E3779B97F4A7C15)).astype(numpy.uint64)
        x = (x ^ (x >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
        x = x ^ (x >> numpy.uint64(31))
    unit = (x >> numpy.uint64(39)).astype(numpy.float64) / 2**24 - 1
    norm = len(shape) == 1 and name.endswith("weight")
    return torch.from_numpy((1 + 0.3 * unit if norm else (0.4 if len(shape) == 2 else 0.3) * unit).astype(numpy.float32)).reshape(shape)


def fill(model):
    state = {name: weight(name, tuple(tensor.shape)) for name, tensor in file_state(model).items()}
    unexpected = model.load_state_dict(state, strict=False).unexpected_keys
    assert not unexpected, unexpected
    return model.double().eval()


class Gate(nn.Module):
    """Nucleotide Transformer v2's intermediate layer: silu(first half) * second half."""

    def __init__(self, hidden, inner, bias):
        super().__init__()
        self.dense = nn.Linear(hidden, 2 * inner, bias=bias)

    def forward(self, x):
        a, b = self.dense(x).chunk(2, -1)
        return nn.functional.silu(a) * b


def nucleotide_transformer(config, bias):
    model = EsmForMaskedLM(config)
    for layer in model.esm.encoder.layer:
        layer.intermediate = Gate(config.hidden_size, config.intermediate_size, bias)
        layer.output.dense = nn.Linear(config.intermediate_size, config.hidden_size, bias=bias)
    return model


class Attention(nn.Module):
    def __init__(self, hidden, heads, joined):
        super().__init__()
        self.heads = heads
        if joined:
            self.Wqkv = nn.Linear(hidden, 3 * hidden)
        else:
            self.query, self.key, self.value = (nn.Linear(hidden, hidden) for _ in range(3))

    def forward(self, x, bias):
        q, k, v = self.Wqkv(x).chunk(3, -1) if hasattr(self, "Wqkv") else (self.query(x), self.key(x), self.value(x))
        split = lambda y: y.view(*y.shape[:2], self.heads, -1).transpose(1, 2)
        scores = split(q) @ split(k).transpose(2, 3) / math.sqrt(x.shape[2] / self.heads) + bias
        return (scores.softmax(-1) @ split(v)).transpose(1, 2).flatten(2)


def slopes(heads):
    def of_power(n):
        return [2 ** (-8 * (i + 1) / n) for i in range(n)]

    power = 2 ** math.floor(math.log2(heads))
    return of_power(heads) if power == heads else of_power(power) + of_power(2 * power)[0::2][:heads - power]


def named(**parts):
    module = nn.Module()
    for name, part in parts.items():
        setattr(module, name, part)
    return module


class Bert(nn.Module):
    """BertForMaskedLM with ALiBi and a gated feed-forward (DNABERT-2), or with norms before blocks (GENA-LM). Names of weights are those of their files."""

    def __init__(self, config, alibi, last_norm=False):
        super().__init__()
        self.config, self.alibi = config, alibi
        hidden, inner, eps = config["hidden_size"], config["intermediate_size"], config["layer_norm_eps"]
        norm = lambda e=eps: nn.LayerNorm(hidden, e)
        parts = dict(word_embeddings=nn.Embedding(config["vocab_size"], hidden), token_type_embeddings=nn.Embedding(config["type_vocab_size"], hidden), LayerNorm=norm())
        if not alibi:
            parts["position_embeddings"] = nn.Embedding(config["max_position_embeddings"], hidden)
        layers = nn.ModuleList()
        for _ in range(config["num_hidden_layers"]):
            attention = named(self=Attention(hidden, config["num_attention_heads"], alibi), output=named(dense=nn.Linear(hidden, hidden)))
            if alibi:
                attention.output.LayerNorm = norm()
                mlp = named(gated_layers=nn.Linear(hidden, 2 * inner, bias=False), wo=nn.Linear(inner, hidden), layernorm=norm())
                layers.append(named(attention=attention, mlp=mlp))
            else:
                layers.append(named(attention=attention, pre_attention_ln=norm(), post_attention_ln=norm(),
                                    intermediate=named(dense=nn.Linear(hidden, inner)), output=named(dense=nn.Linear(inner, hidden))))
        encoder = named(layer=layers)
        if last_norm:
            encoder.last_layer_ln = norm()
        self.bert = named(embeddings=named(**parts), encoder=encoder)
        transform = named(dense=nn.Linear(hidden, hidden), LayerNorm=norm(1e-12 if alibi else eps))
        decoder = nn.Linear(hidden, config["vocab_size"])
        decoder.weight = self.bert.embeddings.word_embeddings.weight
        self.cls = named(predictions=named(transform=transform, decoder=decoder))

    def forward(self, input_ids, attention_mask):
        gelu = nn.functional.gelu
        parts = self.bert.embeddings
        x = parts.word_embeddings(input_ids) + parts.token_type_embeddings.weight[0]
        if not self.alibi:
            x = x + parts.position_embeddings.weight[:x.shape[1]]
        x = parts.LayerNorm(x)
        bias = (1 - attention_mask[:, None, None, :].double()) * -10000
        if self.alibi:
            index = torch.arange(x.shape[1])
            bias = bias - torch.tensor(slopes(self.config["num_attention_heads"])).double()[:, None, None] * (index[:, None] - index).abs()
        bias = bias.to(x.dtype)
        states = [x]
        for layer in self.bert.encoder.layer:
            attention = layer.attention
            if self.alibi:
                x = attention.output.LayerNorm(x + attention.output.dense(getattr(attention, "self")(x, bias)))
                a, b = layer.mlp.gated_layers(x).chunk(2, -1)
                x = layer.mlp.layernorm(x + layer.mlp.wo(gelu(a) * b))
            else:
                x = x + attention.output.dense(getattr(attention, "self")(layer.pre_attention_ln(x), bias))
                x = x + layer.output.dense(gelu(layer.intermediate.dense(layer.post_attention_ln(x))))
            states.append(x)
        if hasattr(self.bert.encoder, "last_layer_ln"):
            states[-1] = x = self.bert.encoder.last_layer_ln(x)
        head = self.cls.predictions
        logits = head.decoder(head.transform.LayerNorm(gelu(head.transform.dense(x))))
        return named_output(states, logits)


def named_output(states, logits):
    return type("Output", (), {"hidden_states": states, "logits": logits})


SIZES = dict(vocab_size=24, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=20)


def esm(**changes):
    keys = dict(SIZES, pad_token_id=1, mask_token_id=2, max_position_embeddings=34, layer_norm_eps=1e-12, position_embedding_type="absolute",
                emb_layer_norm_before=False, token_dropout=False, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, tie_word_embeddings=True) | changes
    return EsmForMaskedLM(EsmConfig(**keys, attn_implementation="eager")), dict(keys, model_type="esm")


def nt2(bias, **changes):
    keys = esm(position_embedding_type="rotary", tie_word_embeddings=False, **changes)[1]
    del keys["model_type"]  # as in the published config.json
    model = nucleotide_transformer(EsmConfig(**keys, attn_implementation="eager"), bias)
    return model, dict(keys, add_bias_fnn=bias)


def modernbert(old=False, **changes):
    keys = dict(SIZES, num_hidden_layers=4, pad_token_id=3, cls_token_id=1, sep_token_id=2, bos_token_id=1, eos_token_id=2, max_position_embeddings=64,
                local_attention=8, global_attn_every_n_layers=3, norm_eps=1e-5) | changes
    config = ModernBertConfig(**keys, attn_implementation="eager")
    written = dict(keys, model_type="modernbert")
    if not old:
        del written["global_attn_every_n_layers"]
        written |= dict(layer_types=config.layer_types, rope_parameters=config.rope_parameters)
    return ModernBertForMaskedLM(config), written


def bert(**changes):
    keys = dict(SIZES, type_vocab_size=2, max_position_embeddings=40, layer_norm_eps=1e-12, hidden_act="gelu", pad_token_id=0) | changes
    return BertForMaskedLM(BertConfig(**keys, attn_implementation="eager")), dict(keys, model_type="bert")


def own_bert(alibi, last_norm=None, **changes):
    keys = bert(**changes)[1]
    if alibi:
        keys |= dict(position_embedding_type="absolute", alibi_starting_size=512)
        del keys["model_type"], keys["pad_token_id"]  # as in DNABERT-2's
    else:
        keys |= dict(pre_layer_norm=True) | ({} if last_norm is None else dict(last_layer_norm=last_norm))
    return Bert(keys, alibi, last_norm is not False and not alibi), keys


CASES = {
    "esm": lambda: esm(),
    "esm-rotary": lambda: esm(position_embedding_type="rotary", emb_layer_norm_before=True, num_attention_heads=4),
    "esm-dropout": lambda: esm(token_dropout=True, tie_word_embeddings=False, layer_norm_eps=1e-5),
    "nt-v2": lambda: nt2(False),
    "nt-v2-bias": lambda: nt2(True, num_attention_heads=4),
    "modernbert": lambda: modernbert(),
    "modernbert-old": lambda: modernbert(True, global_rope_theta=10000.0, local_rope_theta=10000.0, norm_bias=True, attention_bias=True, mlp_bias=True,
                                         classifier_bias=True, tie_word_embeddings=False, num_hidden_layers=3, global_attn_every_n_layers=2),
    "bert-alibi": lambda: own_bert(True),
    "bert-alibi-heads": lambda: own_bert(True, hidden_size=24, num_attention_heads=6),
    "gena": lambda: own_bert(False, last_norm=False, pad_token_id=3),
    "gena-lastln": lambda: own_bert(False, pad_token_id=3, layer_norm_eps=1e-5),
    "bert": lambda: bert(),
}


def inputs_of(config, lengths):
    generator = torch.Generator().manual_seed(1)
    pad = config.get("pad_token_id", 0)
    ids = torch.randint(4, config["vocab_size"], (len(lengths), max(lengths)), generator=generator)
    mask = torch.arange(max(lengths))[None, :] < torch.tensor(lengths)[:, None]
    ids[:, 3] = config.get("mask_token_id", 4)
    return ids.masked_fill(~mask, pad), mask.long()


def run(model, ids, mask):
    with torch.no_grad():
        if isinstance(model, Bert):
            return model(ids, mask)
        return model(input_ids=ids, attention_mask=mask, output_hidden_states=True)


def file_state(model):
    """Weights as the published files have them: tied ones once."""
    state = {name: tensor for name, tensor in model.state_dict().items() if tensor.is_floating_point() and "inv_freq" not in name}
    tied = getattr(model.config, "tie_word_embeddings", True) if not isinstance(model, Bert) else True
    if tied:
        for name in ("lm_head.decoder.weight", "decoder.weight", "cls.predictions.decoder.weight"):
            state.pop(name, None)
    if "cls.predictions.bias" in state:
        state.pop("cls.predictions.decoder.bias", None)
    return state


def check_bert():
    """The oracle without ALiBi's slopes, gates and moved norms would be BERT: compare attention, embeddings and head by making them so."""
    model, _ = bert()
    fill(model)
    ids, mask = inputs_of(dict(SIZES, pad_token_id=0), [9, 12])
    own, keys = own_bert(False, last_norm=False)
    fill(own)
    reference = run(model, ids, mask)
    for name, tensor in own.state_dict().items():  # embeddings have the same names, so the same weights
        if name.startswith("bert.embeddings"):
            assert torch.equal(tensor, model.state_dict()[name]), name
    assert torch.allclose(run(own, ids, mask).hidden_states[0], reference.hidden_states[0], atol=1e-12)
    layer = own.bert.encoder.layer[0]
    theirs = model.bert.encoder.layer[0]
    x = reference.hidden_states[0]
    bias = (1 - mask[:, None, None, :].double()) * -10000
    with torch.no_grad():
        mine = layer.attention.output.dense(getattr(layer.attention, "self")(x, bias))
        wanted = theirs.attention.output.dense(theirs.attention.self(x, bias)[0])
    assert torch.allclose(mine, wanted, atol=1e-10), (mine - wanted).abs().max()


def rounded(tensor):
    return [float(f"{value:.7g}") for value in tensor.flatten().tolist()]


def write_cases():
    check_bert()
    lengths, positions = [21, 18], [0, 15]
    cases = {}
    for name, make in CASES.items():
        model, config = make()
        ids, mask = inputs_of(config, lengths)
        output = run(fill(model), ids, mask)
        state = file_state(model)
        cases[name] = dict(config={**config, "architectures": ["AnyForMaskedLM"]},
                           weights={key: list(tensor.shape) for key, tensor in state.items()},
                           input_ids=ids.tolist(), lengths=lengths, positions=positions,
                           hidden={str(i): rounded(output.hidden_states[i][:, positions]) for i in (1, len(output.hidden_states) - 1)},
                           logits=rounded(output.logits[:, positions]))
    target.parent.mkdir(exist_ok=True)
    target.write_text(json.dumps(cases, separators=(",", ":")) + "\n")
    print(target, target.stat().st_size, "bytes")


def write_bin():
    """A pytorch_model.bin: a matrix, half of its storage, a transposed view, bfloat16 and float16, and a name of a wrapper."""
    matrix = torch.arange(12.0).reshape(3, 4)
    torch.save({"module.matrix": matrix, "part": matrix[1:], "turned": matrix.t(), "half": matrix.half(), "bfloat": matrix.bfloat16(),
                "ids": torch.arange(3), "x.LayerNorm.gamma": nn.Parameter(torch.ones(2))}, target.parent / "pytorch_model.bin")


def write_folders(directory):
    """Each case as a folder with random weights of other sizes, for checks by hand and measurements."""
    from safetensors.torch import save_file
    for name, make in CASES.items():
        globals()["SIZES"] = dict(vocab_size=73, hidden_size=96, num_hidden_layers=5, num_attention_heads=6, intermediate_size=160)
        model, config = make()
        config |= {"max_position_embeddings": config["max_position_embeddings"]}
        folder = directory / name
        folder.mkdir(parents=True, exist_ok=True)
        ids, mask = inputs_of(config, [31, 30, 27])
        output = run(fill(model), ids, mask)
        save_file({key: tensor.float().clone().contiguous() for key, tensor in file_state(model).items()}, folder / "model.safetensors")
        (folder / "config.json").write_text(json.dumps({**config, "architectures": ["AnyForMaskedLM"]}, indent=1))
        save_file({"input_ids": ids, "attention_mask": mask}, folder / "inputs.safetensors")
        save_file({"logits": output.logits.contiguous(), **{f"hidden_states.{i}": state.clone().contiguous() for i, state in enumerate(output.hidden_states)}},
                  folder / "expected.safetensors")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folders", type=pathlib.Path)
    given = parser.parse_args()
    if given.folders:
        write_folders(given.folders)
    else:
        write_cases()
        write_bin()
