# SPDX-License-Identifier: Apache-2.0
"""Hooks of MkDocs for scripts/docs. Every Markdown file that git knows is a page at its own place, so that links which lead somewhere in the repository lead
somewhere on the site. A picture that a page shows is copied; of any other file that a page links to the site has a page with its text; a link to a folder
leads to the folder's README.md. Search works in pages that are opened as files: search.js takes the place of MkDocs' script. It finds the pages of users only."""
import json
import os
import re
import sys
from pathlib import Path

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts/checks"))
import links  # noqa: E402

CELL = re.compile(r"<td[^>]*>.*?</td>", re.DOTALL)
CODE = re.compile(r"<code>([^<]*)</code>")
LONG = 35  # letters from which on code with blanks in a table may go over several lines

USERS = ("index.html", "CHANGELOG.html", "docs/", "scripts/workflow/index.html", "test_data/models/", "lib/bigbird/examples/FORMAT.html",
         "lib/bigbird/corpus/tokens/FORMAT.html")  # what search finds
DEVELOPERS = "docs/development/"
PICTURES = {".svg", ".png", ".jpg"}
LONGEST = 300_000  # characters of a file that is shown as text


def goal_of(page, target):
    path = target.partition("#")[0]
    return os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page


def slugify(heading, separator):
    """Anchors as repository viewers make them; `separator` is always a hyphen there."""
    return links.slug(heading)


def on_config(config):
    config.mdx_configs.setdefault("toc", {})["slugify"] = slugify
    return config


def text_page(name):
    text = (ROOT / name).read_text()[:LONGEST]
    fence = "`" * 4
    while fence in text:
        fence += "`"
    return f"# {name}\n\n{fence}text\n{text}\n{fence}\n"


def on_files(files, config):
    known = [name for name in links.tracked(ROOT) if not name.startswith(".")]
    pages = [name for name in known if name.endswith(".md")]
    for name in pages:
        files.append(File.generated(config, name, abs_src_path=str(ROOT / name)))
    wanted = {goal_of(name, target) for name in pages for _, _, target in links.links(links.read(ROOT / name)) if not links.is_external(target)}
    for name in sorted(wanted.intersection(known) - set(pages)):
        if Path(name).suffix in PICTURES:
            files.append(File.generated(config, name, abs_src_path=str(ROOT / name)))
        else:
            files.append(File.generated(config, f"{name}.md", content=text_page(name)))
    return files


def on_page_markdown(markdown, page, config, files):
    parts, last = [], 0
    for begin, end, target in links.links(markdown):
        path, mark, anchor = target.partition("#")
        if links.is_external(target) or not path:
            continue
        goal = goal_of(page.file.src_uri, target)
        if (ROOT / goal).is_dir():
            path = f"{path.rstrip('/')}/README.md"
        elif files.get_file_from_path(goal) is None and files.get_file_from_path(f"{goal}.md") is not None:
            path = f"{path}.md"
        parts += [markdown[last:begin], path + mark + anchor]
        last = end
    return "".join(parts) + markdown[last:]


def code_of_cell(match):
    """A bar in code is escaped in tables of Markdown, and stays so in MkDocs' pages; repository viewers take the escape away."""
    text = match.group(1).replace("\\|", "|")
    return f'<code class="long">{text}</code>' if len(text) > LONG and " " in text else f"<code>{text}</code>"


def on_page_content(html, page, config, files):
    return CELL.sub(lambda cell: CODE.sub(code_of_cell, cell.group(0)), html)


def on_post_build(config):
    """MkDocs' search asks for its index from a worker, which browsers refuse where pages are opened as files."""
    search = Path(config.site_dir) / "search"
    index = json.loads((search / "search_index.json").read_text())
    index["docs"] = [page for page in index["docs"] if page["location"].startswith(USERS) and not page["location"].startswith(DEVELOPERS)]
    (search / "index.js").write_text(f"siteSearch({json.dumps(index)});\n")
    (search / "main.js").write_text((Path(__file__).parent / "search.js").read_text())
    for name in ("search_index.json", "worker.js"):
        (search / name).unlink()
