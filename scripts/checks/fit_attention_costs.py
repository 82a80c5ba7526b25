#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fit_attention_costs.py TIMES.tsv FILE.tsv...

Brings what build/bench/attention_bench (cmake -DBIGBIRD_BENCH=ON) printed, once or oftener, to the rates of lib/bigbird/attention/backend_cost.cpp:
nanoseconds a multiplication and a step, none negative, by least squares of the relative errors; shapes that are off by more than a factor of two (another
program ran) are left out. Writes the least time a shape and way to TIMES.tsv (test_data/attention/times.tsv) and prints the rates; on standard error how
often the cheapest way by the rates is the fastest, and what the others cost. Needs numpy and scipy.
"""
import collections
import csv
import sys

import numpy
from scipy.optimize import nnls

SHAPE = ("type", "pattern", "block", "blocks", "head_dim")
WORK = ("products", "steps")
TIMES = ("forward_ns", "both_ns")


def read(files):
    """The least times by shape and way."""
    rows = {}
    for name in files:
        with open(name) as lines:
            for row in csv.DictReader(lines, delimiter="\t"):
                known = rows.setdefault((row["way"], *(row[key] for key in SHAPE)), row)
                for column in TIMES:
                    known[column] = min(known[column], row[column], key=float)
    return list(rows.values())


def write(rows, name):
    columns = ("way", *SHAPE, *WORK, *TIMES)
    with open(name, "w") as out:
        for row in (dict(zip(columns, columns)), *rows):
            print(*(row[column] for column in columns), sep="\t", file=out)


def seconds(row):
    return sum(float(row[column]) for column in TIMES)


def work(row):
    return [float(row[kind]) for kind in WORK]


def fit(rows):
    times = numpy.array([seconds(row) for row in rows])
    amounts = numpy.array([work(row) for row in rows])
    used = numpy.ones(len(rows), bool)
    for _ in range(3):
        rates, _ = nnls(amounts[used] / times[used, None], numpy.ones(used.sum()))
        used = numpy.abs(numpy.log(amounts @ rates / times)) < numpy.log(2)
    return rates


def report(rows, rates):
    shapes = collections.defaultdict(list)
    for row in rows:
        shapes[tuple(row[key] for key in SHAPE)].append(row)
    losses = []
    for same in shapes.values():
        chosen = min(same, key=lambda row: numpy.dot(work(row), rates[row["way"], row["type"]]))
        losses.append(seconds(chosen) / min(map(seconds, same)))
    print(f"{sum(loss == 1 for loss in losses)} of {len(losses)} shapes get the fastest way, {sum(loss < 1.05 for loss in losses)} one that takes at most "
          f"5 % more; {numpy.mean(losses):.3f} times the fastest on average, {max(losses):.2f} at most", file=sys.stderr)


def main():
    if len(sys.argv) < 3 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    rows = read(sys.argv[2:])
    write(rows, sys.argv[1])
    rates = {}
    for way, kind in sorted({(row["way"], row["type"]) for row in rows}):
        rates[way, kind] = fit([row for row in rows if (row["way"], row["type"]) == (way, kind)])
        product, step = rates[way, kind]
        print(f'    {{"{way}", {str(kind == "bf16").lower()}, {product:.3g}, {step:.3g}}},')
    report(rows, rates)


if __name__ == "__main__":
    main()
