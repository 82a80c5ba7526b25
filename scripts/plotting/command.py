# SPDX-License-Identifier: Apache-2.0
"""Runs one of bigbird-dna-plot's commands, and writes pictures."""
import argparse
import difflib
import os
import shutil
import subprocess
import sys

from plotting import footprints, logo, motifs, scores, training
from plotting.failure import ANYTHING_ELSE, USAGE, WRITE_FAILED, Failure

COMMANDS = {"scores": scores, "training": training, "logo": logo, "motifs": motifs, "footprints": footprints}


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise Failure(f"{message} (see --help)", USAGE)


def parser_of(name):
    command = COMMANDS[name]
    parser = Parser(prog=f"bigbird-dna-plot {name}", usage=argparse.SUPPRESS, description=command.__doc__, allow_abbrev=False,
                    formatter_class=argparse.RawDescriptionHelpFormatter)
    command.add_options(parser)
    return parser


def check_outputs(options):
    if not 400 <= getattr(options, "width", 400) <= 10000:
        raise Failure("--width must be from 400 to 10000", USAGE)
    for path in options.output:
        if not path.endswith(options.endings):
            raise Failure(f"{path}: an output must end in {', '.join(options.endings[:-1])} or {options.endings[-1]}", USAGE)
        if os.path.exists(path) and not options.force:
            raise Failure(f"{path}: exists already; give another --output, or --force to replace it", USAGE)
        if path.endswith(".png") and not shutil.which("rsvg-convert"):
            raise Failure("PNG needs rsvg-convert: install librsvg2-bin, or write .svg", ANYTHING_ELSE)


def write(path, svg):
    """Writes the complete file or none."""
    part = path + ".part"
    try:
        if path.endswith(".png"):
            done = subprocess.run(["rsvg-convert", "--zoom", "2", "--format", "png", "--output", part], input=svg.encode(), capture_output=True)
            if done.returncode:
                raise Failure(f"{path}: rsvg-convert: {done.stderr.decode('utf-8', 'replace').strip()}", WRITE_FAILED)
        else:
            page = ("<!doctype html>\n<html lang=en><meta charset=utf-8><title>bigbird-dna</title>\n", "</html>\n") if path.endswith(".html") else ("", "")
            with open(part, "w", encoding="utf-8") as file:
                file.write(svg.join(page))
        os.replace(part, path)
    except OSError as error:
        raise Failure(f"{path}: {error.strerror}", WRITE_FAILED) from None
    finally:
        if os.path.exists(part):
            os.remove(part)
    print(path, file=sys.stderr)


def run(arguments, description):
    if not arguments or arguments[0] in ("-h", "--help"):
        print(description.strip())
        return
    name, *rest = arguments
    if name not in COMMANDS:
        nearest = difflib.get_close_matches(name, COMMANDS, n=1)
        raise Failure(f"'{name}' is no command" + (f"; did you mean {nearest[0]}?" if nearest else f": {', '.join(COMMANDS)}"), USAGE)
    options = parser_of(name).parse_args(rest)
    check_outputs(options)
    svg = COMMANDS[name].svg_of(options)
    for path in options.output:
        write(path, svg)


def main(arguments, description):
    try:
        run(arguments, description)
    except Failure as failure:
        print(f"bigbird-dna-plot: {failure}", file=sys.stderr)
        sys.exit(failure.code)
    except KeyboardInterrupt:
        sys.exit(130)
