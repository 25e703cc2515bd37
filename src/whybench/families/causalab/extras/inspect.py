"""What CausaLab adds to its Inspect tasks."""

from __future__ import annotations

from whybench.families.causalab.extras.verify_gain import verify_gain
from whybench.interfaces.inspectai.build import Parts
from whybench.interfaces.inspectai.metrics import figures


def compare_arms(protocol: str) -> Parts:  # noqa: ARG001 - the same for every protocol
    """Report the difference between the two arms in addition to the usual figures."""
    return {"metrics": [figures(), verify_gain()]}
