"""The agent that the other examples let in through each interface: put yours in its place."""

import re


def choose(tools: list[dict], texts: list[str]) -> tuple[str, dict]:
    """Return the next call, as the name of a tool and its arguments.

    `tools` have `name`, `description` and `parameters` (a JSON schema), as models expect them.
    `texts` is all that was said so far: the instructions, then one text a call. A language model
    would be asked here. This agent plays CausalLink: move the one, see whether the other moves.
    """
    cause, effect = re.findall(r"movement of the (\w+) make the (\w+) move", texts[0])[0]
    if len(texts) == 1:
        return "move", {"shape": cause}
    return "answer", {"answer": "yes" if f"{effect} moving" in texts[-1] else "no"}
