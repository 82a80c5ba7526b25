# SPDX-License-Identifier: Apache-2.0
"""bigbird-dna-plot training [--metrics A,B...] [--labels A,B...] [--smooth SHARE] [--title TEXT] --output FILE RUN...

Draws the curves of training runs of pretrain and finetune-*, finished or not, from their metrics.jsonl: one panel per metric, one color per run.
Lines are training, smoothed, with the values of single steps behind them in a lighter color. Dots are evaluations on held-out sequence. Lines and
dots of a panel measure the same: in pretraining, both count only tokens that [MASK] hides. The training loss of pretraining counts other tokens, too,
so that its panel has no dots.

Needs only the standard library; .png needs rsvg-convert (Debian: librsvg2-bin). An output that exists is replaced.
Exit codes: 0 complete output, 2 usage, 3 bad input, 74 write failed, 70 anything else.
"""
import json
import os

from plotting.curves import Metric, draw
from plotting.failure import USAGE, Failure

METRICS = [
    Metric("bits_per_character", "Bits per base of masked tokens", "bits per base"),
    Metric("mlm_accuracy", "Accuracy of masked tokens", "share of tokens"),
    Metric("auroc", "AUROC, mean of labels", "AUROC"),
    Metric("auprc", "AUPRC, mean of labels", "AUPRC"),
    Metric("loss", "Loss", "nats"),
    Metric("learning_rate", "Learning rate", "", smooth=False),
    Metric("gradient_norm", "Gradient norm", "L2 norm"),
    Metric("sequences_per_second", "Speed", "sequences per second"),
]


def add_options(parser):
    parser.add_argument("runs", metavar="RUN", nargs="+", help="run folders, or their metrics.jsonl")
    parser.add_argument("--metrics", metavar="A,B...", default=",".join(metric.key for metric in METRICS),
                        help="keys of metrics.jsonl, as far as the runs have them (default: %(default)s)")
    parser.add_argument("--labels", metavar="A,B...", help="names of the runs (default: their folders')")
    parser.add_argument("--smooth", metavar="SHARE", type=float, default=0.05, help="part of a run that a point's mean covers, 0 to 1 (default: 0.05)")
    parser.add_argument("--title", metavar="TEXT", default="Training", help="(default: Training)")
    parser.add_argument("--output", "-o", metavar="FILE", action="append", required=True, help=".html, .svg or .png; may be given several times")
    parser.set_defaults(endings=(".html", ".svg", ".png"), force=True)


def with_speed(line):
    """Sequences of the step by its seconds; a bin model's windows have no tokens."""
    if line.get("seconds") and "sequences" in line:
        line["sequences_per_second"] = line["sequences"] / line["seconds"]
    return line


def read_run(run):
    """The lines of a run's metrics; the last may be half written."""
    path = os.path.join(run, "metrics.jsonl") if os.path.isdir(run) else run
    lines = []
    try:
        with open(path, encoding="utf-8") as file:
            for number, text in enumerate(file, 1):
                try:
                    lines.append(with_speed(json.loads(text)))
                except ValueError:
                    if text.endswith("\n"):
                        raise Failure(f"{path}:{number}: this is no line of metrics") from None
    except OSError as error:
        raise Failure(f"{path}: {error.strerror}; is {run} a run folder?") from None
    if not any("step" in line for line in lines):
        raise Failure(f"{path}: holds no step yet")
    return lines


def name_of(run):
    folder = os.path.dirname(run) if os.path.basename(run) == "metrics.jsonl" else run
    return os.path.basename(os.path.abspath(folder))


def svg_of(options):
    names = options.labels.split(",") if options.labels else [name_of(run) for run in options.runs]
    if len(names) != len(options.runs):
        raise Failure(f"--labels names {len(names)} runs, there are {len(options.runs)}", USAGE)
    if not 0 <= options.smooth <= 1:
        raise Failure("--smooth must be from 0 to 1", USAGE)
    known = {metric.key: metric for metric in METRICS}
    metrics = [known.get(key) or Metric(key, key.replace("_", " ").capitalize(), "") for key in options.metrics.split(",") if key]
    runs = {name: read_run(run) for name, run in zip(names, options.runs)}
    if len(runs) < len(names):
        raise Failure("two runs have the same name; give --labels", USAGE)
    svg = draw(options.title, metrics, runs, options.smooth)
    if svg is None:
        raise Failure(f"none of the runs has any of these metrics: {options.metrics}")
    return svg
