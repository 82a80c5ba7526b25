#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scripts/checks/links.py names each dead link, anchor and mention of a small repository and of a small site, and nothing else."""
import subprocess
import sys
import tempfile
from pathlib import Path

CHECK = Path(__file__).resolve().parents[2] / "scripts/checks/links.py"

README = """# A page
[good](@/a.md) and [again](@/a.md#the-second-part-1) and ![picture](@/p.svg) and [outside](https://example.org/none)
[no file](@/none.md)
[no anchor](@/a.md#third)
[no README](@/empty)
[out](../outside.md)
`[in code](none.md)`
```
[in a block](none.md)
```
<img src="@/none.png">
[a folder](@)
"""
PAGE = """# First
## The second `part`
## The second part
[back](../README.md#a-page) [here](#first)
"""
WANTED_OF_REPOSITORY = """README.md:11: @/none.png leads nowhere
README.md:3: @/none.md leads nowhere
README.md:4: @/a.md#third has an anchor that @/a.md lacks
README.md:5: @/empty is a folder without README.md
README.md:6: ../outside.md leads out of the repository
source.cpp:2: names @/gone.md, which is not there
"""
WANTED_OF_SITE = """index.html: a.html#none has an anchor that a.html lacks
index.html: none.html leads nowhere
"""


def named(text):
    """`@` is the folder of documentation: as text of this file its paths would be looked for in this repository."""
    return text.replace("@", "docs")


def write(folder, files):
    for name, text in ((named(name), named(text)) for name, text in files.items()):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def run(*arguments):
    done = subprocess.run([sys.executable, CHECK, *arguments], capture_output=True, text=True)
    return done.returncode, done.stdout, "".join(sorted(done.stderr.splitlines(keepends=True)))


def equal(what, found, wanted):
    if found != wanted:
        sys.exit(f"FAILED: {what}: {found}, {wanted} was expected")


def main():
    with tempfile.TemporaryDirectory() as name:
        repository, site = Path(name) / "repository", Path(name) / "site"
        files = {"README.md": README, "@/a.md": PAGE, "@/README.md": "# Docs\n", "@/p.svg": "<svg/>", "@/empty/x.txt": "x"}
        write(repository, files | {"source.cpp": "// @/a.md says it\n// @/gone.md does not\n"})
        subprocess.run(["git", "init", "--quiet", repository], check=True)
        equal("a repository with dead links", run(repository), (1, "", named(WANTED_OF_REPOSITORY)))
        write(repository, {"README.md": "# A page\n[good](@/a.md)\n", "source.cpp": ""})
        equal("a repository without", run(repository), (0, "", ""))
        index = '<h1 id="top"></h1><a href="a.html#part"></a><a href="#top"></a><a href="none.html"></a><a href="a.html#none"></a><a href="https://example.org/"></a>'
        write(site, {"index.html": index, "a.html": '<h2 id="part"></h2><a href="index.html"></a>'})
        equal("a site with dead links", run("--site", site), (1, "https://example.org/\n", WANTED_OF_SITE))
        write(site, {"index.html": '<a href="a.html"></a>'})
        equal("a site without", run("--site", site), (0, "\n", ""))
        equal("two folders", run(repository, site)[0], 2)


main()
