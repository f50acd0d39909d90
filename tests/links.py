#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Follows every relative link of every tracked Markdown page: the file is there, and the anchor
names one of its headings. Every page below docs is linked from another one.

usage: links.py ROOT

Pages of the project are also named in comments, help texts and generated documents; such a
`docs/....md` has to exist, too.
"""
import re
import subprocess
import sys
from pathlib import Path

FENCE = re.compile(r"^\s*(```|~~~)")
HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*$")
CODE = re.compile(r"`[^`]*`")
LINK = re.compile(r"\[(?:[^\[\]]|\[[^\]]*\])*\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
DEFINITION = re.compile(r"^\s*\[[^\]]+\]:\s+<?(\S+?)>?$")
SCHEME = re.compile(r"^[a-zA-Z][a-zA-Z0-9+.-]*:")
NAMED = re.compile(r"(?<![\w/.-])docs/[\w/.-]+?\.md(?!\w)")
# Recorded output keeps the names that pages had when it was recorded.
LEFT_ALONE = re.compile(r"^(data/recorded/|tests/(corpus|golden|data)/)")


def prose(text):
    """(line number, line) of all lines outside fenced blocks."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if FENCE.match(line):
            fenced = not fenced
        elif not fenced:
            yield number, line


def slug(heading):
    """The anchor that GitHub gives a heading."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").replace("*", "")
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


def anchors(text):
    found, counts = set(), {}
    for _, line in prose(text):
        if match := HEADING.match(line):
            name = slug(match[1])
            count = counts.get(name, 0)
            counts[name] = count + 1
            found.add(name if count == 0 else f"{name}-{count}")
        found.update(re.findall(r"<a (?:id|name)=\"([^\"]+)\"", line))
    return found


def links(text):
    """(line number, target) of the links of a page; code is no link."""
    for number, line in prose(text):
        bare = CODE.sub(lambda match: "`" * len(match[0]), line)
        for match in LINK.finditer(bare):
            # Code within the words of a link was blanked out; its target never holds any.
            yield number, match[1]
        if match := DEFINITION.match(bare):
            yield number, match[1]


def problems_of_page(root, name):
    text = (root / name).read_text(encoding="utf-8")
    for number, target in links(text):
        if SCHEME.match(target):
            continue
        path, _, anchor = target.partition("#")
        file = (root / name).parent / path if path else root / name
        if not file.exists():
            yield f"{name}:{number}: {target}: no such file"
        elif not file.resolve().is_relative_to(root):
            yield f"{name}:{number}: {target}: outside of the repository"
        elif anchor and file.suffix == ".md" and anchor not in anchors(file.read_text(encoding="utf-8")):
            yield f"{name}:{number}: {target}: no heading with that anchor"


def problems_of_names(root, name):
    """Pages that a text names by their path from the root, as code comments and messages do."""
    try:
        text = (root / name).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return
    for number, line in enumerate(text.splitlines(), 1):
        for match in NAMED.finditer(line):
            if not (root / match[0]).is_file():
                yield f"{name}:{number}: {match[0]}: no such page"


def orphans(root, pages):
    """Pages below docs to which no other page links: nobody would find them."""
    linked = set()
    for name in pages:
        for _, target in links((root / name).read_text(encoding="utf-8")):
            path = target.partition("#")[0]
            if path and not SCHEME.match(target) and (file := ((root / name).parent / path).resolve()) != (root / name).resolve():
                linked.add(file)
    for name in pages:
        if name.startswith("docs/") and (root / name).resolve() not in linked:
            yield f"{name}: no other page links to it"


def main():
    root = Path(sys.argv[1]).resolve()
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, check=True, capture_output=True).stdout.decode()
    names = [name for name in listed.split("\0") if name and (root / name).is_file() and not (root / name).is_symlink()]
    pages = [name for name in names if name.endswith(".md")]
    wrong = []
    count = 0
    for name in pages:
        count += sum(1 for _ in links((root / name).read_text(encoding="utf-8")))
        wrong += problems_of_page(root, name)
    wrong += orphans(root, pages)
    for name in names:
        if not LEFT_ALONE.match(name) and name != "tests/links.py":
            wrong += problems_of_names(root, name)
    print("\n".join(wrong) if wrong else f"{count} links in {len(pages)} pages")
    return 1 if wrong or count < 50 else 0


if __name__ == "__main__":
    sys.exit(main())
