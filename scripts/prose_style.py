# SPDX-License-Identifier: Apache-2.0
"""The part of scripts/check-style that is about prose: the columns of Markdown, and phrases with a better word.

Code, tables and links are not prose. Generated pages are written by programs that wrap them, and quote what others say.
"""
import re
from pathlib import Path

COLUMNS = 100
FENCE = re.compile(r"^\s*(?:> ?)?(```|~~~)")
TABLE = re.compile(r"^\s*\|")
CODE = re.compile(r"`[^`]*`")
TARGET = re.compile(r"\]\([^)]*\)")
QUOTED = re.compile(r"^\s*> ")
# A line that is one piece of code, or one link, cannot be parted.
ONE_PIECE = re.compile(r"^\s*(?:[-*] |\d+\. )?(?:`[^`]*`|\[[^\]]*\]\([^)]*\)|\S+)[.,;:]?$")

# (what is not wanted, what to write). Written for a reader who has never seen the project: plain, and the field's words.
PHRASES = [
    (re.compile(r"\bbeside\b", re.I), "next to, with, besides"),
    (re.compile(r"\bstrangers?\b", re.I), "untrusted input, another tenant, other processes"),
    (re.compile(r"\babsent\b", re.I), "missing"),
    (re.compile(r"\bhangs? (?:up)?on\b", re.I), "depends on"),
    (re.compile(r"\bcannot be had\b", re.I), "is not available"),
    (re.compile(r"\bspelt\b", re.I), "written"),
    (re.compile(r"\btells (?:how|what|where|which|whether|who|of|that|nothing|more)\b", re.I), "shows, reports, says"),
    (re.compile(r"\bstands (?:at|below|beside|in|on|there)\b", re.I), "is"),
    (re.compile(r"\bnothing where\b", re.I), "std::nullopt if"),
    (re.compile(r"\b(?:is|are) no (?!longer\b|more\b|less\b|better\b|worse\b|larger\b|smaller\b)(?=[a-z])", re.I), "is not a"),
    (re.compile(r"\bthat cannot be(?=[,.;:]|$)", re.I), "implausible"),
    (re.compile(r"\bwhat it is of\b", re.I), "a noun before every 'of'"),
    (re.compile(r"\b(?:as|that|which) of then\b", re.I), "say what is true now"),
    (re.compile(r"\bof one's own\b", re.I), "your own"),
]
THERE_IS = re.compile(r"\bthere (?:is|are) no\b", re.I)
# Its words are those of the help texts.
GENERATED = re.compile(r"^docs/reference/command-line\.md$")


def prose_lines(text):
    """(line number, line) of what is neither code nor a table."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if FENCE.match(line):
            fenced = not fenced
        elif not fenced and not TABLE.match(line):
            yield number, line


def phrases(line):
    """What is not wanted in a line of prose, as messages."""
    bare = THERE_IS.sub("", TARGET.sub("]", CODE.sub("`", line)))
    for pattern, better in PHRASES:
        if found := pattern.search(bare):
            yield f"'{found.group().strip()}': write {better}"


def problems_of_markdown(name, text):
    """(line number, what is wrong) of one page."""
    if Path(name).suffix != ".md":
        return
    for number, line in prose_lines(text):
        if len(line) > COLUMNS and not ONE_PIECE.match(line) and not QUOTED.match(line):
            yield number, f"{len(line)} columns of prose; at most {COLUMNS}"
        if not GENERATED.match(name):
            for what in phrases(line):
                yield number, what
