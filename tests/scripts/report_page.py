#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""report_page.py BUILD [PAGE...]: the pages of train and evaluate fit 360, 1000 and 1600 pixels, and none of their texts overlap, as Chromium lays
them out. BUILD's program makes small models of all kinds; with PAGE, only these pages are measured. Exit code 77 where there is no Chromium."""
import gzip
import html
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

DATA = Path(__file__).resolve().parents[2] / "test_data"
WIDTHS = 360, 1000, 1600
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
# In frames of each width: what is wider than the page and does not scroll in itself, texts that meet, and texts that a picture cuts.
MEASURE = """
const tolerance = 2, found = [];
function scrolls(node) { for (; node && node.tagName != 'BODY'; node = node.parentElement)
    if (getComputedStyle(node).overflowX == 'auto') return node; return null; }
function boxes(page) {
    const all = [], walker = page.createTreeWalker(page.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const node = walker.currentNode, element = node.parentElement, text = node.textContent.trim();
        if (!text || element.closest('title, script, style')) continue;
        const range = page.createRange();
        range.selectNodeContents(node);
        const rects = element.closest('svg') ? [element.getBoundingClientRect()] : range.getClientRects();
        for (const rect of rects) if (rect.width > 0) all.push({text: text.slice(0, 40), rect, element});
    }
    return all.sort((a, b) => a.rect.top - b.rect.top);
}
function measure(page, width) {
    const say = what => found.push(width + ': ' + what), root = page.documentElement;
    if (root.scrollWidth > root.clientWidth) say('overflow: the page is ' + root.scrollWidth + ' wide');
    for (const element of page.body.querySelectorAll('*'))
        if (!element.closest('title, script, style') && element.getBoundingClientRect().right > width + 1 && !scrolls(element))
            say('overflow: ' + element.tagName + ' ' + element.textContent.slice(0, 40));
    const all = boxes(page);
    if (all.length < 10) say('no text');
    all.forEach((one, i) => {
        const svg = one.element.closest('svg'), box = svg && svg.getBoundingClientRect();
        if (box && (one.rect.left < box.left - 1 || one.rect.right > box.right + 1 || one.rect.bottom > box.bottom + 1 || one.rect.top < box.top - 1))
            say('cut: ' + one.text);
        for (let j = i + 1; j < all.length && all[j].rect.top < one.rect.bottom - tolerance; ++j) {
            const other = all[j].rect;
            if (other.left < one.rect.right - tolerance && one.rect.left < other.right - tolerance &&
                scrolls(one.element) == scrolls(all[j].element)) say('overlap: ' + one.text + ' | ' + all[j].text);
        }
    });
}
onload = () => {
    for (const frame of document.querySelectorAll('iframe')) measure(frame.contentDocument, Number(frame.width));
    document.body.innerHTML = '';
    document.body.append('FOUND' + JSON.stringify(found) + 'END');
};
"""


def problems(page):
    """What Chromium finds in the text of a page."""
    frames = "".join(f'<iframe width="{width}" height="900" style="border:0" srcdoc="{html.escape(page)}"></iframe>' for width in WIDTHS)
    Path("measure.html").write_text(f"<!doctype html><meta charset=utf-8><script>{MEASURE}</script><body>{frames}")
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--user-data-dir=" + str(Path("profile").resolve()),
               "--virtual-time-budget=20000", "--dump-dom", "measure.html"]
    text = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300).stdout
    return json.loads(html.unescape(re.search(r"FOUND(\[.*\])END", text, re.S)[1]))


def pages(program):
    """Pages of train and evaluate, of all kinds of input."""
    genome, yeast, known = DATA / "genome/22.fa.gz", DATA / "genome/yeast.fa.gz", DATA / "motifs/known.jaspar"
    peaks = [DATA / f"chromatin/K562.{name}.chr22.narrowPeak.gz" for name in ("CTCF", "MAX", "ATF3")]
    with gzip.open(peaks[0], "rt") as file:
        Path("few.bed").write_text("".join(itertools.islice(file, 60)))
    megabase = ["--reference", genome, "--include", "22:20500001-21500000", "--steps", 60]
    kinds = {
        "one-label": ["--peaks", peaks[0], *megabase, "--known-motifs", known],
        "three-labels": ["--peaks", *peaks, *megabase],
        "few-peaks": ["--peaks", "few.bed", "--reference", genome, "--steps", 10, "--folds", 3],
        "promoters": ["--tss", DATA / "promoter/tss.hg19.bed", "--reference", genome, "--steps", 20],
        "tracks": ["--signal", DATA / "tracks/tracks.tsv", "--reference", yeast, "--bin", 100, "--steps", 20, "--include", "I:1-150000",
                   "--validation", "I:100001-120000", "--test", "I:120001-150000"],
        "sequences": ["--table", DATA / "sequences/promoters.csv.gz", "--strand", "given", "--steps", 20, "--members", 2, "--known-motifs", known]}
    for name, words in kinds.items():
        subprocess.run([program, "train", "--quiet", "--seed", "1", "--device", "cpu", *map(str, words), "--output", name], check=True)
        yield name, Path(name, "report.html").read_text()
    yield "a fold", Path("few-peaks/folds/1/report.html").read_text()
    scores = [word for name in ("floor", "model") for word in ("--scores", f"{name}=three-labels/scores/{name}.tsv.gz")]
    subprocess.run([program, "evaluate", "--quiet", *scores, "--examples", "three-labels/examples", "--output", "evaluate.html"], check=True)
    yield "evaluate", Path("evaluate.html").read_text()


def check_page(name, page):
    assert "name=viewport" in page, name
    for foreign in ("http", "src=", "@import", "url("):
        assert foreign not in page, (name, foreign)
    found = problems(page)
    assert not found, "\n".join([name, *found[:20]])
    print(f"{name}: fits {', '.join(map(str, WIDTHS))} pixels")


def check_measure(page):
    """That planted faults are found, at each width."""
    planted = {"overflow": "<div style='width:1700px'>wide</div>", "overlap": "<svg><text x=10 y=20>one text</text><text x=14 y=22>another</text></svg>",
               "cut": "<svg width=60 height=30><text x=30 y=20>longer than its picture</text></svg>"}
    for fault, element in planted.items():
        found = problems(page.replace("</h1>", "</h1>" + element))
        for width in WIDTHS:
            assert any(line.startswith(f"{width}: {fault}") for line in found), (fault, width, found)
    print("planted faults are found")


def main():
    if CHROMIUM is None:
        print("report_page.py: no chromium here")
        return 77
    program = Path(sys.argv[1], "bin/bigbird-dna").resolve()
    given = [(name, Path(name).read_text()) for name in sys.argv[2:]]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        last = None
        for name, page in given or pages(program):
            check_page(name, page)
            last = page
        check_measure(last)
    return 0


if __name__ == "__main__":
    sys.exit(main())
