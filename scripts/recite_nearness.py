"""Record how near each phrase for a concept is to its own concept (extra `embeddings`).

The result is a table in the folder of each field, which generator, certificate and checker read.
See `whybench.families.recite.world.nearness` for the measures.
"""

from __future__ import annotations

import sys
from pathlib import Path

from whybench.families.recite.embedding import Floats, embed
from whybench.families.recite.world.knowledge import FIELDS, Concept, field_named
from whybench.families.recite.world.nearness import FORMS, compared, letters, texts

FOLDER = Path("src/whybench/families/recite/world/fields")


def main() -> None:
    """Write the tables; say how many phrases are nearer to another concept."""
    for name in FIELDS:
        concepts = field_named(name).concepts
        known = list(dict.fromkeys(t for c in concepts for t in (c.described, *texts(c))))
        vectors = dict(zip(known, embed(known), strict=True))
        lines, far = ["key\tform\tletters\tmeaning"], 0
        for concept in concepts:
            for form in FORMS:
                near = {one.key: _near(name, concept, one, form, vectors) for one in concepts}
                own = near.pop(concept.key)
                others = zip(*near.values(), strict=True)
                margin = [mine - max(column) for mine, column in zip(own, others, strict=True)]
                far += min(margin) <= 0
                lines.append("\t".join([concept.key, form, *(f"{x:.4f}" for x in margin)]))
        (FOLDER / name / "nearness.tsv").write_text("\n".join(lines) + "\n", "utf-8")
        print(name, len(lines) - 1, "phrases,", far, "nearer to another concept", file=sys.stderr)


def _near(
    field: str, concept: Concept, other: Concept, form: str, vectors: dict[str, Floats]
) -> tuple[float, float]:
    """Return how near a phrase of a concept is to a concept: letters, meaning."""
    phrase, against = str(getattr(concept, form)), compared(other, form)
    meaning = max(float(vectors[phrase] @ vectors[text]) for text in against)
    return letters(field, phrase, against), meaning


if __name__ == "__main__":
    main()
