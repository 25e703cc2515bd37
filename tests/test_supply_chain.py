"""The bill of materials names every pinned package and the vendored file, or is not written."""

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SBOM = runpy.run_path(str(ROOT / "scripts/sbom.py"))
README = (SBOM["VENDORED"] / "README.md").read_text("utf-8")
OWN = {"name": "whybench", "version": "1", "license": "Apache-2.0"}


def test_every_pin_is_a_component_with_its_hashes() -> None:
    text = (ROOT / "constraints.txt").read_text("utf-8")
    made = SBOM["bill"](text, README, OWN)
    names = {part["name"] for part in made["components"]}
    pinned = {line.partition("==")[0].lower() for line in text.splitlines() if "==" in line[:80]}
    assert {name for name in pinned if name[0].isalnum()} <= names
    assert {"inspect-ai", "@dagrejs/dagre"} <= names
    assert all(part["hashes"] for part in made["components"])
    assert sum(len(part["hashes"]) for part in made["components"]) == text.count("--hash=") + 1
    references = [part["bom-ref"] for part in made["components"]]
    assert len(set(references)) == len(references)
    assert made["dependencies"][0]["dependsOn"] == references
    assert made == SBOM["bill"](text, README, OWN)


def test_a_pin_without_a_hash_and_another_vendored_file_are_refused() -> None:
    with pytest.raises(ValueError, match="a hash"):
        SBOM["bill"]("numpy==2.0", README, OWN)
    digest = README.rpartition("| `")[2].partition("`")[0]
    with pytest.raises(ValueError, match="is not the file"):
        SBOM["vendored"](README.replace(digest, "0" * 64))
    with pytest.raises(ValueError, match="no row"):
        SBOM["vendored"]("")
