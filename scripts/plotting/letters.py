# SPDX-License-Identifier: Apache-2.0
"""Letters of sequence logos, as the report of train draws them."""
import math

from plotting.picture import add, short

# Outlines in a square of 100, so that a letter can be stretched to any height.
OUTLINES = {"A": "M0 100 38 0H62L100 100H76L69 78H31L24 100ZM37 59H63L50 20Z",
            "C": "M99 31C92 10 75 0 52 0 20 0 0 20 0 50 0 80 20 100 52 100 75 100 92 90 99 69L77 62C73 75 65 81 52 81 34 81 23 69 23 50 23 31 34 19 52 19 65 "
                 "19 73 25 77 38Z",
            "G": "M99 31C92 10 75 0 52 0 20 0 0 20 0 50 0 80 20 100 52 100 72 100 88 93 99 82V45H54V63H77V73C71 78 63 81 53 81 34 81 23 69 23 50 23 31 34 19 52 "
                 "19 65 19 73 25 77 36Z",
            "T": "M0 0H100V20H62V100H38V20H0Z"}
COLOURS = {"A": "#2e8b57", "C": "#1b6ca8", "G": "#c98a1b", "T": "#d1495b"}
LETTERS = "ACGT"


def draw_letter(group, letter, x, width, top, height, upside_down=False):
    scale = f"scale({short(width / 100)} {height / 100:.4f})"
    turn = f"translate({short(x)} {short(top + height)}) scale(1 -1) {scale}" if upside_down else f"translate({short(x)} {short(top)}) {scale}"
    add(group, "path", class_=f"letter {letter}", d=OUTLINES[letter], fill=COLOURS[letter], fill_rule="evenodd", transform=turn)


def information(shares):
    """Bits of a position, 2 at most (Schneider and Stephens, Nucleic Acids Res. 18:6097, 1990)."""
    return max(0.0, 2 + sum(share * math.log2(share) for share in shares if share > 0))


def draw_motif(group, motif, x, width, bottom, height):
    """Each position's letters on top of each other, the commonest on top; `height` is 2 bits. width: of a position."""
    for place, shares in enumerate(motif):
        y = bottom
        for share, letter in sorted(zip(shares, LETTERS)):
            size = share * information(shares) / 2 * height
            if size >= 0.4:
                y -= size
                draw_letter(group, letter, x + place * width + 0.03 * width, 0.94 * width, y, size)
