# SPDX-License-Identifier: Apache-2.0
"""What oplat raises. A message says what is wrong, where, and what to do; it names flags of the
command line, and the argument has the flag's name: --threads is `threads`."""
from __future__ import annotations


class Error(Exception):
    """The base of all errors of oplat."""


class UsageError(Error, ValueError):
    """The question itself is off: an argument, a shape, several settings fit."""


class InputError(Error):
    """A file is missing, unreadable, or not what it claims to be."""


class MissingPlan(Error):
    """Nothing says which kernels the model executes."""


class MissingKernels(Error):
    """The table has no answer for kernels of the model."""

    keys: list[str]
    """Distinct keys, in order of execution."""

    def __init__(self, message: str, keys: list[str]) -> None:
        super().__init__(message)
        self.keys = keys

    def __reduce__(self) -> tuple[type[MissingKernels], tuple[str, list[str]]]:
        return type(self), (str(self), self.keys)


class RuntimeUnavailable(Error):
    """A runtime is unknown, missing, of a wrong version, or every kernel failed in it."""


class Refused(Error):
    """No rows fit, a newer oplat made the table, another process writes to it, and the like."""


class WriteError(Error):
    """A file could not be written."""


class Interrupted(Error):
    """A call was stopped. Ctrl-C is a KeyboardInterrupt instead."""


class InternalError(Error):
    """A defect of oplat."""


class PredictionWarning(UserWarning):
    """A warning of a prediction of which only a number is returned."""
