#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_profiles.py [PROGRAM] makes files of random weights by bpnet-lite and Cherimoya themselves, and Keras files as make_profile_fixtures.py writes them, which
bpnet-lite's loader reads. It compares log counts and profiles of random windows with some N by those packages (float32, CPU) and by the program: predict's tables
and bedGraphs, of the given strand. Exit code 1 where log counts differ by more than 1e-5, or a base's reads by more than 1e-5 of the largest. Needs torch,
h5py, bpnet-lite 1.1.0 and cherimoya 0.3.1; without them it says so, exit code 77."""
import csv
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import numpy as np
    import torch
    from bpnetlite.bpnet import BPNet, BasePairNet, ControlWrapper
    from bpnetlite.chrombpnet import ChromBPNet
    from cherimoya import Cherimoya
except ImportError as missing:
    print(f"SKIPPED: {missing.name} is not here: pip install torch h5py pandas tqdm numba figwig memelite; pip install --no-deps bpnet-lite==1.1.0 cherimoya==0.3.1 tangermeme==1.6.0")
    sys.exit(77)

HERE = Path(__file__).resolve().parent
WINDOWS, WITHIN = 3, 1e-5
KERAS = """import make_profile_fixtures as m
from pathlib import Path
folder, length, output = Path('{folder}'), {length}, {output}
nobias, bias = m.random_weights(10, 3), m.random_weights(5, 2)
one = m.chrombpnet_model(nobias, 'wo_bias_', 'model_wo_bias', length, output)
other = m.chrombpnet_model(bias, '', 'model_3', length, output)
m.write_keras(folder / 'nobias.h5', one)
m.write_keras(folder / 'bias.h5', other)
m.write_keras(folder / 'joined.h5', m.joined_model(one, other, 'model_4', length, output))
"""


def keras_files(folder):
    """Networks of bpnet-lite by its loader, which needs the output of its own trimming: 47 and the sum of dilations on each side."""
    length, output = 400, 400 - 2 * (47 + 14)
    subprocess.run([sys.executable, "-c", KERAS.format(folder=folder, length=length, output=output)], cwd=HERE, check=True)
    nobias, bias = (BPNet.from_chrombpnet(str(folder / f"{name}.h5")) for name in ("nobias", "bias"))
    bias.trimming = nobias.trimming
    joined = ChromBPNet.from_chrombpnet(str(folder / "bias.h5"), str(folder / "nobias.h5"))
    yield folder / "nobias.h5", "nobias", nobias, length
    yield folder / "joined.h5", "joined", joined, length


def draw_counts(network):
    """New networks have log counts near 0."""
    network.linear.weight.data.normal_()
    network.linear.bias.data += 3


def torch_files(folder):
    torch.manual_seed(1)
    for name, network in (("bpnet", BPNet(n_filters=6, n_layers=8, verbose=False)),
                          ("one_strand", BPNet(n_filters=5, n_layers=8, n_outputs=1, n_control_tracks=0, verbose=False)),
                          ("basepairnet", BasePairNet(n_filters=6, n_layers=8, trimming=557, verbose=False))):
        draw_counts(network)
        torch.save(network, folder / f"{name}.torch")
        yield folder / f"{name}.torch", None, ControlWrapper(network), 2114
    for name, sizes in (("cherimoya", {}), ("groups", {"signal_groups": [1, 2], "n_control_tracks": 0, "expansion": 3})):
        network = Cherimoya(n_filters=12, n_layers=9, verbose=False, compile=False, random_state=3, **sizes)
        draw_counts(network)
        network.save(str(folder / f"{name}.torch"))
        yield folder / f"{name}.torch", None, network, 2114


def random_windows(length):
    rng = np.random.default_rng(length)
    windows = ["".join(rng.choice(list("ACGT"), length)) for _ in range(WINDOWS)]
    return [window[:at] + "NNN" + window[at + 3:] for window, at in zip(windows, (length // 2, length // 3, length - 40))]


def one_hot(window):
    return torch.tensor([[float(letter == base) for letter in window] for base in "ACGT"])


def by_package(network, windows):
    """Log counts (windows, groups) and probabilities, a list of (windows, strands, positions) per group."""
    with torch.no_grad():
        profile, counts = network.eval()(torch.stack([one_hot(window) for window in windows]))
    groups = getattr(network, "signal_groups", None) or [profile.shape[1]]
    shares = [part.double().flatten(1).softmax(1).reshape(part.shape) for part in profile.split(list(groups), 1)]
    return counts.double().numpy(), [part.numpy() for part in shares]


def by_program(program, model, component, windows, folder):
    """Log counts, (windows, groups), and reads, {track: (windows, positions)}."""
    genome, regions = folder / "windows.fa", folder / "windows.bed"
    genome.write_text("".join(f">w{i}\n{window}\n" for i, window in enumerate(windows)))
    regions.write_text("".join(f"w{i}\t0\t{len(window)}\n" for i, window in enumerate(windows)))
    for old in folder.glob("track_*.bedgraph"):
        old.unlink()
    subprocess.run([program, "predict", "--model", model, *(["--component", component] if component else []), "--reference", genome, "--regions", regions,
                    "--reverse-complement", "none", "--output", folder / "found.csv", "--output", folder / "track_{label}.bedgraph", "--force", "--quiet"], check=True)
    with open(folder / "found.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    logs = [column for column in rows[0] if column.startswith("log_counts")]
    counts = np.array([[float(row[column]) for column in logs] for row in rows])
    tracks = {}
    for path in sorted(folder.glob("track_*.bedgraph")):
        reads = tracks[path.stem.removeprefix("track_")] = np.zeros((len(windows), len(windows[0])))
        for line in path.read_text().splitlines():
            if line[0] == "w":
                contig, start, end, value = line.split("\t")
                reads[int(contig[1:]), int(start):int(end)] = float(value)
    return counts, tracks


def names_of(group, groups, strands):
    label = "counts" if groups == 1 else f"counts_{group + 1}"
    return [label] if strands == 1 else [f"{label}_plus", f"{label}_minus"]


def compare(program, folder):
    worst = 0
    for model, component, network, length in [*keras_files(folder), *torch_files(folder)]:
        windows = random_windows(length)
        counts, shares = by_package(network, windows)
        found, tracks = by_program(program, model, component, windows, folder)
        far, apart = np.abs(found - counts).max(), 0
        for group, share in enumerate(shares):
            cut = (length - share.shape[2]) // 2
            reads = share * (np.exp(counts[:, group]) - (2 if "basepairnet" in model.name else 1))[:, None, None]
            for strand, name in enumerate(names_of(group, len(shares), share.shape[1])):
                own = tracks[name][:, cut:cut + share.shape[2]]
                apart = max(apart, np.abs(own - reads[:, strand]).max() / np.abs(reads).max())
        print(f"{model.name}: log counts within {far:.1e}, reads within {apart:.1e} of the largest")
        worst = max(worst, far, apart)
    return worst


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else HERE.parents[1] / "build/bin/bigbird-dna"
    with tempfile.TemporaryDirectory() as folder:
        if compare(program, Path(folder)) > WITHIN:
            sys.exit(f"FAILED: a difference is above {WITHIN}")


if __name__ == "__main__":
    main()
