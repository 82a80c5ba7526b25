# SPDX-License-Identifier: Apache-2.0
"""The picture of bigbird-dna-plot training: one panel per metric."""
import collections
import math

from plotting.picture import GRID_COLOUR, MODEL_COLOURS, QUIET, add, axis_number, new_svg, short, svg_text, text_width

COLOURS = (*MODEL_COLOURS, "#D55E00", "#8d5a97", "#4d4d4d")
Metric = collections.namedtuple("Metric", "key title unit smooth", defaults=(True,))
WIDTH, HEIGHT, LEFT, TOP, COLUMNS = 400, 190, 74, 40, 2
PANEL = (LEFT + WIDTH + 26, TOP + HEIGHT + 50)
MOST_POINTS = 600


def series(lines, key):
    """Steps and numbers of a key, as far as lines have it."""
    return [(line["step"], float(line[key])) for line in lines
            if isinstance(line.get(key), (int, float)) and math.isfinite(line[key]) and "step" in line]


def thinned(points):
    """At most MOST_POINTS, each the mean of its neighbors."""
    if len(points) <= MOST_POINTS:
        return points
    cuts = [len(points) * number // MOST_POINTS for number in range(MOST_POINTS + 1)]
    return [tuple(math.fsum(point[axis] for point in points[a:b]) / (b - a) for axis in (0, 1)) for a, b in zip(cuts, cuts[1:])]


def smoothed(points, share):
    """Centered running mean over a share of the points, which are fewer at both ends."""
    reach, sums = int(len(points) * share / 2), [0.0]
    for _, value in points:
        sums.append(sums[-1] + value)
    means = []
    for at, (step, _) in enumerate(points):
        begin, end = max(0, at - reach), min(len(points), at + reach + 1)
        means.append((step, (sums[end] - sums[begin]) / (end - begin)))
    return means


def nice(range_):
    """1, 2 or 5 times a power of ten that cuts the range into about four parts."""
    unit = 10.0 ** math.floor(math.log10(range_ / 4))
    return next(unit * factor for factor in (1, 2, 5, 10) if unit * factor >= range_ / 6)


def ticks(low, high, least=0.0):
    step = max(least, nice(high - low))
    return [number * step for number in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


class Curves:
    """What a panel draws: for each run its steps, their smoothed line, and its evaluations."""

    def __init__(self, metric, runs, share):
        self.metric, self.raw, self.line, self.dots = metric, {}, {}, {}
        for name, lines in runs.items():
            of_masked = metric.key == "loss" and any("mlm_loss" in line for line in lines)
            raw = series(lines, metric.key)
            self.raw[name], self.line[name] = thinned(raw), thinned(smoothed(raw, share) if metric.smooth else raw)
            self.dots[name] = [] if of_masked else series(lines, "eval_" + metric.key)
        self.steps = [point[0] for points in (*self.raw.values(), *self.dots.values()) for point in points]

    def range(self):
        """The lines and dots, and all but the outermost hundredths of the steps."""
        values = [point[1] for points in (*self.line.values(), *self.dots.values()) for point in points]
        for points in self.raw.values():
            ordered = sorted(point[1] for point in points)
            values += ordered[len(ordered) // 50:len(ordered) - len(ordered) // 50]
        low, high = min(values), max(values)
        margin = 0.06 * (high - low) or 0.05 * abs(high) or 0.5
        return max(0.0, low - margin) if low >= 0 else low - margin, high + margin


class Panel:
    def __init__(self, parent, number, steps, curves):
        self.curves, self.first, self.last = curves, *steps
        self.low, self.high = curves.range()
        self.group = add(parent, "g", class_="panel", data_metric=curves.metric.key,
                         transform=f"translate({number % COLUMNS * PANEL[0] + LEFT},{number // COLUMNS * PANEL[1] + TOP})")
        self.clip = f"panel{number}"
        add(add(self.group, "clipPath", id=self.clip), "rect", x=0, y=0, width=WIDTH, height=HEIGHT)

    def x(self, step):
        """The last step is inside the frame, so that its dot is whole."""
        return 8 + (step - self.first) / (self.last - self.first) * (WIDTH - 16)

    def y(self, value):
        return HEIGHT * (self.high - value) / (self.high - self.low)

    def draw(self):
        self._frame()
        for colour, name in zip_colours(self.curves.line):
            raw, line, dots = self.curves.raw[name], self.curves.line[name], self.curves.dots[name]
            if self.curves.metric.smooth:
                self._line(raw, "steps", stroke=colour, stroke_width="1", stroke_opacity="0.22")
            self._line(line, "smoothed", stroke=colour, stroke_width="1.8")
            if not line:
                self._line(dots, "smoothed", stroke=colour, stroke_width="1.2", stroke_opacity="0.6")
            for step, value in dots:
                dot = add(self.group, "circle", class_="evaluation", cx=self.x(step), cy=self.y(value), r="3.4", fill=colour, stroke="white",
                          stroke_width="0.8")
                add(dot, "title", f"{name}, step {step}: {value:.4g}")

    def _line(self, points, kind, **style):
        if points:
            path = "L".join(f"{short(self.x(step))},{short(self.y(value))}" for step, value in points)
            add(self.group, "path", class_=kind, d="M" + path, fill="none", clip_path=f"url(#{self.clip})", stroke_linejoin="round", **style)

    def _frame(self):
        metric = self.curves.metric
        add(self.group, "text", metric.title, x=0, y=-10, font_size="13", font_weight="bold")
        for value in ticks(self.low, self.high):
            add(self.group, "path", d=f"M0,{short(self.y(value))}H{WIDTH}", stroke=GRID_COLOUR)
            add(self.group, "text", axis_number(value), x=-6, y=self.y(value) + 4, text_anchor="end", fill=QUIET)
        for value in ticks(self.first, self.last, 1):
            add(self.group, "path", d=f"M{short(self.x(value))},{HEIGHT}v4", stroke=QUIET)
            add(self.group, "text", f"{value:,.6g}" if value < 1e6 else f"{value:.3g}", x=self.x(value), y=HEIGHT + 17, text_anchor="middle", fill=QUIET)
        add(self.group, "text", "training step", x=WIDTH / 2, y=HEIGHT + 33, text_anchor="middle", fill=QUIET)
        add(self.group, "text", metric.unit, transform=f"translate(-58 {HEIGHT / 2:g}) rotate(-90)", text_anchor="middle", fill=QUIET)
        add(self.group, "rect", x=0, y=0, width=WIDTH, height=HEIGHT, fill="none", stroke="#8a8a8a")


def zip_colours(names):
    return [(COLOURS[number % len(COLOURS)], name) for number, name in enumerate(names)]


def header(root, title, runs, dotted):
    """Title, the runs' colors and what lines and dots are; returns the height."""
    y, x = 26, LEFT
    add(root, "text", title, class_="title", x=x, y=y, font_size="16", font_weight="bold")
    y += 22
    words = [(colour, "rect", name) for colour, name in zip_colours(runs)]
    words += [(QUIET, "line", "training: mean, and single steps behind")] + ([(QUIET, "dot", "evaluation on held-out sequence")] if dotted else [])
    for colour, mark, text in words:
        wide = 18 + text_width(text, 11) + 14
        if x > LEFT and x + wide > COLUMNS * PANEL[0]:
            x, y = LEFT, y + 18
        if mark == "dot":
            add(root, "circle", cx=x + 6, cy=y - 4, r="3.4", fill=colour)
        else:
            add(root, "rect", x=x, y=y - (9 if mark == "rect" else 5), width=12, height=10 if mark == "rect" else 2, fill=colour)
        add(root, "text", text, x=x + 18, y=y, fill=QUIET)
        x += wide
    return y + 6


def draw(title, metrics, runs, share):
    """The SVG of {run: lines of its metrics}; None where no run has one of the metrics."""
    panels = [curves for curves in (Curves(metric, runs, share) for metric in metrics) if curves.steps]
    if not panels:
        return None
    steps = [step for curves in panels for step in curves.steps]
    first, last = min(steps), max(steps)
    if first == last:
        first, last = first - 1, last + 1
    root = new_svg()
    add(root, "title", title)
    add(root, "rect", width="100%", height="100%", fill="white")
    top = header(root, title, runs, any(any(curves.dots.values()) for curves in panels))
    body = add(root, "g", transform=f"translate(0,{short(top)})")
    for number, curves in enumerate(panels):
        Panel(body, number, (first, last), curves).draw()
    width, height = min(COLUMNS, len(panels)) * PANEL[0], top + -(-len(panels) // COLUMNS) * PANEL[1]
    return svg_text(root, max(width, PANEL[0] + 60), height)
