# SPDX-License-Identifier: Apache-2.0
"""Which Python has what a recipe imports: the environment of `scripts/setup --recipes`, whose pandas and polars are the newest tried, or the one that runs this."""
import functools
import os
import subprocess
import sys
from pathlib import Path


@functools.cache
def python_with(*packages):
    """Path of the first that imports all of `packages`; None where none does."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    environment = Path(os.environ.get("BIGBIRD_DEPS") or cache / "bigbird-dna").absolute() / "venv/bin/python"
    for python in (str(environment), sys.executable):
        if os.access(python, os.X_OK) and subprocess.run([python, "-c", f"import {', '.join(packages)}"], capture_output=True).returncode == 0:
            return python
    return None
