# SPDX-License-Identifier: Apache-2.0
"""The picture of tests/load/run: resident memory over time, a panel a command."""
import xml.etree.ElementTree as ET

from plotting.picture import GRID_COLOUR, MODEL_COLOURS, QUIET, add, nice_step, short

WIDTH, HEIGHT, LEFT, TOP, COLUMNS = 300, 110, 70, 34, 2
PANEL = (LEFT + WIDTH + 20, TOP + HEIGHT + 34)


def draw_memory(curves):
    """The SVG of {name: [(seconds, megabytes, open files)]}, each panel from 0 MB to its most."""
    rows = -(-len(curves) // COLUMNS)
    root = ET.Element("svg", xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {COLUMNS * PANEL[0]} {rows * PANEL[1]}",
                      **{"font-family": "Helvetica, Arial, 'DejaVu Sans', sans-serif", "font-size": "11"})
    add(root, "rect", width="100%", height="100%", fill="white")
    for number, (name, samples) in enumerate(curves.items()):
        panel = add(root, "g", transform=f"translate({number % COLUMNS * PANEL[0] + LEFT},{number // COLUMNS * PANEL[1] + TOP})")
        _panel(panel, name, samples, MODEL_COLOURS[0])
    ET.indent(root, " ")
    return ET.tostring(root, encoding="unicode") + "\n"


def _panel(panel, name, samples, colour):
    minutes, most = max((one[0] for one in samples), default=0) / 60, max((one[1] for one in samples), default=0)
    add(panel, "text", name, x=0, y=-8, font_size="12", font_weight="bold")
    step = nice_step(most, 4)
    for mark in range(0, int(most) + 1, step):
        y = HEIGHT * (1 - mark / most)
        add(panel, "path", d=f"M0,{short(y)}H{WIDTH}", stroke=GRID_COLOUR)
        add(panel, "text", f"{mark} MB", x=-6, y=y + 4, text_anchor="end", fill=QUIET)
    points = "L".join(f"{short(WIDTH * one[0] / 60 / minutes)},{short(HEIGHT * (1 - one[1] / most))}" for one in samples)
    add(panel, "path", d=f"M0,{HEIGHT}H{WIDTH}", stroke=QUIET)
    if points:
        add(panel, "path", d=f"M{points}", fill="none", stroke=colour, stroke_width="1.4")
    add(panel, "text", f"{minutes:.3g} minutes", x=WIDTH, y=HEIGHT + 16, text_anchor="end", fill=QUIET)
