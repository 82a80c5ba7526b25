#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes test_data/baselines/probes.json: what scikit-learn fits on features that follow from their indices (tests/unit/baselines/window/logistic_test.cpp has the
same formulas). LogisticRegression(max_iter=1000) is GENEB's probe; on standardized features it is ours at one penalty; Ridge likewise.

Needs numpy and scikit-learn; the output names its version.

    scripts/checks/make_probe_fixtures.py test_data/baselines
"""
import json
import pathlib
import sys

import numpy as np
import sklearn
from sklearn.linear_model import LogisticRegression, Ridge

ROWS, FEATURES = 48, 4


def numbers(array):
    return np.round(array, 9).tolist()


def main():
    row, column = np.arange(ROWS)[:, None], np.arange(FEATURES)[None, :]
    features = (column + 1) * np.sin(0.7 * row * (column + 1) + column * column)
    number = features[:, 0] + 0.5 * features[:, 1] + np.cos(5 * row[:, 0])
    classes = np.digitize(number, [-0.8, 0.8])
    fit = lambda x, y, cost=1.0: LogisticRegression(C=cost, max_iter=1000, tol=1e-10).fit(x, y)
    scaled = (features - features.mean(0)) / features.std(0)
    cases = {}
    for name, x, y, cost in (("two", features, (number > 0).astype(int), 1), ("three", features, classes, 1), ("three, standardized", scaled, classes, 0.01)):
        model = fit(x, y, cost)
        cases[name] = {"cost": cost, "weight": numbers(model.coef_), "bias": numbers(model.intercept_)}
    penalty = 0.1
    ridge = Ridge(alpha=penalty * ROWS).fit(scaled, np.stack([number, number ** 2], 1))
    cases["ridge, standardized"] = {"penalty": penalty, "weight": numbers(ridge.coef_), "bias": numbers(ridge.intercept_)}
    pathlib.Path(sys.argv[1], "probes.json").write_text(json.dumps({"made_with": f"scikit-learn {sklearn.__version__}", **cases}, indent=1) + "\n")


if __name__ == "__main__":
    main()
