# SPDX-License-Identifier: Apache-2.0
"""Workers of the protocol in docs/reference/worker-protocol.md: what all of them share, and a
package for each runtime."""
