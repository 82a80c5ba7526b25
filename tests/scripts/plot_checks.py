# SPDX-License-Identifier: Apache-2.0
"""For tests/scripts/plot.

plot_checks.py table CHROMATIN                          prints a score table made from peaks of test_data
plot_checks.py h5|bw TABLE FILE                        writes a table as HDF5, or its first label as bigWig
plot_checks.py metrics RUN BINS                        writes metrics of a pretraining and of a bin model
plot_checks.py curves SVG                              holds the picture of those against what they are
plot_checks.py picture CHROMATIN TABLE SVG WIDTH GENES  holds a picture of it against the table, the narrowPeaks and the genes
"""
import csv
import gzip
import json
import re
import sys
import xml.etree.ElementTree as ET

LABELS = "K562|CTCF|None", "HepG2|CTCF|None"
BEGIN, END, BIN = 21_200_000, 21_300_000, 200
ABSENT, NA = range(21_260_000, 21_264_000), range(21_240_000, 21_242_000)  # no row, a row without scores
SVG = "{http://www.w3.org/2000/svg}"


def peaks_of(chromatin, label):
    """Start and end of each peak, once."""
    with gzip.open(f"{chromatin}/{label.split('|')[0]}.CTCF.chr22.narrowPeak.gz", "rt") as file:
        return sorted({tuple(map(int, line.split("\t")[1:3])) for line in file})


def print_table(chromatin):
    """Each bin's score is its share under a peak."""
    peaks = [peaks_of(chromatin, label) for label in LABELS]
    print("##bigbird-dna=0.1.0")
    print(*"#chrom start end name score strand status n_fraction".split(), *LABELS, sep="\t")
    for contig, begin, end in ("1", 100_000, 101_000), ("22", BEGIN, END):
        for start in range(begin, end, BIN):
            shares = [max([0, *(min(start + BIN, last) - max(start, first) for first, last in of)]) / BIN for of in peaks]
            ending = ["all_n", 1, "NA", "NA"] if start in NA else ["ok", 0, *shares]
            if start not in ABSENT:
                print(contig, start, start + BIN, ".", ".", ".", *ending, sep="\t")
    print(*"22 9 x . . . malformed NA NA NA".split(), sep="\t")


def steps(path):
    """The curve of a path: from x, to x, y."""
    words = re.findall(r"([MHV])([\d.]+)(?:,([\d.]+))?", path)
    x, y, pieces = float(words[0][1]), float(words[0][2]), []
    for word, number, _ in words[1:]:
        if word == "V":
            y = float(number)
        else:
            pieces.append((x, float(number), y))
            x = float(number)
    return pieces


def expect(condition, *what):
    if not condition:
        sys.exit(" ".join(map(str, what)))


def expect_close(found, expected, what):
    expect(len(found) == len(expected), what, "found", found, "expected", expected)
    for one, other in zip(found, expected):
        expect(all(abs(a - b) < 0.0055 for a, b in zip(one, other)), what, "found", one, "expected", other)


class Checks:
    def __init__(self, chromatin, table, svg, width):
        self.chromatin, self.width = chromatin, width
        self.left, self.right = 68, width - 36
        self.root = ET.parse(svg).getroot()
        with open(table) as file:
            self.rows = [row for row in csv.reader(file, delimiter="\t") if row[0] == "22" and row[2].isdigit()]

    def x_of(self, base):
        return self.left + (base - BEGIN) / (END - BEGIN) * (self.right - self.left)

    def boxes(self, track, kind):
        return [(float(box.get("x")), float(box.get("width"))) for box in track.iter(SVG + "rect") if box.get("class") == kind]

    def of_class(self, tag, kind, parent=None):
        return [found for found in (self.root if parent is None else parent).iter(SVG + tag) if found.get("class") == kind]

    def tracks(self):
        tracks = self.of_class("g", "track")
        expect([track.get("data-label") for track in tracks] == list(LABELS), "not a track a label")
        for number, track in enumerate(tracks):
            self.peaks(track, LABELS[number])
            scores = {int(row[1]): None if row[8] == "NA" else float(row[8 + number]) for row in self.rows}
            self.curve(track, scores)

    def peaks(self, track, label):
        inside = [(max(a, BEGIN), min(b, END)) for a, b in peaks_of(self.chromatin, label) if a < END and b > BEGIN]
        expect(inside, "no peaks to compare")
        expect_close(self.boxes(track, "peak"), [(self.x_of(a), max(1.5, self.x_of(b) - self.x_of(a))) for a, b in inside], label)

    def curve(self, track, scores):
        high = 1.0  # a bin within a peak, on either track: one scale for both
        axis = [text.text for kind in ("max", "middle", "min", "unit") for text in self.of_class("text", kind, track)]
        expect(axis == ["1", "0.5", "0", "score"], "another axis:", axis)
        lines = [steps(path.get("d")) for path in self.of_class("path", "curve", track)]
        expect(len(lines) == 3, "two gaps must cut the curve")
        curve = [piece for line in lines for piece in line]
        bottom = max(y for _, _, y in curve)
        pixels = min(self.width, len(range(BEGIN, END, BIN)))
        wide = (END - BEGIN) / pixels  # bases of a piece: a bin, or a column of pixels, which shows the largest score that reaches into it
        for piece in range(pixels):
            first, last = BEGIN + piece * wide, BEGIN + (piece + 1) * wide
            reaching = [score for start, score in scores.items() if start < last and start + BIN > first and score is not None]
            found = [y for a, b, y in curve if a <= self.x_of((first + last) / 2) < b]
            expected = [bottom - 54 * max(reaching) / high] if reaching else []
            expect_close([found], [expected], f"bases from {first}:")
            expect(len(found) == len(expected), "bases from", first, "found", found, "expected", expected)
        if wide == BIN:
            gaps = [(self.x_of(gap.start), self.x_of(gap.stop) - self.x_of(gap.start)) for gap in (NA, ABSENT)]
            expect_close(self.boxes(track, "gap"), gaps, "gaps")

    def words(self, genes):
        words = [text.text for text in self.root.iter(SVG + "text")]
        for wanted in "CTCF & <co>", "PI4KA_1", "21,300,000", "chr22:21,200,001-21,300,000 (100 kb)", "10 kb", "0", "no score":
            expect(wanted in words, wanted, "is not among", words)
        with open(genes) as file:
            inside = [line for line in file if BEGIN < int(line.split()[2]) and int(line.split()[1]) < END]
        expect(len(self.of_class("g", "gene")) == len(inside), "another number of genes than", len(inside))


def rows_of(table):
    with open(table) as file:
        rows = [row for row in csv.reader(file, delimiter="\t") if not row[0].startswith("##")]
    return rows[0], [row for row in rows[1:] if row[2].isdigit()]


def write_h5(table, path):
    import h5py

    header, rows = rows_of(table)
    with h5py.File(path, "w") as file:
        file["scores"] = [[float("nan") if field == "NA" else float(field) for field in row[8:]] for row in rows]
        file["rows/chrom"] = [row[0] for row in rows]
        file["rows/start"], file["rows/end"] = ([int(row[column]) for row in rows] for column in (1, 2))
        file["labels/column"] = header[8:]


def write_bw(table, path):
    import pyBigWig

    rows = [row for row in rows_of(table)[1] if row[0] == "22" and row[8] != "NA"]
    with pyBigWig.open(path, "w") as file:
        file.addHeader([("22", 51_304_566)])
        file.addEntries([row[0] for row in rows], [int(row[1]) for row in rows], ends=[int(row[2]) for row in rows], values=[float(row[8]) for row in rows])


def write_metrics(pretraining, bins):
    for folder, masked in (pretraining, True), (bins, False):
        with open(f"{folder}/metrics.jsonl", "w") as file:
            for step in range(1, 101):
                line = {"step": step, "loss": 1 / step, "learning_rate": 1e-4, "gradient_norm": 1.0, "tokens": 64, "sequences": 8, "seconds": 0.5,
                        "tokens_per_second": 128}
                file.write(json.dumps(line | ({"mlm_loss": 1 / step, "mlm_accuracy": 0.5, "bits_per_character": 1.9} if masked else {})) + "\n")
                if step % 50 == 0:
                    file.write(json.dumps({"step": step, "eval_loss": 0.5} | ({"eval_mlm_accuracy": 0.4} if masked else {"eval_auroc": 0.7})) + "\n")
            file.write('{"step":101,"lo')


def check_curves(svg):
    root = ET.parse(svg).getroot()
    panels = {group.get("data-metric"): group for group in root.iter(SVG + "g") if group.get("class") == "panel"}
    expect(list(panels) == ["bits_per_character", "mlm_accuracy", "auroc", "loss", "learning_rate", "gradient_norm", "sequences_per_second"], list(panels))
    dots = {name: [dot for dot in panel.iter(SVG + "circle")] for name, panel in panels.items()}
    # The training loss of pretraining counts other tokens than its evaluation does: dots of the bin model only.
    expect({name: len(of) for name, of in dots.items() if of} == {"mlm_accuracy": 2, "auroc": 2, "loss": 2}, "other dots")
    frames = {name: next(panel.iter(SVG + "rect")) for name, panel in panels.items()}
    for name, of in dots.items():
        for dot in of:
            for at, size in ("cx", "width"), ("cy", "height"):
                expect(4 <= float(dot.get(at)) <= float(frames[name].get(size)) - 4, name, "a dot leaves its frame")
    words = " ".join(text.text for text in panels["sequences_per_second"].iter(SVG + "text"))
    expect("sequences per second" in words and "16" in words and "token" not in words, words)
    expect(len([path for path in panels["loss"].iter(SVG + "path") if path.get("class") == "smoothed"]) == 2, "no smoothed line per run")


if __name__ == "__main__":
    if sys.argv[1] == "table":
        print_table(sys.argv[2])
    elif sys.argv[1] == "metrics":
        write_metrics(*sys.argv[2:])
    elif sys.argv[1] == "curves":
        check_curves(sys.argv[2])
    elif sys.argv[1] in ("h5", "bw"):
        {"h5": write_h5, "bw": write_bw}[sys.argv[1]](*sys.argv[2:])
    else:
        checks = Checks(*sys.argv[2:5], int(sys.argv[5]))
        checks.tracks()
        checks.words(sys.argv[6])
