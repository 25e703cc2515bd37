"""Share of legal actions of the local model, with free replies and with schema-forced calls.

Run it with `python scripts/legal_calls.py --rows 2 --calls 3`. The model (SmolLM2-135M) writes one
call per turn as text. `free`: any reply. `strings`: held to a schema in which every argument is a
string. `typed`: held to the schema of the tools. An action is legal if the episode accepts it.
"""

import argparse
from typing import Any

import openai

import whybench as wb
from whybench.interfaces.local_model import serve

ASK = 'Reply with one call as JSON: {"name": "...", "arguments": {...}}. Tools:'
STRING = {"type": "string"}
LONGEST = 9_000
"""Characters of the longest instructions that fit into the model's context with the tools."""


def forced(tools: list[dict[str, Any]], style: str) -> dict[str, Any]:
    """Return the schema of one call of any of the tools."""
    calls = []
    for tool in tools:
        given = dict(tool["parameters"])
        if style == "strings":
            given["properties"] = dict.fromkeys(given["properties"], STRING)
        fields = {"name": {"const": tool["name"]}, "arguments": given}
        calls.append({"type": "object", "properties": fields, "required": list(fields)})
    return {"type": "json_schema", "json_schema": {"name": "call", "schema": {"anyOf": calls}}}


def played(client: openai.OpenAI, model: str, instance: wb.Instance, style: str, n: int) -> str:
    """Return one character for each call: `+` legal, `-` rejected, `?` not a call."""
    family = wb.installed_families()[instance.family]
    session = wb.Session(
        instance, min(family.templates, key=lambda t: t not in ("terse", "compact"))
    )
    shown = "\n".join(
        f"{tool['name']}: {tool['parameters']['properties']}" for tool in session.tools
    )
    messages: list[Any] = [{"role": "user", "content": f"{session.instructions}\n{ASK}\n{shown}"}]
    config: dict[str, Any] = (
        {} if style == "free" else {"response_format": forced(session.tools, style)}
    )
    found = ""
    while not session.done and len(found) < n:
        answer = client.chat.completions.create(
            model=model,
            messages=messages,
            max_tokens=96,
            temperature=0.7,
            seed=len(found),
            **config,
        )
        said = answer.choices[0].message.content or ""
        reply = session.without_call(said)
        readable = session.trace.steps[-1].action.form == "in_text"
        found += "?" if not readable else "-" if reply.observation.is_error else "+"
        messages += [
            {"role": "assistant", "content": said},
            {"role": "user", "content": reply.text},
        ]
    return found


def main() -> None:
    """Print a row per family and style."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rows", type=int, default=2)
    options.add_argument("--calls", type=int, default=3)
    options.add_argument("--families", default=",".join(wb.installed_families()))
    options.add_argument("--styles", default="free,strings,typed")
    asked = options.parse_args()
    with serve(threads=1) as server:
        client = openai.OpenAI(base_url=server.base_url, api_key="x", timeout=None)
        for name in asked.families.split(","):
            family = wb.installed_families()[name]
            suite = family.suite(family.recommended[0])
            rows = [one for one in map(suite.row, range(asked.rows))
                    if len(wb.Session(one).instructions) < LONGEST]  # fmt: skip
            for style in asked.styles.split(","):
                made = [played(client, server.model, one, style, asked.calls) for one in rows]
                total = sum(map(len, made))
                legal = sum(one.count("+") for one in made)
                print(
                    f"{suite.path} {style}: {legal} of {total} legal {' '.join(made)}", flush=True
                )


if __name__ == "__main__":
    main()
