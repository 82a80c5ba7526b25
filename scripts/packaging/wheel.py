#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a wheel from a folder (platlib/, data/, scripts/, licences/) and prints its path. The same folder gives the same bytes: members are sorted and
dated SOURCE_DATE_EPOCH. Part of scripts/package."""
import argparse
import base64
import hashlib
import os
import time
import zipfile
from pathlib import Path

METADATA = """\
Metadata-Version: 2.4
Name: bigbird-dna
Version: {version}
Summary: Train models of DNA on your own peaks; get tracks, variant effects and motifs
Keywords: genomics,DNA,BigBird,transformer,chromatin,variants,motifs
License-Expression: Apache-2.0
{licences}Classifier: Development Status :: 4 - Beta
Classifier: Environment :: Console
Classifier: Intended Audience :: Science/Research
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: C++
Classifier: Topic :: Scientific/Engineering :: Bio-Informatics
Requires-Python: >=3.10
Requires-Dist: torch=={torch}.*
Description-Content-Type: text/markdown

{description}"""

WHEEL = """\
Wheel-Version: 1.0
Generator: bigbird-dna scripts/package
Root-Is-Purelib: false
Tag: {tag}
"""


def files_below(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


def members(root, prefix):
    """(name in the wheel, bytes, whether it is a program) of all that the folder holds."""
    places = {"platlib": "", "data": f"{prefix}.data/data/", "scripts": f"{prefix}.data/scripts/", "licences": f"{prefix}.dist-info/licenses/"}
    for folder, place in places.items():
        for path in files_below(root / folder):
            yield place + path.relative_to(root / folder).as_posix(), path.read_bytes(), os.access(path, os.X_OK)


def metadata(options):
    licences = [path.relative_to(options.root / "licences").as_posix() for path in files_below(options.root / "licences")]
    return METADATA.format(version=options.version, torch=options.torch, description=options.description.read_text(),
                           licences="".join(f"License-File: {name}\n" for name in licences))


def record_line(name, content):
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(content)}\n"


def write_member(wheel, date, name, content, is_program):
    info = zipfile.ZipInfo(name, date)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = (0o100755 if is_program else 0o100644) << 16
    wheel.writestr(info, content, compresslevel=9)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("root", "output", "description"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    for name in ("version", "torch", "tag"):
        parser.add_argument(f"--{name}", required=True)
    options = parser.parse_args()

    prefix = f"bigbird_dna-{options.version}"
    content = sorted(members(options.root, prefix))
    content += [(f"{prefix}.dist-info/METADATA", metadata(options).encode(), False),
                (f"{prefix}.dist-info/WHEEL", WHEEL.format(tag=options.tag).encode(), False)]
    record = f"{prefix}.dist-info/RECORD"
    lines = "".join(record_line(name, data) for name, data, _ in content) + f"{record},,\n"
    content.append((record, lines.encode(), False))

    date = time.gmtime(max(int(os.environ["SOURCE_DATE_EPOCH"]), 315532800))[:6]  # a zip knows no time before 1980
    file = options.output / f"{prefix}-{options.tag}.whl"
    part = file.with_suffix(".part")
    with zipfile.ZipFile(part, "w") as wheel:
        for member in content:
            write_member(wheel, date, *member)
    part.rename(file)
    print(file)


if __name__ == "__main__":
    main()
