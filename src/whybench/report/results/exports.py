"""Write results in the forms of Every Eval Ever and of model repositories on the hub.

Field names of Every Eval Ever follow its schema 0.3.0. `checked` compares an export with a copy of
that schema. The form of the hub has no schema, so its files are not validated.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft7Validator

from whybench.causal.whole_files import write_whole
from whybench.report.results.files import dumped, slug, slugs
from whybench.report.results.model import Result
from whybench.report.standings.model import Cell, Estimate

EVERY_EVAL_EVER = "0.3.0"

DATASET = "whybench/whybench"
"""Id of the benchmark on the hub. No benchmark is registered under it yet."""

DETAILS = (
    "raw", "understood", "right", "experiments", "efficiency", "input_tokens", "output_tokens",
    "cost", "unusable", "outcomes", "instances", "clusters",
)  # fmt: skip
"""Fields of a family that have no field of their own in Every Eval Ever."""

SCORE = "Headline metric between the best cheap guesser (0) and the exact experimenter (1)"


def write_every_eval_ever(
    results: Sequence[Result], folder: Path, schema: Path | None = None
) -> list[Path]:
    """Write one file per result, at the place that its datastore expects.

    Args:
        results: What to write.
        folder: Folder that gets the folder `data`.
        schema: A copy of `eval.schema.json`. Each file is validated before it is written.

    """
    validator = None if schema is None else Draft7Validator(json.loads(schema.read_text("utf-8")))
    made = []
    for result in results:
        data = every_eval_ever(result)
        error = None if validator is None else next(validator.iter_errors(data), None)
        if error is not None:
            raise ValueError(f"{result.system.name}: {error.json_path}: {error.message[:200]}")
        developer, _, model = result.system.model.rpartition("/")
        digest = sha256(dumped(result.to_json()).encode()).digest()
        name = f"{uuid.UUID(bytes=digest[:16], version=4)}.json"
        place = folder / "data" / "whybench" / slug(developer or "unknown") / slug(model)
        made.append(_written(place / name, dumped(data)))
    return made


def every_eval_ever(result: Result) -> dict[str, Any]:
    """Return a result as Every Eval Ever's aggregate record.

    The time of the record is the date of the logs, so that the same logs give the same file.
    """
    one = result.system
    when = str(int(datetime.fromisoformat(result.date).replace(tzinfo=UTC).timestamp()))
    developer = one.model.rpartition("/")[0].rpartition("/")[2]
    return {
        "schema_version": EVERY_EVAL_EVER,
        "evaluation_id": "/".join(["whybench", slugs([result])[0], when]),
        "evaluation_timestamp": when,
        "retrieved_timestamp": when,
        "source_metadata": {
            "source_name": "WhyBench",
            "source_type": "evaluation_run",
            "source_organization_name": "not stated",
            "evaluator_relationship": "other",
            "additional_details": {"self_reported": "true", "schema": result.to_json()["schema"]},
        },
        "eval_library": {
            "name": "inspect_ai",
            "version": result.versions.get("inspect_ai") or "unknown",
            "additional_details": {
                name: version for name, version in result.versions.items() if name != "inspect_ai"
            },
        },
        "model_info": {
            "name": one.name,
            "id": one.model,
            **({"developer": developer} if developer else {}),
            "additional_details": {
                "deployment_type": "unknown",
                "model_availability": "unknown",
                "reference_agent": json.dumps(one.reference),
            },
        },
        "evaluation_results": [
            *(_family(result, cell) for cell in one.cells.values() if cell.score.known),
            *([_overall(result)] if one.overall.known else []),
        ],
    }


def _family(result: Result, cell: Cell) -> dict[str, Any]:
    data = result.to_json()["families"][cell.family]
    details = {name: json.dumps(data[name]) for name in DETAILS}
    return _one(
        result,
        cell.family,
        cell.score,
        details | {"interval": "95 %, over hidden systems"},
        {"metric": cell.metric, "floor": cell.floor, "floor_name": cell.floor_name}
        | {"ceiling": cell.ceiling, "ceiling_name": cell.ceiling_name},
        {"suites": ", ".join(cell.suites)},
        cell.episodes,
    )


def _overall(result: Result) -> dict[str, Any]:
    one = result.system
    details = {"understood": json.dumps(result.to_json()["understood"])}
    suites = ", ".join(suite for cell in one.cells.values() for suite in cell.suites)
    rule = {"mean": f"plain mean of {len(one.cells)} families"}
    episodes = sum(cell.episodes for cell in one.cells.values())
    return _one(result, "overall", one.overall, details, rule, {"suites": suites}, episodes)


def _one(
    result: Result,
    name: str,
    score: Estimate,
    details: Mapping[str, str],
    parameters: Mapping[str, Any],
    source: Mapping[str, str],
    samples: int,
) -> dict[str, Any]:
    """Return an entry of `evaluation_results`."""
    known = {key: value for key, value in parameters.items() if value == value}
    interval = {"lower": score.low, "upper": score.high, "confidence_level": 0.95}
    made: dict[str, Any] = {
        "evaluation_result_id": name,
        "evaluation_name": f"whybench.{name}",
        "source_data": {
            "dataset_name": "WhyBench",
            "source_type": "other",
            "additional_details": {"release": result.release, "set": result.set, **source},
        },
        "metric_config": {
            "evaluation_description": SCORE,
            "metric_id": "whybench.score",
            "metric_name": "Score",
            "metric_kind": "normalized_score",
            "metric_unit": "proportion",
            "metric_parameters": known,
            "lower_is_better": False,
            "score_type": "continuous",
            "min_score": "-Infinity",
            "max_score": "Infinity",
        },
        "score_details": {
            "score": score.value,
            "details": dict(details),
            "uncertainty": {"num_samples": samples}
            | ({"confidence_interval": interval} if score.low == score.low else {}),
        },
    }
    given = result.settings.get(name)
    return made | ({"generation_config": {"additional_details": dict(given)}} if given else {})


def write_hub(results: Sequence[Result], folder: Path) -> list[Path]:
    """Write `.eval_results/whybench.yaml` in a folder per system, to be copied into its model."""
    return [
        _written(folder / stem / ".eval_results" / "whybench.yaml", hub(result))
        for stem, result in zip(slugs(results), results, strict=True)
    ]


def hub(result: Result) -> str:
    """Return the entries of a model repository on the hub, as YAML."""
    entries = [
        {
            "dataset": {"id": DATASET, "task_id": name},
            "value": round(score.value, 4),
            "date": result.date,
            "notes": f"Self-reported. {SCORE}. Release {result.release or 'none'}, set "
            f"{result.set or 'none'}. 95 % interval {score.low:.4f} to {score.high:.4f}.",
        }
        for name, score in _scores(result)
    ]
    head = (
        "# Not validated: the hub has no schema for this form, and no benchmark is registered\n"
        f"# under {DATASET} yet. Copy the folder .eval_results into the model's repository.\n"
    )
    return head + str(yaml.safe_dump(entries, sort_keys=False, allow_unicode=True))


def _scores(result: Result) -> Iterator[tuple[str, Estimate]]:
    if result.system.overall.known:
        yield "overall", result.system.overall
    for family, cell in result.system.cells.items():
        if cell.score.known:
            yield family, cell.score


def _written(path: Path, text: str) -> Path:
    write_whole(path, text)
    return path
