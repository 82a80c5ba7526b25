#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes test_data/metrics: scores and 0/1 labels with scikit-learn's figures for them, bootstrap intervals, and calibrations.

Needs numpy, scipy and scikit-learn; the output names its version.

    scripts/checks/make_metric_fixtures.py test_data/metrics
"""

import json
import pathlib
import sys
import warnings

import numpy as np
import scipy
import sklearn
from scipy import optimize, special, stats
from sklearn import metrics
from sklearn.calibration import calibration_curve
from sklearn.linear_model import LogisticRegression


def case(name, rng, rows, rate, grid):
    """Scores on a grid of 1/grid, so that ties occur, with a shift for positives."""
    labels = (rng.random(rows) < rate).astype(int)
    scores = np.clip(rng.normal(0.4 + 0.2 * labels, 0.25), 0, 1)
    scores = np.float32(np.round(scores * grid) / grid) if grid else np.float32(scores)
    return figures(name, scores, labels)


def figures(name, scores, labels, threshold=0.5):
    predicted = (scores >= np.float32(threshold)).astype(int)
    both = len(set(labels)) == 2
    return {
        "name": name,
        "scores": [float(s) for s in scores],
        "labels": [int(y) for y in labels],
        "threshold": threshold,
        "roc_auc": metrics.roc_auc_score(labels, scores) if both else None,
        "average_precision": metrics.average_precision_score(labels, scores) if sum(labels) else None,
        "accuracy": metrics.accuracy_score(labels, predicted),
        "precision": metrics.precision_score(labels, predicted) if sum(predicted) else None,
        "recall": metrics.recall_score(labels, predicted) if sum(labels) else None,
        "f1": metrics.f1_score(labels, predicted) if sum(labels) + sum(predicted) else None,
        "mcc": metrics.matthews_corrcoef(labels, predicted) if both and len(set(predicted)) == 2 else None,
        "reliability": reliability(np.float64(scores), np.array(labels)),
    }


def reliability(scores, labels):
    """Ten equal bins of [0, 1]; the expected calibration error is written out, since scikit-learn has none."""
    share, mean = calibration_curve(labels, scores, n_bins=10) if len(set(labels)) == 2 else (None, None)
    bins = np.searchsorted(np.arange(1, 10) / 10, scores)
    gaps = [abs(scores[bins == b].sum() - labels[bins == b].sum()) for b in set(bins)]
    return {
        "mean_score": None if mean is None else mean.tolist(),
        "positive_share": None if share is None else share.tolist(),
        "brier": float(np.mean((scores - labels) ** 2)),
        "calibration_error": float(sum(gaps) / len(scores)),
    }


def calibration(name, rng, rows, slopes, offsets, rates):
    """Logits off by a slope, one for all labels, and an offset each, and the logistic regression that mends them."""
    truth = np.array([rng.random(rows) < rate for rate in rates]).astype(int)
    logits = np.float32([rng.normal(slopes * (2 * y - 1), 2 * slopes) + b for y, b in zip(truth, offsets)])
    design = np.concatenate([np.stack([z, *np.repeat(np.eye(len(rates))[[i]].T, rows, 1)], 1) for i, z in enumerate(logits)])
    fit = LogisticRegression(C=np.inf, fit_intercept=False, solver="newton-cholesky", tol=1e-12, max_iter=1000)
    fit.fit(np.float64(design), truth.ravel())
    slope, *biases = fit.coef_[0]
    before = 1 / (1 + np.exp(-np.float64(logits.ravel())))
    return {
        "name": name,
        "logits": np.round(logits.astype(float), 8).tolist(),
        "labels": truth.tolist(),
        "temperature": 1 / slope,
        "biases": [float(b) for b in biases],
        "loss_before": metrics.log_loss(truth.ravel(), before),
        "loss_after": metrics.log_loss(truth.ravel(), fit.predict_proba(np.float64(design))[:, 1]),
    }


def softmax_calibration(name, rng, tokens, slope, offsets, rates):
    """Logits of labels that exclude each other, equal for the bases of a token, and scipy's minimum of the mean log loss of
    softmax(slope * logits + biases), whose biases sum to 0; of two labels scikit-learn's logistic regression must agree."""
    count = len(rates)
    bases = rng.integers(1, 6, tokens)
    truth = np.repeat(rng.choice(count, tokens, p=rates), bases)
    truth = np.where(rng.random(len(truth)) < 0.2, rng.choice(count, len(truth), p=rates), truth)
    first = truth[np.cumsum(bases) - bases]
    of_tokens = np.round(rng.normal(slope * np.eye(count)[first] * 2, slope) + offsets, 5)
    logits = np.repeat(of_tokens, bases, axis=0)
    read = np.float64(np.float32(logits))  # as the program holds them

    def probabilities(values):
        return special.softmax(values[0] * read + np.append(values[1:], -values[1:].sum()), axis=1)

    def gradient(values):
        error = probabilities(values) - np.eye(count)[truth]
        return np.append((error * read).sum(), error.sum(0)[:-1] - error.sum(0)[-1]) / len(truth)

    def loss(values):
        return metrics.log_loss(truth, probabilities(values), labels=range(count))

    near = optimize.minimize(loss, np.append(1.0, np.zeros(count - 1)), jac=gradient, method="BFGS", options={"gtol": 1e-6})
    fit = optimize.root(gradient, near.x, tol=1e-12)
    assert np.abs(gradient(fit.x)).max() < 1e-11, fit
    if count == 2:
        other = LogisticRegression(C=np.inf, solver="newton-cholesky", tol=1e-12).fit(read[:, 1:] - read[:, :1], truth)
        assert np.allclose([other.coef_[0, 0], other.intercept_[0] / 2], [fit.x[0], -fit.x[1]], rtol=1e-8)
    return {
        "name": name,
        "logits": logits.tolist(),
        "truth": truth.tolist(),
        "temperature": 1 / fit.x[0],
        "biases": [*fit.x[1:], -fit.x[1:].sum()],
        "loss_before": loss(np.append(1.0, np.zeros(count - 1))),
        "loss_after": loss(fit.x),
    }


def interval(rng, shift, rows=200, clip=None):
    """Bias-corrected percentiles (Efron 1981) of bootstrap values that lie `shift` off the estimate."""
    estimate = 0.7
    resampled = rng.normal(estimate + shift, 0.03, rows)
    if clip is not None:
        resampled = np.minimum(resampled, clip)
    below = np.mean(np.where(resampled < estimate, 1.0, np.where(resampled == estimate, 0.5, 0.0)))
    bias = stats.norm.ppf(np.clip(below, 0.5 / rows, 1 - 0.5 / rows))
    low, high = (np.quantile(resampled, stats.norm.cdf(2 * bias + z)) for z in stats.norm.ppf([0.025, 0.975]))
    return {"estimate": estimate, "resampled": resampled.tolist(), "low": low, "high": high}


def of_classes(truth, scores, threshold=None):
    called = scores.argmax(1) if threshold is None else (scores[:, 1] >= threshold).astype(int)
    one_hot = np.eye(scores.shape[1])[truth]
    two = scores.shape[1] == 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a class that no row is called
        f1 = metrics.f1_score(truth, called, average="macro")
    return {
        "accuracy": metrics.accuracy_score(truth, called),
        "mcc": metrics.matthews_corrcoef(truth, called),
        "f1_macro": f1,
        "auroc": metrics.roc_auc_score(truth, scores[:, 1]) if two else metrics.roc_auc_score(one_hot, scores, average="macro"),
        "auprc": metrics.average_precision_score(truth, scores[:, 1]) if two else metrics.average_precision_score(one_hot, scores, average="macro"),
    }


def of_labels(truth, scores, threshold=0.5):
    called = (scores >= threshold).astype(int)
    return {
        "accuracy": float((called == truth).mean()),
        "mcc": float(np.mean([metrics.matthews_corrcoef(t, c) for t, c in zip(truth.T, called.T)])),
        "f1_macro": metrics.f1_score(truth, called, average="macro"),
        "auroc": metrics.roc_auc_score(truth, scores, average="macro"),
        "auprc": metrics.average_precision_score(truth, scores, average="macro"),
    }


def of_numbers(truth, scores):
    return {
        "pearson": float(np.mean([stats.pearsonr(t, s)[0] for t, s in zip(truth.T, scores.T)])),
        "spearman": float(np.mean([stats.spearmanr(t, s)[0] for t, s in zip(truth.T, scores.T)])),
        "r2": metrics.r2_score(truth, scores, multioutput="uniform_average"),
        "mse": metrics.mean_squared_error(truth, scores),
    }


def of_coverage(truth, scores):
    mean = lambda function: float(np.mean([function(t, s) for t, s in zip(truth.T, scores.T)]))
    across = [stats.pearsonr(t, s)[0] for t, s in zip((truth - truth.mean(1, keepdims=True)).T, (scores - scores.mean(1, keepdims=True)).T)]
    others = [stats.pearsonr(truth[:, k], np.delete(truth, k, 1).mean(1))[0] for k in range(truth.shape[1])]
    return of_numbers(truth, scores) | {
        "r2_log1p": metrics.r2_score(np.log1p(truth), np.log1p(scores), multioutput="uniform_average"),
        "deviance": mean(metrics.mean_poisson_deviance),
        "pearson_units": mean(lambda t, s: stats.pearsonr(t, s)[0]),
        "spearman_units": mean(lambda t, s: stats.spearmanr(t, s)[0]),
        "pearson_across": float(np.mean(across)),
        "pearson_mean_track": float(np.mean(others)),
    }


def sequence_case(name, target, figures, truth, scores, rng, **more):
    """Figures of all rows, and of rows that are repeated as the weights say, as a resample repeats them."""
    scores = np.float64(np.float32(scores))
    weights = rng.integers(0, 3, len(truth))
    again = np.repeat(np.arange(len(truth)), weights)
    return {
        "name": name,
        "target": target,
        "truth": truth.tolist(),
        "scores": scores.tolist(),
        **more,
        "figures": figures(truth, scores, **more),
        "weights": weights.tolist(),
        "weighted": figures(truth[again], scores[again], **more),
    }


def sequence_cases():
    rng = np.random.default_rng(40)

    def classes(rows, count, grid):
        truth = rng.choice(count, rows, p=np.arange(1, count + 1) / np.arange(1, count + 1).sum())
        scores = special.softmax(rng.normal(1.2 * np.eye(count)[truth], 1), axis=1)
        return truth, np.round(scores * grid) / grid if grid else scores

    truth, scores = classes(120, 2, 20)
    cases = [
        sequence_case("two classes", "classes", of_classes, truth, scores, rng),
        sequence_case("two classes at a threshold", "classes", of_classes, truth, scores, rng, threshold=0.7),
        sequence_case("four classes", "classes", of_classes, *classes(150, 4, None), rng),
    ]
    never = special.softmax(np.append(cases[-1]["scores"], np.full((150, 1), -9.0), 1), axis=1)
    never[:, :4] = np.array(cases[-1]["scores"])
    never[:, 3] = 0.01  # a class that no row is called
    cases.append(sequence_case("a class that none is called", "classes", of_classes, np.array(cases[-1]["truth"]), never[:, :4], rng))
    labels = (rng.random((100, 3)) < [0.5, 0.2, 0.4]).astype(int)
    scores = np.clip(np.round(rng.normal(0.35 + 0.3 * labels, 0.25), 2), 0, 1)
    cases.append(sequence_case("three labels", "labels", of_labels, labels, scores, rng))
    numbers = np.round(rng.normal(0, [1, 50], (90, 2)), 1)
    predicted = np.float64(np.round(np.float32(numbers * 0.7 + rng.normal(0, [0.6, 40], (90, 2))), 1))
    cases.append(sequence_case("two numbers", "numbers", of_numbers, np.float64(np.float32(numbers)), predicted, rng))
    numbers = np.float64(rng.poisson(2.0, (80, 3)))
    predicted = np.exp2(np.round(np.log2(0.5 + numbers) + rng.normal(0, 0.5, (80, 3))))
    cases.append(sequence_case("coverage of three tracks", "coverage", of_coverage, numbers, predicted, rng))
    return cases


def write(name, made_with, **content):
    (pathlib.Path(sys.argv[1]) / name).write_text(json.dumps({"made_with": made_with, **content}) + "\n")


def main():
    warnings.simplefilter("error")
    rng = np.random.default_rng(919)
    cases = [
        case("continuous", rng, 500, 0.3, None),
        case("heavy ties", rng, 400, 0.5, 10),
        case("rare positives", rng, 1000, 0.01, 100),
        case("few rows", rng, 7, 0.5, 4),
        figures("perfect", np.float32([0.1, 0.2, 0.8, 0.9]), [0, 0, 1, 1]),
        figures("all tied", np.float32([0.5] * 6), [0, 1, 0, 1, 1, 0]),
        figures("reversed", np.float32([0.9, 0.8, 0.2, 0.1]), [0, 0, 1, 1]),
        figures("no positive", np.float32([0.1, 0.7, 0.3]), [0, 0, 0]),
        figures("no negative", np.float32([0.1, 0.7, 0.3]), [1, 1, 1]),
    ]
    weighted = cases[1]
    labels, scores = weighted["labels"], weighted["scores"]
    weights = rng.integers(0, 4, len(labels))
    weighted["weights"] = weights.tolist()
    weighted["weighted_roc_auc"] = metrics.roc_auc_score(labels, scores, sample_weight=weights)
    weighted["weighted_average_precision"] = metrics.average_precision_score(labels, scores, sample_weight=weights)
    learn, both = f"scikit-learn {sklearn.__version__}", f"scipy {scipy.__version__}, scikit-learn {sklearn.__version__}"
    intervals = [interval(rng, 0.0), interval(rng, 0.02), interval(rng, 0.2), interval(rng, 0.0, 51, clip=0.7)]
    write("figures.json", learn, cases=cases, intervals=intervals)
    write("calibration.json", learn, cases=[
        calibration("one label, overconfident", rng, 300, 3.0, [0.0], [0.4]),
        calibration("three labels, offsets of weighted training", rng, 200, 0.5, [2.0, 0.0, -1.0], [0.1, 0.3, 0.6]),
        calibration("near", rng, 200, 1.0, [0.0, 0.1], [0.5, 0.5]),
    ])
    write("softmax_calibration.json", both, cases=[
        softmax_calibration("two labels", rng, 80, 0.6, [0.0, 1.5], [0.8, 0.2]),
        softmax_calibration("three labels, offsets of weighted training", rng, 120, 1.0, [0.0, 2.0, 3.0], [0.7, 0.2, 0.1]),
        softmax_calibration("five labels, overconfident", rng, 120, 4.0, [1.0, 0.0, -1.0, 0.0, 0.5], [0.2] * 5),
    ])
    write("sequences.json", both, cases=sequence_cases())


if __name__ == "__main__":
    main()
