#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_longformer.py [--program build/bin/bigbird-dna] [--random N] [--seed S]

Longformers go from transformers to bigbird-dna and back:
  ours in theirs   what `pretrain` and `finetune-promoter` wrote opens in transformers without a missing key, and the hidden states of every layer and the
                   logits agree to 1e-5 in fp32 and to 1e-10 in fp64 (of the largest number, where that is above 1), without global tokens, with [CLS] and
                   with others; saved again by transformers, `forward` gives the same bytes; evaluate-mlm and embed open it
  theirs in ours   N models of transformers, configurations, inputs, paddings and global tokens drawn at random
transformers computes the softmax in fp32 whatever the type; for fp64 it is made to compute it in fp64. It reports our pooler and next-sentence head, which
its classes lack, as unexpected. Prints a line a check. Exit code 0 where all is well. Needs torch, transformers and safetensors.
"""
import argparse
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
import transformers
from check_round_trips import ROOT, begin, same_bytes

DATA = ROOT / "test_data"
OWN_SOFTMAX = torch.nn.functional.softmax
CONFIG = dict(model_type="longformer", hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=96, max_position_embeddings=514,
              attention_window=[32, 64], hidden_act="gelu")
OUR_OWN = ("longformer.pooler.dense.", "cls.seq_relationship.")


def softmax_in_own_type(x, dim=None, _stacklevel=3, dtype=None):
    return OWN_SOFTMAX(x, dim=dim, dtype=x.dtype if x.dtype == torch.float64 else dtype)


def inputs_of(config, lengths, globals_of):
    """Real tokens a sample, and its global tokens: a list a sample, or None for no mask."""
    generator = torch.Generator().manual_seed(sum(lengths))
    shape = (len(lengths), max(lengths))
    mask = torch.zeros(shape, dtype=torch.int64)
    for row, length in enumerate(lengths):
        mask[row, :length] = 1
    ids = torch.randint(5, config.vocab_size, shape, generator=generator)
    types = torch.randint(0, config.type_vocab_size, shape, generator=generator)
    inputs = {"input_ids": ids * mask + config.pad_token_id * (1 - mask), "token_type_ids": types * mask, "attention_mask": mask}
    if globals_of is not None:
        inputs["global_attention_mask"] = torch.zeros(shape, dtype=torch.int64)
        for row, places in enumerate(globals_of):
            inputs["global_attention_mask"][row, places] = 1
    return inputs


def theirs(folder, inputs, dtype):
    name = json.loads((folder / "config.json").read_text())["architectures"][0]
    model = getattr(transformers, name).from_pretrained(folder).to(dtype).eval()
    torch.nn.functional.softmax = softmax_in_own_type
    with torch.no_grad():
        output = model(**inputs, output_hidden_states=True)
    torch.nn.functional.softmax = OWN_SOFTMAX
    found = {f"hidden_states.{layer}": hidden for layer, hidden in enumerate(output.hidden_states)}
    key = {"LongformerForMaskedLM": "prediction_logits", "LongformerModel": "pooler_output"}.get(name, "logits")
    found[key] = output.pooler_output if key == "pooler_output" else output.logits
    return found


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
    model, loading = kind.from_pretrained(folder, output_loading_info=True)
    unexpected = [key for key in loading["unexpected_keys"] if not key.startswith(OUR_OWN)]
    wrong = [*loading["missing_keys"], *loading["mismatched_keys"], *unexpected]
    checks.say(f"{what} opens in transformers, no key missing or unexpected but our own heads'", not wrong, str(wrong or ""))
    return model


def from_ours(checks, folder):
    config = folder / "longformer.json"
    config.write_text(json.dumps(CONFIG))
    made, tokenizer = folder / "pretrained", DATA / "tokenizer" / "small.model"
    run(checks, "pretrain", "--reference", DATA / "genome" / "22.fa.gz", "--tokenizer", tokenizer, "--config", config, "--steps", 4, "--batch-size", 2,
        "--sequence-length", 300, "--seed", 1, "--output", made)
    opened = opens(checks, "what pretrain wrote", transformers.LongformerForMaskedLM, made / "model")
    compare_some(checks, "pretrain's in transformers", made / "model")
    opened.save_pretrained(folder / "again")
    inputs = inputs_of(opened.config, [220, 90], [[0], [0, 3]])
    first, second = checks.forward(made / "model", inputs), checks.forward(folder / "again", inputs)
    checks.say("saved again by transformers: the same bytes by forward", same_bytes({key: first[key] for key in second}, second))
    written = json.loads((made / "model" / "config.json").read_text())
    checks.say("its [CLS] is global where no mask says otherwise", written["num_global_tokens"] == 1 and same_bytes(
        checks.forward(made / "model", inputs_of(opened.config, [220, 90], None)), checks.forward(made / "model", inputs_of(opened.config, [220, 90], [[0], [0]]))))
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
    opened = opens(checks, "what finetune-promoter wrote", transformers.LongformerForSequenceClassification, tuned / "model")
    compare_some(checks, "finetune-promoter's in transformers", tuned / "model")
    inputs = inputs_of(opened.config, [180, 77], None)
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


def from_random(checks, folder, count, seed):
    draw = random.Random(seed)
    for number in range(count):
        config = drawn(draw)
        kind = draw.choice(["LongformerForMaskedLM", "LongformerForSequenceClassification", "LongformerModel"])
        torch.manual_seed(seed + number)
        model = getattr(transformers, kind)(transformers.LongformerConfig(**config))
        with torch.no_grad():
            for parameter in model.parameters():
                if parameter.dim() == 1:  # biases and norms that a wrong name would show
                    parameter.add_(torch.randn_like(parameter) * 0.1)
        model.save_pretrained(folder / f"random-{number}")
        lengths = [draw.randint(1, 300) for _ in range(draw.randint(1, 3))]
        places = None if draw.random() < 0.2 else [sorted(draw.sample(range(length), draw.choice([0, 1, min(length, 3), length // 4]))) for length in lengths]
        said = f"{seed}:{number} {kind} {json.dumps(config)}, {lengths} tokens, global {None if places is None else [len(row) for row in places]}"
        compare(checks, said, folder / f"random-{number}", inputs_of(model.config, lengths, places))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=ROOT / "build" / "bin" / "bigbird-dna")
    parser.add_argument("--random", type=int, default=12, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    checks = begin(options.program)
    with tempfile.TemporaryDirectory() as name:
        from_random(checks, Path(name), options.random, options.seed)
        from_ours(checks, Path(name))
    sys.exit(1 if checks.failed else 0)


if __name__ == "__main__":
    main()
