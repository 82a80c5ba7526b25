# SPDX-License-Identifier: Apache-2.0
"""bigbird-dna-plot logo --effects FILE --region CONTIG:START-END [--label LABEL] [--hits BED] [--title TEXT] [--width PIXELS] [--force] --output FILE...

Draws what each base of a region contributes to a label, as a sequence logo: letters above the axis raise the score, letters below it lower it. A base's
height is the value of its letter less the mean of the four. Of substitutions, a heat map of every base's effects is drawn above the logo. Gray marks N.

--effects takes a table (.tsv, also .gz) of predict-mutagenesis or attribute. --hits names the motifs of motifs scan below their sites; an arrow shows the
strand. Exit codes: 0 complete output, 2 usage, 3 bad input, 74 write failed, 70 anything else.
"""
import difflib

from plotting.failure import USAGE, Failure
from plotting.inputs import Malformed, Region, bed_rows, number_of, numbered_lines
from plotting.letters import LETTERS, draw_letter
from plotting.picture import GAP_COLOUR, QUIET, Picture, add, add_picture_options, axis_number, nice_top, short, text_width

MOST_BASES, COLUMNS = 500, ("#chrom", "start", "label", "ref", *LETTERS)
LOSS, GAIN = (33, 102, 172), (178, 24, 43)  # of the score: blue and red, which all tell apart
MAP_ROW, LOGO, LANE = 11, 90, 15


def add_options(parser):
    parser.add_argument("--effects", metavar="FILE", required=True, help="table of predict-mutagenesis or attribute")
    parser.add_argument("--region", metavar="CONTIG:START-END", required=True, help=f"as for samtools: from 1, END included; at most {MOST_BASES} bases")
    parser.add_argument("--label", metavar="LABEL", help="(default: the table's, if it has one)")
    parser.add_argument("--hits", metavar="BED", help="sites of motifs, from motifs scan")
    parser.add_argument("--title", metavar="TEXT", help="(default: the label)")
    add_picture_options(parser, 1000)


def read_effects(path, region):
    """The region's bases by label: {label: {start: (letter, values of A C G T)}}."""
    places, labels = None, {}
    for number, line in numbered_lines(path):
        if line.startswith(b"##") or not line:
            continue
        fields = line.split(b"\t")
        if places is None:
            names = [field.decode("utf-8", "replace") for field in fields]
            if not set(COLUMNS) <= set(names):
                raise Failure(f"{path}:{number}: this is no table of predict-mutagenesis or attribute: its header has not {' '.join(COLUMNS)}")
            places = [names.index(name) for name in COLUMNS]
            continue
        try:
            if len(fields) <= max(places):
                raise Malformed(f"a row of {len(fields)} columns")
            contig, start, label, letter, *values = (fields[place] for place in places)
            bases = labels.setdefault(label.decode("utf-8", "replace"), {})
            if region.on_contig(contig) and region.start <= int(start) < region.end:
                bases[int(start)] = letter.decode("ascii", "replace"), [number_of(value) for value in values]
        except (Malformed, ValueError) as fault:
            raise Failure(f"{path}:{number}: {fault}") from None
    return labels


def choose(labels, wanted, path):
    if wanted is None and len(labels) > 1:
        raise Failure(f"{path} has {len(labels)} labels; choose one by --label, such as '{next(iter(labels))}'", USAGE)
    if wanted is not None and wanted not in labels:
        nearest = difflib.get_close_matches(wanted, labels, n=1, cutoff=0)
        raise Failure(f"--label: no label is '{wanted}'" + (f"; the nearest is '{nearest[0]}'" if nearest else ""), USAGE)
    return wanted or next(iter(labels), "")


def contribution(letter, values):
    return values[LETTERS.index(letter)] - sum(values) / 4 if letter in LETTERS and None not in values else None


def colour(value, most):
    """From white to red or blue."""
    share = min(1, abs(value) / most) ** 0.7 if most else 0
    return "#" + "".join(f"{round(255 + (part - 255) * share):02x}" for part in (GAIN if value > 0 else LOSS))


class Logo(Picture):
    def draw_map(self, bases):
        scale, group = self.scale, add(self.root, "g", class_="map")
        most = max((abs(value) for _, values in bases.values() for value in values if value is not None), default=0)
        for row, letter in enumerate(LETTERS):
            add(group, "text", letter, x=scale.left - 8, y=self.y + row * MAP_ROW + 9, font_size="9", text_anchor="end", fill=QUIET)
        for start, (letter, values) in sorted(bases.items()):
            x, width = scale.box(start, start + 1, 0)
            for row, value in enumerate(values):
                fill = GAP_COLOUR if value is None else colour(value, most)
                add(group, "rect", x=x, y=self.y + row * MAP_ROW, width=width, height=MAP_ROW, fill=fill)
            if letter in LETTERS:
                add(group, "circle", cx=x + width / 2, cy=self.y + (LETTERS.index(letter) + 0.5) * MAP_ROW, r=min(1.6, width / 4), fill="#333333")
        ramp = add(group, "g", class_="ramp")
        for step in range(-10, 11):
            add(ramp, "rect", x=scale.right + 5, y=self.y + (10 - step) * 2, width=7, height=2.2, fill=colour(step, 10))
        for value, y in ((most, 5), (-most, 44)):
            add(ramp, "text", f"{value:+.2g}", x=scale.right + 13, y=self.y + y, font_size="7", fill=QUIET)
        self.y += 4 * MAP_ROW + 10

    def draw_logo(self, bases):
        group, scale = add(self.root, "g", class_="logo"), self.scale
        heights = [(start, letter, contribution(letter, values)) for start, (letter, values) in sorted(bases.items())]
        heights = [row for row in heights if row[2] is not None]
        most = [max([0, *(sign * height for _, _, height in heights)]) for sign in (1, -1)]
        high, low = (nice_top(value) if value > 0 or not any(most) else 0 for value in most)
        unit, zero = LOGO / (high + low), self.y + LOGO * high / (high + low)
        add(group, "path", d=f"M{scale.left},{short(self.y)}V{short(self.y + LOGO)}M{scale.left},{short(zero)}H{scale.right}", stroke="#8a8a8a", fill="none")
        for value in (high, 0, -low) if low * unit > 9 else (high, 0):
            add(group, "text", axis_number(value), x=scale.left - 6, y=zero - value * unit + 4, fill=QUIET, font_size="10", text_anchor="end")
        add(group, "text", "contribution", transform=f"translate(14 {short(self.y + LOGO / 2)}) rotate(-90)", fill=QUIET, font_size="10", text_anchor="middle")
        for start, letter, height in heights:
            x, width = scale.box(start, start + 1, 0)
            size = abs(height) * unit
            if size >= 0.3:
                draw_letter(group, letter, x + 0.03 * width, 0.94 * width, zero - size if height > 0 else zero, size, upside_down=height < 0)
        self.y += LOGO + 8

    def draw_hits(self, hits):
        group, ends = add(self.root, "g", class_="hits", fill="#444444"), []
        for start, end, fields in sorted(hits):
            name = fields[8] if len(fields) > 8 and fields[8] != "." else fields[3] if len(fields) > 3 else ""
            x, width = self.scale.box(start, end, 2)
            lane = next((lane for lane, last in enumerate(ends) if last <= x), len(ends))
            ends += [0] * (lane + 1 - len(ends))
            ends[lane] = x + max(width, text_width(name, 9)) + 8
            y, strand = self.y + lane * 2 * LANE, fields[5] if len(fields) > 5 else "."
            add(group, "rect", class_="hit", x=x, y=y, width=width, height=5)
            if strand in "+-":
                tip, foot = (x + width + 5, x + width) if strand == "+" else (x - 5, x)
                add(group, "path", d=f"M{short(foot)},{short(y - 2)}L{short(tip)},{short(y + 2.5)}L{short(foot)},{short(y + 7)}Z")
            right = x + text_width(name, 9) > self.scale.right
            add(group, "text", name, x=x + width if right else x, y=y + 16, font_size="9", text_anchor="end" if right else "start")
        self.y += max(1, len(ends)) * 2 * LANE


def svg_of(options):
    region = Region(options.region)
    if region.end - region.start > MOST_BASES:
        raise Failure(f"--region has {region.end - region.start} bases, and a logo shows {MOST_BASES} at most", USAGE)
    labels = read_effects(options.effects, region)
    label = choose(labels, options.label, options.effects)
    bases = labels.get(label, {})
    if not bases:
        raise Failure(f"{options.effects}: no row lies in {region}")
    picture = Logo(region, options.width, [], "")
    picture.header(label if options.title is None else options.title, [])
    picture.root.remove(picture.grid)
    picture.y -= 18
    if all(letter not in LETTERS or values[LETTERS.index(letter)] in (0, None) for letter, values in bases.values()):
        picture.draw_map(bases)
    picture.draw_logo(bases)
    if options.hits:
        picture.draw_hits(bed_rows(options.hits, region))
    picture.footer()
    return picture.svg()
