#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes test_data/train/events.bin with the tensorboard package (2.20): what tests/unit/training/metrics/metrics_log_test.cpp compares with."""
import sys
from pathlib import Path

from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.record_writer import RecordWriter

out = Path(__file__).resolve().parents[2] / "test_data" / "train" / "events.bin"
out.parent.mkdir(exist_ok=True)


def event(step, wall_time, scalars):
    values = [Summary.Value(tag=tag, simple_value=value) for tag, value in scalars]
    return Event(step=step, wall_time=wall_time, summary=Summary(value=values)).SerializeToString()


with open(out, "wb") as file:
    writer = RecordWriter(file)
    writer.write(event(5, 1700000000.5, [("training/loss", 2.5), ("training/learning_rate", 1e-4)]))
    writer.write(event(1_000_000, 1700000001.25, [("evaluation/eval_loss", -0.125)]))
    writer.flush()
sys.stdout.write(f"{out}: {out.stat().st_size} bytes\n")
