# SPDX-License-Identifier: Apache-2.0
"""python -m oplat: the command line."""
from oplat._program import main

main()
