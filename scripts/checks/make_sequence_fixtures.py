#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_sequence_fixtures.py FOLDER

Writes network.json, logits, losses and gradients of the network of sequences, written anew in PyTorch in double precision; coverage.json, the loss of
coverage by shape and total as PyTorch's multinomial and Poisson have it, with its gradient; and logistic.json, scikit-learn's logistic regression on k-mers, for tests/unit/{sequences,tasks,finetuning,baselines}. Parameters are not stored: element i of the parameter
number p (by name) is 0.5 (2 f - 1), with f the fraction of 43758.5453 sin(12.9898 i + p), in double precision before it becomes float32. Of a
gradient g the sum of g_i sin(i + 1) is stored. Needs torch, numpy and scikit-learn.
"""
import itertools
import json
import random
import sys
from pathlib import Path

import numpy
import torch
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from torch.nn import functional as F

torch.set_default_dtype(torch.float64)
FILTERS, WIDTH, POOL, HIDDEN, HEADS, DENSE = 16, 9, 4, 16, 2, 8


def shapes_of(labels, places):
    shapes = {"stem.0.convolution.weight": (FILTERS, 4, WIDTH), "stem.0.convolution.bias": (FILTERS,), "stem.0.pool.sharpness": (FILTERS,)}
    for stage in ("1", "2"):
        before = FILTERS if stage == "1" else HIDDEN
        shapes |= {f"stem.{stage}.norm.weight": (before,), f"stem.{stage}.norm.bias": (before,), f"stem.{stage}.pool.sharpness": (HIDDEN,)}
        shapes |= {f"stem.{stage}.convolution.weight": (HIDDEN, before, 5), f"stem.{stage}.convolution.bias": (HIDDEN,)}
    for name, rows, columns in (("query", HIDDEN, HIDDEN), ("key", HIDDEN, HIDDEN), ("value", HIDDEN, HIDDEN), ("attention_output", HIDDEN, HIDDEN),
                                ("feed_forward_in", 2 * HIDDEN, HIDDEN), ("feed_forward_out", HIDDEN, 2 * HIDDEN)):
        shapes |= {f"encoder.0.{name}.weight": (rows, columns), f"encoder.0.{name}.bias": (rows,)}
    for name, size in (("encoder.0.attention_norm", HIDDEN), ("encoder.0.feed_forward_norm", HIDDEN), ("norm", HIDDEN), ("site_norm", FILTERS)):
        shapes |= {f"{name}.weight": (size,), f"{name}.bias": (size,)}
    shapes |= {"dense.weight": (DENSE, 2 * HIDDEN + FILTERS), "dense.bias": (DENSE,), "head.output.weight": (labels, DENSE), "head.output.bias": (labels,)}
    return shapes | ({"places": (places, HIDDEN)} if places else {})


def parameters_of(shapes):
    parameters = {}
    for number, name in enumerate(sorted(shapes)):
        shape = shapes[name]
        noise = 43758.5453 * torch.sin(12.9898 * torch.arange(int(numpy.prod(shape))) + number)
        values = 0.5 * (2 * (noise - noise.floor()) - 1)
        parameters[name] = values.float().double().reshape(shape).requires_grad_()
    return parameters


def gelu(x):
    return F.gelu(x, approximate="tanh")


def norm(p, name, x):
    return F.layer_norm(x, x.shape[-1:], p[f"{name}.weight"], p[f"{name}.bias"], 1e-5)


def linear(p, name, x):
    return F.linear(x, p[f"{name}.weight"], p[f"{name}.bias"])


def attend(p, x):
    length, size = x.shape[0], HIDDEN // HEADS
    angles = torch.outer(torch.arange(length).double(), 10000 ** (-torch.arange(0, size, 2).double() / size))

    def heads(y):
        return y.view(length, HEADS, size).transpose(0, 1)

    def turn(y):
        a, b = y[..., : size // 2], y[..., size // 2 :]
        return torch.cat([a * angles.cos() - b * angles.sin(), b * angles.cos() + a * angles.sin()], -1)

    q, k, v = (heads(linear(p, f"encoder.0.{name}", x)) for name in ("query", "key", "value"))
    weights = (turn(q) @ turn(k).transpose(1, 2) / size**0.5).softmax(-1)
    return linear(p, "encoder.0.attention_output", (weights @ v).transpose(0, 1).reshape(length, HIDDEN))


def forward(p, dna, padded, both, places):
    """One record. Behind it are N up to `padded` bases, which convolutions see; all else sees the record's own positions."""
    codes = torch.tensor(["ACGTN".index(base) for base in dna.ljust(padded, "N")])
    letters = F.one_hot(codes, 5)[:, :4].double().t()[None]
    weight, bias = p["stem.0.convolution.weight"], p["stem.0.convolution.bias"]
    found = [F.conv1d(letters, weight, bias, padding=WIDTH // 2)[0]]
    if both:
        found.append(F.conv1d(letters, weight.flip(1, 2), bias, padding=WIDTH // 2)[0])
    found = torch.stack(found, -1)  # (filters, bases, strands)
    values = gelu(found).reshape(FILTERS, padded // POOL, -1)
    x = (values * (values * p["stem.0.pool.sharpness"][:, None, None]).softmax(-1)).sum(-1).t()
    for stage in ("1", "2"):
        n = norm(p, f"stem.{stage}.norm", x)
        y = F.conv1d(gelu(n).t()[None], p[f"stem.{stage}.convolution.weight"], p[f"stem.{stage}.convolution.bias"], padding=2)[0].t()
        x = n + y if y.shape == n.shape else y
    own = (len(dna) + POOL - 1) // POOL
    x = x[:own]
    if places:
        x = x + p["places"][(torch.arange(own) - own // 2 + places // 2).clamp(0, places - 1)]
    x = x + attend(p, norm(p, "encoder.0.attention_norm", x))
    inner = linear(p, "encoder.0.feed_forward_in", norm(p, "encoder.0.feed_forward_norm", x))
    x = norm(p, "norm", x + linear(p, "encoder.0.feed_forward_out", gelu(inner)))
    sites = norm(p, "site_norm", gelu(found.amax((1, 2))))
    pooled = torch.cat([x.mean(0), x.amax(0), sites])
    return linear(p, "head.output", gelu(linear(p, "dense", pooled)))


def loss_of(kind, logits, targets):
    if kind == "classes":
        shares = F.one_hot(torch.tensor(targets), logits.shape[1]).double() * 0.9 + 0.1 / logits.shape[1]
        weights = torch.tensor([1.0, 2.0, 0.5])[torch.tensor(targets)]
        return -(weights[:, None] * shares * logits.log_softmax(1)).sum()
    targets = torch.tensor(targets)
    return ((logits - targets) ** 2).sum() if kind == "numbers" else (logits.exp() - targets * logits).sum()


def dna_of(draw, length):
    return "".join(draw.choice("ACGT") for _ in range(length))


def network_cases():
    draw = random.Random(1)
    cases = []
    for kind, both, places, targets in (("classes", True, 0, [2, 0, 1]), ("numbers", False, 36, [[0.5, -1.0], [2.0, 0.25], [-0.5, 1.5]]),
                                        ("counts", False, 20, [[0.0, 3.0], [2.0, 1.0], [5.0, 0.0]])):
        labels = 3 if kind == "classes" else 2
        sequences = [dna_of(draw, 129), dna_of(draw, 136), dna_of(draw, 60) + "NNN" + dna_of(draw, 70)]
        p = parameters_of(shapes_of(labels, places))
        logits = torch.stack([forward(p, dna, 136, both, places) for dna in sequences])
        loss = loss_of(kind, logits, targets)
        loss.backward()
        sums = {name: float((value.grad.flatten() * torch.sin(torch.arange(value.numel()) + 1.0)).sum()) for name, value in sorted(p.items()) if value.grad is not None}
        cases.append({"kind": kind, "both_strands": both, "places": places, "sequences": sequences, "targets": targets,
                      "logits": logits.tolist(), "loss": float(loss.detach()), "gradients": sums})
    return cases


def kmers(sequences, both, places):
    columns = []
    for k in (3, 4):
        names = ["".join(word) for word in itertools.product("ACGT", repeat=k)]
        counts = CountVectorizer(analyzer="char", ngram_range=(k, k), lowercase=False, vocabulary=names).transform(sequences).toarray()
        flip = str.maketrans("ACGT", "TGCA")
        keys = numpy.array([min(word, word.translate(flip)[::-1]) if both else word for word in names])
        columns += [numpy.sqrt(counts[:, keys == key].sum(1))[:, None] for key in sorted(set(keys))]
    block = numpy.zeros((len(sequences), places * 16))
    for row, dna in enumerate(sequences):
        for i in range(min(places, len(dna) - 1)):
            if "N" not in dna[i : i + 2]:
                block[row, i * 16 + 4 * "ACGT".index(dna[i]) + "ACGT".index(dna[i + 1])] = 1
    return numpy.hstack(columns + [block])


def logistic_cases():
    draw = random.Random(2)
    cases = []
    for both, places in ((True, 0), (False, 30)):
        sequences, labels = [], []
        for row in range(240):
            dna = list(dna_of(draw, 60))
            labels.append(int(draw.random() < 0.4))
            if labels[-1] and draw.random() < 0.7:
                place = 20 if places else draw.randrange(50)
                dna[place : place + 7] = "TGACTCA" if places or draw.random() < 0.5 else "TGAGTCA"
            if row % 10 == 0:
                dna[30] = "N"
            sequences.append("".join(dna))
        features = kmers(sequences, both, places)
        train, rest = slice(0, 160), slice(160, None)
        model = LogisticRegression(C=0.1, solver="liblinear", tol=1e-8, max_iter=1000).fit(features[train], labels[train])
        scores = model.decision_function(features[rest])
        cases.append({"both_strands": both, "places": places, "features": features.shape[1], "penalty": 10, "sequences": sequences, "labels": labels,
                      "scores": scores.tolist(), "auroc": roc_auc_score(labels[rest], scores)})
    return cases


def coverage_case():
    """Two windows of 12 bases and two tracks. Constants of the counts, which have no gradient, are left out."""
    draw = torch.Generator().manual_seed(5)
    logits = (torch.randn(2, 12, 2, generator=draw) - 2).requires_grad_()
    counts = torch.poisson(torch.full((2, 12, 2), 0.7), generator=draw)
    loss = 0
    for window in range(2):
        for track in range(2):
            y, rate = counts[window, :, track], F.softplus(logits[window, :, track])
            shape = torch.distributions.Multinomial(int(y.sum()), probs=rate / rate.sum())
            constant = torch.lgamma(y.sum() + 1) - torch.lgamma(y + 1).sum()
            loss = loss + constant - shape.log_prob(y) + 0.2 * F.poisson_nll_loss(rate.sum(), y.sum(), log_input=False, eps=0)
    loss.backward()
    return {"logits": logits.tolist(), "counts": counts.tolist(), "loss": loss.item(), "gradient": logits.grad.tolist()}


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(exist_ok=True)
    (folder / "network.json").write_text(json.dumps(network_cases()) + "\n")
    (folder / "coverage.json").write_text(json.dumps(coverage_case()) + "\n")
    (folder / "logistic.json").write_text(json.dumps(logistic_cases()) + "\n")


if __name__ == "__main__":
    main()
