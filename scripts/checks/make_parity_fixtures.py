#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Make test_data/model: small random BigBird models and what Hugging Face transformers (4.57.1, torch 2.11.0) computes with them in fp64.

  pretraining/  BigBirdForPreTraining, 3 layers of 64, blocks of 16: full up to 176 tokens
  block64/      the same with blocks of 64, no dropout; the cases seeded_* in training, where transformers draws random blocks
  relu/, silu/, gelu_pytorch_tanh/  its other activations
  classifier/   BigBirdForSequenceClassification with what configurations may also say: no bias in q, k, v, rescaled embeddings, pad 3, erf GELU
Each folder has config.json and model.safetensors as save_pretrained writes them, and cases/NAME.safetensors with the inputs and, at
`positions` of every sample (fp64):
  hidden_states.I, prediction_logits, seq_relationship_logits, logits
  fp32_error.hidden_states.I (1): how far the same pass in fp32 is from the one in fp64, at most
  gradient.NAME (2): the norm of a parameter's gradient, and its product with cos(0, 1, 2, ...), for the loss
  mean(cos(0, 1, 2, ...) * prediction_logits at positions) + mean(seq_relationship_logits * (1, 2)), or mean(logits * (1, 2, ...))
Other runs take the evaluation path; transformers has no random blocks there (random_blocks_source hf).
"""
import json
import shutil
from pathlib import Path

import torch
from safetensors.torch import save_file
from transformers import BigBirdConfig, BigBirdForPreTraining, BigBirdForSequenceClassification

folder = Path(__file__).resolve().parents[2] / "test_data" / "model"


def clean_config(path):
    """transformers' own version says nothing about the network."""
    config = json.loads(path.read_text())
    config.pop("transformers_version", None)
    path.write_text(json.dumps(config, indent=2) + "\n")


def randomise(model, seed, scale=0.12):
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in sorted(model.named_parameters()):
            centre = 1.0 if name.lower().endswith("norm.weight") else 0.0
            parameter.copy_(centre + scale * torch.randn(parameter.shape, generator=generator))
    return model


def save_model(model, target):
    """Writes a model as save_pretrained does, beside a new folder cases/."""
    shutil.rmtree(target, ignore_errors=True)
    model.save_pretrained(target)
    (target / "generation_config.json").unlink(missing_ok=True)
    clean_config(target / "config.json")
    (target / "cases").mkdir()
    (target / "model.safetensors").chmod(0o644)


def save_case(tensors, target, case):
    path = target / "cases" / f"{case}.safetensors"
    save_file(tensors, path)
    path.chmod(0o644)


def wave_of(tensor):
    return torch.cos(torch.arange(tensor.numel(), dtype=torch.float64)).view_as(tensor)


def inputs_of(lengths, padded_length, config, seed):
    generator = torch.Generator().manual_seed(seed)
    shape = (len(lengths), padded_length)
    ids = torch.randint(5, config.vocab_size, shape, generator=generator)
    types = torch.randint(0, config.type_vocab_size, shape, generator=generator)
    mask = torch.zeros(shape, dtype=torch.int64)
    for row, length in enumerate(lengths):
        mask[row, :length] = 1
    return {"input_ids": ids * mask + config.pad_token_id * (1 - mask), "attention_mask": mask, "token_type_ids": types * mask}


def gradients_of(model):
    gradients = {}
    for name, parameter in model.named_parameters():
        if parameter.grad is not None:
            gradient = parameter.grad.flatten()
            gradients["gradient." + name] = torch.stack([gradient.norm(), gradient @ wave_of(gradient)])
    return gradients


def run(model_class, source, inputs, training):
    # A fresh object each time: a short input would switch it to full attention for good (transformers issue 20031).
    model = model_class.from_pretrained(source).double().train(training)
    length = inputs["input_ids"].shape[1]
    positions = torch.tensor(sorted(set(range(0, length, 11)) | {length - 2, length - 1}))
    output = model(**inputs, output_hidden_states=True)
    result = {"positions": positions}
    for layer, hidden in enumerate(output.hidden_states):
        result[f"hidden_states.{layer}"] = hidden[:, positions]
    if model_class is BigBirdForPreTraining:
        chosen = output.prediction_logits[:, positions]
        loss = (chosen * wave_of(chosen)).mean() + (output.seq_relationship_logits * torch.tensor([1.0, 2.0])).mean()
        result.update(prediction_logits=chosen, seq_relationship_logits=output.seq_relationship_logits)
    else:
        loss = (output.logits * torch.arange(1, output.logits.shape[1] + 1)).mean()
        result["logits"] = output.logits
    loss.backward()
    single = model_class.from_pretrained(source).float().train(training)(**inputs, output_hidden_states=True)
    for layer, hidden in enumerate(single.hidden_states):
        result[f"fp32_error.hidden_states.{layer}"] = (hidden[:, positions].double() - result[f"hidden_states.{layer}"]).abs().max().reshape(1)
    return {key: value.detach().contiguous() for key, value in (result | gradients_of(model)).items()}


def make(model_class, name, config, cases):
    target = folder / name
    save_model(randomise(model_class(config), len(name)), target)
    for number, (case, lengths, padded_length) in enumerate(cases):
        inputs = inputs_of(lengths, padded_length, config, number)
        save_case(inputs | run(model_class, target, inputs, case.startswith("seeded")), target, case)


def main():
    torch.set_num_threads(1)
    common = dict(num_random_blocks=3, block_size=16, max_position_embeddings=512, intermediate_size=96)
    config = BigBirdConfig(vocab_size=300, hidden_size=64, num_hidden_layers=3, num_attention_heads=4, **common)
    make(BigBirdForPreTraining, "pretraining", config,
         [("full_100", [100], 100), ("full_176", [176], 176), ("sparse_177", [177], 177), ("sparse_256", [256], 256),
          ("sparse_333_padded", [333, 250], 333)])
    other = BigBirdConfig(vocab_size=90, hidden_size=32, num_hidden_layers=2, num_attention_heads=2, use_bias=False, rescale_embeddings=True,
                          pad_token_id=3, hidden_act="gelu", num_labels=7, **common)
    make(BigBirdForSequenceClassification, "classifier", other, [("full_64_padded", [64, 40], 64), ("sparse_200_padded", [150, 200], 200)])
    wide = BigBirdConfig(vocab_size=120, hidden_size=32, num_hidden_layers=2, num_attention_heads=2, num_random_blocks=3, block_size=64,
                         max_position_embeddings=4096, intermediate_size=48, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    make(BigBirdForPreTraining, "block64", wide,
         [("full_704", [704], 704), ("sparse_705", [705], 705), ("sparse_1000_padded", [1000, 777], 1000), ("seeded_832", [832], 832),
          ("seeded_1024", [1024], 1024)])
    for activation in ("relu", "silu", "gelu_pytorch_tanh"):
        small = BigBirdConfig(vocab_size=40, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, hidden_act=activation, **common)
        make(BigBirdForPreTraining, activation, small, [("sparse_200", [200], 200)])


if __name__ == "__main__":
    main()
