"""Make triples of Prism, fit its screen, and measure how well guessers do on screened triples.

    python scripts/prism_guessers.py make SEED OUT --triples 250 [--suite main] [--screened]
    python scripts/prism_guessers.py screen CHEAP LOCAL    # writes screen.json of the family
    python scripts/prism_guessers.py measure TRAIN... TEST

A file of triples holds, for each member, the cheap features, the features of local reasoning, and
the text of the default prompt. The screen is fitted on triples that no screen saw. Guessers are
fitted and tested on screened triples of different seeds. `measure` needs scikit-learn.
"""

from __future__ import annotations

import argparse
import json
import pickle
import time
from pathlib import Path

import numpy as np

from whybench.causal.seeds import Stream
from whybench.causal.version_space import Space
from whybench.episode.instance import Instance
from whybench.families.prism.parameters import PLANS
from whybench.families.prism.rules import PrismEpisode
from whybench.families.prism.world import generate, screen
from whybench.families.prism.world.features import features, local_features
from whybench.families.prism.world.triples import found_triple, roots_of
from whybench.families.prism.world.world import ANSWERS
from whybench.stats.logistic import slopes


def make(seed: str, out: Path, suite: str, triples: int, screened: bool) -> None:
    """Draw triples of all kinds and sizes of a suite."""
    plan, found, begun = PLANS[suite], [], time.process_time()
    for number in range(triples):
        for n in plan.sizes:
            for kind in plan.kinds:
                space = Space(n, roots_of(n), plan.cls, plan.hidden)
                found.append((n, kind, _members(space, kind, suite, seed, number, screened)))
        if number % 5 == 4 or number == triples - 1:
            print(len(found), f"{time.process_time() - begun:.0f} s", flush=True)
            out.write_bytes(pickle.dumps(found))


def _members(space, kind, suite, seed, number, screened):
    path = ("guessers", seed, suite, kind, space.n, number)
    if screened:
        triple = generate.drawn_triple(path, space, kind, PLANS[suite].screen)
    else:
        stream = Stream(*path)
        while (triple := found_triple(stream, space, kind)) is None:
            pass
    members = []
    for i, answer in enumerate(ANSWERS):
        rows = triple.rows[answer]
        world = generate.world_of(space, rows, triple.question, triple.left[answer],
                                  truth=(), answer=answer, base="")  # fmt: skip
        instance = Instance(
            "prism", "1", suite, "certified", f"{seed}.{kind}{space.n}", 3 * number + i
        )
        text = PrismEpisode(instance, world, 1).situation("table")
        cheap = features(space, triple.question, rows)
        members.append((cheap, local_features(space, triple.question, rows), text))
    return members


def arrays(data, local: bool):
    """Return features, kinds and sizes; members stand in the order of the answers."""
    x = np.array([[a + b if local else a for a, b, _ in members] for _, _, members in data])
    return x, np.array([kind for _, kind, _ in data]), np.array([n for n, _, _ in data])


def fit_screen(cheap: Path, local: Path) -> None:
    """Fit the models of the screen, and write them beside its code.

    The model `local` adds the features of local reasoning to the model `cheap`. It is fitted on
    triples of its own, which may be fewer, because these features are few.
    """
    first = _model(*arrays(pickle.loads(cheap.read_bytes()), local=False)[:2], {}, bins=6)
    second = _model(*arrays(pickle.loads(local.read_bytes()), local=True)[:2], first, bins=3)
    path = Path(screen.__file__).with_name("screen.json")
    found = {"cheap": first, "local": second}
    path.write_text(json.dumps(found, separators=(",", ":")) + "\n", "utf-8")
    print(path, path.stat().st_size)


def _model(x, kinds, known, bins):
    """Fit a logistic regression for each kind, given the weights of the first features.

    The probabilities of keeping a triple come from scores of triples that were not fitted.
    """
    found = {}
    for kind in sorted(set(kinds)):
        base = np.array(known[kind]["weights"]) if known else np.zeros((0, 3))
        mine, new = x[kinds == kind], x[kinds == kind][:, :, len(base) :]
        scale = new.std(axis=(0, 1))
        scale = np.where(scale > 1e-9, scale, np.inf)

        def weights(some, base=base, new=new, scale=scale):
            return np.vstack([base, fitted(new[some] / scale) / scale[:, None]])

        half = np.arange(len(mine)) % 2 == 0
        scores = np.zeros(len(mine))
        for part in (half, ~half):
            found_weights = weights(part)
            scores[~part] = [screen.score(members @ found_weights) for members in mine[~part]]
        edges = np.quantile(abs(scores), np.arange(1, bins) / bins)
        keep = []
        for b in range(bins):
            some = scores[np.searchsorted(edges, abs(scores)) == b]
            odds = ((some > 0).sum() + 1) / ((some < 0).sum() + 1)
            keep.append([round(float(min(1, odds)), 4), round(float(min(1, 1 / odds)), 4)])
        found[kind] = {
            "weights": np.round(weights(half | True), 6).tolist(),
            "edges": np.round(edges, 6).tolist(),
            "keep": keep,
        }
        kept = np.mean([keep[np.searchsorted(edges, abs(s))][int(s > 0)] for s in scores])
        print(kind, len(mine), f"positive {(scores > 0).mean():.3f}, kept {kept:.3f}")
    return found


def fitted(members):
    """Fit a logistic regression to triples whose members stand in the order of the answers.

    What the members of a triple share cannot tell them apart, so the features are centred within
    each triple, and there is no constant term.
    """
    x = (members - members.mean(axis=1, keepdims=True)).reshape(-1, members.shape[2])
    return slopes(x, np.tile(np.arange(3), len(members)))


def measure(*files: Path) -> None:
    """Print the accuracy of guessers by kind and size, and against the number of triples."""
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.feature_extraction.text import HashingVectorizer
    from sklearn.linear_model import LogisticRegression, SGDClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    *parts, judge = (pickle.loads(path.read_bytes()) for path in files)
    learn = [triple for part in parts for triple in part]
    order = Stream("measure").shuffled(range(len(learn)))
    learn = [learn[i] for i in order]

    def flat(data, what):
        if what == "text":
            return [text for _, _, members in data for *_, text in members]
        x = arrays(data, local=what == "local")[0]
        return x.reshape(-1, x.shape[2])

    words = HashingVectorizer(n_features=1 << 16, ngram_range=(1, 3), token_pattern=r"\S+")
    guessers = {
        "logistic": ("cheap", lambda: make_pipeline(
            StandardScaler(), LogisticRegression(C=0.1, max_iter=400))),
        "forest": ("cheap", lambda: RandomForestClassifier(
            200, min_samples_leaf=5, random_state=0)),
        "boosting": ("cheap", lambda: HistGradientBoostingClassifier(
            max_iter=80, learning_rate=0.06, max_leaf_nodes=12, random_state=0)),
        "n-grams": ("text", lambda: make_pipeline(words, SGDClassifier(
            loss="log_loss", alpha=1e-5, random_state=0))),
        "local: boosting": ("local", lambda: HistGradientBoostingClassifier(
            max_iter=80, learning_rate=0.06, max_leaf_nodes=12, random_state=0)),
    }  # fmt: skip
    kinds = np.repeat([kind for _, kind, _ in judge], 3)
    sizes = np.repeat([n for n, _, _ in judge], 3)
    right = np.tile(np.arange(3), len(judge))
    counts = [c for c in (500, 1000, 2000, 4000, 8000) if c < len(learn)] + [len(learn)]
    for name, (what, model) in guessers.items():
        curve = []
        for count in counts:
            some = learn[:count]
            fitted = model().fit(flat(some, what), np.tile(np.arange(3), count))
            hit = fitted.predict(flat(judge, what)) == right
            curve.append(f"{count}: {hit.mean():.3f}")
        error = 1.96 * hit.reshape(-1, 3).mean(axis=1).std() / np.sqrt(len(judge))
        by_kind = " ".join(f"{k} {hit[kinds == k].mean():.3f}" for k in sorted(set(kinds)))
        by_size = " ".join(f"{n} {hit[sizes == n].mean():.3f}" for n in sorted(set(sizes)))
        print(
            f"{name}: {hit.mean():.3f} ±{error:.3f} | {by_kind} | {by_size} | {'; '.join(curve)}",
            flush=True,
        )


def main() -> None:
    """Read the command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=("make", "screen", "measure"))
    parser.add_argument("args", nargs="+")
    parser.add_argument("--triples", type=int, default=250)
    parser.add_argument("--suite", default="main")
    parser.add_argument("--screened", action="store_true")
    told = parser.parse_args()
    if told.command == "make":
        make(told.args[0], Path(told.args[1]), told.suite, told.triples, told.screened)
    elif told.command == "screen":
        fit_screen(*map(Path, told.args))
    else:
        measure(*map(Path, told.args))


if __name__ == "__main__":
    main()
