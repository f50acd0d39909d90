# SPDX-License-Identifier: Apache-2.0
"""Whether a runtime can be used here, for tests that need one."""
import json
import subprocess

HELLO = '{"jsonrpc":"2.0","id":1,"method":"hello","params":{"protocol":1}}\n'


def why_missing(oplat, name):
    """Why a runtime does not answer; None if it does.

    Its worker alone is asked. `oplat runtimes` starts those of all runtimes, which load seconds of
    libraries: it is for the reason.
    """
    done = subprocess.run([oplat, "worker", name], input=HELLO, capture_output=True, text=True, errors="replace",
                          timeout=300)
    try:
        if "result" in json.loads(done.stdout.partition("\n")[0]):
            return None
    except ValueError:
        pass
    listed = subprocess.run([oplat, "runtimes", "--json"], capture_output=True, text=True, check=True, timeout=300)
    entry = next(runtime for runtime in json.loads(listed.stdout)["runtimes"] if runtime["name"] == name)
    return None if entry["available"] else str(entry["why"])
