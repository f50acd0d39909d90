# SPDX-License-Identifier: Apache-2.0
"""What a worker answers instead of a result."""


class WorkerError(Exception):
    """A JSON-RPC error; `code` names what the asker can do about it
    (docs/reference/worker-protocol.md, "Errors")."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


class Refusal(Exception):
    """Why one kernel has no time: an ordinary result, which a campaign notes before it goes on."""

    kind = ""


class Unsupported(Refusal):
    """The runtime cannot run such a kernel."""

    kind = "unsupported"


class Skipped(Refusal):
    """It could, but not here."""

    kind = "skipped"


class Failed(Refusal):
    """It tried."""

    kind = "failed"


def usage(message):
    return WorkerError("usage", message)


def bad_input(message):
    return WorkerError("input", message)
