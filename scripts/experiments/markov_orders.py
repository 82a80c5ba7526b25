#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scripts/experiments/markov_orders.py --reference grch37.fa.gz --train 20:1-50000000 X:1-69999930 --test 22:20500001-22000000

Bits per base of Markov chains up to order 16 on held-out sequence: the chains of `evaluate-mlm`, which ends at order 12, on one thread. Only contexts of the held-out sequence are counted, so memory does not grow with the order. Probabilities of all orders are interpolated as
lib/bigbird/baselines/sequence/markov.cpp has it. 126 Mb take a quarter of an hour. Needs numpy.
"""
import numpy

import shared

TRUST_IN_SHORTER = 16
STRETCH, ORDERS = 8_000_000, 17


def contexts(codes, order):
    """The context before each base, the base, and whether all of it is A C G T."""
    count = len(codes) - order
    context, known = numpy.zeros(count, numpy.uint64), codes[order:] < 4
    for i in range(order):
        known &= codes[i:i + count] < 4
        context = context << numpy.uint64(2) | (codes[i:i + count] & 3)
    return context, codes[order:], known


def count(train, wanted, order):
    counts = numpy.zeros(4 * len(wanted), numpy.int64)
    for codes in train:
        for begin in range(0, len(codes), STRETCH):
            context, base, known = contexts(codes[begin:begin + STRETCH + order], order)
            context, base = context[known], base[known]
            index = numpy.searchsorted(wanted, context)
            index[index == len(wanted)] = 0
            found = wanted[index] == context
            counts += numpy.bincount(4 * index[found] + base[found], minlength=len(counts))
    return counts.reshape(-1, 4)


def main():
    parser = shared.parser_of(__doc__, "reference", "test")
    parser.add_argument("--train", nargs="+", required=True)
    options = parser.parse_args()
    code, genome = numpy.full(256, 255, numpy.uint8), shared.sequences_of(options.reference)
    code[list(b"ACGT")] = range(4)
    regions = [(genome[contig], span) for contig, span in map(shared.region_of, [str(options.test), *options.train])]
    test, *train = (code[numpy.frombuffer(sequence[span].encode(), numpy.uint8)] for sequence, span in regions)
    probability, seen = numpy.full(len(test), 0.25), numpy.ones(len(test), bool)
    for order in range(ORDERS):
        context, _, known = contexts(test, order)
        wanted, place = numpy.unique(context, return_inverse=True)
        counts = count(train, wanted, order)[place]
        seen = numpy.concatenate([numpy.zeros(order, bool), seen[order:] & known & (counts.sum(1) > 0)])
        at = numpy.flatnonzero(seen)
        own = counts[at - order]
        weight = TRUST_IN_SHORTER * (own > 0).sum(1)
        probability[at] = (own[numpy.arange(len(at)), test[at]] + weight * probability[at]) / (own.sum(1) + weight)
        print(f"order {order}: {-numpy.log2(probability[test < 4]).mean():.4f} bits per base", flush=True)


if __name__ == "__main__":
    main()
