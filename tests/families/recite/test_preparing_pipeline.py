"""All steps in order: resumable, every change listed, and a record that the loader reads."""

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from whybench import CANARY
from whybench.causal.whole_files import write_whole
from whybench.families.recite.extras.preparing import pipeline
from whybench.families.recite.extras.preparing.content_cache import ContentCache
from whybench.families.recite.extras.preparing.limits import limits
from whybench.families.recite.extras.preparing.model_client import (
    Asker,
    RefusedError,
    StepError,
    texts,
)
from whybench.families.recite.extras.preparing.papers import Paper, gathered
from whybench.families.recite.extras.preparing.pipeline import (
    MODEL_STEPS,
    Prepared,
    Resources,
    prepared,
)
from whybench.families.recite.world.published.texts import explicitness, records, world

pymupdf = pytest.importorskip("pymupdf")

TEXT = """On ponds
Ann Author, Somewhere
Abstract
Ponds shrink when the weather is hot [1].
Introduction
Hot weather dries the soil, and dry soil takes water from ponds.
As Figure 1 shows, hot weather and pumping are in the diagram.
Farmers start pumping once the soil is dry, and pumping empties ponds.
Some of them do not stop before the autumn rains come back.
References
[1] Author A. On ponds. 2019.
"""
GIVEAWAY = "As Figure 1 shows, hot weather and pumping are in the diagram."
EDGES = "hot weather -> soil\nsoil -> ponds\nfarmers -> pumping\npumping -> Ponds\nsoil -> pond\n"
STEPS = {"markdown": "clean Markdown", "normalise": "edit them away", "variables": "by hand",
         "explicitness": "how the text speaks"}  # fmt: skip


def markdown(prompt: str) -> str:
    lines = prompt.split(">>>\n")[1].split("\n<<<END")[0].splitlines()
    start, end = lines.index("Abstract"), lines.index("References")
    heads = {"Abstract": "## Abstract", "Introduction": "\n## Introduction"}
    body = [heads.get(line, line.replace(" [1]", "")) for line in lines[start:end]]
    return "# On ponds\n\n" + "\n".join(body)


def normalise(prompt: str) -> str:
    paper = prompt.split("<<<PAPER")[1]
    edit = {"start": "As Figure 1 shows", "end": "diagram.\n", "replacement": ""}
    return json.dumps({"normalizations": [edit] if edit["start"] in paper else []})


def variables(prompt: str) -> str:
    return json.dumps({"combined_variables": [{"old_names": ["pond"], "new_name": "ponds"}]})


def labels(prompt: str) -> str:
    names = json.loads(prompt.split("The variables:\n")[1].split("\n\nThe text")[0])
    return json.dumps({"scores": {n: 3 if n == "farmers" else 1 for n in names}})


HONEST = {"markdown": markdown, "normalise": normalise, "variables": variables,
          "explicitness": labels}  # fmt: skip


class Model:
    """Answers each task by rule; fails before the ask with number `dies`."""

    def __init__(self, dies: int | None = None, **others: Callable[[str], str]) -> None:
        self.rules = HONEST | others
        self.asked: list[str] = []
        self.dies = dies

    async def __call__(self, prompt: str) -> str:
        assert CANARY in prompt
        (step,) = [step for step, sign in STEPS.items() if sign in prompt]
        if len(self.asked) == self.dies:
            raise ConnectionError("killed")
        self.asked.append(step)
        return self.rules[step](prompt)


@pytest.fixture
def paper(tmp_path: Path) -> Paper:
    document = pymupdf.open()
    document.new_page().insert_textbox((50, 50, 550, 800), TEXT, fontsize=9)
    document.save(tmp_path / "ponds.pdf")
    (tmp_path / "ponds.txt").write_text(EDGES)
    told = {"ponds": {"source": "MDPI", "domains": ["Environment"], "publication_date": "2024-05"}}
    (found,) = gathered([tmp_path / "ponds.pdf"], tmp_path, told)
    return found


def run(
    paper: Paper,
    model: Model,
    name: str = "m",
    by_step: dict[str, str] | None = None,
    **changed: object,
) -> Prepared:
    cache = ContentCache(paper.pdf.parent / "work")
    bounds = replace(limits(), **changed)
    names = dict.fromkeys(MODEL_STEPS, name) | (by_step or {})
    askers = {step: Asker(model, own, bounds.tries, cache) for step, own in names.items()}
    return asyncio.run(prepared(paper, Resources(cache, askers, bounds)))


def test_a_paper_becomes_a_record_of_the_published_schema(paper: Paper) -> None:
    model = Model()
    found = run(paper, model)
    assert Counter(model.asked) == {
        "variables": 1,
        "markdown": 1,
        "normalise": 2,
        "explicitness": 1,
    }
    assert list(found.record) == [
        "id", "title", "source", "url", "domains", "num_nodes", "num_edges", "explicitness",
        "nodes", "edges", "node_explicitness", "input_text", "abstract", "publication_date",
    ]  # fmt: skip
    assert found.record["title"] == "On ponds"
    assert found.record["abstract"] == "Ponds shrink when the weather is hot."
    assert GIVEAWAY not in found.record["input_text"]
    assert found.record["edges"][0] == {"source": "hot weather", "target": "soil"}
    file = paper.pdf.parent / "texts.jsonl"
    write_whole(file, json.dumps(found.record) + "\n")
    (loaded,) = records(str(file))
    assert loaded.nodes == ("farmers", "hot weather", "ponds", "pumping", "soil")
    assert len(loaded.edges) == 4 == found.record["num_edges"]
    assert loaded.duplicates == loaded.self_loops == 0
    assert explicitness(loaded) == (0.8, 0.8)
    assert loaded.stored_explicitness == 0.8
    assert (loaded.source, loaded.domains, loaded.date) == ("MDPI", ("Environment",), "2024-05")
    assert world(loaded, "told").view.count == 5


def test_every_change_of_every_step_is_listed_in_order(paper: Paper) -> None:
    found = run(paper, Model())
    steps = list(dict.fromkeys(change.step for change in found.changes))
    assert steps == ["annotation", "variables", "markdown", "normalise", "explicitness"]
    listed = {(c.step, c.kind, c.before.strip(), c.after) for c in found.changes}
    assert ("annotation", "renamed", "Ponds", "ponds") in listed
    assert ("annotation", "doubt", "pond", "ponds") in listed
    assert ("variables", "renamed", "pond", "ponds") in listed
    assert ("variables", "dropped", "soil -> pond", "") in listed
    assert ("markdown", "removed", "1", "") in listed
    assert ("normalise", "replaced", GIVEAWAY, "") in listed
    assert ("explicitness", "doubt", "farmers", "") in listed
    assert found.retries == {}


def test_a_second_run_does_nothing_and_gives_the_same(
    paper: Paper, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object) -> str:
        raise InterruptedError("done again")

    first = run(paper, Model())
    monkeypatch.setattr(pipeline, "text_of", never)
    monkeypatch.setattr(pipeline.markdown, "convert", never)
    again = Model(dies=0)
    assert run(paper, again) == first
    assert again.asked == []
    monkeypatch.setitem(pipeline.VERSIONS, "text", 2)
    with pytest.raises(InterruptedError):
        run(paper, Model())


@pytest.mark.parametrize("dies", [0, 1, 2, 3, 4])
def test_a_run_that_was_killed_goes_on_where_it_stopped(paper: Paper, dies: int) -> None:
    first = Model(dies=dies)
    with pytest.raises(ConnectionError):
        run(paper, first)
    assert len(first.asked) == dies
    second = Model()
    found = run(paper, second)
    assert len(second.asked) == 5 - dies
    assert found == run(paper, Model(dies=0))


def test_refused_replies_are_not_asked_for_again_after_a_kill(paper: Paper) -> None:
    def late(prompt: str) -> str:
        return labels(prompt) if prompt.count("number 2 to this was refused") else "no"

    with pytest.raises(ConnectionError):
        run(paper, Model(dies=6, explicitness=late))
    model = Model(explicitness=late)
    found = run(paper, model)
    assert model.asked == ["explicitness"]
    assert found.retries == {"explicitness": 2}


def test_a_step_that_never_succeeds_stops_and_is_asked_anew_next_time(paper: Paper) -> None:
    stubborn = Model(explicitness=lambda _: "no")
    with pytest.raises(StepError, match="explicitness: m gave 3 replies"):
        run(paper, stubborn, tries=3)
    assert stubborn.asked.count("explicitness") == 3
    model = Model()
    run(paper, model, tries=3)
    assert model.asked == ["explicitness"]


def test_a_reply_that_broke_off_counts_as_refused(paper: Paper) -> None:
    def broken(prompt: str) -> str:
        if "was refused" in prompt:
            return markdown(prompt)
        raise RefusedError("it broke off")

    found = run(paper, Model(markdown=broken))
    assert found.retries == {"markdown": 1}


@pytest.mark.parametrize("half", ["\\ud800", "\ud800"], ids=["as JSON says it", "as it is"])
def test_half_a_character_is_asked_for_again_and_never_kept(paper: Paper, half: str) -> None:
    def split(prompt: str) -> str:
        whole = json.loads(normalise(prompt))
        for edit in whole["normalizations"]:
            edit["replacement"] = "" if "was refused" in prompt else "HALF"
        return json.dumps(whole).replace("HALF", half)

    found = run(paper, Model(normalise=split))
    assert found.retries == {"normalise": 1}
    json.dumps(found.record, ensure_ascii=False).encode("utf-8")
    stubborn = Model(normalise=lambda prompt: split(prompt.replace("was refused", "")))
    with pytest.raises(StepError, match="half a character"):
        run(paper, stubborn, name="other")
    assert run(paper, Model(), name="other").retries == {}


def test_pages_and_characters_of_the_limits_hold_for_papers(paper: Paper) -> None:
    run(paper, Model())
    with pytest.raises(ValueError, match="more than 300 characters"):
        run(paper, Model(), pdf=replace(limits().pdf, characters=300))


def test_only_what_a_change_touches_is_done_again(
    paper: Paper, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(paper, Model())
    paper.annotation.write_text(EDGES + "hot weather -> pumping\n")
    model = Model()
    run(paper, model)
    assert "markdown" not in model.asked
    assert model.asked[0] == "variables"
    other = Model()
    run(paper, other, name="another model")
    assert len(other.asked) == 5
    monkeypatch.setitem(texts().passages, "explicitness", texts().passages["explicitness"] + " ")
    reworded = Model()
    run(paper, reworded)
    assert reworded.asked == ["explicitness"]


def test_another_model_of_one_step_repeats_that_step_alone(paper: Paper) -> None:
    run(paper, Model())
    other = Model()
    run(paper, other, by_step={"explicitness": "another model"})
    assert other.asked == ["explicitness"]


def test_faults_of_the_annotation_stop_a_paper_before_a_model_is_asked(paper: Paper) -> None:
    paper.annotation.write_text(EDGES + "soil\nrain -> rain\n")
    model = Model()
    with pytest.raises(StepError, match=r"(?s)line 6: .*line 7: both ends"):
        run(paper, model)
    assert model.asked == []


def test_half_written_files_are_never_taken_for_results(tmp_path: Path) -> None:
    cache = ContentCache(tmp_path)
    with pytest.raises(TypeError):
        cache.put("step", "key", object())
    with pytest.raises(ValueError, match="half a character"):
        cache.put("step", "key", ["fine", {"then": "\ud800"}])
    with pytest.raises(UnicodeEncodeError):
        write_whole(tmp_path / "step-x.json", "fine, then \ud800")
    assert list(tmp_path.iterdir()) == []
    cache.put("step", {"a": 1, "b": 2}, [1])
    assert cache.get("step", {"b": 2, "a": 1}) == [1]
    assert cache.get("step", {"b": 2, "a": 2}) is cache.get("other", {"a": 1, "b": 2}) is None
    (file,) = tmp_path.iterdir()
    file.write_text("[1")
    with pytest.raises(ValueError, match="Delete it"):
        cache.get("step", {"a": 1, "b": 2})
