#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Make test_data/longformer: small random Longformers and what Hugging Face transformers (5.23.0, torch 2.11.0) computes with them in fp64.

  masked-lm/   LongformerForMaskedLM, 3 layers of 32 with windows of 8, 16 and 32 tokens
  bare/        LongformerModel, one window of 24 for both layers, pad 0, ReLU, 3 token types
  classifier/  LongformerForSequenceClassification, windows of 48 and 12, pad 3
Each folder has config.json and model.safetensors as save_pretrained writes them, and cases/NAME.safetensors with the inputs (without global_attention_mask
where the case gives none) and, for every position (fp64):
  hidden_states.I, prediction_logits, pooler_output, logits
  fp32_error.hidden_states.I (1): how far the same pass in fp32 is from the one in fp64, at most
  gradient.NAME (2): the norm of a parameter's gradient, and its product with cos(0, 1, 2, ...), for the loss mean(cos(0, 1, 2, ...) * the last output)
transformers computes every softmax of a Longformer in fp32; for the passes in fp64 it is made to compute them in fp64.
"""
import contextlib
from pathlib import Path

import torch
import transformers
from make_parity_fixtures import gradients_of, inputs_of, randomise, save_case, save_model, wave_of

folder = Path(__file__).resolve().parents[2] / "test_data" / "longformer"
own_softmax = torch.nn.functional.softmax


def softmax_in_own_type(x, dim=None, _stacklevel=3, dtype=None):
    return own_softmax(x, dim=dim, dtype=x.dtype if x.dtype == torch.float64 else dtype)


@contextlib.contextmanager
def exact_softmax():
    """transformers computes the softmax in fp32 whatever the type."""
    torch.nn.functional.softmax = softmax_in_own_type
    yield
    torch.nn.functional.softmax = own_softmax


def with_globals(inputs, globals_of):
    """The inputs, and the global tokens of each sample unless there is no mask of them."""
    if globals_of is None:
        return inputs
    mask = torch.zeros_like(inputs["input_ids"])
    for row, places in enumerate(globals_of):
        mask[row, places] = 1
    return inputs | {"global_attention_mask": mask}


def inputs_of_case(case, config, seed):
    """lengths: real tokens a sample; holes: tokens within them that are masked; globals: the places a sample, or None for no mask at all."""
    inputs = inputs_of(case["lengths"], case.get("padded", max(case["lengths"])), config, seed)
    for row, places in enumerate(case.get("holes", [])):
        inputs["attention_mask"][row, places] = 0
    return with_globals(inputs, case["globals"])


def output_of(model, inputs):
    output = model(**inputs, output_hidden_states=True)
    if isinstance(model, transformers.LongformerForMaskedLM):
        return output.hidden_states, "prediction_logits", output.logits
    if isinstance(model, transformers.LongformerForSequenceClassification):
        return output.hidden_states, "logits", output.logits
    return output.hidden_states, "pooler_output", output.pooler_output


def run(model_class, source, inputs):
    model = model_class.from_pretrained(source).double().eval()
    with exact_softmax():
        hidden_states, key, last = output_of(model, inputs)
    result = {f"hidden_states.{layer}": hidden for layer, hidden in enumerate(hidden_states)} | {key: last}
    (last * wave_of(last)).mean().backward()
    single, _, _ = output_of(model_class.from_pretrained(source).float().eval(), inputs)
    for layer, hidden in enumerate(single):
        result[f"fp32_error.hidden_states.{layer}"] = (hidden.double() - result[f"hidden_states.{layer}"]).abs().max().reshape(1)
    return {name: value.detach().contiguous() for name, value in (result | gradients_of(model)).items()}


CASES = {
    "masked-lm": {
        "no_mask": dict(lengths=[70], globals=None),
        "none_global": dict(lengths=[96, 51], globals=[[], []]),
        "first_token": dict(lengths=[100, 77], globals=[[0], [0]]),
        "scattered": dict(lengths=[113], globals=[[0, 7, 8, 40, 112]]),
        "other_counts": dict(lengths=[90, 64, 33], globals=[[3, 4, 5, 60], [], [32]]),
        "padded_and_holes": dict(lengths=[61, 40], padded=75, holes=[[5, 20, 21], []], globals=[[0, 20, 30], [39, 40, 74]]),
    },
    "bare": {
        "no_mask": dict(lengths=[23], globals=None),
        "first_token": dict(lengths=[130, 24], globals=[[0], [0]]),
        "many": dict(lengths=[85], globals=[list(range(0, 85, 3))]),
    },
    "classifier": {
        "no_mask": dict(lengths=[97, 50], globals=None),
        "last_token": dict(lengths=[65], globals=[[64]]),
    },
}


def make(model_class, name, config):
    target = folder / name
    save_model(randomise(model_class(config), len(name), scale=0.15), target)
    for number, (case, what) in enumerate(CASES[name].items()):
        inputs = inputs_of_case(what, config, number)
        save_case(inputs | run(model_class, target, inputs), target, case)


def main():
    torch.set_num_threads(1)
    common = dict(hidden_size=32, num_attention_heads=2, intermediate_size=48, max_position_embeddings=150)
    make(transformers.LongformerForMaskedLM, "masked-lm",
         transformers.LongformerConfig(vocab_size=60, num_hidden_layers=3, attention_window=[8, 16, 32], **common))
    make(transformers.LongformerModel, "bare",
         transformers.LongformerConfig(vocab_size=40, num_hidden_layers=2, attention_window=24, pad_token_id=0, type_vocab_size=3, hidden_act="relu", **common))
    make(transformers.LongformerForSequenceClassification, "classifier",
         transformers.LongformerConfig(vocab_size=40, num_hidden_layers=2, attention_window=[48, 12], pad_token_id=3, num_labels=5, layer_norm_eps=1e-5, **common))


if __name__ == "__main__":
    main()
