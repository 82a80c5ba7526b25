#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scripts/checks/prose: counts turns of prose and none of code, and names file and line."""
import subprocess
import sys
import tempfile
from pathlib import Path

PROSE = Path(__file__).resolve().parents[2] / "scripts/checks/prose"
PAGE = """# Page

Two bits a base, a label per row, `one a layer`, and it is a line.

    a row a bin, in an indented block

```
alone alone
```
"""


def run(text):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "page.md"
        path.write_text(text)
        done = subprocess.run([PROSE, path], capture_output=True, text=True)
        return done.returncode, done.stdout.replace(str(path), "page.md"), done.stderr


def main():
    code, out, _ = run(PAGE)
    assert code == 0 and "alone: 0," in out and "a for per: 1," in out, out
    code, out, error = run(PAGE + "It stands\nalone.\n" * 16)
    assert code == 1 and "page.md:11: alone. [alone]" in out and "16 times 'alone', at most 15; write: only" in error, (out, error)
    assert "16 times 'stands" in error, error


sys.exit(main())
