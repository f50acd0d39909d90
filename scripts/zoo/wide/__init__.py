# SPDX-License-Identifier: Apache-2.0
"""Networks of the set `wide`: published architectures as tables of layer sizes and a few kinds of
blocks."""
