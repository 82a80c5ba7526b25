# SPDX-License-Identifier: Apache-2.0
"""bigbird-dna-plot motifs --motifs FILE [--known FILE --nearest TSV] [--title TEXT] [--width PIXELS] [--force] --output FILE...

Draws a sheet of motifs as sequence logos of 2 bits, each beside the known motif that is nearest to it: what motifs compare wrote (--nearest), on the strand
and at the offset that it found. Files of motifs are MEME's minimal format or JASPAR's, as motifs export and motifs find write them.

Exit codes: 0 complete output, 2 usage, 3 bad input, 74 write failed, 70 anything else.
"""
import csv
import re

from plotting.failure import USAGE, Failure
from plotting.inputs import numbered_lines
from plotting.letters import draw_motif
from plotting.picture import QUIET, add, add_picture_options, new_svg, short, svg_text, text_width

MOST, HEIGHT, ROW = 200, 40, 72


def add_options(parser):
    parser.add_argument("--motifs", metavar="FILE", required=True, help=f"motifs to draw, {MOST} at most")
    parser.add_argument("--known", metavar="FILE", help="known motifs, those of motifs compare")
    parser.add_argument("--nearest", metavar="TSV", help="what motifs compare wrote of both files")
    parser.add_argument("--title", metavar="TEXT", default="", help="(default: none)")
    add_picture_options(parser, 700)


class Motif:
    def __init__(self, words, sites=0):
        self.id, self.name, self.sites, self.shares = words[0], words[1] if len(words) > 1 else "", sites, []

    def title(self):
        return " ".join(filter(None, (self.id, self.name)))


def read_motifs(path):
    """{id: Motif} of a file in MEME's or JASPAR's format; shares of A C G T at each position."""
    motifs, rows, left = [], [], 0
    try:
        for number, line in numbered_lines(path):
            words = line.decode("utf-8", "replace").split()
            if words[:1] == ["MOTIF"] or words and words[0].startswith(">"):
                motifs.append(Motif(words[1:] if words[0] == "MOTIF" else [words[0][1:], *words[1:]]))
            elif words[:1] == ["letter-probability"]:
                left = int(re.search(r"\bw= *(\d+)", " ".join(words))[1])
                sites = re.search(r"\bnsites= *([\d.e+]+)", " ".join(words))
                motifs[-1].sites = round(float(sites[1])) if sites else 0
            elif left:
                motifs[-1].shares.append([float(word) for word in words])
                left -= 1
            elif motifs and not motifs[-1].shares and re.match(r"[ACGT]?\s*\[?[\s\d]", " ".join(words)):
                rows.append([float(word) for word in re.findall(r"[\d.][\d.eE+-]*", " ".join(words))])
                if len(rows) == 4:
                    columns, rows = list(zip(*rows)), []
                    motifs[-1].shares = [[count / sum(column) for count in column] for column in columns]
    except (ValueError, TypeError, IndexError, ZeroDivisionError):
        raise Failure(f"{path}:{number}: is no line of a motif file") from None
    if not motifs or any(len(column) != 4 for motif in motifs for column in motif.shares):
        raise Failure(f"{path}: holds no motifs in MEME's minimal format or JASPAR's")
    return {motif.id: motif for motif in motifs}


def read_nearest(path):
    """The first row of each motif: {motif: row}."""
    lines = [line.decode("utf-8", "replace") for _, line in numbered_lines(path)]
    if not lines or not lines[0].startswith("#motif\t"):
        raise Failure(f"{path}: is no table of motifs compare")
    nearest = {}
    for row in csv.DictReader(lines, delimiter="\t"):
        nearest.setdefault(row["#motif"], row)
    return nearest


def fitting(text, width, size):
    """The text, cut where it is too long; a guess, for fonts differ."""
    most = int(width / text_width("x", size))
    return text if len(text) <= most else text[:most - 1] + "…"


def on_strand(shares, strand):
    return [column[::-1] for column in reversed(shares)] if strand == "-" else shares


def draw_row(root, motif, nearest, known, width, y):
    """The motif on the left, the known one on the right, with columns of one size and those that fit above each other's."""
    group = add(root, "g", class_="motif", data_id=motif.id)
    half, sites = width / 2, f", {motif.sites:,} sites" if motif.sites else ""
    add(group, "text", fitting(motif.title(), (half if nearest else width) - 24 - text_width(sites, 10), 10) + sites, x=12, y=y, font_size="10")
    other, offset = None, 0
    if nearest:
        if nearest["known"] not in known:
            raise Failure(f"--known has no motif '{nearest['known']}', which --nearest names", USAGE)
        other, offset = known[nearest["known"]], int(nearest["offset"])
    others = on_strand(other.shares, nearest["strand"]) if other else []
    begin = min(0, offset)
    columns = max(offset + len(motif.shares), len(others)) - begin if others else len(motif.shares)
    size, bottom = min(13, (half - 30) / columns), y + 6 + HEIGHT
    for x, shares, first in ((12, motif.shares, offset - begin if others else 0), (half + 12, others, -begin)):
        if shares:
            draw_motif(group, shares, x + first * size, size, bottom, HEIGHT)
            add(group, "path", d=f"M{short(x + first * size)},{short(bottom)}h{short(size * len(shares))}", stroke="#999999", fill="none")
    if other:
        found = f", {nearest['strand']}, p = {float(nearest['p']):.2g}"
        add(group, "text", fitting(other.title(), half - 24 - text_width(found, 10), 10) + found, x=half + 12, y=y, font_size="10", fill=QUIET)


def svg_of(options):
    if bool(options.known) != bool(options.nearest):
        raise Failure("--known and --nearest go together: the known motifs, and what motifs compare wrote", USAGE)
    motifs = read_motifs(options.motifs)
    if len(motifs) > MOST:
        raise Failure(f"{options.motifs} has {len(motifs)} motifs, and a sheet shows {MOST} at most", USAGE)
    known, nearest = (read_motifs(options.known), read_nearest(options.nearest)) if options.known else ({}, {})
    root = new_svg()
    add(root, "rect", width="100%", height="100%", fill="white")
    y = 22
    if options.title:
        add(root, "text", options.title, class_="title", x=12, y=y, font_size="15", font_weight="bold")
        y += 24
    for motif in motifs.values():
        draw_row(root, motif, nearest.get(motif.id), known, options.width, y)
        y += ROW
    return svg_text(root, options.width, y - 12)
