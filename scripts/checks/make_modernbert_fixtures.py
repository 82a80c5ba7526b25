#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Make test_data/model/modernbert: what transformers' ModernBertModel (5.17, torch 2.11.0) computes in fp64 with small random weights, and the same weights
as a model of type bigbird_dna: norm before, rotary positions, gated feed-forward, full attention.

ModernBERT has no LayerNorm before the first layer's attention. The norm of its embeddings is left at weight 1 and bias 0 here, so that a second one changes
nothing. What it does not have (token types, biases) is 0. cases/full_100_padded.safetensors has the inputs and, at `positions` of every sample,
hidden_states.I and fp32_error.hidden_states.I as make_parity_fixtures.py writes them. transformers turns queries and keys in fp32 whatever the type.
"""
import json

import torch
from make_parity_fixtures import folder as models
from make_parity_fixtures import randomise, save_case
from safetensors.torch import save_file
from transformers import ModernBertConfig, ModernBertModel

folder = models / "modernbert"
LAYERS, HIDDEN, INNER, HEADS, VOCABULARY, THETA, EPSILON = 2, 64, 96, 4, 50, 160_000.0, 1e-12


def modernbert():
    config = ModernBertConfig(vocab_size=VOCABULARY, hidden_size=HIDDEN, intermediate_size=INNER, num_hidden_layers=LAYERS, num_attention_heads=HEADS,
                              hidden_activation="gelu", norm_eps=EPSILON, global_attn_every_n_layers=1, global_rope_theta=THETA, embedding_dropout=0.0,
                              attention_dropout=0.0, mlp_dropout=0.0, pad_token_id=0, bos_token_id=None,
                              eos_token_id=None, cls_token_id=None, sep_token_id=None, attn_implementation="eager")
    model = randomise(ModernBertModel(config).eval(), 1)
    torch.nn.init.ones_(model.embeddings.norm.weight)
    return model


def as_bigbird(model):
    zeros = lambda *shape: torch.zeros(shape)
    out = {"embeddings.word_embeddings.weight": model.embeddings.tok_embeddings.weight, "embeddings.token_type_embeddings.weight": zeros(2, HIDDEN)}

    def norm(name, weight):
        out[name + ".weight"], out[name + ".bias"] = weight, zeros(HIDDEN)

    def dense(name, weight):
        out[name + ".weight"], out[name + ".bias"] = weight, zeros(weight.shape[0])

    norm("embeddings.LayerNorm", model.embeddings.norm.weight)
    for index, layer in enumerate(model.layers):
        here = f"encoder.layer.{index}."
        for part, weight in zip(("query", "key", "value"), layer.attn.Wqkv.weight.chunk(3)):
            out[f"{here}attention.self.{part}.weight"] = weight
        dense(here + "attention.output.dense", layer.attn.Wo.weight)
        norm(here + "attention.output.LayerNorm", torch.ones(HIDDEN) if index == 0 else layer.attn_norm.weight)
        expanded, gate = layer.mlp.Wi.weight.chunk(2)
        dense(here + "intermediate.dense", expanded)
        dense(here + "intermediate.gate", gate)
        dense(here + "output.dense", layer.mlp.Wo.weight)
        norm(here + "output.LayerNorm", layer.mlp_norm.weight)
    norm("encoder.LayerNorm", model.final_norm.weight)
    dense("pooler", zeros(HIDDEN, HIDDEN))
    return {name: tensor.detach().clone().contiguous() for name, tensor in out.items()}


def hidden_states(model, inputs):
    with torch.no_grad():
        output = model(**inputs, output_hidden_states=True)
    return [*output.hidden_states[:LAYERS], output.last_hidden_state]


def main():
    model = modernbert()
    (folder / "cases").mkdir(parents=True, exist_ok=True)
    save_file(as_bigbird(model), folder / "model.safetensors", metadata={"format": "pt"})
    config = {"model_type": "bigbird_dna", "architectures": ["BigBirdModel"], "vocab_size": VOCABULARY, "hidden_size": HIDDEN, "num_hidden_layers": LAYERS,
              "num_attention_heads": HEADS, "intermediate_size": INNER, "max_position_embeddings": 256, "type_vocab_size": 2, "hidden_act": "gelu",
              "hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0, "layer_norm_eps": EPSILON, "use_bias": False, "pad_token_id": 0,
              "block_size": 16, "attention_type": "original_full", "norm": "pre", "position_embedding_type": "rotary", "rope_theta": THETA,
              "feed_forward": "gated", "initialization": "normal", "embedding_convolution": 0}
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")

    generator = torch.Generator().manual_seed(2)
    lengths, longest = [100, 61], 100
    mask = torch.tensor([[int(i < length) for i in range(longest)] for length in lengths])
    ids = torch.randint(5, VOCABULARY, mask.shape, generator=generator) * mask
    positions = torch.tensor([0, 1, 2, 17, 40, 59, 60])
    single, double = hidden_states(model, {"input_ids": ids, "attention_mask": mask}), hidden_states(model.double(), {"input_ids": ids, "attention_mask": mask})
    case = {"input_ids": ids, "attention_mask": mask, "token_type_ids": torch.zeros_like(ids), "positions": positions}
    for index, (rough, exact) in enumerate(zip(single, double)):
        case[f"hidden_states.{index}"] = exact[:, positions].contiguous()
        case[f"fp32_error.hidden_states.{index}"] = (rough.double() - exact)[:, positions].abs().max().reshape(1)
    save_case(case, folder, "full_100_padded")


if __name__ == "__main__":
    main()
