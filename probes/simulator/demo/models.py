"""Demo models: what ``inftop demo`` serves, at public headline speeds, each in the tongue of its provider.

Speeds are the vendors' own claims, captured rates or typical ones (`reference/providers.md`), prices those of public
lists where they are plain. Troubles come in minutes, not in days, so that a viewer sees them; with the intervals as
they are no probe overlaps the next.
"""

from typing import Final

from probes.simulator.demo.fast import FAST
from probes.simulator.demo.local import LOCAL
from probes.simulator.demo.proprietary import PROPRIETARY
from probes.simulator.demo.troubled import TROUBLED

DEMO_MODELS: Final = (*FAST, *PROPRIETARY, *TROUBLED, *LOCAL)
