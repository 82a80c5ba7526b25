#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_baseline_fixtures.py FASTA OUTPUT.json

Logits of the convolutional baselines, written anew in PyTorch, on windows of real sequence, for tests/unit/baselines. Parameters are not
stored: element i of the parameter number p (in the order of named_parameters) is (2 f - 1) sqrt(6 / inputs of its layer), with f the fraction
of 43758.5453 sin(12.9898 i + p), in double precision before it becomes float32. Needs torch.
"""
import gzip
import json
import sys
from pathlib import Path

import torch
from torch import nn


class CNNProm(nn.Module):
    def __init__(self, length, labels):
        super().__init__()
        self.convolution = nn.Conv1d(4, 300, 21)
        self.pool = nn.MaxPool1d(231)
        self.dense = nn.Linear(300, 128)
        self.output = nn.Linear(128, labels)

    def forward(self, x):
        x = self.pool(torch.relu(self.convolution(x)))
        return self.output(torch.relu(self.dense(x.flatten(1))))


class DeePromoter(nn.Module):
    def __init__(self, length, labels):
        super().__init__()
        self.convolution27 = nn.Conv1d(4, 32, 27, padding="same")
        self.convolution14 = nn.Conv1d(4, 32, 14, padding="same")
        self.convolution7 = nn.Conv1d(4, 32, 7, padding="same")
        self.lstm = nn.LSTM(96, 32, batch_first=True, bidirectional=True)
        self.dense = nn.Linear(64 * (length // 6), 128)
        self.output = nn.Linear(128, labels)

    def forward(self, x):
        parts = [nn.functional.max_pool1d(torch.relu(layer(x)), 6) for layer in (self.convolution27, self.convolution14, self.convolution7)]
        x, _ = self.lstm(torch.cat(parts, 1).transpose(1, 2))
        return self.output(torch.relu(self.dense(x.flatten(1))))


class DeepSEA(nn.Module):
    def __init__(self, length, labels):
        super().__init__()
        self.convolution1 = nn.Conv1d(4, 320, 8)
        self.convolution2 = nn.Conv1d(320, 480, 8)
        self.convolution3 = nn.Conv1d(480, 960, 8)
        self.dense = nn.Linear(960 * (((length - 7) // 4 - 7) // 4 - 7), 925)
        self.output = nn.Linear(925, labels)

    def forward(self, x):
        pool = nn.MaxPool1d(4, 4)
        x = pool(torch.relu(self.convolution1(x)))
        x = pool(torch.relu(self.convolution2(x)))
        x = torch.relu(self.convolution3(x))
        return self.output(torch.relu(self.dense(x.flatten(1))))


def fill(network):
    parameters = dict(network.named_parameters())
    for number, (name, parameter) in enumerate(parameters.items()):
        weight = parameters.get(name.replace("bias", "weight"))
        inputs = parameter.shape[0] // 4 if "_l0" in name else weight[0].numel()
        noise = 43758.5453 * torch.sin(12.9898 * torch.arange(parameter.numel(), dtype=torch.float64) + number)
        values = (2 * (noise - torch.floor(noise)) - 1) * (6 / inputs) ** 0.5
        parameter.data = values.reshape(parameter.shape).float()


def windows(fasta, length):
    with gzip.open(fasta, "rt") as lines:
        sequence = "".join(line.strip() for line in lines if not line.startswith(">")).upper()
    first = next(i for i in range(0, len(sequence), 1000) if "N" not in sequence[i : i + 5000])
    found = [sequence[first + 137 * i : first + 137 * i + length] for i in range(3)]
    found[2] = "N" * 20 + found[2][20:]
    return found


def one_hot(sequences):
    return torch.tensor([[[float(base == letter) for base in sequence] for letter in "ACGT"] for sequence in sequences])


def main():
    cases = []
    for name, network, length, labels in (("cnnprom", CNNProm, 251, 1), ("deepromoter", DeePromoter, 300, 1), ("deepsea", DeepSEA, 1000, 4)):
        network = network(length, labels).eval()
        fill(network)
        sequences = windows(sys.argv[1], length)
        with torch.no_grad():
            logits = network(one_hot(sequences))
        shapes = {key: list(value.shape) for key, value in network.named_parameters()}
        cases.append({"architecture": name, "shapes": shapes, "sequences": sequences, "logits": logits.tolist()})
    Path(sys.argv[2]).write_text(json.dumps(cases, indent=1) + "\n")


main()
