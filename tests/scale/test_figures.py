import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as parquet
import pytest
from tests.scale.planted import planted
from tests.scale.sets import planned, stored

from whybench.causal.seeds import Stream
from whybench.scale.figures import figures, lines
from whybench.scale.histogram import BINS, VALUES, WORDS, Numbers, Tally


def rows_of(folder: Path, part: str) -> list[dict[str, Any]]:
    paths = sorted((folder / part).iterdir())
    return [row for path in paths for row in parquet.read_table(path).to_pylist()]


def by_value(tally: dict[str, Any]) -> dict[Any, int]:
    return {value: count for value, count in tally.get("values", tally.get("words"))}  # noqa: C416


def test_a_generated_set_is_counted_as_in_memory(tmp_path: Path) -> None:
    manifest = stored(tmp_path, planned(n=100, rows=30))
    told = figures(str(tmp_path))
    shown, hidden = rows_of(tmp_path, "instances"), rows_of(tmp_path, "truth")
    assert told["counts"] == {
        "rows": manifest.rows,
        "blocks": len({row["block"] for row in shown}),
        "clusters": len({row["cluster"] for row in shown}),
        "systems": len({row["system"] for row in hidden}),
        "problems": len({row["problem"] for row in hidden}),
    }
    assert told["counts"]["blocks"] == 2
    for name, tally in told["figures"].items():
        values = [row[name] for row in shown if row[name] is not None]
        assert (tally["count"], tally["missing"]) == (len(values), len(shown) - len(values))
        if values:
            assert tally["mean"] == pytest.approx(sum(values) / len(values))
            assert (tally["min"], tally["max"]) == (min(values), max(values))
            if "bins" not in tally:
                assert by_value(tally) == Counter(values)
            assert sum(n for *_, n in tally.get("bins", tally.get("values"))) == len(values)
    covariates = [json.loads(row["covariates"]) for row in hidden]
    assert set(told["covariates"]) == set(covariates[0])
    for name, tally in told["covariates"].items():
        texts = [t[name] if type(t[name]) is not bool else str(t[name]).lower() for t in covariates]
        assert by_value(tally) == Counter(texts), name
    assert told["shares"] == {
        name: sum(row[name] for row in shown) / len(shown) for name in ("solvable", "identified")
    }
    assert json.loads(json.dumps(told)) == told


def test_many_numbers_are_shown_in_bins(tmp_path: Path) -> None:
    stream = Stream("bits")
    bits = [10 * stream.uniform() for _ in range(300)]
    covariates = [{"steps": 7 * stream.below(60), "maybe": None if b > 5 else b > 2} for b in bits]
    rows = [{"bits": b, "covariates": t} for b, t in zip(bits, covariates, strict=True)]
    planted(str(tmp_path), rows, size=40)
    told = figures(str(tmp_path))
    counted = told["figures"]["bits"]
    assert [edge for edge, _, _ in counted["bins"]] == [k / 2 for k in range(20)]
    for low, high, count in counted["bins"]:
        assert count == sum(low <= b < high for b in bits)
    steps = told["covariates"]["steps"]
    assert all(isinstance(edge, int) for low, high, _ in steps["bins"] for edge in (low, high))
    for low, high, count in steps["bins"]:
        assert count == sum(low <= t["steps"] < high for t in covariates)
    assert told["covariates"]["maybe"]["missing"] == sum(b > 5 for b in bits)
    assert by_value(told["covariates"]["maybe"]) == {
        "true": sum(2 < b <= 5 for b in bits), "false": sum(b <= 2 for b in bits)
    }  # fmt: skip


@pytest.mark.parametrize("scale", [1e-5, 0.3, 1.0, 40.0, 1e7])
@pytest.mark.parametrize("shift", [0.0, -0.5, 3.0])
def test_bins_do_not_depend_on_the_order_and_hold_every_number(scale: float, shift: float) -> None:
    numbers = scale * (Stream("bins").uniforms(2000) ** 3 + shift)
    whole, forwards, backwards = Numbers(), Numbers(), Numbers()
    whole.add(numbers)
    for part in np.split(np.sort(numbers), 20):
        forwards.add(part)
    for part in np.split(np.sort(numbers), 20)[::-1]:
        backwards.add(part)
    told = whole.to_json()["bins"]
    assert told == forwards.to_json()["bins"] == backwards.to_json()["bins"]
    assert BINS / 3 <= len(told) <= BINS
    close = 1e-9 * scale
    for low, high, count in told:
        inside = int(((numbers >= low + close) & (numbers < high - close)).sum())
        near = int(((numbers >= low - close) & (numbers < high + close)).sum())
        assert inside <= count <= near
    assert sum(count for *_, count in told) == 2000


def test_numbers_on_edges_belong_to_the_bin_above() -> None:
    numbers = Numbers()
    numbers.add(np.array([0.1 + 0.7 if k == 80 else k / 100 for k in range(100)]))  # 0.7999…
    assert [count for *_, count in numbers.to_json()["bins"]] == [5] * 20


def test_few_numbers_and_words_are_counted_one_by_one() -> None:
    tally = Tally()
    tally.add([k % VALUES for k in range(500)] + [f"w{min(k, 25)}" for k in range(40)] + [None])
    told = tally.to_json()
    assert told["values"] == [[k, 10] for k in range(VALUES)]
    assert told["words"][0] == ["w25", 15]
    assert len(told["words"]) == WORDS
    assert told["other"] == 40 - 15 - (WORDS - 1)
    assert told["count"] == 540


def test_a_set_without_truth_has_figures_but_no_keys(tmp_path: Path) -> None:
    stored(tmp_path, planned(n=10, rows=10, truth=False))
    told = figures(str(tmp_path))
    assert told["counts"]["rows"] == 10
    assert told["counts"]["systems"] is None
    assert told["covariates"] == {}


def test_what_was_rejected_is_told_and_everything_has_a_line() -> None:
    address = "memory://whybench-figures/set"
    rows = [
        {"covariates": {"kind": "ab"[k % 2]}, "bits": k / 7} if k % 5 else None for k in range(100)
    ]
    planted(address, rows)
    told = figures(address)
    assert told["rejected"]["refused"] == {"vague": 20}
    assert told["rejected"]["refusal_rate"] == 0.2
    found = {name: (short, spread) for name, short, spread in lines(told)}
    assert found["rows"][0] == "80"
    assert found["kind"][1] == "a: 50 %, b: 50 %"
    assert found["refused"] == ("20 %", "vague: 20")
    assert found["minimax"] == ("", "missing: 80")
    assert found["bits"][1].endswith("0 … 15")
