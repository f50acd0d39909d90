# SPDX-License-Identifier: Apache-2.0
"""How a command of bench ends when it cannot go on."""
import subprocess
import sys
from pathlib import Path

from lib.oplat import Failed


def run_command(run, *arguments):
    """run(*arguments); a call that failed ends with its message and exit code 1, Ctrl-C with 130."""
    try:
        run(*arguments)
    except (Failed, subprocess.CalledProcessError) as error:
        sys.exit(f"bench/{Path(sys.argv[0]).name}: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
