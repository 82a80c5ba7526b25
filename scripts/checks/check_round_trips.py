#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_round_trips.py [--program build/bin/bigbird-dna]

Models go from transformers to bigbird-dna and back, in every form that either writes; run it once for each version of transformers:
  theirs in ours   a model of transformers (safetensors in one file, in parts, and pytorch_model.bin through scripts/convert-checkpoint): hidden states of
                   every layer and all logits of `forward` equal transformers' fp64 to 1e-10 in fp64 and, in fp32, 1e-5 or twice what
                   transformers' fp32 is off (of the largest number, where that is above 1), on full, sparse and padded inputs;
                   every architecture of transformers' BigBird but the decoder; of pretraining and sequence-classification models the converted weights are the
                   original's, byte for byte
  ours in theirs   a model that `pretrain` wrote opens without missing or unexpected keys and computes the same; saved again by transformers, its
                   weights are the same bytes and `forward` gives the same bytes
Prints a line per check. Exit code 0 where all is well. Needs torch, transformers and safetensors.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
import transformers
from safetensors.torch import load_file, save_file

ROOT = Path(__file__).resolve().parents[2]
SMALL = dict(vocab_size=90, hidden_size=64, num_hidden_layers=3, num_attention_heads=4, intermediate_size=96, max_position_embeddings=512,
             block_size=16, num_random_blocks=3, attention_type="block_sparse", initializer_range=0.2)


class Checks:
    def __init__(self, program):
        self.program, self.failed = program, 0

    def say(self, what, good, detail=""):
        self.failed += not good
        print(f"{'ok  ' if good else 'FAIL'}  {what}{': ' + detail if detail else ''}", flush=True)

    def forward(self, model, inputs, dtype="fp32"):
        with tempfile.TemporaryDirectory() as folder:
            source, target = Path(folder) / "in.safetensors", Path(folder) / "out.safetensors"
            save_file(inputs, source)
            subprocess.run([self.program, "forward", "--quiet", "--device", "cpu", "--dtype", dtype, "--model", model, "--input", source, "--output", target],
                           check=True)
            return load_file(target)


def inputs_of(config, length, padded, kind=""):
    """(2, length), of BigBirdForMultipleChoice (2, 3, length); BigBirdForQuestionAnswering makes its own token types where the length is even, and is told
    the questions' lengths where it is a multiple of 3."""
    generator = torch.Generator().manual_seed(length)
    shape = (2, 3, length) if kind == "BigBirdForMultipleChoice" else (2, length)
    ids = torch.randint(5, config.vocab_size, shape, generator=generator)
    mask = torch.ones_like(ids)
    mask[1, ..., length - padded:] = 0
    types = torch.zeros_like(ids)
    types[..., length // 2:] = 1
    inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}
    if kind == "BigBirdForQuestionAnswering" and length % 2 == 0:
        del inputs["token_type_ids"]
    if kind == "BigBirdForQuestionAnswering" and length % 3 == 0:
        inputs["question_lengths"] = torch.tensor([[length // 3], [1 + length // 2]])
    return inputs


def kind_of(folder):
    return json.loads((folder / "config.json").read_text())["architectures"][0]


def theirs(folder, inputs, dtype):
    """A new object each time: once it has seen a short input, transformers' BigBird attends fully for ever."""
    name = kind_of(folder)
    model = getattr(transformers, name).from_pretrained(folder).to(dtype).eval()
    with torch.no_grad():
        output = model(**inputs, output_hidden_states=True)
    length = inputs["input_ids"].shape[-1]
    found = {f"hidden_states.{layer}": hidden[:, :length] for layer, hidden in enumerate(output.hidden_states)}
    found.update({key: output[key] for key in ("prediction_logits", "seq_relationship_logits", "logits", "start_logits", "end_logits", "pooler_output")
                  if key in output})
    if name == "BigBirdForMaskedLM":  # ours has both names
        found["prediction_logits"] = found["logits"]
    return found


def gap(found, exact, real):
    """The largest difference at real tokens. Tokens of a question, of which 1e6 is taken off, must have that in both."""
    if exact.dim() == 3 and exact.shape[:2] == real.shape or exact.shape == real.shape:
        found, exact = found[real], exact[real]
    taken_off = exact < -5e5
    if not torch.equal(taken_off, found < -5e5):
        return float("inf")
    return (found - exact)[~taken_off].abs().max().item() if (~taken_off).any() else 0.0


def compare(checks, what, folder, computed_from):
    """`folder` by ours, against `computed_from` by transformers."""
    config = transformers.BigBirdConfig.from_pretrained(computed_from)
    boundary = (5 + 2 * config.num_random_blocks) * config.block_size
    for length, padded in ((config.block_size + 3, 5), (boundary, 0), (boundary + 1, 0), (boundary + 5 * config.block_size, 20)):
        inputs = inputs_of(config, length, padded, kind_of(computed_from))
        # Padded rows of full attention hold what nobody reads.
        real = inputs["attention_mask"].bool().view(-1, length)
        exact = theirs(computed_from, inputs, torch.float64)
        scale = max(1, max(tensor[tensor > -5e5].abs().max().item() for tensor in exact.values()))

        def error(found):
            return max(gap(found[key], exact[key], real) for key in exact) / scale

        own = error(theirs(computed_from, inputs, torch.float32))
        for name, allowed in (("fp64", 1e-10), ("fp32", max(1e-5, 2 * own))):
            found = checks.forward(folder, inputs, name)
            if set(exact) != set(found):
                checks.say(f"{what}, {length} tokens", False, f"other outputs: {sorted(set(exact) ^ set(found))}")
                return
            off = error(found)
            checks.say(f"{what}, {length} tokens, {name}", off <= allowed, f"{len(exact)} tensors, off by {off:.1e}, transformers' fp32 by {own:.1e}")


def same_bytes(one, other):
    return set(one) == set(other) and all(one[key].dtype == other[key].dtype and torch.equal(one[key].view(torch.uint8), other[key].view(torch.uint8))
                                          for key in one)


def weights(folder):
    parts = [load_file(path) for path in sorted(folder.glob("*.safetensors"))]
    return {key: tensor for part in parts for key, tensor in part.items()}


def shift_vectors(model):
    """Changes biases and norms, which a wrong name would show."""
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 1:
                parameter.add_(torch.randn_like(parameter) * 0.1)
    return model.eval()


def random_model(kind, **changes):
    torch.manual_seed(3)
    return shift_vectors(getattr(transformers, kind)(transformers.BigBirdConfig(**{**SMALL, **changes})))


def opened(checks, what, kind, folder, ignored=(), **options):
    """The model of a folder, all of whose weights must be found; unexpected ones may begin with what is ignored."""
    model, loading = kind.from_pretrained(folder, output_loading_info=True, **options)
    unexpected = [key for key in loading["unexpected_keys"] if not key.startswith(tuple(ignored))]
    wrong = [*loading["missing_keys"], *loading["mismatched_keys"], *unexpected]
    checks.say(what, not wrong, str(wrong or ""))
    return model.eval()


def from_theirs(checks, folder):
    classifier = {"num_labels": 7, "use_bias": False, "rescale_embeddings": True, "pad_token_id": 3, "hidden_act": "gelu"}
    for kind, changes in (("BigBirdForMaskedLM", {}), ("BigBirdForTokenClassification", {"num_labels": 5}),
                          ("BigBirdForQuestionAnswering", {"sep_token_id": 9}), ("BigBirdForMultipleChoice", {}),
                          ("BigBirdForPreTraining", {}), ("BigBirdForSequenceClassification", classifier)):
        model = random_model(kind, **changes)
        whole = folder / kind
        model.save_pretrained(whole)
        compare(checks, f"{kind} of transformers in ours", whole, whole)
        if kind not in ("BigBirdForPreTraining", "BigBirdForSequenceClassification"):
            continue
        parts = folder / (kind + "-parts")
        model.save_pretrained(parts, max_shard_size="60KB")
        checks.say(f"{kind} in {len(list(parts.glob('*.safetensors')))} files", not (parts / "model.safetensors").exists())
        inputs = inputs_of(model.config, 200, 20)
        checks.say(f"{kind} in parts: the same bytes as in one file", same_bytes(checks.forward(whole, inputs), checks.forward(parts, inputs)))
        old = folder / (kind + "-bin")
        old.mkdir()
        torch.save(model.state_dict(), old / "pytorch_model.bin")
        shutil.copy(whole / "config.json", old)
        converted = folder / (kind + "-converted")
        subprocess.run([sys.executable, ROOT / "scripts" / "convert-checkpoint", old, "--output", converted], check=True, capture_output=True)
        checks.say(f"{kind}: convert-checkpoint keeps the weights, byte for byte", same_bytes(weights(converted), weights(whole)))
        checks.say(f"{kind} converted: the same bytes by forward", same_bytes(checks.forward(whole, inputs), checks.forward(converted, inputs)))


def from_ours(checks, folder):
    made = folder / "ours"
    config = folder / "tiny.json"
    config.write_text(json.dumps({"vocab_size": 512, **{key: value for key, value in SMALL.items() if key != "vocab_size"}, "random_blocks_source": "hf",
                                  "pad_token_id": 0}))
    data = ROOT / "test_data"
    subprocess.run([checks.program, "pretrain", "--quiet", "--reference", data / "genome" / "22.fa.gz", "--tokenizer", data / "tokenizer" / "small.model", "--config",
                    config, "--steps", "3", "--batch-size", "2", "--sequence-length", "256", "--device", "cpu", "--seed", "1", "--output", made], check=True)
    model = made / "model"
    ours = opened(checks, "ours opens in transformers, no key missing or unexpected", transformers.BigBirdForPreTraining, model)
    compare(checks, "ours in transformers", model, model)
    again = folder / "saved-again"
    ours.save_pretrained(again)
    checks.say("ours saved again by transformers: the same weights, byte for byte", same_bytes(weights(model), weights(again)))
    inputs = inputs_of(ours.config, 200, 20)
    checks.say("ours saved again by transformers: the same bytes by forward", same_bytes(checks.forward(model, inputs), checks.forward(again, inputs)))


def main(text, run, **arguments):
    """Parses --program and the arguments given, and has `run` make its checks in a folder with transformers offline and quiet."""
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=ROOT / "build" / "bin" / "bigbird-dna")
    for name, settings in arguments.items():
        parser.add_argument(name if "nargs" in settings else f"--{name}", **settings)
    options = parser.parse_args()
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    print(f"transformers {transformers.__version__}, torch {torch.__version__}")
    checks = Checks(options.program)
    with tempfile.TemporaryDirectory() as folder:
        run(checks, Path(folder), options)
    sys.exit(1 if checks.failed else 0)


def check_all(checks, folder, _):
    from_theirs(checks, folder)
    from_ours(checks, folder)


if __name__ == "__main__":
    main(__doc__, check_all)
