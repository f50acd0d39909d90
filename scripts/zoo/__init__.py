# SPDX-License-Identifier: Apache-2.0
"""Makes the networks of data/zoo.tsv; scripts/models drives it."""
