#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_transformers.py MODEL [--program build/bin/bigbird-dna]

Opens a model directory of ours with Hugging Face transformers: no key may be missing or unexpected, and the hidden states and logits of a short
(fully attending) input must equal `bigbird-dna forward`'s to 1e-5. Works for pretrained and for task models. Exit code 0 where all is well.
Needs torch, transformers and safetensors (tried with 4.57.1).
"""
import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from transformers import BigBirdForPreTraining, BigBirdForSequenceClassification

TOLERANCE = 1e-5


def open_model(directory):
    architecture = json.loads((directory / "config.json").read_text())["architectures"][0]
    model_class = {"BigBirdForPreTraining": BigBirdForPreTraining, "BigBirdForSequenceClassification": BigBirdForSequenceClassification}[architecture]
    model, loading = model_class.from_pretrained(directory, output_loading_info=True)
    for kind in ("missing_keys", "unexpected_keys", "mismatched_keys", "error_msgs"):
        if loading[kind]:
            sys.exit(f"{directory}: transformers reports {kind}: {loading[kind]}")
    return model.eval()


def short_input(config):
    generator = torch.Generator().manual_seed(0)
    length = min(200, (5 + 2 * config.num_random_blocks) * config.block_size)
    ids = torch.randint(5, config.vocab_size, (2, length), generator=generator)
    mask = torch.ones_like(ids)
    mask[1, length - length // 4:] = 0
    types = torch.zeros_like(ids)
    types[:, length // 2:] = 1
    return {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}


def ours(program, directory, inputs):
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "in.safetensors", Path(folder) / "out.safetensors"
        save_file(inputs, source)
        subprocess.run([program, "forward", "--quiet", "--device", "cpu", "--model", directory, "--input", source, "--output", target], check=True)
        return load_file(target)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("--program", default=Path(__file__).resolve().parents[2] / "build" / "bin" / "bigbird-dna")
    arguments = parser.parse_args()
    model = open_model(arguments.model)
    inputs = short_input(model.config)
    with torch.no_grad():
        output = model(**inputs, output_hidden_states=True)
    theirs = {f"hidden_states.{layer}": hidden for layer, hidden in enumerate(output.hidden_states)}
    for name in ("prediction_logits", "seq_relationship_logits", "logits"):
        if name in output:
            theirs[name] = output[name]
    found = ours(arguments.program, arguments.model, inputs)
    if set(found) != set(theirs):
        sys.exit(f"outputs differ: {sorted(set(found) ^ set(theirs))}")
    worst = {name: (found[name] - theirs[name]).abs().max().item() for name in theirs}
    print(f"{arguments.model}: no missing or unexpected keys; largest difference {max(worst.values()):.2e} of {len(worst)} tensors")
    if max(worst.values()) > TOLERANCE:
        sys.exit(f"differs from transformers: {worst}")


if __name__ == "__main__":
    main()
