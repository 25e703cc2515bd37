"""Exports of results. Every Eval Ever's schema is not ours, so its rules are stated here again.

`EVERY_EVAL_EVER_SCHEMA=eval.schema.json pytest tests/report/test_exports.py` uses the real one.
"""

import json
import os
import re
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft7Validator
from tests.report.made_up_results import FAMILIES, result

from whybench.report.results.exports import (
    every_eval_ever,
    write_every_eval_ever,
    write_hub,
)


def text_map(**also):
    return {"type": "object", "additionalProperties": {"type": "string"}, **also}


def closed(required: str, optional: str = "", **known):
    """Return the rules of an object whose fields are these alone."""
    names = required.split() + optional.split()
    return {
        "type": "object",
        "required": required.split(),
        "properties": {name: known.get(name, {"type": "string"}) for name in names},
        "additionalProperties": False,
    }


BOUND = {"oneOf": [{"type": "number"}, {"enum": ["Infinity", "-Infinity"]}]}
NUMBER = {"type": "number"}
ENTRY = closed(
    "evaluation_name source_data metric_config score_details",
    "evaluation_result_id generation_config",
    source_data=closed(
        "dataset_name source_type additional_details",
        source_type={"const": "other"},
        additional_details=text_map(),
    ),
    metric_config=closed(
        "lower_is_better score_type min_score max_score metric_id metric_name",
        "evaluation_description metric_kind metric_unit metric_parameters",
        lower_is_better={"const": False},
        score_type={"const": "continuous"},
        min_score=BOUND,
        max_score=BOUND,
        metric_parameters={"additionalProperties": {"type": ["string", "number"]}},
    ),
    score_details=closed(
        "score",
        "details uncertainty",
        score=NUMBER,
        details=text_map(),
        uncertainty=closed(
            "num_samples",
            "confidence_interval",
            num_samples={"type": "integer"},
            confidence_interval=closed(
                "lower upper", "confidence_level", **dict.fromkeys(("lower", "upper"), NUMBER),
                confidence_level={"const": 0.95},
            ),
        ),
    ),
    generation_config=closed("additional_details", additional_details=text_map()),
)  # fmt: skip
RULES = closed(
    "schema_version evaluation_id retrieved_timestamp source_metadata model_info eval_library "
    "evaluation_results",
    "evaluation_timestamp",
    schema_version={"const": "0.3.0"},
    retrieved_timestamp={"type": "string", "pattern": "^[0-9]+$"},
    source_metadata=closed(
        "source_type source_organization_name evaluator_relationship",
        "source_name additional_details",
        source_type={"const": "evaluation_run"},
        evaluator_relationship={"enum": ["first_party", "third_party", "collaborative", "other"]},
        additional_details=text_map(),
    ),
    eval_library=closed("name version", "additional_details", additional_details=text_map()),
    model_info=closed(
        "name id additional_details",
        "developer",
        additional_details=text_map(required=["deployment_type", "model_availability"]),
    ),
    evaluation_results={"type": "array", "minItems": 1, "items": ENTRY},
)
"""What the schema's text says of the fields that we write."""

MADE = [result(), result("lab/two", 0.3, FAMILIES[:4]), result("alone", -0.2, release="", set="")]


@pytest.mark.parametrize("made", MADE, ids=lambda made: made.system.name)
def test_records_keep_the_rules_of_every_eval_ever(made):
    record = json.loads(json.dumps(every_eval_ever(made), allow_nan=False))
    Draft7Validator(RULES).validate(record)
    names = [entry["evaluation_name"] for entry in record["evaluation_results"]]
    whole = ["whybench.overall"] if not made.system.missing else []
    assert names == [f"whybench.{family}" for family in made.system.cells] + whole
    for entry in record["evaluation_results"]:
        family = entry["evaluation_result_id"]
        cells = made.system.cells
        due = cells[family].score if family in cells else made.system.overall
        told = entry["score_details"]
        within = told["uncertainty"]["confidence_interval"]
        assert (told["score"], within["lower"], within["upper"]) == tuple(due)
    assert record["retrieved_timestamp"] == "1793577600"  # 2026-11-02, from the logs


def test_the_rules_bite():
    record = every_eval_ever(result())
    record["evaluation_results"][0]["score_details"]["details"]["right"] = 30
    assert [error.json_path for error in Draft7Validator(RULES).iter_errors(record)] == [
        "$.evaluation_results[0].score_details.details.right"
    ]


def test_records_keep_the_real_schema(tmp_path):
    given = os.environ.get("EVERY_EVAL_EVER_SCHEMA")
    if not given:
        pytest.skip("EVERY_EVAL_EVER_SCHEMA does not name a copy of eval.schema.json")
    schema = Path(given)
    assert len(write_every_eval_ever(MADE, tmp_path, schema)) == len(MADE)
    record = every_eval_ever(result())
    record["model_info"]["additional_details"]["deployment_type"] = "mine"
    record["evaluation_results"][0]["metric_config"].pop("max_score")
    rules = Draft7Validator(json.loads(schema.read_text("utf-8")))
    assert len(list(rules.iter_errors(record))) == 2


def test_a_record_that_does_not_fit_a_given_schema_is_not_written(tmp_path):
    schema = tmp_path / "schema.json"
    schema.write_text(json.dumps({"properties": {"evaluation_id": {"type": "integer"}}}))
    with pytest.raises(ValueError, match=r"^lab/one: \$\.evaluation_id: "):
        write_every_eval_ever([result()], tmp_path / "out", schema)
    assert not (tmp_path / "out").exists()


def test_records_are_where_the_datastore_looks_for_them_and_always_the_same(tmp_path):
    first, again = (write_every_eval_ever(MADE, tmp_path / name) for name in "ab")
    uuid4 = r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\.json"
    places = [path.relative_to(tmp_path / "a").as_posix() for path in first]
    for place, owner in zip(places, ("lab/one", "lab/two", "unknown/alone"), strict=True):
        assert re.fullmatch(f"data/whybench/{owner}/{uuid4}", place)
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in again]


def test_the_hubs_entries_say_that_nothing_validated_them(tmp_path):
    one, two, _ = write_hub(MADE, tmp_path)
    assert one == tmp_path / "lab-one-1rc-standard/.eval_results/whybench.yaml"
    assert one.read_text().startswith("# Not validated")
    entries = yaml.safe_load(one.read_text())
    assert [entry["dataset"]["task_id"] for entry in entries] == ["overall", *FAMILIES]
    overall = MADE[0].system.overall
    assert entries[0]["value"] == round(overall.value, 4)
    assert f"{overall.low:.4f} to {overall.high:.4f}" in entries[0]["notes"]
    assert entries[0]["date"] == "2026-11-02"
    assert "overall" not in two.read_text()
