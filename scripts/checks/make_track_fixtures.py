#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_track_fixtures.py BEDPE FOLDER

Cuts the fragments of chrI and chrVI out of BEDPE (macs3-project/MACS: test/yeast_500k_SRR1822137.bedpe.gz), and writes into FOLDER
yeast.bedpe.gz   those fragments
yeast.bw         their coverage of each base of chrI and chrVI, by pyBigWig
yeast.bedgraph   the same of chrI's first 20,000 bases
numbers.json     of the 50-base bins of chrI: fragments' ends by numpy, and the mean of the bigWig's values as pyBigWig reads them
Needs numpy and pyBigWig.
"""
import gzip
import json
import sys
from pathlib import Path

import numpy
import pyBigWig

LENGTHS = {"chrI": 230218, "chrVI": 270161}
BIN, SHORT = 50, 20000


def runs(values):
    """Starts, ends and values of stretches of one value above 0."""
    edges = numpy.flatnonzero(numpy.diff(values)) + 1
    starts, ends = numpy.r_[0, edges], numpy.r_[edges, len(values)]
    kept = values[starts] > 0
    return starts[kept], ends[kept], values[starts][kept]


def main():
    bedpe, folder = Path(sys.argv[1]), Path(sys.argv[2])
    with gzip.open(bedpe, "rt") as file:
        lines = [line for line in file if line.split("\t")[0] in LENGTHS]
    with gzip.GzipFile(folder / "yeast.bedpe.gz", "wb", mtime=0) as out:
        out.write("".join(lines).encode())
    coverage = {contig: numpy.zeros(length) for contig, length in LENGTHS.items()}
    ends = numpy.zeros(LENGTHS["chrI"])
    for line in lines:
        contig, start, end = line.split()[:3]
        coverage[contig][int(start):int(end)] += 1
        if contig == "chrI":
            ends[int(start)] += 1
            ends[int(end) - 1] += 1
    with pyBigWig.open(str(folder / "yeast.bw"), "w") as out:
        out.addHeader(list(LENGTHS.items()))
        for contig in LENGTHS:
            starts, stops, values = runs(coverage[contig])
            out.addEntries([contig] * len(starts), starts.tolist(), ends=stops.tolist(), values=values.tolist())
    with open(folder / "yeast.bedgraph", "w") as out:
        for start, end, value in zip(*runs(coverage["chrI"][:SHORT])):
            out.write(f"chrI\t{start}\t{end}\t{value:g}\n")
    bins = LENGTHS["chrI"] // BIN
    with pyBigWig.open(str(folder / "yeast.bw")) as file:
        values = numpy.nan_to_num(numpy.array(file.values("chrI", 0, bins * BIN)))
    json.dump({"made_with": f"pyBigWig {pyBigWig.__version__}, numpy {numpy.__version__}",
               "ends": ends[:bins * BIN].reshape(-1, BIN).sum(1).astype(int).tolist(),
               "mean": numpy.round(values.reshape(-1, BIN).mean(1), 6).tolist()}, open(folder / "numbers.json", "w"))


if __name__ == "__main__":
    main()
