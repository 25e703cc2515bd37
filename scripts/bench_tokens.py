"""Count the tokens of the exact agent's episodes in the default template and in `compact`.

An episode is its instructions, calls and observations; definitions of tools are not counted. The
tokenizer is that of all-MiniLM-L6-v2, which ReCITE pins (extra `embeddings`). Printed is a row per
suite: the means of both templates, and whether all scores are equal.

    python scripts/bench_tokens.py --rows 3
    python scripts/bench_tokens.py --rows 3 prism/lab causalgame/small
"""

from __future__ import annotations

import argparse
import json
from statistics import fmean

from tokenizers import Tokenizer

import whybench as wb
from whybench.families.recite.embedding import _folder


def episode(instance: wb.Instance, template: str) -> tuple[str, str, dict[str, object]]:
    """Return the instructions, the rest of the text, and the score."""
    session = wb.Session(instance, template)
    said = []
    for action in session.family.exact_run(instance).actions:
        said += [json.dumps(action.to_json(), ensure_ascii=False), session.act(action).text]
    return session.instructions, "\n".join(said), session.score().values.asdict()


def main() -> None:
    """Print the table."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("suites", nargs="*")
    asked.add_argument("--rows", type=int, default=3)
    options = asked.parse_args()
    every = wb.installed_families()
    shipped = [
        f"{name}/{suite}"
        for name, family in every.items()
        for suite in dict.fromkeys((*family.recommended, "small"))
        if suite in family.suites
    ]
    tokenizer = Tokenizer.from_file(str(_folder() / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()

    def tokens(text: str) -> int:
        return len(tokenizer.encode(text, add_special_tokens=False).ids)

    print("| suite | prompt, default | `compact` | episode, default | `compact` | less | scores |")
    print("|---|---|---|---|---|---|---|")
    for path in options.suites or shipped:
        suite = wb.load_suite(path)
        templates = (suite.family.templates[0], "compact")
        found: list[list[int]] = [[], [], [], []]
        equal = True
        for index in range(min(options.rows, len(suite))):
            long, short = (episode(suite[index], template) for template in templates)
            counts = [[tokens(text) for text in one[:2]] for one in (long, short)]
            for place, (prompt, rest) in enumerate(counts):
                found[place].append(prompt)
                found[2 + place].append(prompt + rest)
            equal = equal and long[2] == short[2]
        means = [fmean(one) for one in found]
        cells = " | ".join(f"{mean:,.0f}" for mean in means)
        saved = 1 - means[3] / means[2]
        print(
            f"| `{path}` | {cells} | {saved:.0%} | {'equal' if equal else 'DIFFER'} |", flush=True
        )


if __name__ == "__main__":
    main()
