"""Wrong arguments of a task are refused in one line, which Inspect prints without a traceback."""

from typing import Any

import pytest
from inspect_ai._util.error import PrerequisiteError

from whybench.interfaces.inspectai.tasks import tasks


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"suite": "cor"}, "no suite 'causallink/cor': try causallink/core "),
        ({"bugdet": 3}, "no parameter 'bugdet': try budget"),
        ({"protocol": "tool"}, "Use dialogue, tools"),
        ({"budget": "[/x]"}, "parameter budget: Input should be a valid integer"),
    ],
)
def test_a_wrong_argument_is_refused_in_one_line(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(PrerequisiteError) as refused:
        tasks()["causallink"](**arguments)
    assert isinstance(refused.value, ValueError)
    assert said in str(refused.value.message)
    assert "\n" not in str(refused.value.message)
