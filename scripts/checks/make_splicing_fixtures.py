#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_splicing_fixtures.py [FOLDER]

Writes into FOLDER (default: test_data/models/splicing) small networks of random weights in the forms in which splicing networks are
published: Keras' HDF5 (SpliceAI), and state_dicts of torch.save() (OpenSpliceAI, Pangolin); and expected.json, what float64 formulas
make of random sequences: for each group of files `probabilities`, all channels of a position together, and for `formula` those of a
network of 10,000 bases of context whose weights follow from formula(). Needs numpy and h5py.
"""
import json
import sys
from collections import OrderedDict
from pathlib import Path

import h5py
import numpy as np
from make_profile_fixtures import Storage, Tensor, one_hot, rounded, save_torch, tensor

CHANNELS = 32
PUBLISHED = [(11, 1)] * 4 + [(11, 4)] * 4 + [(21, 10)] * 4 + [(41, 25)] * 4
rng = np.random.default_rng(68)


# ---------------------------------------------------------------- the formulas; x is (positions, channels), kernels (width, in, out)
def same(x, kernel, bias, dilation=1):
    side = dilation * (len(kernel) // 2)
    wide = np.pad(x, ((side, side), (0, 0)))
    total = np.zeros((len(x), np.asarray(kernel).shape[2])) + np.asarray(bias, float)
    for tap, matrix in enumerate(np.asarray(kernel, float)):
        total += wide[tap * dilation:tap * dilation + len(x)] @ matrix
    return total


def normed(x, norm, epsilon):
    gamma, beta, mean, variance = (np.asarray(values, float) for values in norm)
    return (x - mean) / np.sqrt(variance + epsilon) * gamma + beta


def logits(member, x, epsilon=1e-3, slope=0.0):
    """Of the bases whose context the sequence has; zero-padded and cropped as the authors do."""
    act = lambda values: np.where(values > 0, values, slope * values)
    h, sums, reach = same(x, *member["input"]), 0, 0
    for index in range(len(member["units"]) + 1):
        if index in member["skips"]:
            sums = sums + same(h, *member["skips"][index])
        if index < len(member["units"]):
            unit = member["units"][index]
            inner = same(act(normed(h, unit["norm1"], epsilon)), *unit["conv1"], unit["dilation"])
            h = h + same(act(normed(inner, unit["norm2"], epsilon)), *unit["conv2"], unit["dilation"])
            reach += unit["dilation"] * (len(unit["conv1"][0]) - 1)
    return same(sums[reach:len(x) - reach], *member["output"])


def softmax(x):
    powers = np.exp(x - x.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)


# ---------------------------------------------------------------- weights
def coarse(scale, *shape):
    """Few different values, which pack well."""
    return (scale * rng.integers(-2, 3, shape) / 2).astype("f4")


def random_member(shapes, outputs, draw=coarse):
    def conv(taps, inputs, outputs):
        return [draw(1.2 / np.sqrt(taps * inputs), taps, inputs, outputs), draw(0.3, outputs)]

    def norm():
        return [1 + draw(0.4, CHANNELS), draw(0.3, CHANNELS), draw(0.3, CHANNELS), 1 + draw(0.6, CHANNELS)]
    units = [{"dilation": dilation, "norm1": norm(), "conv1": conv(taps, CHANNELS, CHANNELS), "norm2": norm(),
              "conv2": conv(taps, CHANNELS, CHANNELS)} for taps, dilation in shapes]
    return {"input": conv(1, 4, CHANNELS), "units": units, "output": conv(1, CHANNELS, outputs),
            "skips": {after: conv(1, CHANNELS, CHANNELS) for after in range(0, len(units) + 1, 4)}}


class Formula:
    """Weights that a test computes, too: number i is ((i * 2654435761) mod 2^32 - 2^31) / 2^31 * scale, each step in float64."""

    def __init__(self):
        self.next = 1

    def __call__(self, scale, *shape):
        numbers = np.arange(self.next, self.next + np.prod(shape), dtype=np.uint64)
        self.next += int(np.prod(shape))
        return (((numbers * np.uint64(2654435761) % np.uint64(1 << 32)).astype(float) - 2.0 ** 31) / 2.0 ** 31 * scale).astype("f4").reshape(shape)


def formula_member():
    """Drawn in the order input, units, skips, output; of a unit: scale - 1, shift, first, second; of a convolution: weights, bias."""
    draw = Formula()
    conv = lambda taps, inputs, outputs: [draw(1.2 / np.sqrt(taps * inputs), taps, inputs, outputs), draw(0.3, outputs)]
    neutral = [np.ones(CHANNELS), np.zeros(CHANNELS), np.zeros(CHANNELS), np.ones(CHANNELS)]
    member = {"input": conv(1, 4, CHANNELS), "units": [], "skips": {}}
    for taps, dilation in PUBLISHED:
        norm = [1 + draw(0.4, CHANNELS), draw(0.3, CHANNELS), np.zeros(CHANNELS), np.ones(CHANNELS)]
        member["units"].append({"dilation": dilation, "norm1": norm, "conv1": conv(taps, CHANNELS, CHANNELS), "norm2": neutral,
                                "conv2": conv(taps, CHANNELS, CHANNELS)})
    for after in range(0, 17, 4):
        member["skips"][after] = conv(1, CHANNELS, CHANNELS)
    member["output"] = conv(1, CHANNELS, 3)
    return member


# ---------------------------------------------------------------- Keras' HDF5
class KerasNetwork:
    """Layers of SpliceAI's graph; `keras3`: described as Keras 3 does; names of layers carry `suffix`."""

    def __init__(self, member, crop, suffix, keras3):
        self.layers, self.weights, self.counts, self.suffix, self.keras3 = [], {}, {}, suffix, keras3
        h = self.add("InputLayer", [], batch_input_shape=[None, None, 4])
        h = self.conv(h, member["input"])
        sums = self.conv(h, member["skips"][0])
        for index, unit in enumerate(member["units"], 1):
            inner = self.conv(self.active(h, unit["norm1"]), unit["conv1"], unit["dilation"])
            inner = self.conv(self.active(inner, unit["norm2"]), unit["conv2"], unit["dilation"])
            h = self.add("Add", [inner, h] if index % 2 else [h, inner])
            if index in member["skips"]:
                sums = self.add("Add", [sums, self.conv(h, member["skips"][index])])
        self.output = self.conv(self.add("Cropping1D", [sums], cropping=[crop, crop]), member["output"], activation="softmax")

    def add(self, kind, inputs, weights=None, **config):
        self.counts[kind] = self.counts.get(kind, 0) + 1
        name = f"{kind.lower()}_{self.counts[kind]}{self.suffix}"
        history = lambda layer: {"class_name": "__keras_tensor__", "config": {"shape": [None, None, 32], "keras_history": [layer, 0, 0]}}
        if self.keras3:
            histories = [history(layer) for layer in inputs]
            nodes = [{"args": [histories] if kind == "Add" else histories, "kwargs": {}}] if inputs else []
        else:
            nodes = [[[layer, 0, 0, {}] for layer in inputs]] if inputs else []
        self.layers.append({"class_name": kind, "name": name, "config": {"name": name} | config, "inbound_nodes": nodes})
        self.weights[name] = weights or {}
        return name

    def conv(self, below, weights, dilation=1, activation="linear"):
        return self.add("Conv1D", [below], dict(zip(("kernel", "bias"), weights)), filters=len(weights[1]), kernel_size=[len(weights[0])],
                        strides=[1], padding="same", dilation_rate=[dilation], activation=activation, use_bias=True)

    def active(self, below, norm):
        weights = dict(zip(("gamma", "beta", "moving_mean", "moving_variance"), norm))
        return self.add("Activation", [self.add("BatchNormalization", [below], weights, epsilon=1e-3, axis=-1)], activation="relu")

    def write(self, path):
        end = "" if self.keras3 else ":0"
        config = {"layers": self.layers, "input_layers": [[self.layers[0]["name"], 0, 0]], "output_layers": [[self.output, 0, 0]]}
        if self.keras3:
            config["output_layers"] = config["output_layers"][0]
        with h5py.File(path, "w", libver=("v108", "v108"), meta_block_size=1) as file:
            file.attrs["backend"], file.attrs["keras_version"] = "tensorflow", "3.6.0" if self.keras3 else "2.0.5"
            file.attrs["model_config"] = json.dumps({"class_name": "Model", "config": config})
            group = file.create_group("model_weights")
            group.attrs["layer_names"] = [name.encode() for name in sorted(self.weights)]
            for name, weights in self.weights.items():
                layer = group.create_group(name)
                layer.attrs["weight_names"] = [f"{name}/{kind}{end}".encode() for kind in weights]
                for kind, values in weights.items():
                    packed = {"compression": "gzip", "compression_opts": 9, "shuffle": True} if values.size > 1000 else {}
                    layer.create_dataset(f"{name}/{kind}{end}", data=values, **packed)


# ---------------------------------------------------------------- torch.save()
class SharedNumbers:
    """Draws tensors as views of one storage, so that files are small."""

    def __init__(self, size):
        self.storage = Storage("FloatStorage", (0.12 * rng.standard_normal(size)).astype("f4"))

    def view(self, *shape):
        count = int(np.prod(shape))
        offset = int(rng.integers(0, len(self.storage.values) - count + 1))
        strides = [int(np.prod(shape[axis + 1:])) for axis in range(len(shape))]
        return Tensor(self.storage, offset, shape, strides), self.storage.values[offset:offset + count].reshape(shape)


class TorchNetwork:
    """A state_dict, and the member that it means."""

    def __init__(self, size=3200):
        self.numbers, self.state = SharedNumbers(size), OrderedDict()

    def conv(self, name, taps, inputs, outputs):
        self.state[f"{name}.weight"], weight = self.numbers.view(outputs, inputs, taps)
        self.state[f"{name}.bias"], bias = self.numbers.view(outputs)
        return [weight.transpose(2, 1, 0), bias]

    def norm(self, name):
        drawn = {}
        for kind in ("weight", "bias", "running_mean"):
            self.state[f"{name}.{kind}"], drawn[kind] = self.numbers.view(CHANNELS)
        drawn["running_var"] = (0.004 + 0.01 * rng.random(CHANNELS)).astype("f4")
        self.state[f"{name}.running_var"] = tensor(drawn["running_var"])
        self.state[f"{name}.num_batches_tracked"] = Tensor(Storage("LongStorage", np.array([7])), 0, (), ())
        return [drawn[kind] for kind in ("weight", "bias", "running_mean", "running_var")]

    def unit(self, name, norm, taps, dilation):
        return {"dilation": dilation, "norm1": self.norm(f"{name}.{norm}1"), "conv1": self.conv(f"{name}.conv1", taps, CHANNELS, CHANNELS),
                "norm2": self.norm(f"{name}.{norm}2"), "conv2": self.conv(f"{name}.conv2", taps, CHANNELS, CHANNELS)}

    def save(self, path, name):
        self.state._metadata = OrderedDict([("", {"version": 1})])
        save_torch(path, self.state, name)


def open_network(path, units):
    net = TorchNetwork()
    member = {"input": net.conv("initial_conv", 1, 4, CHANNELS), "skips": {0: net.conv("initial_skip.conv", 1, CHANNELS, CHANNELS)}, "units": []}
    place = 0
    for index in range(units):
        member["units"].append(net.unit(f"residual_units.{place}", "batchnorm", 3, (1, 4, 10, 25)[index // 4]))
        place += 1
        if index % 4 == 3:
            member["skips"][index + 1] = net.conv(f"residual_units.{place}.conv", 1, CHANNELS, CHANNELS)
            place += 1
    member["output"] = net.conv("final_conv", 1, CHANNELS, 3)
    net.save(path, "model_best")
    return member


def pangolin_network(path, tissue):
    net = TorchNetwork()
    member = {"input": net.conv("conv1", 1, 4, CHANNELS), "skips": {0: net.conv("skip", 1, CHANNELS, CHANNELS)}, "units": []}
    for index in range(4):
        member["units"].append(net.unit(f"resblocks.{index}", "bn", 3, 1))
    member["skips"][4] = net.conv("convs.0", 1, CHANNELS, CHANNELS)
    heads = [net.conv(f"conv_last{head}", 1, CHANNELS, 2 if head % 2 else 1) for head in range(1, 9)]
    member["output"] = heads[2 * tissue]
    net.save(path, path.name)
    return member


# ---------------------------------------------------------------- the files
def random_sequence(length):
    text = "".join(rng.choice(list("ACGT"), length))
    return text[:7] + "NNN" + text[10:length // 2] + "N" + text[length // 2 + 1:]


def main():
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parents[2] / "test_data/models/splicing")
    for name in ("keras", "keras3", "open", "pangolin"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    expected = {}

    def note(group, sequence, probabilities, context):
        expected[group] = {"sequence": sequence, "context": context, "probabilities": rounded(probabilities)}

    shapes = [(3, 1)] * 2 + [(5, 4), (3, 10)]
    sequence, x = (lambda text: (text, one_hot(text)))(random_sequence(250))
    members = [random_member(shapes, 3) for _ in range(1)]
    context = sum(2 * (taps - 1) * dilation for taps, dilation in shapes)
    for index, member in enumerate(members, 1):
        KerasNetwork(member, context // 2, f"_{40 + index}", False).write(folder / f"keras/splice{index}.h5")
    note("keras", sequence, np.mean([softmax(logits(member, x)) for member in members], 0), context)
    member = random_member([(3, 1)] * 4, 3)
    KerasNetwork(member, 8, "", True).write(folder / "keras3/model.h5")
    note("keras3", sequence[:60], softmax(logits(member, x[:60])), 16)

    opened = [open_network(folder / f"open/model_{index}.pt", 8) for index in (1, 2)]
    note("open", sequence, np.mean([softmax(logits(member, x, 1e-5, 0.1)) for member in opened], 0), 80)
    columns = []
    for tissue in range(4):
        member = pangolin_network(folder / f"pangolin/final.1.{2 * tissue}.3.v2", tissue)
        columns.append(softmax(logits(member, x[:60], 1e-5))[:, 1])
    note("pangolin", sequence[:60], np.array(columns).T, 16)

    sequence = random_sequence(10_012)
    note("formula", sequence, softmax(logits(formula_member(), one_hot(sequence), 0.0)), 10_000)
    (folder / "expected.json").write_text(json.dumps(expected, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
