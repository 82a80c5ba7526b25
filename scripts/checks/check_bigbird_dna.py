#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_bigbird_dna.py [MODEL ...] [--program build/bin/bigbird-dna]

lib/bigbird/model/files/data/modeling_bigbird_dna.py beside `bigbird-dna forward`: the hidden states of every layer and the logits must agree to 1e-5 in fp32 and to
1e-10 in fp64 (of the largest number, where that is above 1). Each model is tried on inputs that attend fully and on longer ones, padded and whole.
  MODEL ...     model folders that the program wrote
  (none)        small models with random weights in every form and of every attention pattern; the classes, saving, a training step, what is refused
Prints a line a check. Exit code 0 where all is well. Needs torch, transformers and safetensors.
"""
import itertools
import sys
from pathlib import Path

import torch
import transformers
from check_round_trips import ROOT, inputs_of, main, same_bytes, shift_vectors, weights

sys.path.insert(0, str(ROOT / "lib" / "bigbird" / "model" / "files" / "data"))
from modeling_bigbird_dna import BigBirdDnaConfig, BigBirdDnaForMaskedLM, BigBirdDnaForPreTraining, BigBirdDnaModel  # noqa: E402

SMALL = dict(vocab_size=90, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48, max_position_embeddings=256, block_size=8,
             num_random_blocks=2, random_blocks_source="uniform", random_blocks_seed=5, initializer_range=0.2)
FORMS = dict(norm=("pre", "post"), position_embedding_type=("rotary", "absolute", "none"), feed_forward=("plain", "gated"), embedding_convolution=(0, 3))
ROTARY = {"rotary base of 500": dict(rope_theta=500.0), "positions divided by 4": dict(rope_scaling=dict(rope_type="linear", factor=4.0)),
          "base stretched by 2.5": dict(rope_scaling=dict(rope_type="ntk", factor=2.5), rope_theta=2000.0)}
TYPES = {"fp32": torch.float32, "fp64": torch.float64}
MODERN = dict(norm="pre", position_embedding_type="rotary", feed_forward="gated", embedding_convolution=5)
PATTERNS = {
    "full": dict(attention_type="original_full"), "leading globals": dict(global_blocks_placement="first", num_global_blocks=3),
    "window of 5 blocks, none random": dict(num_window_blocks=5, num_random_blocks=0), "random blocks alone": dict(num_window_blocks=0, num_global_blocks=0),
    "more random blocks than are free": dict(num_random_blocks=9), "a seed of 64 bits": dict(random_blocks_seed=2**64 - 1),
    "transformers' random blocks": dict(random_blocks_source="hf"),
    "longformer": dict(attention_pattern="longformer", attention_window_tokens=6, attention_dilation=2, num_global_tokens=3),
    "extra global tokens": dict(num_extra_global_tokens=13, num_global_blocks=2, global_blocks_placement="first"),
    "Performer": dict(attention_type="performer", performer=dict(features=20, seed=2**64 - 1, redraw=3)),
    "Performer, relu, independent features": dict(attention_type="performer", performer=dict(features=7, kernel="relu", orthogonal=False)),
    "no biases, scaled embeddings": dict(use_bias=False, rescale_embeddings=True, pad_token_id=3, hidden_act="silu", type_vocab_size=3)}


def write_model(folder, **changes):
    torch.manual_seed(3)
    shift_vectors(BigBirdDnaForPreTraining(BigBirdDnaConfig(**{**SMALL, **changes}))).save_pretrained(folder)


def computed(folder, inputs, dtype):
    model, loading = BigBirdDnaForPreTraining.from_pretrained(folder, output_loading_info=True)
    wrong = {kind: loading[kind] for kind in ("missing_keys", "unexpected_keys", "mismatched_keys") if loading[kind]}
    if wrong:
        raise SystemExit(f"{folder}: {wrong}")
    with torch.no_grad():
        output = model.to(dtype).eval()(**inputs, output_hidden_states=True)
    found = {f"hidden_states.{layer}": hidden for layer, hidden in enumerate(output.hidden_states)}
    return {**found, **{key: output[key] for key in ("prediction_logits", "seq_relationship_logits")}}


def off_by(found, exact, real):
    """Of the largest number, where that is above 1. Padded positions hold what nobody reads."""
    gaps = [(found[key] - exact[key])[real] if exact[key].dim() == 3 else found[key] - exact[key] for key in exact]
    return max(gap.abs().max().item() for gap in gaps) / max(1, max(tensor.abs().max().item() for tensor in exact.values()))


def lengths_of(config):
    """Tokens and padded tokens: within the first blocks, the longest that attends fully, the shortest that does not, and the longest."""
    longest = min(config.max_position_embeddings, 2048)  # dense attention in fp64 needs memory
    boundary = max(1, (5 + 2 * config.num_random_blocks - config.extra_global_blocks) * config.block_size)
    lengths = ((config.block_size + 3, 4), (boundary, 0), (boundary + 1, config.block_size // 2), (longest - 2, longest // 3), (longest, 0))
    return [(length, min(padded, length - 1)) for length, padded in lengths if length <= longest]


def compare(checks, what, folder, lengths=None):
    for length, padded in lengths or lengths_of(BigBirdDnaConfig.from_pretrained(folder)):
        inputs = inputs_of(BigBirdDnaConfig.from_pretrained(folder), length, padded)
        real = inputs["attention_mask"].bool()
        worst = {}
        for name, dtype in TYPES.items():
            found, exact = checks.forward(folder, inputs, name), computed(folder, inputs, dtype)
            if set(found) != set(exact):
                checks.say(f"{what}, {length} tokens", False, f"other outputs: {sorted(set(exact) ^ set(found))}")
                return
            worst[name] = off_by(found, exact, real)
        checks.say(f"{what}, {length} tokens, {padded} padded", worst["fp32"] <= 1e-5 and worst["fp64"] <= 1e-10,
                   f"{len(exact)} tensors, off by {worst['fp32']:.1e} in fp32, {worst['fp64']:.1e} in fp64")


def every_form(checks, folder):
    for number, values in enumerate(itertools.product(*FORMS.values())):
        form = dict(zip(FORMS, values))
        write_model(folder / f"form-{number}", **form)
        compare(checks, ", ".join(f"{key} {value}" for key, value in form.items()), folder / f"form-{number}", [(60, 9), (200, 30)])


def every_pattern(checks, folder):
    for number, (name, pattern) in enumerate(PATTERNS.items()):
        write_model(folder / f"pattern-{number}", **{**MODERN, "position_embedding_type": "absolute" if number % 2 else "rotary"}, **pattern)
        compare(checks, name, folder / f"pattern-{number}")


def every_rotary(checks, folder):
    for number, (name, rotary) in enumerate(ROTARY.items()):
        write_model(folder / f"rotary-{number}", **MODERN, **rotary)
        again = BigBirdDnaConfig.from_pretrained(folder / f"rotary-{number}")
        checks.say(f"{name}: read again as it was written", again.rope_stretch == BigBirdDnaConfig(**rotary).rope_stretch and
                   again.rope_theta == rotary.get("rope_theta", 10000.0))
        compare(checks, name, folder / f"rotary-{number}", [(60, 9), (200, 30)])


def classes_and_saving(checks, folder):
    write_model(folder / "one", **MODERN)
    inputs = inputs_of(BigBirdDnaConfig(**SMALL), 200, 20)
    expected = computed(folder / "one", inputs, torch.float32)
    for kind, name, read, key in ((transformers.AutoModel, BigBirdDnaModel, "last_hidden_state", "hidden_states.2"),
                                  (transformers.AutoModelForMaskedLM, BigBirdDnaForMaskedLM, "logits", "prediction_logits"),
                                  (transformers.AutoModelForPreTraining, BigBirdDnaForPreTraining, "prediction_logits", "prediction_logits")):
        model, loading = kind.from_pretrained(folder / "one", output_loading_info=True)
        with torch.no_grad():
            same = torch.equal(model.eval()(**inputs)[read], expected[key])
        checks.say(f"{kind.__name__} makes {name.__name__}, all weights found", type(model) is name and same and not loading["missing_keys"])
    model.save_pretrained(folder / "again")
    checks.say("saved again: the same weights, byte for byte", same_bytes(weights(folder / "one"), weights(folder / "again")))
    checks.say("saved again: the same bytes by forward", same_bytes(checks.forward(folder / "one", inputs), checks.forward(folder / "again", inputs)))
    labels = torch.where(inputs["attention_mask"] == 1, inputs["input_ids"], -100)
    loss = model.train()(**inputs, labels=labels, next_sentence_label=torch.tensor([0, 1])).loss
    loss.backward()
    checks.say("trains: every weight has a gradient", all(parameter.grad is not None for parameter in model.parameters()), f"loss {loss.item():.3f}")


def refuses(checks, what, word, action):
    try:
        action()
        checks.say(what, False, "was not refused")
    except (ValueError, NotImplementedError) as error:
        checks.say(what, word in str(error), str(error))


def refusals(checks):
    ids = torch.ones((1, 80), dtype=torch.long)
    seeded = BigBirdDnaModel(BigBirdDnaConfig(**{**SMALL, "random_blocks_source": "seeded"})).eval()
    refuses(checks, "random blocks of another source", "more than 72 tokens", lambda: seeded(ids))
    refuses(checks, "too long a sequence", "256 positions", lambda: seeded(ids.expand(1, 80).repeat(1, 4)))
    for scaling in ({"rope_type": "yarn", "factor": 2.0}, {"rope_type": "linear", "factor": 0.5}, {"rope_type": "linear"}):
        refuses(checks, f"rope_scaling {scaling}", "known are default, linear and ntk", lambda: BigBirdDnaConfig(rope_scaling=scaling))
    refuses(checks, "a form unknown", "norm is 'middle'", lambda: BigBirdDnaConfig(norm="middle"))


def check_all(checks, folder, options):
    for model in options.models:
        compare(checks, str(model), model)
    if not options.models:
        every_form(checks, folder)
        every_pattern(checks, folder)
        every_rotary(checks, folder)
        classes_and_saving(checks, folder)
        refusals(checks)


if __name__ == "__main__":
    main(__doc__, check_all, models=dict(nargs="*", type=Path, metavar="MODEL"))
