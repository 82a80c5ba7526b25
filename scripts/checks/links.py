#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""links.py [FOLDER] checks the documentation of the repository, or of FOLDER: every relative link of a Markdown file leads to a file, a folder linked to has a
README.md, every anchor is a heading, and a Markdown file that any other text names by its path is there.
links.py --site FOLDER checks a site that scripts/docs built: every link of its pages leads to a file of the site, and every anchor to an element;
external addresses are listed on standard output and not fetched. One line a finding, exit 1 if any. No network, the standard library alone."""
import argparse
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
CODE = re.compile(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", re.DOTALL)
INLINE = re.compile(r"(?<=\])\(\s*<?([^\s()<>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
REFERENCE = re.compile(r"^ {0,3}\[[^\]]+\]:\s+<?([^\s<>]+)>?", re.MULTILINE)
HTML = re.compile(r"<[^<>]+?\b(?:href|src)=\"([^\"]+)\"")
HEADING = re.compile(r"^ {0,3}(#{1,6})\s+(.+?)\s*#*\s*$", re.MULTILINE)
IDENTIFIER = re.compile(r"<[^<>]+?\b(?:id|name)=\"([^\"]+)\"")
MENTION = re.compile(r"(?<![\w/.-])((?:docs|lib|apps|scripts|test_data|tests)/[\w./-]+\.md)\b")


def blank(match):
    return re.sub(r"[^\n]", " ", match.group(0))


def without_blocks(text):
    """The text with the lines of fenced blocks and comments blanked, so that places stay."""
    lines, fence = [], None
    for line in re.sub(r"<!--.*?-->", blank, text, flags=re.DOTALL).splitlines(keepends=True):
        mark = FENCE.match(line)
        inside = fence is not None
        if mark and not inside:
            fence = mark.group(1)
        elif mark and mark.group(1).startswith(fence) and not line.strip().strip("`~"):
            fence = None
        lines.append(re.sub(r"[^\n]", " ", line) if inside or mark else line)
    return "".join(lines)


def links(text):
    """(begin, end, target) of each link of a Markdown text, code left out."""
    prose = CODE.sub(blank, without_blocks(text))
    found = [match.span(1) for pattern in (INLINE, REFERENCE, HTML) for match in pattern.finditer(prose)]
    return [(begin, end, prose[begin:end]) for begin, end in sorted(set(found))]


def slug(heading):
    """The anchor that repository viewers give a heading."""
    words = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[^\w\- ]", "", words.lower()).strip().replace(" ", "-")


def anchors(text):
    prose, found = without_blocks(text), set(IDENTIFIER.findall(text))
    for _, heading in HEADING.findall(prose):
        name, number = slug(heading), 1
        while name in found:
            name, number = f"{slug(heading)}-{number}", number + 1
        found.add(name)
    return found


def is_external(target):
    return bool(urlsplit(target).scheme) or target.startswith("//")


def line_of(text, place):
    return text.count("\n", 0, place) + 1


def tracked(folder):
    names = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=folder, capture_output=True, check=True)
    return sorted(name for name in names.stdout.decode().split("\0") if name and (folder / name).is_file())


def read(path):
    try:
        return path.read_text()
    except UnicodeDecodeError:
        return ""


def finding_of(folder, page, target, files):
    """What is wrong with a link of a page; None where nothing is."""
    path, _, anchor = target.partition("#")
    goal = os.path.normpath(os.path.join(os.path.dirname(page), unquote(path))) if path else page
    if goal.startswith(".."):
        return "leads out of the repository"
    if goal not in files:
        readme = os.path.join("" if goal == "." else goal, "README.md")
        if not any(name.startswith(f"{goal}/") for name in files):
            return "leads nowhere"
        if readme not in files:
            return "is a folder without README.md"
        goal = readme
    if anchor and goal.endswith(".md") and anchor not in anchors(read(folder / goal)):
        return f"has an anchor that {goal} lacks"
    return None


def check_repository(folder):
    files, findings = set(tracked(folder)), []
    for name in sorted(files):
        text, spans = read(folder / name), []
        if name.endswith(".md"):
            for begin, end, target in links(text):
                spans.append(range(begin, end))
                wrong = None if is_external(target) else finding_of(folder, name, target, files)
                if wrong:
                    findings.append(f"{name}:{line_of(text, begin)}: {target} {wrong}")
        for match in MENTION.finditer(text):
            if any(match.start() in span for span in spans):
                continue
            if match.group(1) not in files and os.path.normpath(os.path.join(os.path.dirname(name), match.group(1))) not in files:
                findings.append(f"{name}:{line_of(text, match.start())}: names {match.group(1)}, which is not there")
    return findings


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.targets, self.identifiers = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.identifiers.update(given[key] for key in ("id", "name") if given.get(key))
        self.targets += [given[key] for key in ("href", "src") if given.get(key)]


def check_site(folder):
    pages = {path.relative_to(folder).as_posix(): Page(path.read_text()) for path in sorted(folder.rglob("*.html"))}
    findings, external = [], set()
    if "index.html" not in pages:
        return [f"{folder}: holds no index.html"]
    for name, page in pages.items():
        for target in page.targets:
            if is_external(target):
                external.add(target)
                continue
            path, _, anchor = target.partition("#")
            path = unquote(path.partition("?")[0])
            goal = path.lstrip("/") if path.startswith("/") else os.path.normpath(os.path.join(os.path.dirname(name), path)) if path else name
            if goal in ("", ".") or goal.endswith("/") or (folder / goal).is_dir():
                goal = os.path.normpath(os.path.join(goal, "index.html"))
            if not (folder / goal).is_file():
                findings.append(f"{name}: {target} leads nowhere")
            elif anchor and goal in pages and anchor not in pages[goal].identifiers:
                findings.append(f"{name}: {target} has an anchor that {goal} lacks")
    print("\n".join(sorted(external)))
    return sorted(set(findings))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT)
    parser.add_argument("--site", action="store_true")
    options = parser.parse_args()
    findings = check_site(options.folder) if options.site else check_repository(options.folder)
    print("\n".join(findings), end="\n" if findings else "", file=sys.stderr)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
