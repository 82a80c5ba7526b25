#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_longformer.py [--program build/bin/bigbird-dna]

Longformers go from transformers to bigbird-dna and back:
  ours in theirs   what `pretrain` and `finetune-promoter` wrote opens in transformers without a missing key, and the hidden states of every layer and the
                   logits agree to 1e-5 in fp32 and to 1e-10 in fp64 (of the largest number, where that is above 1), without global tokens, with [CLS] and
                   with others; saved again by transformers, `forward` gives the same bytes; evaluate-mlm and embed open it
  theirs in ours   12 models of transformers, configurations, inputs, paddings and global tokens drawn at random
transformers computes the softmax in fp32 whatever the type; for fp64 it is made to compute it in fp64. It reports our pooler and next-sentence head, which
its classes lack, as unexpected. Prints a line a check. Exit code 0 where all is well. Needs torch, transformers and safetensors.
"""
import json
import random
import subprocess

import torch
import transformers
from check_round_trips import ROOT, main, opened, same_bytes, shift_vectors
from make_longformer_fixtures import exact_softmax, output_of, with_globals
from make_parity_fixtures import inputs_of as padded_inputs

DATA = ROOT / "test_data"
CONFIG = dict(model_type="longformer", hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=96, max_position_embeddings=514,
              attention_window=[32, 64], hidden_act="gelu")
OUR_OWN = ("longformer.pooler.dense.", "cls.seq_relationship.")


def inputs_of(config, lengths, globals_of):
    """Real tokens of each sample, and its global tokens: a list for each, or None for no mask."""
    return with_globals(padded_inputs(lengths, max(lengths), config, sum(lengths)), globals_of)


def theirs(folder, inputs, dtype):
    name = json.loads((folder / "config.json").read_text())["architectures"][0]
    model = getattr(transformers, name).from_pretrained(folder).to(dtype).eval()
    with torch.no_grad(), exact_softmax():
        hidden_states, key, last = output_of(model, inputs)
    return {f"hidden_states.{layer}": hidden for layer, hidden in enumerate(hidden_states)} | {key: last}


def compare(checks, what, folder, inputs):
    exact = theirs(folder, inputs, torch.float64)
    scale = max(1, max(tensor.abs().max().item() for tensor in exact.values()))

    def off_by(found):
        return max((found[key] - exact[key]).abs().max().item() for key in exact) / scale

    own = off_by(theirs(folder, inputs, torch.float32))
    off = {dtype: off_by(checks.forward(folder, inputs, dtype)) for dtype in ("fp64", "fp32")}
    checks.say(what, off["fp64"] <= 1e-10 and off["fp32"] <= max(1e-5, 2 * own),
               f"{len(exact)} tensors, off by {off['fp32']:.1e} in fp32, {off['fp64']:.1e} in fp64, transformers' fp32 by {own:.1e}")


def compare_some(checks, what, folder):
    config = transformers.LongformerConfig.from_pretrained(folder)
    for name, lengths, places in (("no mask of global tokens", [150, 97], [[], []]), ("[CLS] global", [200, 131], [[0], [0]]),
                                  ("scattered global tokens", [333, 64, 250], [[0, 5, 70, 332], [], list(range(0, 250, 9))])):
        compare(checks, f"{what}, {name}, {lengths} tokens", folder, inputs_of(config, lengths, places))


def run(checks, *arguments):
    place = [] if arguments[0].startswith("build-") else ["--device", "cpu"]
    subprocess.run([checks.program, *map(str, arguments), *place, "--quiet"], check=True)


def opens(checks, what, kind, folder):
    return opened(checks, f"{what} opens in transformers, no key missing or unexpected but our own heads'", kind, folder, OUR_OWN)


def from_ours(checks, folder):
    config = folder / "longformer.json"
    config.write_text(json.dumps(CONFIG))
    made, tokenizer = folder / "pretrained", DATA / "tokenizer" / "small.model"
    run(checks, "pretrain", "--reference", DATA / "genome" / "22.fa.gz", "--tokenizer", tokenizer, "--config", config, "--steps", 4, "--batch-size", 2,
        "--sequence-length", 300, "--seed", 1, "--output", made)
    ours = opens(checks, "what pretrain wrote", transformers.LongformerForMaskedLM, made / "model")
    compare_some(checks, "pretrain's in transformers", made / "model")
    ours.save_pretrained(folder / "again")
    inputs = inputs_of(ours.config, [220, 90], [[0], [0, 3]])
    first, second = checks.forward(made / "model", inputs), checks.forward(folder / "again", inputs)
    checks.say("saved again by transformers: the same bytes by forward", same_bytes({key: first[key] for key in second}, second))
    written = json.loads((made / "model" / "config.json").read_text())
    checks.say("its [CLS] is global where no mask says otherwise", written["num_global_tokens"] == 1 and same_bytes(
        checks.forward(made / "model", inputs_of(ours.config, [220, 90], None)), checks.forward(made / "model", inputs_of(ours.config, [220, 90], [[0], [0]]))))
    run(checks, "pretrain", "--model", made / "model", "--reference", DATA / "genome" / "22.fa.gz", "--steps", 2, "--batch-size", 2, "--sequence-length", 300,
        "--output", folder / "more")
    opens(checks, "what pretrain --model wrote", transformers.LongformerForMaskedLM, folder / "more" / "model")
    use_in_tasks(checks, folder, made / "model")


def use_in_tasks(checks, folder, model):
    reference, regions = DATA / "genome" / "22.fa.gz", folder / "regions.bed"
    regions.write_text("22\t17000000\t17001000\n22\t17100000\t17100700\n")
    documents = folder / "documents.txt"
    run(checks, "build-documents", "--reference", reference, "--include", "22:17000001-17400000", "--passes", "1", "--output", documents)
    run(checks, "evaluate-mlm", "--model", model, "--documents", documents, "--output", folder / "mlm.json")
    checks.say("evaluate-mlm opens it", json.loads((folder / "mlm.json").read_text())["bits_per_character"] > 0)
    run(checks, "embed", "--model", model, "--reference", reference, "--regions", regions, "--output", folder / "vectors.npy")
    checks.say("embed opens it", (folder / "vectors.npy").stat().st_size > 2 * 64 * 4)
    examples, tuned = folder / "examples", folder / "tuned"
    run(checks, "build-promoters", "--tss", DATA / "promoter" / "tss.hg19.bed", "--reference", reference, "--window=-500:300", "--output", examples)
    run(checks, "finetune-promoter", "--examples", examples, "--model", model, "--steps", "3", "--batch-size", "2", "--output", tuned)
    ours = opens(checks, "what finetune-promoter wrote", transformers.LongformerForSequenceClassification, tuned / "model")
    compare_some(checks, "finetune-promoter's in transformers", tuned / "model")
    inputs = inputs_of(ours.config, [180, 77], None)
    compare(checks, "finetune-promoter's, [CLS] global in both without a mask", tuned / "model", inputs)
    run(checks, "predict-promoter", "--model", tuned / "model", "--reference", reference, "--regions", regions, "--output", folder / "scores.tsv")
    checks.say("predict-promoter opens it", len((folder / "scores.tsv").read_text().splitlines()) > 2)


def drawn(draw):
    heads, layers, smallest = draw.randint(1, 4), draw.randint(1, 3), 2 * draw.randint(1, 12)
    windows = [smallest * draw.choice([1, 2, 4]) for _ in range(layers)]
    windows = windows if max(windows) % min(windows) == 0 else [smallest] * layers  # transformers pads to the widest alone
    return dict(vocab_size=draw.randint(20, 200), num_attention_heads=heads, hidden_size=heads * draw.choice([2, 4, 8, 16]), num_hidden_layers=layers,
                intermediate_size=draw.randint(1, 80), attention_window=windows, pad_token_id=draw.randint(0, 4), type_vocab_size=draw.randint(1, 3),
                max_position_embeddings=320, hidden_act=draw.choice(["gelu", "gelu_new", "relu", "silu"]), layer_norm_eps=draw.choice([1e-12, 1e-5]),
                initializer_range=0.2, num_labels=draw.randint(2, 6))


def from_random(checks, folder):
    draw = random.Random(1)
    for number in range(12):
        config = drawn(draw)
        kind = draw.choice(["LongformerForMaskedLM", "LongformerForSequenceClassification", "LongformerModel"])
        torch.manual_seed(1 + number)
        model = shift_vectors(getattr(transformers, kind)(transformers.LongformerConfig(**config)))
        model.save_pretrained(folder / f"random-{number}")
        lengths = [draw.randint(1, 300) for _ in range(draw.randint(1, 3))]
        places = None if draw.random() < 0.2 else [sorted(draw.sample(range(length), draw.choice([0, 1, min(length, 3), length // 4]))) for length in lengths]
        said = f"{number} {kind} {json.dumps(config)}, {lengths} tokens, global {None if places is None else [len(row) for row in places]}"
        compare(checks, said, folder / f"random-{number}", inputs_of(model.config, lengths, places))


def check_all(checks, folder, _):
    from_random(checks, folder)
    from_ours(checks, folder)


if __name__ == "__main__":
    main(__doc__, check_all)
