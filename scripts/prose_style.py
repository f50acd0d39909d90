# SPDX-License-Identifier: Apache-2.0
"""The part of scripts/check-style that is about words: columns, and phrases with a better word.

Prose is the text of pages (code, tables and links apart), the comments of sources, and in `src`,
`python` and `bench` the literals of two words or more, which are help texts and messages.
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

# (what is not wanted, what to write). Written for a reader who has never seen the project: plain,
# and the field's words.
PHRASES = [
    (re.compile(r"\bbeside\b", re.I), "next to, with, besides"),
    (re.compile(r"\bstrangers?\b", re.I), "untrusted input, another tenant, other processes"),
    (re.compile(r"\babsent\b", re.I), "missing"),
    (re.compile(r"\bhangs? (?:up)?on\b", re.I), "depends on"),
    (re.compile(r"\bcannot be had\b", re.I), "is not available"),
    (re.compile(r"\bspelt\b", re.I), "written"),
    (
        re.compile(r"\btells (?:how|what|where|which|whether|who|of|that|nothing|more)\b", re.I),
        "shows, reports, says",
    ),
    (re.compile(r"\bstands (?:at|below|beside|in|on|there)\b", re.I), "is"),
    (re.compile(r"\bnothing where\b", re.I), "std::nullopt if"),
    (
        re.compile(
            r"\b(?:is|are) no (?!longer\b|more\b|less\b|better\b|worse\b|larger\b|smaller\b)(?=[a-z])",
            re.I,
        ),
        "is not a",
    ),
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


SLASHES = {".cpp", ".hpp", ".c", ".h", ".proto"}
HASHES = {".py", ".cmake", ".sh"}
# Networks are all made anew when the text of their source changes (zoo/recipes.py).
WIDE = ("scripts/zoo/",)
HOLE = re.compile(r"\{[^{}]*\}")  # of a format string
LONG_WORD = re.compile(r"\S{60}")
# Where literals are what a user meets. Those of tests are often input, and wrong on purpose.
SPOKEN = ("src/", "python/", "bench/")
# Comments, raw literals, literals and characters of C++; comments and literals of Python and CMake.
# The first that fits.
SLASH_TOKEN = re.compile(
    r'(?P<comment>//[^\n]*|/\*.*?\*/)|R"(?P<mark>\w*)\((?P<raw>.*?)\)(?P=mark)"'
    r'|(?P<include>#include[^\n]*)|"(?P<text>(?:[^"\\\n]|\\.)*)"|(?<!\w)\'(?:[^\'\\\n]|\\.)+\'',
    re.S,
)
HASH_TOKEN = re.compile(
    r'(?P<comment>#[^\n]*)|"""(?P<raw>.*?)"""|"(?P<text>(?:[^"\\\n]|\\.)*)"'
    r"|'(?P<other>(?:[^'\\\n]|\\.)*)'", re.S)


def language(name, text):
    """SLASHES or HASHES, after the marks of comments; None for what is neither."""
    path = Path(name)
    if path.suffix in SLASHES:
        return SLASHES
    is_script = path.suffix == "" and text.startswith("#!")
    return HASHES if path.suffix in HASHES or path.name == "CMakeLists.txt" or is_script else None


def raw_lines(text, token, docstrings):
    """Lines of raw literals, which are programs, files and usage texts; or those of docstrings, which
    begin their line and are prose."""
    for match in token.finditer(text):
        begin = text.rfind("\n", 0, match.start()) + 1
        is_docstring = token is HASH_TOKEN and not text[begin : match.start()].strip()
        if match["raw"] is not None and is_docstring == docstrings:
            first = text.count("\n", 0, match.start()) + 1
            yield from range(first, first + match[0].count("\n") + 1)


def wide_lines(name, text):
    """(line number, columns) of lines that are too wide: of Python the comments and docstrings."""
    kind = language(name, text)
    if kind is None or name.startswith(WIDE):
        return
    token = SLASH_TOKEN if kind is SLASHES else HASH_TOKEN
    is_python = Path(name).suffix == ".py" or text.startswith("#!/usr/bin/env python3")
    raw = set(raw_lines(text, token, docstrings=False))
    prose = set(raw_lines(text, token, docstrings=True))
    # Literals and keys that nothing can part stay long, and lines that show how a thing is written.
    quotes = '"' if kind is SLASHES else "\"'"
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) <= COLUMNS or number in raw or LONG_WORD.search(line):
            continue
        is_comment = kind is HASHES and line.lstrip().startswith("#")
        if is_python and not is_comment and (number not in prose or re.search(r"\S  +\S", line)):
            continue
        if is_comment or not any(quote in line for quote in quotes):
            yield number, len(line)


def spoken_texts(name, text):
    """(line number, text, what it is) of the comments and literals of one source. What continues in
    the next line is one text."""
    token = SLASH_TOKEN if language(name, text) is SLASHES else HASH_TOKEN
    start, kind, parts, end = 0, None, [], 0
    for match in token.finditer(text):
        found = match.groupdict()
        if found["comment"] is not None:
            words, what = found["comment"].lstrip("/#*<! "), "comment"
        else:
            words = next(
                (found[key] for key in ("text", "raw", "other") if found.get(key) is not None), None
            )
            what = "text"
        if words is None:
            continue
        if (
            kind != what
            or text[end : match.start()].strip()
            or (what == "comment" and "\n\n" in text[end : match.start()])
        ):
            if parts:
                yield text.count("\n", 0, start) + 1, parts, kind
            start, kind, parts = match.start(), what, []
        parts.append(words)
        end = match.end()
    if parts:
        yield text.count("\n", 0, start) + 1, parts, kind


def problems_of_code(name, text):
    """(line number, what is wrong) with the words and columns of one source."""
    if language(name, text) is None or name == "scripts/prose_style.py":
        return
    for number, parts, kind in spoken_texts(name, text):
        if kind == "text" and (not name.startswith(SPOKEN) or len("".join(parts).split()) < 2):
            continue
        # Comments are joined by a blank, as they are read; literals without one, as they are
        # compiled.
        joined = (" " if kind == "comment" else "").join(parts).replace("\\n", "\n")
        if kind == "text":
            joined = HOLE.sub("{}", joined)
        for what in phrases(joined):
            yield number, f"{what} (in a {kind})"
    for number, columns in wide_lines(name, text):
        yield number, f"{columns} columns of code; at most {COLUMNS}"


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
