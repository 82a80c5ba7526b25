#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_bases_models.py [--program build/bin/bigbird-dna] [--presets tiny,dilated,small] [--positions N] [MODEL ...]

Folders of bin and sequence models in Python beside the program: AutoModel.from_pretrained(folder, trust_remote_code=True) must have no missing and no
unexpected weights, and its logits must be those behind `predict`'s scores, to 1e-5, on each strand.
  MODEL ...   bin models that the program wrote; also `motifs marginalize` beside tangermeme's marginalize and space, on three backgrounds
  (none)      models with random weights: every preset named, forms that no preset has, sequence models with places, members and k-mers
base takes 2 minutes and 20 GB, large with --positions 1024 instead of 4,096 2 minutes and 7 GB. Prints a line per check. Exit code 0 where all is well. Needs torch, transformers and safetensors, for MODEL tangermeme.
"""
import json
import subprocess
import tempfile
from pathlib import Path

import numpy
import torch
from check_round_trips import ROOT, main, opened
from safetensors.torch import save_file
from transformers import AutoConfig, AutoModel

PRESETS = {"tiny": (2, 128, 4, 64, (4, 5, 10), "attention"), "dilated": (4, 128, 4, 64, (4, 5, 10), "convolution"), "small": (4, 256, 4, 256, (4, 5, 5), "attention"),
           "base": (12, 768, 12, 4096, (4, 5, 5), "attention"), "large": (24, 1024, 16, 4096, (4, 5, 5), "attention")}
PYTHON = ROOT / "lib" / "bigbird" / "model" / "files" / "data"
LABELS = 3


def bins_network(layers, hidden, heads, length, pools, mixing, **changes):
    encoder = dict(model_type="big_bird", hidden_size=hidden, num_hidden_layers=layers, num_attention_heads=heads, intermediate_size=4 * hidden, hidden_act="gelu_new",
                   hidden_dropout_prob=0.2, layer_norm_eps=1e-5, attention_type="block_sparse", block_size=64, num_random_blocks=3, num_global_blocks=2,
                   num_window_blocks=3, global_blocks_placement="ends", random_blocks_source="uniform", random_blocks_version=1, random_blocks_seed=0)
    encoder |= changes.pop("encoder", {})
    bins = length * int(numpy.prod(pools)) // 200
    stages = [dict(channels=hidden, width=width, pool=pool) for width, pool in zip((21, 5, 5), pools)]
    return dict(bin=200, window_bins=bins, margin_bins=bins // 8, stages=stages, both_strands=True, motif_filters=48, mixing=mixing, norm="pre", positions="rotary",
                feed_forward="plain", head_dropout=0.2, encoder=encoder) | changes


def sequence_member(**changes):
    return dict(filters=128, width=15, pool=4, convolutions=2, hidden=96, layers=1, heads=4, dense=128, places=0, longest=32768, dropout=0.2, head_dropout=0.5,
                both_strands=True) | changes


def write_folder(folder, kind, network, **task):
    """Random weights in the form that the program writes; `kind` bins or sequence."""
    bins, name = kind == "bins", {"bins": "Bins", "sequence": "Sequence"}[kind]
    half = network["window_bins"] * network["bin"] // 2 if bins else 1
    description = dict(format=1, version="0", task="chromatin" if bins else "sequences", window=f"{-half}:{half}", contigs=[], training={}, network=network,
                       architecture="bigbird-bins" if bins else "bigbird-sequence") | task
    folder.mkdir()
    source = (PYTHON / "modeling_bigbird_dna.py").read_text() + "\n\n" + (PYTHON / "bases_models.py").read_text()
    (folder / "modeling_bigbird_dna.py").write_text(source)
    maps = {"AutoConfig": f"modeling_bigbird_dna.BigBirdDna{name}Config", "AutoModel": f"modeling_bigbird_dna.BigBirdDna{name}"}
    (folder / "config.json").write_text(json.dumps(dict(model_type=f"bigbird_dna_{kind}", num_labels=LABELS, auto_map=maps, bigbird_dna={"task_model": description})))
    (folder / "labels.tsv").write_text("index\tgroup\tname\tpositives\n" + "".join(f"{i}\tg\tlabel{i}\t1\n" for i in range(LABELS)))
    torch.manual_seed(1)
    model = AutoModel.from_config(AutoConfig.from_pretrained(folder, trust_remote_code=True), trust_remote_code=True)
    with torch.no_grad():
        for key, parameter in model.named_parameters():
            fan = parameter[0].numel() if parameter.dim() > 1 else 4
            parameter.normal_(0, fan ** -0.5)
            if "norm.weight" in key or "sharpness" in key:
                parameter.add_(1)
    save_file({key: value.contiguous() for key, value in model.state_dict().items()}, folder / "model.safetensors")


def letters_of(dna):
    return torch.tensor([[[float(base == letter) for base in dna] for letter in "ACGT"]])


def random_dna(length, seed):
    draw = numpy.random.default_rng(seed)
    dna = "".join(draw.choice(list("ACGT"), length))
    return dna[:length // 3] + "NNNNN" + dna[length // 3 + 5:]


def predicted(checks, folder, *options):
    with tempfile.TemporaryDirectory() as name:
        output = Path(name) / "scores.npy"
        subprocess.run([checks.program, "predict", "--quiet", "--device", "cpu", "--dtype", "fp32", "--model", folder, "--output", output, *map(str, options)], check=True)
        return torch.from_numpy(numpy.load(output)).double()


def calibrated(folder, logits):
    file = Path(folder) / "calibration.json"
    if not file.exists():
        return logits
    fit = json.loads(file.read_text())
    return logits / fit["temperature"] + torch.tensor(fit["biases"], dtype=torch.double)


def off_by(found, scores):
    """Of logits, by the probabilities that the program writes as float32: near 1 they have no more digits."""
    return ((found.sigmoid() - scores).abs() / (scores * (1 - scores)).clamp(min=1e-3)).max().item()


def check_bins(checks, folder, what):
    model = opened(checks, f"{what}: all weights found", AutoModel, folder, trust_remote_code=True)
    network = model.config.bigbird_dna["task_model"]["network"]
    bins, size, margin = network["window_bins"], network["bin"], network["margin_bins"]
    dna = random_dna(size * (bins - margin), 3)
    with tempfile.TemporaryDirectory() as name:
        fasta, bed = Path(name) / "g.fa", Path(name) / "r.bed"
        fasta.write_text(f">c\n{dna}\n")
        bed.write_text("".join(f"c\t{i * size}\t{(i + 1) * size}\n" for i in range(bins - 2 * margin)))
        for strand in ("none", "only"):
            scores = predicted(checks, folder, "--reference", fasta, "--regions", bed, "--reverse-complement", strand)
            letters = letters_of("N" * (margin * size) + dna)
            with torch.no_grad():
                logits = model(letters.flip(1, 2)).flip(1) if strand == "only" else model(letters)
            logits = calibrated(folder, logits[0, margin:bins - margin].double())
            gap, largest = off_by(logits, scores), logits.abs().max().item()
            checks.say(f"{what}, {'reverse complement' if strand == 'only' else 'as it is'}", gap <= 1e-5, f"{logits.numel()} logits up to {largest:.1f}, off by {gap:.1e}")


def check_sequences(checks, folder, what):
    model = opened(checks, f"{what}: all weights found", AutoModel, folder, trust_remote_code=True)
    records = [random_dna(length, length) for length in (40, 129, 500, 501, 2901, 4097)]
    with tempfile.TemporaryDirectory() as name:
        fasta = Path(name) / "s.fa"
        for strand in ("none", "only"):
            fasta.write_text("".join(f">r{i}\n{dna}\n" for i, dna in enumerate(records)))
            scores = predicted(checks, folder, "--sequences", fasta, "--reverse-complement", strand)
            with torch.no_grad():
                letters = [letters_of(dna) for dna in records]
                logits = torch.cat([model(x.flip(1, 2) if strand == "only" else x) for x in letters]).double()
            gap = off_by(logits, scores)
            checks.say(f"{what}, {'reverse complement' if strand == 'only' else 'as it is'}", gap <= 1e-5, f"{logits.numel()} logits, off by {gap:.1e}")


class MiddleBin(torch.nn.Module):
    """Log odds of the mean probability of both strands in the bin at the middle of a window."""

    def __init__(self, model, folder):
        super().__init__()
        self.model, self.folder, self.bin = model, folder, model.config.bigbird_dna["task_model"]["network"]["window_bins"] // 2

    def forward(self, x):
        logits = torch.stack([self.model(x), self.model(x.flip(1, 2)).flip(1)])[:, :, self.bin].double()
        return calibrated(self.folder, logits).sigmoid().mean(0).logit()


def check_marginalize(checks, folder, what):
    from tangermeme.marginalize import marginalize
    from tangermeme.space import space
    model = MiddleBin(AutoModel.from_pretrained(folder, trust_remote_code=True).eval(), folder)
    network = model.model.config.bigbird_dna["task_model"]["network"]
    length, size, sites = network["window_bins"] * network["bin"], network["bin"], ("TGACTCA", "CCACCAGGGGGCGC")
    dna, starts = "".join(numpy.random.default_rng(5).choice(list("ACGT"), length + 2000)), (0, 700, 1999)
    middle = model.bin * size + size // 2
    letters = torch.cat([letters_of(dna[start:start + length]) for start in starts])
    with tempfile.TemporaryDirectory() as name, torch.no_grad():
        fasta, bed, meme, output = (Path(name) / file for file in ("g.fa", "r.bed", "m.meme", "out.tsv"))
        fasta.write_text(f">c\n{dna}\n")
        bed.write_text("".join(f"c\t{start + middle - 1}\t{start + middle + 1}\n" for start in starts))
        rows = {site: "".join(" " + " ".join(str(int(letter == base)) for letter in "ACGT") + "\n" for base in site) for site in sites}
        meme.write_text("MEME version 4\n" + "".join(f"\nMOTIF {site}\nletter-probability matrix: w= {len(site)}\n{rows[site]}" for site in sites))
        for spacing in (None, 8):
            options = [] if spacing is None else ["--spacing", str(spacing)]
            subprocess.run([checks.program, "motifs", "marginalize", "--quiet", "--force", "--model", folder, "--motifs", meme,
                            "--reference", fasta, "--backgrounds", bed, "--output", output, *options], check=True)
            table = [line.split("\t") for line in output.read_text().splitlines()[1:]]
            options = dict(device="cpu", batch_size=1, verbose=False)
            if spacing is None:
                start = middle - len(sites[0]) // 2
                before, after = marginalize(model, letters, sites[0], start=start, **options)
                found = [float(row[3]) for row in table if row[0] == sites[0]]
            else:
                start = middle - (len(sites[0]) + spacing + len(sites[1])) // 2
                before, after = space(model, letters, list(sites), [[spacing]], start=start, **options)
                after = after[:, 0]
                found = [float(row[4]) for row in table if row[:2] == list(sites)]
            gap = ((after - before).mean(0) - torch.tensor(found, dtype=torch.double)).abs().max().item()
            checks.say(f"{what}, {'space' if spacing else 'marginalize'} of tangermeme", gap <= 2e-4, f"{len(found)} labels, off by {gap:.1e}")


def check_all(checks, folder, options):
    for model in options.models:
        check_bins(checks, model, str(model))
        check_marginalize(checks, model, str(model))
    if not options.models:
        sparse = dict(block_size=4, num_random_blocks=1, hidden_size=32, intermediate_size=48)
        forms = {"norms behind, gates, no rotation": dict(norm="post", feed_forward="gated", positions="none", motif_filters=0, both_strands=False),
                 "sparse attention": dict(encoder=sparse, motif_filters=5, stages=[dict(channels=24, width=9, pool=4), dict(channels=32, width=5, pool=50)]),
                 "a profile head": dict(bin=1, window_bins=1536, margin_bins=192, motif_filters=0, stages=[dict(channels=128, width=5, pool=pool) for pool in (4, 6, 1)]),
                 "a stage that keeps places": dict(stages=[dict(channels=128, width=3, pool=200), dict(channels=128, width=5, pool=1)])}
        shapes = {name: (*PRESETS[name][:3], options.positions or PRESETS[name][3], *PRESETS[name][4:]) for name in options.presets.split(",")}
        cases = {f"preset {name}": bins_network(*shape) for name, shape in shapes.items()}
        cases |= {name: bins_network(*PRESETS["tiny"], **changes) for name, changes in forms.items()}
        kmers = dict(lengths=[5, 6], both_strands=True, places=0)
        records = {"sequence model": dict(members=1, member=sequence_member()),
                   "two members that read one strand, with places": dict(members=2, member=sequence_member(both_strands=False, places=80, layers=2)),
                   "members and k-mers": dict(members=1, member=sequence_member(longest=2049), kmers=kmers, kmer_share=0.4),
                   "k-mers only": dict(kmers=kmers | dict(both_strands=False, places=30), kmer_share=1.0)}
        for number, (what, network) in enumerate(cases.items()):
            write_folder(folder / f"bins-{number}", "bins", network)
            check_bins(checks, folder / f"bins-{number}", what)
        for number, (what, network) in enumerate(records.items()):
            task = dict(target="labels") | (dict(architecture="kmer-logistic") if "members" not in network else {})
            write_folder(folder / f"sequence-{number}", "sequence", network, **task)
            check_sequences(checks, folder / f"sequence-{number}", what)


if __name__ == "__main__":
    main(__doc__, check_all, models=dict(nargs="*", type=Path, metavar="MODEL"), presets=dict(default="tiny,dilated,small"),
         positions=dict(type=int, help="positions of presets' windows, a multiple of 512; by default each preset's own"))
