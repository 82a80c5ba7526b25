#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_attribution_fixtures.py FOLDER

Writes attributions.json: logits of small bin and sequence networks in double precision by the Python file of model folders, on both strands, and attributions of
bases 130 to 170 (of sequences all bases): captum's Saliency, InputXGradient and IntegratedGradients, tangermeme's deep_lift_shap. Parameters are not stored:
element i of the parameter number p (by name) is 0.5 (2 f - 1), with f the fraction of 43758.5453 sin(12.9898 i + p). Of (bases, 4) hypothetical scores.
Needs torch, transformers, captum and tangermeme.
"""
import json
import sys
import tempfile
from pathlib import Path

import torch
from captum.attr import InputXGradient, IntegratedGradients, Saliency
from check_bases_models import bins_network, letters_of, random_dna, sequence_member
from check_round_trips import ROOT
from tangermeme.deep_lift_shap import deep_lift_shap, integrated_gradients_op
from torch import nn

sys.path.insert(0, tempfile.mkdtemp())
DATA = ROOT / "lib" / "bigbird" / "model" / "files" / "data"
(Path(sys.path[0]) / "modeling_bigbird_dna.py").write_text((DATA / "modeling_bigbird_dna.py").read_text() + "\n\n" + (DATA / "bases_models.py").read_text())
import modeling_bigbird_dna as models  # noqa: E402

BEGIN, END, LABELS, LABEL = 130, 170, 2, 1
SMALL = dict(bin=20, window_bins=16, margin_bins=4, motif_filters=5, stages=[dict(channels=12, width=7, pool=2), dict(channels=16, width=3, pool=5)],
             encoder=dict(hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=24, block_size=2, num_random_blocks=1))
MEMBER = sequence_member(filters=16, width=9, hidden=16, heads=2, dense=8)


def largest_rule(module, grad_input, grad_output):
    """The difference of the maxima goes to the larger one's place: DeepLIFT's rule of maxima."""
    x, y = (tensor.chunk(2) for tensor in (module.input[:, :module.own], module.output))
    rises = y[0] >= y[1]
    at = torch.where(rises, x[0].argmax(1), x[1].argmax(1)).unsqueeze(1)
    slope = (y[0] - y[1]).unsqueeze(1) / (x[0] - x[1]).gather(1, at)
    slope = torch.where(slope.isfinite(), slope, 1.0)
    return (torch.cat([torch.zeros_like(half).scatter_(1, at, slope * grad.unsqueeze(1)) for half, grad in zip(module.input.chunk(2), grad_output[0].chunk(2))]),)


RULES = {kind: integrated_gradients_op(8) for kind in (models.LearntPool, models.Context, models.Product, nn.LayerNorm)} | {models.Largest: largest_rule}


def fill(model):
    for number, (_, parameter) in enumerate(sorted(model.named_parameters())):
        noise = 43758.5453 * torch.sin(12.9898 * torch.arange(parameter.numel(), dtype=torch.double) + number)
        parameter.data = (0.5 * (2 * (noise - noise.floor()) - 1)).float().double().reshape(parameter.shape)
    return model.double().eval()


class Score(nn.Module):
    """(batch, 4, length) -> (batch, 1): the mean over the bins of BEGIN to END, or a record's logit."""

    def __init__(self, model, weights):
        super().__init__()
        self.model, self.weights = model, weights

    def forward(self, x):
        logits = self.model(x)
        return (logits if self.weights is None else (logits * self.weights[:, None]).sum(1))[:, LABEL:LABEL + 1]


def shuffled(x, begin, end, seed):
    order = torch.randperm(end - begin, generator=torch.Generator().manual_seed(seed))
    other = x.clone()
    other[:, :, begin:end] = x[:, :, begin:end][:, :, order]
    return other


def attributions_of(score, x, begin, end):
    """(bases, 4) lists. What is around the bases stays as it is."""
    zero = x.clone()
    zero[:, :, begin:end] = 0
    references = [shuffled(x, begin, end, seed) for seed in (1, 2)]

    def rows(found):
        return found[0, :, begin:end].t().tolist()

    def multipliers(baseline):
        return IntegratedGradients(score, multiply_by_inputs=False).attribute(x, baseline, target=0, n_steps=50, method="gausslegendre")

    def deeplift(baselines):
        return deep_lift_shap(score, x, references=torch.stack(baselines, 1), hypothetical=True, additional_nonlinear_ops=RULES, device="cpu", dtype=torch.double, only_warn=True)

    against = [multipliers(other) for other in references]
    return {"references": [["ACGTN"[letter] for letter in torch.cat([other[0, :, begin:end], 0.5 * torch.ones(1, end - begin)]).argmax(0)] for other in references],
            "score": score(x).item(), "saliency": rows(Saliency(score).attribute(x.clone().requires_grad_(), target=0)),
            "input_x_gradient": rows(InputXGradient(score).attribute(x.clone().requires_grad_(), target=0)),
            "integrated_gradients": rows(multipliers(zero)),
            "integrated_gradients_shuffled": rows(sum(m - (m * other).sum(1, keepdim=True) for m, other in zip(against, references)) / 2),
            "deeplift": rows(deeplift([zero])), "deeplift_shuffled": rows(deeplift(references))}


def main():
    torch.set_default_dtype(torch.float64)
    cases = []
    forms = [{}, dict(mixing="convolution", both_strands=True), dict(both_strands=True, norm="post", feed_forward="gated", positions="none", motif_filters=0),
             dict(bin=5, window_bins=64, margin_bins=16, motif_filters=0)]  # a profile head
    for form in forms:
        mixing = form.pop("mixing", "attention")
        network = bins_network(2, 16, 2, 32, (2, 5), mixing, **SMALL | dict(both_strands=False) | form)
        config = models.BigBirdDnaBinsConfig(num_labels=LABELS, bigbird_dna={"task_model": {"network": network}})
        model, dna = fill(models.BigBirdDnaBins(config)), random_dna(320, 5)
        x = letters_of(dna)
        weights = torch.zeros(320 // network["bin"])  # by the bases of bins
        for base in range(BEGIN, END):
            weights[base // network["bin"]] += 1 / (END - BEGIN)
        with torch.no_grad():
            logits = [model(x)[0].tolist(), model(x.flip(1, 2))[0].tolist()]
        cases.append({"kind": "bins", "network": network, "dna": dna, "weights": weights.tolist(), "logits": logits, **attributions_of(Score(model, weights), x, BEGIN, END)})
    for member in (MEMBER, MEMBER | dict(both_strands=False, places=20)):
        config = models.BigBirdDnaSequenceConfig(num_labels=LABELS, bigbird_dna={"task_model": {"network": dict(members=1, member=member)}})
        model, dna = fill(models.BigBirdDnaSequence(config)), random_dna(57, 6)
        x = letters_of(dna)
        with torch.no_grad():
            logits = [model(x).tolist(), model(x.flip(1, 2)).tolist()]
        cases.append({"kind": "sequence", "member": member, "dna": dna, "logits": logits, **attributions_of(Score(model, None), x, 0, len(dna))})
    rounded = json.loads(json.dumps(cases), parse_float=lambda text: float(f"{float(text):.7g}"))
    (Path(sys.argv[1]) / "attributions.json").write_text(json.dumps(rounded) + "\n")


if __name__ == "__main__":
    main()
