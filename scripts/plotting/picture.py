# SPDX-License-Identifier: Apache-2.0
"""What bigbird-dna-plot scores draws, as SVG by the standard library."""
import math
import re
import xml.etree.ElementTree as ET

# Okabe and Ito's colours, which those tell apart who see fewer; vermilion is the peaks'.
MODEL_COLOURS = ("#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
PEAK_COLOUR, GENE_COLOUR, GAP_COLOUR, GRID_COLOUR, QUIET = "#D55E00", "#444444", "#ececec", "#e4e4e4", "#555555"
GENE_LANES = 8


def short(number):
    """A coordinate in pixels, to a hundredth, without needless digits."""
    return f"{number:.2f}".rstrip("0").rstrip(".") if "." in f"{number:.2f}" else str(number)


def add(parent, tag, text=None, **attributes):
    """A child element; keys are attributes, with _ for -, and numbers are pixels."""
    child = ET.SubElement(parent, tag)
    for key, value in attributes.items():
        child.set(key.rstrip("_").replace("_", "-"), printable(value if isinstance(value, str) else short(value)))
    if text is not None:
        child.text = printable(text)
    return child


def new_svg():
    root = ET.Element("svg", xmlns="http://www.w3.org/2000/svg")
    root.set("font-family", "Helvetica, Arial, 'DejaVu Sans', sans-serif")
    root.set("font-size", "11")
    return root


def svg_text(root, width, height):
    for key, value in (("viewBox", f"0 0 {width} {short(height)}"), ("width", str(width)), ("height", short(height))):
        root.set(key, value)
    ET.indent(root, " ")
    return ET.tostring(root, encoding="unicode") + "\n"


def add_picture_options(parser, width):
    parser.add_argument("--width", metavar="PIXELS", type=int, default=width, help="of the picture, 400 to 10000 (default: %(default)s)")
    parser.add_argument("--output", "-o", metavar="FILE", nargs="+", action="extend", required=True, help=".svg or .png")
    parser.add_argument("--force", "-f", action="store_true", help="replace an output that exists")
    parser.set_defaults(endings=(".svg", ".png"))


def printable(text):
    """XML has no place for control characters."""
    return re.sub("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff\ufffe\uffff]", "\N{REPLACEMENT CHARACTER}", text)


def text_width(text, size):
    """A generous guess, for fonts differ."""
    return 0.62 * size * len(text)


def nice_step(range_, parts):
    """1, 2 or 5 times a power of ten, the least that cuts the range into at most so many parts; whole bases."""
    unit = 10 ** math.floor(math.log10(max(1, range_ / parts)))
    return max(1, next(unit * factor for factor in (1, 2, 5, 10) if unit * factor * parts >= range_))


def bases(count):
    for unit, name in ((1_000_000, "Mb"), (1_000, "kb")):
        if count >= unit:
            return f"{count / unit:.4g} {name}"
    return f"{count} bp"


def nice_top(value):
    """The end of an axis that holds the value: two digits at most."""
    if value <= 0:
        return 1.0
    unit = 10.0 ** math.floor(math.log10(value))
    return next(float(f"{unit * factor:.3g}") for factor in (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10) if unit * factor >= value * 0.999999)


def axis_number(value):
    return "0" if value == 0 else f"{value:.3g}" if abs(value) < 10000 else f"{value:,.0f}"


class Scale:
    """From bases to pixels."""

    def __init__(self, region, left, right):
        self.region, self.left, self.right = region, left, right

    def x(self, base):
        """Of the edge before a base, counted from 0, kept within the plot."""
        inside = min(max(base, self.region.start), self.region.end)
        return self.left + (inside - self.region.start) / (self.region.end - self.region.start) * (self.right - self.left)

    def box(self, start, end, least):
        """x and width of what lies from start to end, at least so wide and within the plot."""
        width = max(least, self.x(end) - self.x(start))
        return min(self.x(start), self.right - width), width

    def ticks(self):
        step = nice_step(self.region.end - self.region.start, max(2, (self.right - self.left) / 110))
        return range((self.region.start // step + 1) * step, self.region.end + 1, step)


def runs_of(pieces, scored):
    """Stretches of neighbouring pieces that have a score, or that have none."""
    runs = []
    for piece in pieces:
        if (piece[2] is not None) != scored:
            continue
        if runs and runs[-1][-1][1] == piece[0]:
            runs[-1].append(piece)
        else:
            runs.append([piece])
    return runs


class Picture:
    """An SVG that grows downwards; y is where the next part begins."""

    TITLE, PLOT, PEAKS, SPACE, LANE = 18, 54, 9, 15, 15

    def __init__(self, region, width, models, unit):
        self.scale, self.unit = Scale(region, 68, width - 36), unit
        self.width, self.models = width, models
        self.root, self.y = new_svg(), 0

    def header(self, title, legend):
        """Legend: pairs of colour and words."""
        add(self.root, "title", title)
        add(self.root, "rect", width="100%", height="100%", fill="white")
        self.grid = add(self.root, "g", class_="grid", stroke=GRID_COLOUR)
        self.y = 26
        if title:
            add(self.root, "text", title, class_="title", x=self.scale.left, y=self.y, font_size="15", font_weight="bold")
            self.y += 20
        x, group = self.scale.left, add(self.root, "g", class_="legend", fill=QUIET)
        for colour, words in legend:
            if x > self.scale.left and x + 16 + text_width(words, 11) > self.scale.right:
                x, self.y = self.scale.left, self.y + 16
            add(group, "rect", x=x, y=self.y - 8, width=11, height=9, fill=colour)
            add(group, "text", words, x=x + 16, y=self.y)
            x += 16 + text_width(words, 11) + 14
        self.y += 14
        self.top = self.y

    def track(self, label, curves, peaks, low, high):
        """Curves: {model: pieces}; peaks: None where none were given; the y axis goes from low to high."""
        group = add(self.root, "g", class_="track", data_label=label)
        scale, top = self.scale, self.y + self.TITLE
        add(group, "text", label, x=scale.left, y=top - 5, font_size="12", font_weight="bold")
        self._gaps(group, curves, top)
        self._axis(group, top, low, high)

        def y_of(value):
            return top + self.PLOT * (1 - (min(value, high) - low) / (high - low))

        for model, pieces in curves.items():
            for run in runs_of(pieces, True):
                self._curve(group, model, run, y_of, filled=len(self.models) == 1)
        self.y = top + self.PLOT
        if peaks is not None:
            self._peaks(group, peaks)
        self.y += self.SPACE

    def _gaps(self, group, curves, top):
        """Grey where no model has a score."""
        cover = sorted(piece[:2] for pieces in curves.values() for piece in pieces if piece[2] is not None)
        at = self.scale.region.start
        for start, end in [*cover, (self.scale.region.end, self.scale.region.end)]:
            if start > at:
                x, width = self.scale.box(at, start, 0)
                add(group, "rect", class_="gap", x=x, y=top, width=width, height=self.PLOT, fill=GAP_COLOUR)
            at = max(at, end)

    def _axis(self, group, top, low, high):
        left, right, bottom = self.scale.left, self.scale.right, top + self.PLOT
        add(group, "path", d=f"M{left},{short(top)}H{right}M{left},{short(top + self.PLOT / 2)}H{right}", stroke=GRID_COLOUR, fill="none")
        add(group, "path", d=f"M{left},{short(top)}V{short(bottom)}H{right}", stroke="#8a8a8a", fill="none")
        words = dict(x=left - 6, fill=QUIET, font_size="10", text_anchor="end")
        for value, y, kind in ((high, top + 4, "max"), ((low + high) / 2, (top + bottom) / 2 + 4, "middle"), (low, bottom + 4, "min")):
            add(group, "text", axis_number(value), class_=kind, y=y, **words)
        add(group, "text", self.unit, class_="unit", transform=f"translate(14 {short((top + bottom) / 2)}) rotate(-90)", fill=QUIET, font_size="10",
            text_anchor="middle")

    def _curve(self, group, model, run, y_of, filled):
        colour, scale = MODEL_COLOURS[self.models.index(model)], self.scale
        steps, last = "", None
        for start, _, value in run:
            y = short(y_of(value))
            if y != last:
                steps += f"H{short(scale.x(start))}V{y}"
            last = y
        begin, end, base = short(scale.x(run[0][0])), short(scale.x(run[-1][1])), short(y_of(0.0))
        rest = steps[steps.index("V"):] + f"H{end}"
        d, fill = (f"M{begin},{base}{rest}V{base}Z", colour) if filled else (f"M{begin},{rest[1:]}", "none")
        add(group, "path", class_="curve", d=d, fill=fill, fill_opacity="0.35", stroke=colour, stroke_width="1.1", data_model=model)

    def _peaks(self, group, peaks):
        for start, end in peaks:
            x, width = self.scale.box(start, end, 1.5)
            box = add(group, "rect", class_="peak", x=x, y=self.y + 4, width=width, height=self.PEAKS - 2, fill=PEAK_COLOUR)
            add(box, "title", f"{self.scale.region.contig}:{start + 1}-{end}")
        self.y += self.PEAKS

    def genes(self, genes):
        """In lanes, names beside them; a name that finds no room is left to the pointer's title."""
        group = add(self.root, "g", class_="genes", fill=GENE_COLOUR)
        add(group, "text", "Genes", x=self.scale.left, y=self.y + 12, font_size="12", font_weight="bold", fill="black")
        self.y += self.TITLE
        ends = []
        for gene in genes:
            x, width = self.scale.box(gene.start, gene.end, 2)
            name, tip = text_width(gene.name, 10), 5 if gene.strand in "+-" else 0
            on_left = x + width + tip + name + 4 > self.scale.right
            begin = x - tip - (name + 4 if on_left else 0)
            lane = next((lane for lane, end in enumerate(ends) if end <= begin), len(ends))
            named = lane < GENE_LANES and bool(gene.name)
            lane = min(lane, GENE_LANES - 1)
            ends += [0] * (lane + 1 - len(ends))
            ends[lane] = max(ends[lane], x + width + tip + (0 if on_left or not named else name + 4) + 6)
            self._gene(group, gene, x, width, self.y + lane * self.LANE, named, on_left)
        self.y += max(1, len(ends)) * self.LANE + 4

    def _gene(self, group, gene, x, width, y, named, on_left):
        here, middle = add(group, "g", class_="gene"), y + 6
        tips = (5 if gene.strand == "-" else 0, 5 if gene.strand == "+" else 0)
        add(here, "title", f"{gene.name} {self.scale.region.contig}:{gene.start + 1}-{gene.end} {gene.strand}")
        add(here, "rect", x=x, y=middle - 0.5, width=width, height=1)
        for start, end in gene.blocks:
            if self.scale.region.overlaps(start, end):
                at, wide = self.scale.box(start, end, 2)
                add(here, "rect", x=at, y=y + 2, width=wide, height=8)
        if gene.strand in "+-":
            foot, tip = (x + width + 1, x + width + 5) if gene.strand == "+" else (x - 1, x - 5)
            add(here, "path", d=f"M{short(foot)},{short(y + 3)}L{short(tip)},{short(middle)}L{short(foot)},{short(y + 9)}Z")
        if named:
            at = x - tips[0] - 3 if on_left else x + width + tips[1] + 3
            add(here, "text", gene.name, x=at, y=y + 10, font_size="10", text_anchor="end" if on_left else "start")

    def footer(self):
        """Coordinates, the region and a scale bar; the grid through all tracks."""
        scale, group = self.scale, add(self.root, "g", class_="coordinates", fill=QUIET)
        y = self.y
        add(group, "path", d=f"M{scale.left},{short(y)}H{scale.right}", stroke="#8a8a8a", fill="none")
        for tick in scale.ticks():
            x, half = scale.x(tick - 0.5), text_width(f"{tick:,}", 10) / 2
            add(self.grid, "path", d=f"M{short(x)},{short(self.top)}V{short(y)}")
            add(group, "path", d=f"M{short(x)},{short(y)}v5", stroke="#8a8a8a")
            if x - half >= 2 and x + half <= self.width - 2:
                add(group, "text", f"{tick:,}", class_="tick", x=x, y=y + 17, font_size="10", text_anchor="middle")
        length = scale.region.end - scale.region.start
        add(group, "text", f"{scale.region} ({bases(length)})", x=scale.left, y=y + 38)
        self._scale_bar(group, nice_step(length, 10), y + 34)
        self.y = y + 52

    def _scale_bar(self, group, length, y):
        scale = self.scale
        wide = length / (scale.region.end - scale.region.start) * (scale.right - scale.left)
        left = scale.right - wide
        add(group, "path", class_="scale", d=f"M{short(left)},{short(y - 4)}v8m0,-4H{scale.right}m0,-4v8", stroke="#333333", stroke_width="1.5", fill="none")
        add(group, "text", bases(length), x=left - 6, y=y + 4, text_anchor="end")

    def svg(self):
        return svg_text(self.root, self.width, self.y)


def ends_of(curves):
    """Least and greatest of the scores of some tracks and 0."""
    values = [piece[2] for by_model in curves for pieces in by_model.values() for piece in pieces if piece[2] is not None]
    return min([0.0, *values]), max([0.0, *values])


def axis_of(curves, ymax):
    low, high = ends_of(curves)
    return -nice_top(-low) if low < 0 else 0.0, ymax or nice_top(high)


def draw(region, options, curves, peaks, genes):
    """The SVG of {label: {model: pieces}}; peaks, {label: [(start, end)]}, and genes may be None. Of the options, title, width, unit, ymax and
    free_scale are read."""
    models = list(dict.fromkeys(model for by_model in curves.values() for model in by_model))
    legend = [(MODEL_COLOURS[number], model or ("predicted score" if len(models) == 1 else "unnamed")) for number, model in enumerate(models)]
    legend += [(PEAK_COLOUR, "peak")] if peaks else []
    missing = any(piece[2] is None for by_model in curves.values() for pieces in by_model.values() for piece in pieces)
    legend += [(GAP_COLOUR, "no score")] if missing else []
    picture = Picture(region, options.width, models, options.unit)
    picture.header(options.title, legend)
    shared = axis_of(curves.values(), options.ymax)
    for label, by_model in curves.items():
        axis = axis_of([by_model], None) if options.free_scale else shared
        picture.track(label, by_model, peaks[label] if peaks else None, *axis)
    if genes is not None:
        picture.genes(genes)
    picture.footer()
    return picture.svg()
