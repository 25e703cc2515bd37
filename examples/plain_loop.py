"""The loop alone: no server, no engine.

python examples/plain_loop.py
"""

from agent import choose

import whybench as wb

scores = []
for instance in wb.load_suite("causallink/core"):
    session = wb.Session(instance)
    texts = [session.instructions]
    while not session.done:
        name, args = choose(session.tools, texts)
        texts.append(session.call(name, args).text)
    scores.append(session.score().values["accuracy"])

print(f"accuracy {sum(scores) / len(scores):.3f} on {len(scores)} instances")
