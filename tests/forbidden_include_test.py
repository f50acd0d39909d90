#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The build refuses an #include against the layer rule: forbidden_include_test.py BUILD

A file in `predict` that includes a header of `measure` must not compile with the flags that the
build gives to predict's sources; without that line the same file must.
"""
import subprocess
import sys

from compile_flags import compiler_and_flags

ALLOWED = '#include "predict/prediction.hpp"\nint main() { return 0; }\n'
FORBIDDEN = '#include "measure/campaign.hpp"\n' + ALLOWED


def compiles(compiler, flags, text):
    return subprocess.run([compiler, *flags, "-fsyntax-only", "-x", "c++", "-"],
                          input=text, capture_output=True, text=True)


def main():
    compiler, flags = compiler_and_flags(sys.argv[1], "predict")
    allowed = compiles(compiler, flags, ALLOWED)
    if allowed.returncode != 0:
        print(f"what predict may include does not compile:\n{allowed.stderr}")
        return 1
    # Where it may be seen it exists: otherwise the refusal below would say nothing.
    visible = compiles(*compiler_and_flags(sys.argv[1], "measure"), FORBIDDEN.splitlines()[0])
    if visible.returncode != 0:
        print(f"measure/campaign.hpp does not compile in its own layer:\n{visible.stderr}")
        return 1
    refused = compiles(compiler, flags, FORBIDDEN)
    print(refused.stderr)
    if refused.returncode == 0 or "measure/campaign.hpp" not in refused.stderr:
        print("the build does not refuse an include of measure in predict")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
