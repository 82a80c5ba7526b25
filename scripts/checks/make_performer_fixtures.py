#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_performer_fixtures.py OUTPUT.json

Attention by random features as in Choromanski and others 2021, equations (4), (5) and lemma 1, query by query and key by key in double precision:
small random queries, keys and values, with and without padded keys, some of them large; orthogonal features by NumPy's QR. Needs numpy.
"""
import json
import sys

import numpy as np

EPSILON = {"softmax": 1e-6, "relu": 1e-3}


def orthogonal_rows(rng, count, size):
    """Blocks of Gaussian matrices, made orthogonal by QR (with a positive diagonal of R, or Q is not uniform), their rows as long as Gaussian vectors."""
    blocks = []
    for _ in range(-(-count // size)):
        q, r = np.linalg.qr(rng.normal(size=(size, size)))
        blocks.append((q * np.sign(np.diag(r))).T)
    lengths = np.linalg.norm(rng.normal(size=(count, size)), axis=1)
    return np.concatenate(blocks)[:count] * lengths[:, None]


def exponents(rows, x):
    return np.array([w @ x - x @ x / 2 for w in rows])


def attend(kernel, rows, q, k, v, real):
    """Of one head: q, k, v (length, size)."""
    count, size = rows.shape
    q, k = q * size ** -0.25, k * size ** -0.25
    keys = [j for j in range(len(k)) if real[j]]
    most = max(exponents(rows, k[j]).max() for j in keys)
    context = []
    for query in q:
        top = np.zeros(v.shape[1])
        bottom = 0.0
        for j in keys:
            if kernel == "softmax":
                own = exponents(rows, query)
                of_query, of_key = np.exp(own - own.max()), np.exp(exponents(rows, k[j]) - most)
                of_query, of_key = ((x + EPSILON[kernel]) / np.sqrt(count) for x in (of_query, of_key))
            else:
                of_query, of_key = (np.maximum(rows @ x, 0) / np.sqrt(count) + EPSILON[kernel] for x in (query, k[j]))
            weight = of_query @ of_key
            top += weight * v[j]
            bottom += weight
        context.append(top / bottom)
    return np.array(context)


def case(rng, kernel, scale):
    batch, heads, length, size, features = 2, 2, 6, 4, 10
    q, k, v = (rng.normal(size=(batch, heads, length, size)) * factor for factor in (scale, scale, 1))
    real = np.ones((batch, length), dtype=bool)
    real[1, 4:] = False
    rows = orthogonal_rows(rng, features, size)
    context = [[attend(kernel, rows, q[b, h], k[b, h], v[b, h], real[b]) for h in range(heads)] for b in range(batch)]
    return {"kernel": kernel, "q": q.tolist(), "k": k.tolist(), "v": v.tolist(), "mask": real.tolist(), "features": rows.tolist(),
            "context": np.array(context).tolist()}


def main():
    rng = np.random.default_rng(1)
    cases = [case(rng, kernel, scale) for kernel in ("softmax", "relu") for scale in (1.0, 6.0)]
    with open(sys.argv[1], "w") as out:
        json.dump({"numpy": np.__version__, "cases": cases}, out)
        out.write("\n")


if __name__ == "__main__":
    main()
