#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The style check finds phrases with a better word in comments, help texts and messages, also over
line ends."""
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))
from prose_style import problems_of_code  # noqa: E402

# Parted, so that this file passes the check itself.
BAD = "bes" + "ide"
NONE = "is n" + "o"


def found(name, text):
    return [(number, what.partition(":")[0]) for number, what in problems_of_code(name, text)]


class ProseStyle(unittest.TestCase):
    def test_comments_are_read_across_lines(self):
        self.assertEqual(
            found("src/base/a.cpp", f"int i;\n/// It {NONE}\n/// table.\n"), [(2, f"'{NONE}'")]
        )
        self.assertEqual(found("bench/a.py", f"x = 1  # stands {BAD} it\n")[0][0], 1)

    def test_messages_are_read_as_they_are_compiled(self):
        text = (
            f'return fail(Code::Input, "{{}}: {NONE} "\n                         "table", name);\n'
        )
        self.assertEqual(found("src/base/a.cpp", text), [(1, f"'{NONE}'")])
        self.assertEqual(
            found("tests/unit/a_test.cpp", text), [], "literals of tests are input, too"
        )

    def test_code_is_not_prose(self):
        self.assertEqual(
            found("src/base/a.cpp", f"const char {BAD} = '\"'; // fine\nf(\"{BAD}\");\n"), []
        )
        self.assertEqual(
            found("bench/a.py", "say(f\"left: {', '.join(part." + "abs" + "ent)}\")\n"), []
        )

    def test_columns_of_code(self):
        long = "int " + "a + " * 30 + "b;"
        self.assertEqual(
            [number for number, _ in problems_of_code("src/base/a.cpp", f"\n{long}\n")], [2]
        )
        self.assertEqual(
            found("src/base/a.cpp", f'R"(\n{long}\n)";\n'), [], "raw literals stay as they are"
        )

    def test_columns_of_build_files_and_scripts(self):
        long = "a + " * 30 + "b"
        for name, head in (("src/base/CMakeLists.txt", ""), ("cmake/A.cmake", ""), ("scripts/a", "#!/bin/sh")):
            wide = [number for number, _ in problems_of_code(name, f"{head}\n{long}\n")]
            self.assertEqual(wide, [2], name)
        self.assertEqual(found("data/a", f"{long}\n"), [], "neither a script nor a source")

    def test_columns_of_comments_and_docstrings(self):
        long = "a + " * 30 + "b"
        for text in (f"\n\n# {long}\n", f'def f():\n    """It\n    {long}\n    """\n'):
            wide = [number for number, _ in problems_of_code("bench/a.py", text)]
            self.assertEqual(wide, [3], text)
        self.assertEqual(found("bench/a.py", f"{long}\n"), [], "code of Python is not held")
        self.assertEqual(found("bench/a.py", f'TEXT = """\n{long}\n"""\n'), [], "nor are literals")

    def test_comments_of_build_files_are_read(self):
        self.assertEqual(found("src/base/CMakeLists.txt", f"# {BAD} it\n"), [(1, f"'{BAD}'")])


if __name__ == "__main__":
    unittest.main()
