#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_profile_fixtures.py [FOLDER]

Writes into FOLDER (default: test_data/models/profiles) a small file of random weights in each form in which networks of the BPNet family
are published: Keras' HDF5 (ChromBPNet, its bias model, both joined, BPNet) and torch.save() (bpnet-lite, Cherimoya); and expected.json,
what float64 formulas make of random windows: for each file and component `log_counts` (windows, groups) and `logits` (windows, output *
columns: all columns of a position together). Needs numpy and h5py; files of torch are made by the standard library.
"""
import io
import json
import pickle
import struct
import sys
import types
import zipfile
from collections import OrderedDict
from pathlib import Path

import h5py
import numpy as np

rng = np.random.default_rng(67)
LETTERS = "ACGT"


def random_windows(length, count):
    windows = ["".join(rng.choice(list(LETTERS), length)) for _ in range(count)]
    return [window[:place] + "N" * (index + 1) + window[place + index + 1:]
            for index, window in enumerate(windows) for place in [length // 2 - 3 + 5 * index]]


def one_hot(window):
    return np.array([[float(letter == base) for base in LETTERS] for letter in window])


# ---------------------------------------------------------------- formulas; x is (positions, channels), kernels (width, in, out)
def relu(x):
    return np.maximum(x, 0)


def gelu(x):
    return x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x * x * x)))


def convolve(x, kernel, bias, dilation=1):
    kernel = np.asarray(kernel, float)
    reach = dilation * (len(kernel) - 1)
    total = np.zeros((len(x) - reach, kernel.shape[2])) + np.asarray(bias, float)
    for tap, matrix in enumerate(kernel):
        total += x[tap * dilation:len(x) - reach + tap * dilation] @ matrix
    return total


def padded(x, kernel, bias, dilation=1):
    side = dilation * (len(kernel) // 2)
    return convolve(np.pad(x, ((side, side), (0, 0))), kernel, bias, dilation)


def middle(x, length):
    cut = (len(x) - length) // 2
    return x[cut:cut + length]


def chrombpnet(weights, x, output):
    trunk = relu(convolve(x, *weights["stem"]))
    for dilation, layer in layers_of(weights):
        moved = relu(convolve(trunk, *layer, dilation))
        trunk = moved + middle(trunk, len(moved))
    kernel, bias = weights["counts"]
    return middle(convolve(trunk, *weights["profile"]), output), trunk.mean(0) @ kernel.astype(float) + bias


def layers_of(weights):
    return [(2 ** (i + 1), layer) for i, layer in enumerate(weights["layers"])]


def bpnet(weights, x, output, controls):
    """Of kundajelab/bpnet; `controls` tracks of zeros."""
    trunk = convolve(x, *weights["stem"])
    for dilation, layer in layers_of(weights):
        moved = convolve(relu(trunk), *layer, dilation)
        trunk = moved + middle(trunk, len(moved))
    trunk = relu(trunk)
    logits = middle(convolve(trunk, *weights["profile"]), output)
    counts = trunk.mean(0) @ weights["counts"][0].astype(float) + weights["counts"][1]
    if controls:
        logits = convolve(np.hstack([logits, np.zeros((output, controls))]), *weights["profile_control"])
        of_control = np.log(np.exp(np.log1p(np.zeros(controls))).sum())
        counts = np.r_[counts, of_control] @ weights["counts_control"][0].astype(float) + weights["counts_control"][1]
    return logits, counts


def torch_kernel(weight):
    return np.asarray(weight, float).transpose(2, 1, 0)


def bpnet_lite(state, prefix, x, trimming, controls, before=False):
    """BPNet of bpnet-lite, `before`: its BasePairNet; with padding, and controls of zeros."""
    get = lambda name, other=0: state.get(prefix + name, np.zeros(other))
    trunk = padded(x, torch_kernel(get("iconv.weight")), get("iconv.bias"))
    trunk = trunk if before else relu(trunk)
    layer = 0
    while f"{prefix}rconvs.{layer}.weight" in state:
        moved = padded(relu(trunk) if before else trunk, torch_kernel(get(f"rconvs.{layer}.weight")), get(f"rconvs.{layer}.bias"), 2 << layer)
        trunk, layer = trunk + (moved if before else relu(moved)), layer + 1
    trunk = relu(trunk) if before else trunk
    with_control = np.hstack([trunk, np.zeros((len(x), controls))])
    kernel = torch_kernel(get("fconv.weight"))
    logits = padded(with_control, kernel, get("fconv.bias", kernel.shape[2]))[trimming:len(x) - trimming]
    pooled = trunk[max(trimming - 37, 0):len(x) - trimming + 37].mean(0)
    if controls:
        pooled = np.r_[pooled, np.log(2 if before else 1)]
    return logits, np.asarray(get("linear.weight"), float) @ pooled + get("linear.bias", 1)


def cherimoya(state, config, x):
    get = lambda name: np.asarray(state[name], float)
    trunk = gelu(padded(x, torch_kernel(get("iconv.weight")), get("iconv.bias")))
    for block in range(config["n_layers"]):
        name = f"blocks.{block}."
        taps = get(name + ("conv_weight" if name + "conv_weight" in state else "conv.conv_weight"))
        wide = np.pad(trunk, ((1 << block, 1 << block), (0, 0)))
        moved = sum(wide[tap << block:(tap << block) + len(trunk)] * taps[tap] for tap in range(3))
        moved = (moved - moved.mean()) / np.sqrt(moved.var() + 1e-3)
        trunk = trunk + config["residual_scale"] * gelu(moved @ get(name + "linear1.weight").T) @ get(name + "linear2.weight").T
    kept = slice(config["trimming"], len(x) - config["trimming"])
    controls = config["n_control_tracks"]
    logits = padded(np.hstack([trunk, np.zeros((len(x), controls))]), torch_kernel(get("fconv.weight")), get("fconv.bias"))[kept]
    pooled = np.r_[trunk[kept].mean(0), [0] * bool(controls)]
    return logits, get("linear.weight") @ pooled + get("linear.bias")


# ---------------------------------------------------------------- Keras' HDF5
def kernel_and_bias(*shape):
    scale = 1.5 / np.sqrt(np.prod(shape[:-1]))
    return [(scale * rng.standard_normal(shape)).astype("f4"), (0.2 * rng.standard_normal(shape[-1])).astype("f4")]


def random_weights(filters, layers, columns=1, stem=21, head=75, controls=0):
    weights = {"stem": kernel_and_bias(stem, 4, filters), "layers": [kernel_and_bias(3, filters, filters) for _ in range(layers)],
               "profile": kernel_and_bias(head, filters, columns), "counts": kernel_and_bias(filters, 1)}
    weights["counts"][1] += 2
    if controls:
        weights["profile_control"] = kernel_and_bias(1, columns + controls, columns)
        weights["counts_control"] = kernel_and_bias(2, 1)
    return weights


class KerasModel:
    """A model's layers, as Keras describes them, and their weights."""

    def __init__(self, name, keras3=False):
        self.name, self.keras3, self.layers, self.weights = name, keras3, [], {}

    def add(self, kind, name, inbound, config=None, weights=None):
        config = {"name": name, "trainable": True, "dtype": "float32", **(config or {})}
        if self.keras3:
            config["dtype"] = {"module": "keras", "class_name": "DTypePolicy", "config": {"name": "float32"}, "registered_name": None}
            nodes = [{"args": [{"class_name": "__keras_tensor__", "config": {"dtype": "float32", "keras_history": [of, 0, 0]}} for of in inbound],
                      "kwargs": {}}] if inbound else []
        else:
            nodes = [[[of, 0, 0, {}] for of in inbound]] if inbound else []
        self.layers.append({"class_name": kind, "config": config, "name": name, "inbound_nodes": nodes})
        if weights is not None:
            self.weights[name] = weights
        return name

    def input(self, name, shape):
        return self.add("InputLayer", name, [], {"batch_shape" if self.keras3 else "batch_input_shape": [None, *shape]})

    def convolution(self, name, inbound, weights, activation="linear", dilation=1):
        return self.add("Conv1D", name, [inbound], {
            "filters": weights[0].shape[2], "kernel_size": [weights[0].shape[0]], "strides": [1], "padding": "valid",
            "data_format": "channels_last", "dilation_rate": [dilation], "groups": 1, "activation": activation, "use_bias": True}, weights)

    def crop(self, name, inbound, cut):
        return self.add("Cropping1D", name, [inbound], {"cropping": [cut, cut]})

    def dense(self, name, inbound, weights):
        return self.add("Dense", name, [inbound], {"units": weights[0].shape[1], "activation": "linear", "use_bias": True}, weights)

    def config(self, outputs, inputs=("sequence",)):
        return {"name": self.name, "layers": self.layers, "input_layers": [[name, 0, 0] for name in inputs],
                "output_layers": [[name, 0, 0] for name in outputs]}


def chrombpnet_model(weights, prefix, name, input_length, output, keras3=False):
    """`prefix`: "" or "wo_bias_", before layers of the trunk; layers of the heads have "wo_bias_bpnet_" then."""
    model, of_head = KerasModel(name, keras3), prefix + "bpnet_" if prefix else ""
    model.input("sequence", [input_length, 4])
    trunk = model.convolution(prefix + "bpnet_1st_conv", "sequence", weights["stem"], "relu")
    length = input_length - len(weights["stem"][0]) + 1
    for index, (dilation, layer) in enumerate(layers_of(weights), 1):
        moved = model.convolution(f"{prefix}bpnet_{index}conv", trunk, layer, "relu", dilation)
        kept = model.crop(f"{prefix}bpnet_{index}crop", trunk, dilation)
        trunk = model.add("Add", "add" if index == 1 else f"add_{index - 1}", [moved, kept])
        length -= 2 * dilation
    profile = model.convolution(of_head + "prof_out_precrop", trunk, weights["profile"])
    length -= len(weights["profile"][0]) - 1
    cropped = model.crop("wo_bias_bpnet_logitt_before_flatten" if prefix else "logits_profile_predictions_preflatten", profile,
                         length // 2 - output // 2)
    model.add("GlobalAveragePooling1D", "gap", [trunk])
    flat = model.add("Flatten", of_head + "logits_profile_predictions", [cropped])
    return model, model.config([flat, model.dense(of_head + "logcount_predictions", "gap", weights["counts"])])


def bpnet_model(weights, prefix, input_length, output, controls):
    model = KerasModel("custom_model")
    model.input("sequence", [input_length, 4])
    trunk = model.convolution(prefix + "_conv_0", "sequence", weights["stem"])
    length = input_length - len(weights["stem"][0]) + 1
    for index, (dilation, layer) in enumerate(layers_of(weights), 1):
        active = model.add("ReLU", trunk + "_relu", [trunk], {"max_value": None, "negative_slope": 0.0, "threshold": 0.0})
        moved = model.convolution(f"{prefix}_dil_conv_{index}", active, layer, dilation=dilation)
        kept = model.crop(trunk + "_cr", trunk, dilation)
        trunk = model.add("Add", f"{prefix}_add_{index}", [moved, kept])
        length -= 2 * dilation
    trunk = model.add("ReLU", trunk + "_relu", [trunk], {"max_value": None, "negative_slope": 0.0, "threshold": 0.0})
    profile = model.convolution(prefix + "_profile_head", trunk, weights["profile"])
    length -= len(weights["profile"][0]) - 1
    cropped = model.crop(prefix + "_profile_head_cropped" if controls else "profile_predictions", profile, length // 2 - output // 2)
    gap = model.add("GlobalAveragePooling1D", prefix + "_global_avg_pooling", [trunk])
    counts = model.dense(prefix + "_counts_head" if controls else "logcounts_predictions", gap, weights["counts"])
    inputs = ["sequence"]
    if controls:
        inputs += [model.input("profile_bias_input_0", [output, controls]), model.input("counts_bias_input_0", [controls])]
        joined = model.add("Concatenate", prefix + "_concat_with_prof_bias_0", [cropped, inputs[1]], {"axis": -1})
        model.convolution("profile_predictions", joined, weights["profile_control"])
        summed = model.add("Lambda", prefix + "_logsumexp_counts_bias_0", [inputs[2]], {"function": ["4wEAAAA=\n", None, None]})
        joined = model.add("Concatenate", prefix + "_concat_with_counts_bias_0", [counts, summed], {"axis": -1})
        model.dense("logcounts_predictions", joined, weights["counts_control"])
    return model, model.config(["profile_predictions", "logcounts_predictions"], inputs)


def joined_model(nobias, bias, name, input_length, output):
    """Models as chrombpnet_model() gives them, within another."""
    model = KerasModel(name)
    model.input("sequence", [input_length, 4])
    for inner, config in (bias, nobias):
        model.layers.append({"class_name": "Functional", "config": config, "name": inner.name, "inbound_nodes": [[["sequence", 0, 0, {}]]]})
        model.weights[inner.name] = inner
    both = [nobias[0].name, bias[0].name]
    model.add("Concatenate", "concatenate", [], {"axis": -1})
    model.layers[-1]["inbound_nodes"] = [[[inner, 1, 1, {}] for inner in both]]
    model.add("Add", "logits_profile_predictions", [])
    model.layers[-1]["inbound_nodes"] = [[[inner, 1, 0, {}] for inner in both]]
    model.add("Lambda", "logcount_predictions", ["concatenate"], {"function": ["4wEAAAA=\n", None, None], "function_type": "lambda",
                                                                  "module": "chrombpnet_with_bias_model", "arguments": {}})
    return model, model.config(["logits_profile_predictions", "logcount_predictions"])


def write_keras(path, described, kind="Functional", fixed=False, chunks=0, variable=False, top_level=True, libver="earliest"):
    """`fixed`: the description is a text of fixed length; `chunks`: the list of layers is cut into so many; `variable`: lists hold texts
    of variable length."""
    model, config = described
    ending = "" if model.keras3 else ":0"
    text = h5py.string_dtype()
    texts = lambda names: np.array(names, dtype=text) if variable and names else [name.encode() for name in names]
    pairs = lambda name, weights: [(f"{name}/{kind}{ending}", value) for kind, value in zip(("kernel", "bias"), weights)]
    with h5py.File(path, "w", libver=libver, meta_block_size=1) as file:
        json_text = json.dumps({"class_name": kind, "config": config}).encode()
        file.attrs["model_config"] = np.bytes_(json_text) if fixed else json_text
        file.attrs["keras_version"], file.attrs["backend"] = "3.6.0" if model.keras3 else "2.8.0" if top_level else "2.4.0", "tensorflow"
        group = file.create_group("model_weights")
        names = [layer["config"]["name"] for layer in model.layers]
        if chunks:
            for index, some in enumerate(np.array_split(np.array(names), chunks)):
                group.attrs[f"layer_names{index}"] = texts(some.tolist())
        else:
            group.attrs["layer_names"] = texts(names)
        group.attrs["backend"] = b"tensorflow"
        for name in sorted(names):
            held = model.weights.get(name, [])
            stored = [pair for inner, weights in held.weights.items() for pair in pairs(inner, weights)] if isinstance(held, KerasModel) \
                else pairs(name, held)
            layer = group.create_group(name)
            layer.attrs["weight_names"] = texts([path for path, _ in stored])
            for place, value in stored:
                layer.create_dataset(place, data=value)
        if top_level:
            group.create_group("top_level_model_weights").attrs["weight_names"] = []


# ---------------------------------------------------------------- torch.save()
class Storage:
    """A storage of torch: persistent ids name it."""

    def __init__(self, kind, values):
        self.kind, self.values = kind, values


class Tensor:
    """Pickled as torch pickles a tensor: a call of _rebuild_tensor_v2."""

    def __init__(self, storage, offset, shape, strides):
        self.arguments = storage, offset, tuple(shape), tuple(strides), False, OrderedDict()

    def __reduce__(self):
        return sys.modules["torch._utils"]._rebuild_tensor_v2, self.arguments


class Parameter:
    def __init__(self, tensor):
        self.tensor = tensor

    def __reduce__(self):
        return sys.modules["torch._utils"]._rebuild_parameter, (self.tensor, True, OrderedDict())


def pretend_module(name, functions=(), classes=()):
    """A module with functions and classes of these names, which pickle by them."""
    module = sys.modules[name] = types.ModuleType(name)
    for own in functions:
        exec(f"def {own}(*arguments): pass", module.__dict__)
    for own in classes:
        module.__dict__[own] = type(own, (), {"__module__": name})
    return module


TORCH = {name: pretend_module(name, *names) for name, names in {
    "torch": ((), ("FloatStorage", "DoubleStorage", "HalfStorage", "BFloat16Storage", "LongStorage")),
    "torch._utils": (("_rebuild_tensor_v2", "_rebuild_parameter"), ()),
    "torch.nn": ((), ()), "torch.nn.modules": ((), ()),
    "torch.nn.modules.conv": ((), ("Conv1d",)), "torch.nn.modules.linear": ((), ("Linear",)),
    "torch.nn.modules.activation": ((), ("ReLU",)), "torch.nn.modules.container": ((), ("ModuleList",)),
    "bpnetlite": ((), ()), "bpnetlite.logging": ((), ("Logger",)),
    "bpnetlite.bpnet": ((), ("BPNet", "BasePairNet", "CountWrapper")), "bpnetlite.chrombpnet": ((), ("ChromBPNet", "_Exp", "_Log"))}.items()}


def as_half_words(values):
    return (np.ascontiguousarray(values, "<f4").view("<u4") >> 16).astype("<u2")


STORED = {"FloatStorage": lambda values: values.astype("<f4"), "DoubleStorage": lambda values: values.astype("<f8"),
          "HalfStorage": lambda values: values.astype("<f2"), "BFloat16Storage": as_half_words, "LongStorage": lambda values: values.astype("<i8")}


def tensor(values, kind="FloatStorage", transposed=False):
    """`transposed`: stored with the axes back to front."""
    values = np.asarray(values)
    laid = values.T if transposed else values
    strides = [stride // values.itemsize for stride in np.ascontiguousarray(laid).strides]
    return Tensor(Storage(kind, np.ascontiguousarray(laid).ravel()), 0, values.shape, strides[::-1] if transposed else strides)


def save_torch(path, content, name="archive"):
    storages = []

    class Pickler(pickle.Pickler):
        def persistent_id(self, item):
            if not isinstance(item, Storage):
                return None
            if item not in storages:
                storages.append(item)
            return "storage", getattr(sys.modules["torch"], item.kind), str(storages.index(item)), "cpu", len(item.values)

    pickled = io.BytesIO()
    Pickler(pickled, protocol=2).dump(content)
    entries = [("data.pkl", pickled.getvalue()), ("byteorder", b"little")]
    entries += [(f"data/{index}", STORED[item.kind](item.values).tobytes()) for index, item in enumerate(storages)]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as out:
        for place, data in entries + [("version", b"3\n")]:
            entry = zipfile.ZipInfo(f"{name}/{place}", (1980, 1, 1, 0, 0, 0))
            begin = out.fp.tell() + 30 + len(entry.filename)
            padding = -(begin + 4) % 64
            entry.extra = struct.pack("<2sH", b"FB", padding) + b"Z" * padding  # data begin at multiples of 64, as torch lays them
            out.writestr(entry, data)


def module(kind, place, parameters=None, modules=None, **attributes):
    made = getattr(sys.modules[place], kind)()
    made.__dict__.update({"training": True, "_parameters": OrderedDict((name, Parameter(tensor(value)) if value is not None else None)
                                                                      for name, value in (parameters or {}).items()),
                          "_buffers": OrderedDict(), "_non_persistent_buffers_set": set(), "_backward_hooks": OrderedDict(),
                          "_is_full_backward_hook": None, "_forward_hooks": OrderedDict(), "_modules": OrderedDict(modules or {}), **attributes})
    return made


def lite_module(kind, state, prefix, layers, **attributes):
    """A module of bpnet-lite, of weights by the names of its state_dict()."""
    part = lambda name, kind, place, **more: module(kind, place, {key: state.get(f"{prefix}{name}.{key}") for key in ("weight", "bias")}, **more)
    conv = lambda name, dilation=1: part(name, "Conv1d", "torch.nn.modules.conv", stride=(1,), dilation=(dilation,), padding_mode="zeros",
                                         kernel_size=state[f"{prefix}{name}.weight"].shape[2:], groups=1)
    several = lambda items: module("ModuleList", "torch.nn.modules.container", modules={str(i): item for i, item in enumerate(items)})
    activation = lambda: module("ReLU", "torch.nn.modules.activation", inplace=False)
    logger = getattr(sys.modules["bpnetlite.logging"], "Logger")()
    logger.__dict__.update(names=["Epoch", "Saved?"], verbose=True, data={"Epoch": [0, 1], "Saved?": [True, False]})
    return module(kind, "bpnetlite.bpnet", None, {
        "iconv": conv("iconv"), "irelu": activation(), "rconvs": several([conv(f"rconvs.{i}", 2 << i) for i in range(layers)]),
        "rrelus": several([activation() for _ in range(layers)]), "fconv": conv("fconv"),
        "linear": part("linear", "Linear", "torch.nn.modules.linear", in_features=4)},
        n_filters=len(state[prefix + "iconv.bias"]), n_layers=layers, n_outputs=len(state[prefix + "fconv.weight"]), logger=logger, **attributes)


def lite_weights(prefix, filters, layers, outputs, controls, biases=True, head=75):
    state = {}

    def fill(name, *shape, bias=True):
        state[f"{prefix}{name}.weight"] = (1.5 / np.sqrt(np.prod(shape[1:])) * rng.standard_normal(shape)).astype("f4")
        if bias:
            state[f"{prefix}{name}.bias"] = (0.2 * rng.standard_normal(shape[0])).astype("f4")
    fill("iconv", filters, 4, 21)
    for layer in range(layers):
        fill(f"rconvs.{layer}", filters, filters, 3)
    fill("fconv", outputs, filters + controls, head, bias=biases)
    fill("linear", 1, filters + bool(controls), bias=biases)
    return state


def cherimoya_weights(config, head, block_name="conv_weight"):
    filters, controls = config["n_filters"], config["n_control_tracks"]
    groups = config.get("signal_groups") or [1] * config["n_outputs"]
    normal = lambda *shape: (1.5 / np.sqrt(np.prod(shape[1:])) * rng.standard_normal(shape)).astype("f4")
    state = {"lw0": np.ones(len(groups), "f4"), "lw1": np.ones(len(groups), "f4"), "iconv.weight": normal(filters, 4, 21),
             "iconv.bias": normal(filters, 16)[:, 0]}
    for block in range(config["n_layers"]):
        name = f"blocks.{block}."
        state |= {name + block_name: normal(3, filters), name + "linear1.weight": normal(config["expansion"] * filters, filters),
                  name + "linear2.weight": normal(filters, config["expansion"] * filters)}
    return state | {"fconv.weight": normal(sum(groups), filters + controls, head), "fconv.bias": normal(sum(groups), 16)[:, 0],
                    "linear.weight": normal(len(groups), filters + bool(controls)), "linear.bias": 2 + normal(len(groups), 16)[:, 0]}


def save_cherimoya(path, config, state, tensor_of=lambda name, value: tensor(value)):
    tensors = OrderedDict((name, tensor_of(name, value)) for name, value in state.items())
    tensors._metadata = OrderedDict([("", {"version": 1})])
    save_torch(path, {"config": config, "state_dict": tensors}, path.stem)


# ---------------------------------------------------------------- the files
def rounded(values):
    return [float(f"{value:.7g}") for value in np.asarray(values, float).ravel()]


def results(windows, forward):
    made = [forward(one_hot(window)) for window in windows]
    return {"log_counts": [rounded(counts) for _, counts in made], "logits": [rounded(logits) for logits, _ in made]}


def joined_results(windows, nobias, bias, output):
    def forward(x):
        (logits, counts), (other_logits, other_counts) = chrombpnet(nobias, x, output), chrombpnet(bias, x, output)
        return logits + other_logits, np.logaddexp(counts, other_counts)
    return results(windows, forward)


def keras_files(folder):
    expected = {}
    input_length, output = 266, 90
    windows = random_windows(input_length, 2)
    nobias, bias = random_weights(6, 3), random_weights(4, 2)
    of = lambda weights: results(windows, lambda x: chrombpnet(weights, x, output))
    model, inner = chrombpnet_model(nobias, "wo_bias_", "model_wo_bias", input_length, output), chrombpnet_model(bias, "", "model", input_length, output)
    write_keras(folder / "chrombpnet_nobias.h5", model, libver="latest")
    write_keras(folder / "bias.h5", inner, libver="latest")
    write_keras(folder / "chrombpnet.h5", joined_model(model, inner, "model_1", input_length, output))
    expected["chrombpnet_nobias.h5"] = {"windows": windows, "nobias": of(nobias)}
    expected["bias.h5"] = {"windows": windows, "bias": of(bias)}
    expected["chrombpnet.h5"] = {"windows": windows, "joined": joined_results(windows, nobias, bias, output), "nobias": of(nobias), "bias": of(bias)}

    input_length, output = 331, 101  # other sizes, an odd input, another bias model's name, other forms of lists and texts
    windows = random_windows(input_length, 2)
    nobias, bias = random_weights(5, 4, head=25), random_weights(3, 1, stem=11, head=35)
    model = chrombpnet_model(nobias, "wo_bias_", "model_wo_bias", input_length, output)
    inner = chrombpnet_model(bias, "", "functional_7", input_length, output)
    write_keras(folder / "chrombpnet_other.h5", joined_model(model, inner, "model_8", input_length, output), fixed=True, chunks=3, variable=True,
                top_level=False, libver="latest")
    expected["chrombpnet_other.h5"] = {"windows": windows, "joined": joined_results(windows, nobias, bias, output)}

    input_length, output = 200, 60
    windows, weights = random_windows(input_length, 2), random_weights(9, 2)
    write_keras(folder / "keras3.h5", chrombpnet_model(weights, "wo_bias_", "functional", input_length, output, True), libver="latest")
    expected["keras3.h5"] = {"windows": windows, "nobias": results(windows, lambda x: chrombpnet(weights, x, output))}

    for name, prefix, filters, layers, columns, controls in (("bpnet.h5", "main", 5, 3, 2, 2), ("bpnet_plain.h5", "chip", 4, 2, 2, 0),
                                                             ("bpnet_one_strand.h5", "main", 2, 1, 1, 1)):
        input_length, output = 210, 60
        windows, weights = random_windows(input_length, 2), random_weights(filters, layers, columns, controls=controls)
        write_keras(folder / name, bpnet_model(weights, prefix, input_length, output, controls), "CustomModel", libver="latest")
        expected[name] = {"windows": windows, "": results(windows, lambda x: bpnet(weights, x, output, controls))}
    return expected


def torch_files(folder):
    expected = {}
    length, trimming = 2114, 1022
    windows = random_windows(length, 2)

    state = lite_weights("", 5, 3, 2, 2)
    save_torch(folder / "bpnetlite.torch", lite_module("BPNet", state, "", 3, n_control_tracks=2, trimming=trimming, alpha=1.5, name="bpnet.5.3"))
    expected["bpnetlite.torch"] = {"windows": windows, "": results(windows, lambda x: bpnet_lite(state, "", x, trimming, 2))}

    state = lite_weights("bias.", 3, 1, 1, 0) | lite_weights("accessibility.", 4, 2, 1, 0, biases=False)
    save_torch(folder / "bpnetlite_chrombpnet.torch", module("ChromBPNet", "bpnetlite.chrombpnet", None, {
        "bias": lite_module("BPNet", state, "bias.", 1, n_control_tracks=0, trimming=49, count_loss_weight=1, name="bias"),
        "accessibility": lite_module("BPNet", state, "accessibility.", 2, n_control_tracks=0, trimming=trimming, count_loss_weight=1, name="model"),
        "_log": module("_Log", "bpnetlite.chrombpnet"), "_exp1": module("_Exp", "bpnetlite.chrombpnet")},
        name="ChromBPNet", logger=None, n_control_tracks=0, n_outputs=1))
    nobias = lambda x: bpnet_lite(state, "accessibility.", x, trimming, 0)
    bias = lambda x: [value if index else middle(value, length - 2 * trimming) for index, value in enumerate(bpnet_lite(state, "bias.", x, 49, 0))]
    joined = lambda x: [nobias(x)[0] + bias(x)[0], np.logaddexp(nobias(x)[1], bias(x)[1])]
    expected["bpnetlite_chrombpnet.torch"] = {"windows": windows, "nobias": results(windows, nobias), "bias": results(windows, bias),
                                              "joined": results(windows, joined)}

    state = lite_weights("model.", 4, 2, 2, 2, biases=False)
    save_torch(folder / "basepairnet.torch", module("CountWrapper", "bpnetlite.bpnet", None, {
        "model": lite_module("BasePairNet", state, "model.", 2, n_control_tracks=2, trimming=trimming, count_loss_weight=1, name="bpnet.4.2")}))
    expected["basepairnet.torch"] = {"windows": windows, "": results(windows, lambda x: bpnet_lite(state, "model.", x, trimming, 2, True))}

    config = {"n_filters": 8, "n_layers": 3, "signal_groups": [1], "n_control_tracks": 0, "expansion": 2, "residual_scale": 0.15,
              "name": "cherimoya.8.3", "trimming": trimming, "verbose": False}
    state = cherimoya_weights(config, 75)
    save_cherimoya(folder / "cherimoya.torch", config, state)
    expected["cherimoya.torch"] = {"windows": windows, "": results(windows, lambda x: cherimoya(state, config, x))}

    groups = config | {"n_filters": 6, "n_layers": 2, "signal_groups": [1, 2], "n_control_tracks": 3, "expansion": 3, "residual_scale": 0.2}
    of_groups = cherimoya_weights(groups, 1, "conv.conv_weight")
    save_cherimoya(folder / "cherimoya_groups.torch", groups, of_groups)
    expected["cherimoya_groups.torch"] = {"windows": windows, "": results(windows, lambda x: cherimoya(of_groups, groups, x))}

    # as of older versions, in other types and layouts of memory
    old = {key: value for key, value in config.items() if key != "signal_groups"} | {"n_filters": 4, "n_layers": 1, "n_outputs": 2, "single_count_output": False}
    of_old = cherimoya_weights(old, 75)
    kinds = {"fconv.weight": "HalfStorage", "iconv.weight": "BFloat16Storage", "linear.weight": "DoubleStorage"}
    of_old["fconv.weight"] = of_old["fconv.weight"].astype("f2").astype("f4")
    of_old["iconv.weight"] = (as_half_words(of_old["iconv.weight"]).astype("<u4") << 16).view("<f4")
    shared = Storage("FloatStorage", np.r_[np.float32([7, 7, 7]), of_old["fconv.bias"], of_old["linear.bias"]])
    views = {"fconv.bias": Tensor(shared, 3, (2,), (1,)), "linear.bias": Tensor(shared, 5, (2,), (1,))}
    save_cherimoya(folder / "cherimoya_old.torch", old, of_old,
                   lambda name, value: views.get(name) or tensor(value, kinds.get(name, "FloatStorage"), "linear1" in name))
    expected["cherimoya_old.torch"] = {"windows": windows, "": results(windows, lambda x: cherimoya(of_old, old, x))}
    return expected


def main():
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parents[2] / "test_data/models/profiles")
    expected = {"made_with": f"numpy {np.__version__}, h5py {h5py.__version__}", "files": keras_files(folder) | torch_files(folder)}
    (folder / "expected.json").write_text(json.dumps(expected, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
