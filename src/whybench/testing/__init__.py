"""The contract that every family keeps, as tests for pytest (extra `testing`).

A test file of a plug-in needs only this:

    from whybench.testing import Contract

    class TestContract(Contract):
        families = ("wiring",)
"""

import pytest

pytest.register_assert_rewrite("whybench.testing.play_rules", "whybench.testing.text_rules")

from whybench.testing.contract import Contract as Contract  # noqa: E402 - rewritten from here on
from whybench.testing.contract import rules as rules  # noqa: E402
