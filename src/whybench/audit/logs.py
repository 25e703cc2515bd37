"""Look for a secret seed and for the hidden system in the log of a sample."""

from __future__ import annotations

import json
import os
import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from whybench.causal.canonical import canonical_json
from whybench.causal.suite_seeds import SECRETS, keep, new_secret
from whybench.episode.episode import play
from whybench.episode.family import Suite
from whybench.episode.instance import Instance
from whybench.episode.trace import Trace


def logged(suite: Suite) -> list[str]:
    """Play a sample of a fresh secret seed in Inspect; say what its log tells."""
    secret = new_secret()
    with TemporaryDirectory() as folder, _secrets(Path(folder)):
        private = suite.family.suite(
            suite.name,
            profile=suite.profile,
            seed=keep(secret),
            parameters=suite.parameters.asdict(),
        )
        members = log_of(private, Path(folder) / "logs")
        return told_in(members, private, private[0], secret)


def log_of(suite: Suite, folder: Path) -> dict[str, str]:
    """Let the random agent play the first instance; return the files of the log by name."""
    from inspect_ai.log import read_eval_log

    from whybench.interfaces.inspectai.runner import reference_logs

    (log,) = reference_logs(suite, ["random"], folder, limit=1)
    with zipfile.ZipFile(log) as packed:
        members = {name: packed.read(name).decode() for name in packed.namelist()}
    return {**members, "dump": read_eval_log(log).model_dump_json()}


def told_in(members: dict[str, str], suite: Suite, instance: Instance, secret: str) -> list[str]:
    """Say which files of a log hold the secret or pieces of the truth."""
    found = [
        f"the log holds the secret seed ({name})" for name in members if secret in members[name]
    ]
    for name, text in members.items():
        if pieces := truths_in(text, suite, instance):
            found.append(f"the log holds the hidden system ({name}): {pieces[0][:60]}")
    return found


def truths_in(text: str, suite: Suite, instance: Instance) -> list[str]:
    """Return what a text tells of the truth beyond what the random agent is shown or says."""
    family, trace, text = suite.family, randomly(suite, instance), bare(text)
    shown = bare(
        family.open(instance).instructions(family.template_for(instance.profile))
        + canonical_json(trace.to_json())
    )
    hidden = {piece for piece in distinctive(family.truth(instance)) if piece not in shown}
    annotated = family.annotate(instance, trace)
    arrows = annotated.truth
    ends = {(arrow.cause, arrow.effect) for arrow in arrows}
    claimed = {(a.cause, a.effect) for moment in annotated.moments for a in moment.arrows or ()}
    for sign in (">", "->", "→") if ends - claimed else ():
        drawn = [bare(f"{arrow.cause}{sign}{arrow.effect}") for arrow in arrows]
        if all(arrow in text for arrow in drawn):
            return drawn
    return sorted(piece for piece in hidden if piece in text)


def randomly(suite: Suite, instance: Instance) -> Trace:
    """Return the trace of the random agent."""
    return play(suite.family.open(instance), suite.family.agent("random", instance))


def distinctive(truth: Any) -> Iterator[str]:
    """Return the pieces of a truth that would not be in a text by chance."""
    written = bare(json.dumps(truth))
    if len(written) >= 16:
        yield written
    inner = truth.values() if isinstance(truth, dict) else truth if isinstance(truth, list) else ()
    for piece in inner:
        yield from distinctive(piece)


def bare(text: str) -> str:
    """Return a text without what differs between ways to write the same data."""
    return re.sub(r'[\s"\\]', "", text)


@contextmanager
def _secrets(folder: Path) -> Iterator[None]:
    """Keep secrets, and what Inspect keeps, in a folder."""
    set_here = {SECRETS: str(folder / "secrets"), "XDG_DATA_HOME": str(folder / "data")}
    before = {name: os.environ.get(name) for name in set_here}
    os.environ.update(set_here)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
