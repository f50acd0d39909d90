# SPDX-License-Identifier: Apache-2.0
"""Markdown in lines of at most 100 columns: paragraphs, lists and quotations are wrapped, tables
and code stay."""
import re

COLUMNS = 100
FENCE = re.compile(r"^\s*(```|~~~)")
ITEM = re.compile(r"^(\s*)([-*] |\d+\. )(.*)$")
KEPT = re.compile(r"^\s*($|\||#|<|\[[^\]]+\]: |> ```)")
UNITS = {"%", "ns", "us", "ms", "s", "min", "h", "KiB", "MiB", "GiB", "KB", "MB", "points"}
# What must not be parted: code and links.
ATOM = re.compile(r"(?:`[^`]*`|\[[^\]]*\]\([^)]*\)|\S)+")


def fill(text, first, rest):
    """The words of `text` in lines that begin with `first`, then with `rest`."""
    lines, line = [], first
    empty = True
    for word in words_of(text):
        if not empty and len(line) + 1 + len(word) > COLUMNS:
            lines.append(line)
            line, empty = rest, True
        line += word if empty else " " + word
        empty = False
    return lines + [line]


def words_of(text):
    """What stays on one line each: a number keeps its unit, and no line begins like an item or a
    heading."""
    words = []
    for word in ATOM.findall(text):
        if words and (starts_a_block(word) or word.rstrip(".,;:)*") in UNITS and words[-1][-1].isdigit()):
            words[-1] += " " + word
        else:
            words.append(word)
    return words


def starts_a_block(word):
    """Whether Markdown would take a line that begins with this word for an item, a heading or a
    quotation."""
    return word in ("-", "*", "+", ">") or re.fullmatch(r"#+|\d+[.)]", word) is not None


def wrapped(text):
    """`text` with its prose wrapped; a second pass changes nothing."""
    out, block, first, rest = [], [], "", ""
    code = False

    def flush():
        nonlocal block
        if block:
            out.extend(fill(" ".join(block), first, rest))
        block = []

    for line in text.split("\n"):
        if FENCE.match(line):
            flush()
            code = not code
            out.append(line)
        elif code or KEPT.match(line) or line.startswith("    ") and not block and not (out and ITEM.match(out[-1])):
            flush()
            out.append(line)
        elif line.startswith("> "):
            if not block or first != "> ":
                flush()
                first = rest = "> "
            block.append(line[2:].strip())
        elif item := ITEM.match(line):
            flush()
            first, rest = item[1] + item[2], item[1] + " " * len(item[2])
            block = [item[3]]
        elif block:
            block.append(line.strip())
        else:
            indent = line[: len(line) - len(line.lstrip())]
            first = rest = indent
            block = [line.strip()]
        if line.endswith("  ") and block:
            flush()
    flush()
    return "\n".join(out)
