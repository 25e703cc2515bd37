"""The loop alone: no server, no engine.

python examples/plain_loop.py
"""

from agent import choose

from whybench.episode.registry import find_suite
from whybench.interfaces.session import Session

scores = []
for instance in find_suite("causallink/core"):
    session = Session(instance)
    texts = [session.brief]
    while not session.done:
        name, args = choose(session.tools, texts)
        texts.append(session.call(name, args).text)
    scores.append(session.score().values["accuracy"])

print(f"accuracy {sum(scores) / len(scores):.3f} on {len(scores)} instances")
