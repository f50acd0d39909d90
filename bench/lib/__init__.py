# SPDX-License-Identifier: Apache-2.0
"""What the commands of bench/ share."""
