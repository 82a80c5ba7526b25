#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes test_data/chromatin/mat: files of DeepSEA's form and shape, small, of real sequence.

train.mat is MATLAB 7.3 (HDF5), valid.mat and test.mat MATLAB 5, as in DeepSEA's bundle; each holds all forward
rows, then all reverse complements. Channels are A G C T. Needs numpy, scipy, h5py and samtools.

    scripts/checks/make_mat_fixtures.py test_data/genome/22.fa.gz test_data/chromatin/mat
"""

import pathlib
import subprocess
import sys
import tempfile

import h5py
import numpy as np
import scipy.io

LABELS, BASES = 5, 1000
COMPLEMENT = str.maketrans("ACGTN", "TGCAN")


def sequences(genome, bins):
    with tempfile.TemporaryDirectory() as folder:
        regions = [f"{contig}:{start - 400 + 1}-{end + 400}" for contig, start, end in bins]
        text = subprocess.run(
            ["samtools", "faidx", "--fai-idx", f"{folder}/fai", "--gzi-idx", f"{folder}/gzi", genome, *regions],
            check=True, capture_output=True, text=True).stdout
    found = ["".join(record.split("\n")[1:]).upper() for record in text.split(">")[1:]]
    assert all(len(dna) == BASES for dna in found)
    return found


def one_hot(dnas):
    return np.array([[[base == channel for base in dna] for channel in "AGCT"] for dna in dnas], np.uint8)


def write_73(path, arrays):
    """What MATLAB 7.3 writes: HDF5 with axes reversed, behind a text header of 512 bytes."""
    with h5py.File(path, "w", userblock_size=512, libver="earliest") as file:
        for name, array in arrays.items():
            data = file.create_dataset(name, data=array.T, chunks=True, compression="gzip", track_times=False)
            kind = h5py.h5t.C_S1.copy()  # ends with NUL, as MATLAB's
            kind.set_size(5)
            attribute = h5py.h5a.create(data.id, b"MATLAB_class", kind, h5py.h5s.create(h5py.h5s.SCALAR))
            attribute.write(np.array(b"uint8", "S5"), mtype=kind)
    with open(path, "r+b") as file:
        header = b"MATLAB 7.3 MAT-file".ljust(116) + bytes(8) + b"\x00\x02" + b"IM"
        file.write(header)


def main():
    genome, output = sys.argv[1], pathlib.Path(sys.argv[2])
    output.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(7)
    # In the order of allTFs.pos.bed: train, validation, and test, which is chromosomes 8 and 9 there. Here 22 stands for all,
    # so test is left to a file without coordinates. One bin lies beside the assembly's gap, where N is.
    starts = [16_050_000 + 200 * int(i) for i in rng.choice(20_000, 16, replace=False)] + [16_050_200]
    bins = [("22", start, start + 200) for start in starts]
    (output / "bins.bed").write_text("".join(f"chr{c}\t{s}\t{e}\n" for c, s, e in bins))
    dnas = sequences(genome, bins)
    labels = (rng.random((len(bins), LABELS)) < 0.4).astype(np.uint8)
    expected = ["contig\tstart\tsplit\tlabels\tsequence"]
    for (split, name, rows) in (("train", "train", range(0, 9)), ("validation", "valid", range(9, 13)), ("test", "test", range(13, 17))):
        forward = [dnas[i] for i in rows]
        mirrored = [dna.translate(COMPLEMENT)[::-1] for dna in forward]
        arrays = {f"{name}xdata": one_hot(forward + mirrored), f"{name}data": np.concatenate([labels[rows], labels[rows]])}
        if split == "train":
            write_73(output / "train.mat", arrays)
        else:
            scipy.io.savemat(output / f"{name}.mat", arrays, do_compression=True)
        for i in rows:
            expected.append("\t".join(["22", str(bins[i][1]), split, "".join(map(str, labels[i])), dnas[i]]))
    (output / "rows.tsv").write_text("\n".join(expected) + "\n")
    malformed = output / "malformed"
    malformed.mkdir(exist_ok=True)
    (malformed / "truncated_73.mat").write_bytes((output / "train.mat").read_bytes()[:3000])
    (malformed / "truncated_5.mat").write_bytes((output / "valid.mat").read_bytes()[:700])
    for name, x, rows in (("shape", np.zeros((4, 3, 10)), 4), ("rows", np.zeros((4, 4, 10)), 3), ("values", np.full((4, 4, 10), 7), 4)):
        scipy.io.savemat(malformed / f"{name}.mat", {"x": x.astype(np.uint8), "y": np.zeros((rows, 2), np.uint8)})


if __name__ == "__main__":
    main()
