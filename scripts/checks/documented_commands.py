#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""documented_commands.py: every command and option that README.md, CONTRIBUTING.md and the pages of docs/ type, in blocks and in code within a line, is in
docs/commands.md, which the program writes. One line a finding, exit 1 if any."""
import re
import shlex
import sys
from pathlib import Path

import links

ROOT = Path(__file__).resolve().parents[2]
COMMAND = re.compile(r"(?<![\w/.-])bigbird-dna (?:(motifs) )?([a-z][a-z-]*)\b((?:\\\n|[^\n|&;)`#])*)")
OPTION = re.compile(r"(?<![\w-])(--[a-z][a-z0-9-]*|-[a-zA-Z@])(?=[\s=]|$)")
EVERYWHERE = {"--help", "-h", "--help-all", "--version", "--quiet", "-q", "--verbose", "-v", "--options", "--threads", "-t", "--force", "-f"}


def known():
    """The options of each command."""
    found, name = {}, None
    for line in (ROOT / "docs/commands.md").read_text().splitlines():
        if line.startswith("### "):
            name = line[4:].strip()
            found[name] = set(EVERYWHERE)
        elif name and line.startswith("| `-"):
            found[name].update(re.findall(r"`(--?[\w@-]+)`", line.split("|")[1]))
        elif name and (alias := re.match(r"Options: those of \[([a-z-]+)\]", line)):
            found[name].update(found[alias[1]] - set(re.findall(r"`(--?[\w@-]+)`", line)))
    return found


def words_of(text):
    """Options of a command as typed: what is quoted is no option."""
    try:
        words = shlex.split(text.replace("\\\n", " "))
    except ValueError:
        words = text.split()
    return [match.group(1) for word in words if (match := OPTION.match(word))]


def inline(text, commands):
    """(position, command, rest) of code within a line that begins with a command's name and has an option."""
    for match in re.finditer(r"(?<!`)`([a-z-]+) ([^`\n]*--[^`\n]*)`(?!`)", text):
        if match.group(1) in commands:
            yield match.start(), match.group(1), match.group(2)


def main():
    commands, findings, seen = known(), [], 0
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(path for path in (ROOT / "docs").rglob("*.md") if path.name != "commands.md")]
    for page in pages:
        text = page.read_text()
        prose = links.without_blocks(text)
        typed = [(match.start(), f"motifs-{match.group(2)}" if match.group(1) else match.group(2), match.group(3)) for match in COMMAND.finditer(text)]
        for at, name, rest in [*typed, *inline(text, commands)]:
            place = f"{page.relative_to(ROOT)}:{links.line_of(text, at)}"
            if name not in commands:
                if prose[at] == " " or text[:at].endswith("    "):  # in a block, and no prose about the program
                    findings.append(f"{place}: there is no command {name}")
                continue
            seen += 1
            findings += [f"{place}: {name} has no option {option}" for option in words_of(rest) if option not in commands[name]]
    if seen < 100:
        findings.append(f"only {seen} commands were found: the pages are no longer read")
    print("\n".join(findings), end="\n" if findings else "", file=sys.stderr)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
