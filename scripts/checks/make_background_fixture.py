#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_background_fixture.py OUTPUT

Writes test_data/variants/background.tsv: 800 effects, a tenth of them 0, with heavy tails, their quantiles by numpy, and for some values what share of the
effects is smaller by scipy.stats.percentileofscore(kind="mean") and what share is as large in absolute value. Needs numpy and scipy.
"""
import sys

import numpy as np
from scipy.stats import percentileofscore

rng = np.random.default_rng(42)
effects = (rng.standard_t(3, 800) * 0.1).round(4).astype(np.float32)
effects[::10] = 0
values = np.concatenate([[0, 0.05, -0.05, 10, -10], rng.standard_t(3, 40) * 0.2]).round(5)
with open(sys.argv[1], "w") as file:
    for effect in effects:
        file.write(f"effect\t{effect:.4f}\n")
    for level in (0, 0.001, 0.01, 0.25, 0.5, 0.99, 1):
        file.write(f"level\t{level}\t{np.quantile(effects, level):.7g}\n")
    for value in values:
        as_large = (np.abs(effects) >= np.float32(abs(value))).mean()
        file.write(f"value\t{value}\t{percentileofscore(effects, np.float32(value), kind='mean') / 100:.6f}\t{as_large:.6f}\n")
