# SPDX-License-Identifier: Apache-2.0
"""bigbird-dna-plot footprints --profile FILE [--reach BASES] [--title TEXT] [--width PIXELS] [--force] --output FILE...

Draws the mean profiles that motifs marginalize wrote (--profile): one panel per motif and label, with the motif over without it. The middle of the
motif is position 0.

Exit codes: 0 complete output, 2 usage, 3 bad input, 74 write failed, 70 anything else.
"""
from plotting.curves import ticks
from plotting.failure import USAGE, Failure
from plotting.inputs import numbered_lines
from plotting.picture import GRID_COLOUR, MODEL_COLOURS, QUIET, add, add_picture_options, axis_number, new_svg, nice_top, short, svg_text

MOST, HEIGHT, LEFT, TOP, BELOW = 100, 130, 64, 30, 46
HEADER = "#motif name label position with without".split()
LINES = (("without", "#9a9a9a"), ("with", MODEL_COLOURS[0]))


def add_options(parser):
    parser.add_argument("--profile", metavar="FILE", required=True, help=f"table of motifs marginalize --profile; {MOST} panels at most")
    parser.add_argument("--reach", metavar="BASES", type=int, default=100, help="positions on each side of the motif's middle (default: %(default)s)")
    parser.add_argument("--title", metavar="TEXT", default="", help="(default: none)")
    add_picture_options(parser, 700)


def read_profiles(path, reach):
    """{title: {"with": [(position, probability)], "without": …}} of the positions in reach."""
    panels = {}
    for number, line in numbered_lines(path):
        fields = line.decode("utf-8", "replace").split("\t")
        if number == 1 and fields != HEADER:
            raise Failure(f"{path}: is no table of motifs marginalize --profile")
        if number == 1:
            continue
        try:
            motif, name, label, position, *values = fields
            at, (one, other) = int(position), map(float, values)
        except ValueError:
            raise Failure(f"{path}:{number}: is no row of such a table") from None
        panel = panels.setdefault(" ".join([motif, *([name] if name != "." else []), label]), {"with": [], "without": []})
        if abs(at) <= reach:
            panel["with"].append((at, one))
            panel["without"].append((at, other))
    if not panels:
        raise Failure(f"{path}: has no rows")
    return panels


class Panel:
    def __init__(self, parent, title, lines, left, top, width):
        self.lines, self.width = lines, width
        positions, values = zip(*(point for line in lines.values() for point in line))
        self.first, self.last, self.high = min(positions), max(positions), nice_top(max(values))
        self.group = add(parent, "g", class_="panel", data_title=title, transform=f"translate({short(left)},{top})")
        add(self.group, "text", title, x=0, y=-8, font_size="12", font_weight="bold")

    def x(self, position):
        return (position - self.first) / max(1, self.last - self.first) * self.width

    def y(self, value):
        return HEIGHT * (1 - value / self.high)

    def draw(self):
        for value in (0, self.high / 2, self.high):
            add(self.group, "path", d=f"M0,{short(self.y(value))}H{short(self.width)}", stroke=GRID_COLOUR)
            add(self.group, "text", axis_number(value), x=-6, y=self.y(value) + 4, text_anchor="end", font_size="10", fill=QUIET)
        for position in ticks(self.first, self.last, 1) if self.last > self.first else (0,):
            add(self.group, "path", d=f"M{short(self.x(position))},{HEIGHT}v4", stroke=QUIET)
            add(self.group, "text", f"{position:g}", x=self.x(position), y=HEIGHT + 16, text_anchor="middle", font_size="10", fill=QUIET)
        for kind, colour in LINES:
            points = "L".join(f"{short(self.x(at))},{short(self.y(value))}" for at, value in self.lines[kind])
            add(self.group, "path", class_=kind, d="M" + points, fill="none", stroke=colour, stroke_width="1.4", stroke_linejoin="round")


def svg_of(options):
    if options.reach < 1:
        raise Failure("--reach must be at least 1", USAGE)
    panels = read_profiles(options.profile, options.reach)
    if len(panels) > MOST:
        raise Failure(f"{options.profile} has {len(panels)} motifs and labels, and a picture shows {MOST} at most", USAGE)
    root, y = new_svg(), 22
    add(root, "rect", width="100%", height="100%", fill="white")
    if options.title:
        add(root, "text", options.title, class_="title", x=12, y=y, font_size="15", font_weight="bold")
        y += 24
    x = LEFT
    for kind, colour in reversed(LINES):
        add(root, "rect", x=x, y=y - 5, width=14, height=3, fill=colour)
        add(root, "text", f"{kind} the motif", x=x + 20, y=y, fill=QUIET)
        x += 138
    add(root, "text", "probability by position from the motif's middle", x=x, y=y, fill=QUIET)
    columns = min(len(panels), 1 if options.width < 600 else 2)
    wide, y = options.width / columns, y + 12
    for number, (title, lines) in enumerate(panels.items()):
        at = number % columns * wide + LEFT, y + number // columns * (TOP + HEIGHT + BELOW) + TOP
        Panel(root, title, lines, *at, wide - LEFT - 20).draw()
    return svg_text(root, options.width, y + -(-len(panels) // columns) * (TOP + HEIGHT + BELOW) - 16)
