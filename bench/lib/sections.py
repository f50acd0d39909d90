# SPDX-License-Identifier: Apache-2.0
"""A page whose sections are written by different commands."""
import re
from pathlib import Path

from lib.store import write_atomically


def last_section(page, heading):
    """The text of a page from this heading on, which ends it; empty where the page has none."""
    at = page.find(f"\n## {heading}\n")
    return page[at:] if at >= 0 else ""


def put_last_section(path, heading, lines):
    """Writes the section at the end of a page that another command writes."""
    path = Path(path)
    page = path.read_text(encoding="utf-8")
    rest = page.removesuffix(last_section(page, heading)).rstrip("\n")
    write_atomically(path, "\n".join([rest, "", f"## {heading}", "", *lines]) + "\n")


def replace_section(path, title, intro, order, heading, lines):
    """Writes the section `heading` of the page and leaves its other ones; `order` lists all
    headings."""
    path = Path(path)
    old = path.read_text(encoding="utf-8") if path.exists() else ""
    parts = re.split(r"^## (.+)\n", old, flags=re.MULTILINE)
    sections = {name: body.strip("\n") for name, body in zip(parts[1::2], parts[2::2])}
    sections[heading] = "\n".join(lines).strip("\n")
    blocks = [f"# {title}", intro]
    blocks += [f"## {name}\n\n{sections[name]}" for name in order if name in sections]
    write_atomically(path, "\n\n".join(blocks) + "\n")
