# SPDX-License-Identifier: Apache-2.0
"""What bigbird-dna-plot scores reads: a region's rows of scores, peaks and genes."""
import collections
import csv
import difflib
import fnmatch
import gzip
import math
import os
import re
import shutil
import subprocess
import zlib

from plotting.binary import BigWig, Hdf5
from plotting.failure import USAGE, Failure

MOST_TRACKS, MOST_MODELS = 12, 5
FIXED_COLUMNS = "#chrom start end name score strand status n_fraction".split()
NOT_ON_REFERENCE = ("malformed", "bad_interval", "no_contig")


class Malformed(Exception):
    """What is wrong with a row; who knows its file and line adds them."""


def shared_name(contig):
    """What all spellings of a contig have in common: no "chr" before it, MT for the mitochondrion."""
    name = contig[3:] if contig[:3].lower() == "chr" else contig
    return "MT" if name == "M" else name


class Region:
    """Bases [start, end), counted from 0, of a contig in any of its spellings."""

    def __init__(self, text):
        parts = re.fullmatch(r"(.+):([0-9,]+)-([0-9,]+)", text)
        if not parts or not parts[2].strip(",") or not parts[3].strip(","):
            raise Failure(f"--region '{text}' is not CONTIG:START-END, such as chr22:20750001-20950000", USAGE)
        self.contig = parts[1]
        self.start, self.end = int(parts[2].replace(",", "")) - 1, int(parts[3].replace(",", ""))
        if not 0 <= self.start < self.end:
            raise Failure(f"--region '{text}' is empty: bases count from 1, and END is its last", USAGE)
        self._known = {}

    def __str__(self):
        return f"{self.contig}:{self.start + 1:,}-{self.end:,}"

    def on_contig(self, name):
        """Is this contig's name (bytes) another spelling of the region's?"""
        if name not in self._known:
            self._known[name] = shared_name(name.decode("utf-8", "replace")) == shared_name(self.contig)
        return self._known[name]

    def overlaps(self, start, end):
        return start < self.end and self.start < end


def numbered_lines(path):
    """Number, from 1, and bytes of each line of a text that may be gzip or bgzip."""
    try:
        with open(path, "rb") as file:
            text = gzip.GzipFile(fileobj=file) if file.peek(2)[:2] == b"\x1f\x8b" else file
            for number, line in enumerate(text, 1):
                yield number, line.rstrip(b"\r\n")
    except OSError as error:
        raise Failure(f"{path}: {error.strerror or error}") from None
    except (EOFError, zlib.error):
        raise Failure(f"{path}: the compressed file is cut short or damaged") from None


def tabix_lines(path, region):
    """Rows of the region by FILE.tbi, each with None for its number; None where there is no index, or one older than the file."""
    index = path + ".tbi"
    if not shutil.which("tabix") or not os.path.exists(index) or os.path.getmtime(index) < os.path.getmtime(path):
        return None

    def ask(*arguments):
        return subprocess.run(["tabix", *arguments], check=True, capture_output=True).stdout.splitlines()

    try:
        contigs = [name.decode() for name in ask("--list-chroms", path) if region.on_contig(name)]
        return [(None, line) for name in contigs for line in ask(path, f"{name}:{region.start + 1}-{region.end}")]
    except subprocess.CalledProcessError:
        return None


def interval(fields):
    """Start and end of a BED row's fields."""
    if len(fields) < 3:
        raise Malformed("a row needs at least contig, start and end, separated by tabs")
    try:
        start, end = int(fields[1]), int(fields[2])
    except ValueError:
        raise Malformed(f"'{fields[1].decode('utf-8', 'replace')}' and '{fields[2].decode('utf-8', 'replace')}' are not start and end") from None
    if not 0 <= start <= end:
        raise Malformed(f"its end, {end}, lies before its start, {start}" if start >= 0 else f"its start, {start}, lies before the contig")
    return start, end


def is_no_row(line):
    """Is the line a comment, or one for browsers? A row of a contig called track goes on with a number."""
    return re.match(rb"#|(track|browser)(\s+[^\s\d]|\s*$)", line) is not None


def bed_rows(path, region):
    """Start, end and all fields of the rows that overlap the region."""
    for number, line in numbered_lines(path):
        if not line or is_no_row(line):
            continue
        fields = line.split(b"\t") if b"\t" in line else line.split()
        try:
            start, end = interval(fields)
        except Malformed as fault:
            raise Failure(f"{path}:{number}: {fault}") from None
        if region.on_contig(fields[0]) and region.overlaps(start, end):
            yield start, end, [field.decode("utf-8", "replace") for field in fields]


def number_of(field):
    """A score, or None for NA."""
    if field in (b"NA", b""):
        return None
    try:
        value = float(field)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise Malformed(f"'{field.decode('utf-8', 'replace')}' is no score")
    return value


def tabbed(lines):
    """A .csv file's lines as a table's."""
    for number, line in lines:
        fields = next(csv.reader([line.decode("utf-8", "replace")]), [])
        text = "\t".join(fields).encode()
        yield number, b"#" + text if number == 1 and fields[:1] == ["chrom"] else text


class Source:
    """A text of scores: which labels it has, and the rows of a region."""

    def __init__(self, path, model, label=None):
        self.path, self.model = path, model
        self.is_table = label is None
        self._lines = numbered_lines(path)
        if self.is_table and path.endswith((".csv", ".csv.gz")):
            self._lines = tabbed(self._lines)
        self.labels = self._read_header() if self.is_table else [label]
        self.first = len(FIXED_COLUMNS) if self.is_table else 3
        self.width = self.first + len(self.labels)

    def _read_header(self):
        for number, line in self._lines:
            if line.startswith(b"##"):
                continue
            columns = line.decode("utf-8", "replace").split("\t")
            if columns[: len(FIXED_COLUMNS)] != FIXED_COLUMNS or len(columns) == len(FIXED_COLUMNS):
                raise Failure(f"{self.path}:{number}: this is no score table: its header is not '{' '.join(FIXED_COLUMNS)}' and labels, separated by tabs")
            return columns[len(FIXED_COLUMNS):]
        raise Failure(f"{self.path}: holds no header of a score table")

    def _row(self, line, region, columns):
        """Start, end and the columns' scores; None where the row is not the region's."""
        contig, *rest = line.split(b"\t", 3)
        if rest and not region.on_contig(contig):
            return None
        fields = line.split(b"\t") if len(rest) < 2 or self._reaches(rest, region) else None
        if fields is None:
            return None
        if len(fields) != self.width:
            raise Malformed(f"a row of {len(fields)} columns in place of {self.width}")
        if self.is_table and fields[6].decode("utf-8", "replace") in NOT_ON_REFERENCE:
            return None
        start, end = interval(fields)
        return (start, end, [number_of(fields[column]) for column in columns])

    @staticmethod
    def _reaches(rest, region):
        """A quick look that spares rows elsewhere from being cut into hundreds of columns; what is no number is looked at closer."""
        return not (rest[0].isdigit() and rest[1].isdigit()) or int(rest[0]) > int(rest[1]) or region.overlaps(int(rest[0]), int(rest[1]))

    def _parse(self, lines, region, columns):
        rows = []
        for number, line in lines:
            if not line or line.startswith(b"#") or (not self.is_table and is_no_row(line)):
                continue
            try:
                row = self._row(line, region, columns)
            except Malformed as fault:
                raise Failure(f"{self.path}:{number}: {fault}") from None
            if row:
                rows.append(row)
        return rows

    def read(self, region, labels):
        """The region's rows by start: start, end and a score (None: NA) for each of the labels that the file has."""
        columns = [self.first + self.labels.index(label) for label in labels]
        rows = None
        indexed = tabix_lines(self.path, region)
        if indexed is not None:
            try:
                rows = self._parse(indexed, region, columns)
            except Failure:
                pass  # reading all of it tells the line
        if rows is None:
            rows = self._parse(self._lines, region, columns)
        if not rows:
            raise Failure(f"{self.path}: no row lies in {region}")
        return sorted(rows, key=lambda row: row[:2])


def open_source(text):
    name, path = ("", text) if os.path.exists(text) or "=" not in text else text.split("=", 1)
    plain = path[:-3] if path.endswith(".gz") else path
    if plain.endswith((".npy", ".long.tsv")):
        raise Failure(f"{path}: scores are read from tables (.tsv, .csv), HDF5 (.h5), bigWig (.bw) and bedGraph (.bedgraph)", USAGE)
    if plain.endswith((".h5", ".hdf5")):
        return Hdf5(path, name)
    bigwig = plain.endswith((".bw", ".bigwig", ".bigWig"))
    if not bigwig and not plain.endswith((".bedgraph", ".bedGraph", ".bdg")):
        return Source(path, name)
    model, _, label = name.rpartition(":")
    label = label or os.path.basename(plain).rpartition(".")[0]
    return BigWig(path, model, label) if bigwig else Source(path, model, label)


def open_sources(texts):
    sources, seen = [open_source(text) for text in texts], set()
    if len({source.model for source in sources}) > MOST_MODELS:
        raise Failure(f"a picture holds {MOST_MODELS} models at most", USAGE)
    for source in sources:
        for label in source.labels:
            if (source.model, label) in seen:
                raise Failure(f"{source.path}: label '{label}' is in an earlier file, too; name the models: NAME={source.path}", USAGE)
            seen.add((source.model, label))
    return sources


def select_labels(selection, known):
    """The labels that a selection names, in its order, each once."""
    chosen = []
    for item in [selection] if selection in known else filter(None, selection.split(",")):
        found = [item] if item in known else [label for label in known if fnmatch.fnmatchcase(label, item)]
        if not found:
            nearest = difflib.get_close_matches(item.strip("*?"), known, n=1, cutoff=0)
            raise Failure(f"--labels: no label is '{item}'; the nearest is '{nearest[0]}'", USAGE)
        chosen += [label for label in found if label not in chosen]
    if not chosen:
        raise Failure("--labels selects nothing", USAGE)
    if len(chosen) > MOST_TRACKS:
        raise Failure(f"--labels selects {len(chosen)} labels, and a picture holds {MOST_TRACKS} at most", USAGE)
    return chosen


def flatten(rows, column, region):
    """Cuts the region at the rows' ends: start, end and the mean of the scores there, None where there is none."""
    cuts = {region.start, region.end}
    for start, end, _ in rows:
        cuts.update((max(start, region.start), min(end, region.end)))
    cuts, active, following, pieces = sorted(cuts), [], 0, []
    for start, end in zip(cuts, cuts[1:]):
        while following < len(rows) and rows[following][0] <= start:
            active.append(rows[following])
            following += 1
        active = [row for row in active if row[1] > start]
        values = [row[2][column] for row in active if row[2][column] is not None]
        pieces.append((start, end, math.fsum(values) / len(values) if values else None))
    return pieces


def thin(pieces, region, pixels):
    """At most a piece a column of pixels, with the largest score that reaches into it."""
    if len(pieces) <= pixels:
        return pieces
    length, best = region.end - region.start, [None] * pixels
    for start, end, value in pieces:
        first, last = (start - region.start) * pixels // length, (end - 1 - region.start) * pixels // length
        for column in range(first, last + 1) if value is not None else ():
            best[column] = value if best[column] is None else max(best[column], value)
    cut = [region.start + length * column / pixels for column in range(pixels + 1)]
    return [(cut[column], cut[column + 1], value) for column, value in enumerate(best)]


def read_curves(sources, region, labels, pixels):
    """For each label its curves by model, in the order of the files: {label: {model: pieces}}."""
    curves = {label: {} for label in labels}
    for source in sources:
        mine = [label for label in labels if label in source.labels]
        rows = source.read(region, mine) if mine else []
        for column, label in enumerate(mine):
            curves[label][source.model] = thin(flatten(rows, column, region), region, pixels)
    return curves


def read_sheet(path):
    """The peak files of each label: {name: [path]}."""
    files = collections.defaultdict(list)
    lines = (line.decode("utf-8", "replace") for _, line in numbered_lines(path) if line and not line.startswith(b"#"))
    for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
        if row.get("name") is None or row.get("path") is None:
            raise Failure(f"{path}: a sheet of peaks has name and path in its header and in each row, separated by tabs")
        files[row["name"]].append(os.path.join(os.path.dirname(path), row["path"]))
    return files


def is_sheet(path):
    """Does the text begin with a sheet's header? Peaks begin with contig, start and end."""
    for _, line in numbered_lines(path):
        if line and not is_no_row(line):
            fields = line.split()
            return len(fields) < 3 or not (fields[1].isdigit() or fields[2].isdigit())
    return False


def read_peaks(texts, region, labels):
    """Start and end of each label's peaks, by start, each once: {label: [(start, end)]}."""
    files = {label: [] for label in labels}
    for text in texts:
        name, path = ("", text) if os.path.exists(text) or "=" not in text else text.split("=", 1)
        if name and name not in files:
            raise Failure(f"--peaks {text}: no track's label is '{name}'", USAGE)
        sheet = read_sheet(path) if not name and is_sheet(path) else None
        for label in [name] if name else labels:
            if sheet is not None and label not in sheet:
                raise Failure(f"{path}: has no entry for label '{label}'")
            files[label] += [path] if sheet is None else sheet[label]
    return {label: sorted({row[:2] for path in paths for row in bed_rows(path, region)}) for label, paths in files.items()}


Gene = collections.namedtuple("Gene", "start end name strand blocks")


def read_genes(path, region):
    def gene(start, end, fields):
        blocks = [(start, end)]
        try:
            if len(fields) >= 12:
                sizes, starts = ([int(part) for part in fields[column].strip(",").split(",")] for column in (10, 11))
                blocks = [(start + at, start + at + size) for at, size in zip(starts, sizes)]
        except ValueError:
            raise Failure(f"{path}: the blocks of '{fields[3]}' are no numbers") from None
        return Gene(start, end, fields[3] if len(fields) > 3 else "", fields[5] if len(fields) > 5 else ".", blocks)

    return sorted(gene(*row) for row in bed_rows(path, region))
