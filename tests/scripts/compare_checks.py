#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare_checks.py: scripts/measure/compare-transformers puts full attention beside a dense BERT, and names the rows in which BigBird's pattern is in its place.
Every measurement is pretended: a pass of ours takes 1 s of the clock and 2 s of the processor, of theirs 3 and 4, and in bf16 nothing is to be had."""
import contextlib
import importlib.machinery
import importlib.util
import io
import json
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts/measure"))
loader = importlib.machinery.SourceFileLoader("compare", str(Path(__file__).resolve().parents[2] / "scripts/measure/compare-transformers"))
compare = importlib.util.module_from_spec(importlib.util.spec_from_loader("compare", loader))
loader.exec_module(compare)
measured = []


def pretended(command):
    """The name of what was timed: ours by its pattern, theirs by its network."""
    if "--child" in command:
        name, _, kind, _, length, *_ = json.loads(command[-1])
        took = {"seconds": 3, "processor_seconds": 4}
    else:
        _, _, kind, _, name, _, length, *_ = command
        took = {"seconds": 1, "processor_seconds": 2}
    measured.append(f"{name} {length}")
    if kind == "bf16":
        raise compare.Unavailable("this processor has no instructions for bf16")
    return took


def rows(*words):
    compare.measure, sys.argv = pretended, ["compare-transformers", *words]
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        compare.main()
    return printed.getvalue().splitlines()


printed = rows("--only", "dense", "--types", "fp32", "--lengths", "512,4096")
peers = ["bert", "ONNX Runtime", "OpenVINO", "product"]
assert measured == [f"{name} {length}" for length in (512, 4096) for name in ["full", *peers] + ["hf", "bigbird"] * (length == 4096)], measured
# Per second of the processor: 97 billion operations in 2 s beside 17 billion in 4.
assert "| 512 | 256 | 128 | 128 | 128 | 2.00x | 1125 % |" in printed and "| 512 | 512 | 171 | 171 | 171 | 3.00x | 1688 % |" in printed, printed
assert "| forward | 2048 | 1024 | 2.00x | 2.00x |" in printed, printed
measured.clear()
printed = rows("--only", "windows", "--rounds", "2")
assert measured == ["hf 913", "bigbird 913", "full 913", "bert 913"] * 2 + ["hf 913", "bigbird 913", "full 913", "bert 913"], measured
assert "| fp32 | 4.00 | 1.33, 3.00x (3.00 to 3.00) | 4.00 | 1.33, 3.00x (3.00 to 3.00) |" in printed and "| bf16 | – | –, – | – | –, – |" in printed, printed
assert any(line.startswith("Left out: full bf16, for this processor has no instructions") for line in printed), printed
