"""Compare the estimate of tokens with the tokenizer of the local model, on exact episodes.

It needs the extra `local`. `docs/how-to/difficulty.md` states the result.
"""

from __future__ import annotations

import json
from urllib.request import Request, urlopen

import whybench as wb
from whybench.curriculum.columns import tokens_in
from whybench.interfaces.local_model import MODEL, serve

SUITES = (
    "causallink/advanced", "replayscm/lab", "replayscm/hid_cert", "causalab/main_5",
    "causalgame/antenna", "prism/main", "recite/short",
)  # fmt: skip


def episode(instance: wb.Instance) -> tuple[str, str]:
    """Return the instructions and the whole episode of the exact agent."""
    session = wb.Session(instance)
    said = [session.instructions]
    for action in session.family.exact_run(instance).actions:
        said += [json.dumps(action.to_json(), ensure_ascii=False), session.act(action).text]
    return said[0], "\n".join(said)


def main() -> None:
    """Print the ratio of estimate and count for a prompt and an episode of each suite."""
    with serve() as model:
        root = model.base_url.rpartition("/v1")[0]

        def tokens(text: str) -> int:
            data = json.dumps({"content": text}).encode()
            asked = Request(f"{root}/tokenize", data, {"Content-Type": "application/json"})
            with urlopen(asked) as reply:
                return len(json.load(reply)["tokens"])

        print(f"estimate / tokens of {MODEL}: prompt, episode")
        for path in SUITES:
            texts = episode(wb.load_suite(path)[0])
            ratios = [tokens_in(text) / tokens(text) for text in texts]
            print(f"{path}: {ratios[0]:.3f}, {ratios[1]:.3f}", flush=True)


if __name__ == "__main__":
    main()
