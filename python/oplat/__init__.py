# SPDX-License-Identifier: Apache-2.0
"""The part of oplat that is Python: workers of runtimes that are driven from it."""
