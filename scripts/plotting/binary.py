# SPDX-License-Identifier: Apache-2.0
"""Scores of bigWig and HDF5 files; each needs a Python package that is asked for only then."""
import importlib
import math
import os

from plotting.failure import ANYTHING_ELSE, Failure


def package(name, path, kind):
    try:
        return importlib.import_module(name)
    except ImportError:
        raise Failure(f"{path}: {kind} needs the Python package {name}: pip install {name}", ANYTHING_ELSE) from None


def score(value):
    return None if math.isnan(value) else float(value)


class BigWig:
    """A label's track."""

    def __init__(self, path, model, label):
        self.path, self.model, self.labels = path, model, [label]
        self._module = package("pyBigWig", path, "bigWig")
        if not os.path.exists(path):
            raise Failure(f"{path}: No such file or directory")

    def read(self, region, labels):
        del labels
        try:
            file = self._module.open(self.path)
            contigs = {name: length for name, length in file.chroms().items() if region.on_contig(name.encode())}
        except (RuntimeError, AttributeError):
            raise Failure(f"{self.path}: this is no bigWig file") from None
        rows = []
        for name, length in contigs.items():
            if region.start < length:
                rows += [(start, end, [score(value)]) for start, end, value in file.intervals(name, region.start, min(region.end, length)) or ()]
        if not rows:
            raise Failure(f"{self.path}: no row lies in {region}")
        return sorted(rows, key=lambda row: row[:2])


class Hdf5:
    """All labels of what predict-* wrote."""

    def __init__(self, path, model):
        self.path, self.model = path, model
        module = package("h5py", path, "HDF5")
        if not os.path.exists(path):
            raise Failure(f"{path}: No such file or directory")
        try:
            self._file = module.File(path, "r")
            self.labels = [text.decode("utf-8", "replace") for text in self._file["labels/column"][:]]
            self._scores, self._rows = self._file["scores"], self._file["rows"]
        except (OSError, KeyError):
            raise Failure(f"{path}: this is no HDF5 file of scores") from None

    def read(self, region, labels):
        chrom, start, end = (self._rows[name][:] for name in ("chrom", "start", "end"))
        inside = [at for at, name in enumerate(chrom) if region.on_contig(name) and region.overlaps(int(start[at]), int(end[at]))]
        if not inside:
            raise Failure(f"{self.path}: no row lies in {region}")
        table = self._scores[inside[0]:inside[-1] + 1]
        columns = [self.labels.index(label) for label in labels]
        rows = [(int(start[at]), int(end[at]), [score(table[at - inside[0]][column]) for column in columns]) for at in inside]
        return sorted(rows, key=lambda row: row[:2])
