"""Server: the pacer as a process of its own: its addresses first, and at the end all that it knows."""

import json
import os
import sys
import threading
from dataclasses import asdict

from probes.selftest.anonymous_tls import context
from probes.selftest.load import LOADS
from probes.selftest.pacer import Pacer


def tell() -> None:
    """Serve until standard input ends: two addresses first, one a line, then each answer as a line of JSON."""
    pacer = Pacer(LOADS, context(server=True))

    def wait_for_parent() -> None:
        while os.read(0, 4096):
            pass
        pacer.stop()

    threading.Thread(target=wait_for_parent, name="parent", daemon=True).start()
    for url in pacer.urls:
        print(url, flush=True)  # noqa: T201  # the parent reads it
    pacer.serve()
    sys.stdout.writelines(json.dumps(asdict(truth)) + "\n" for truth in pacer.truths)
    sys.stdout.flush()
