"""Write a software bill of materials (CycloneDX 1.6, JSON) of the pinned environment.

python scripts/sbom.py OUT [--constraints constraints.txt]

It lists every pinned package with its hashes, the licence that the installed package declares, and
the vendored JavaScript. The same inputs give the same bytes: there is no time and no random number
in the file. A maintainer with a network can audit it: `pip-audit -r constraints.txt`.
"""

import argparse
import json
import re
import sys
import tomllib
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path
from typing import Any
from uuid import UUID

ROOT = Path(__file__).resolve().parents[1]
VENDORED = ROOT / "src/whybench/report/page/vendor"
PIN = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)")
HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")
ROW = re.compile(
    r"^\| `([^`]+)` \| `([^`]+)`.*?\| ([\d.]+) \| (\S+) .*?\| `([0-9a-f]{64})` \|$", re.M
)


def pins(text: str) -> list[tuple[str, str, list[str]]]:
    """Return names, versions and hashes of a constraints file.

    A name can have several versions, for several versions of Python.
    """
    lines = text.replace("\\\n", " ").splitlines()
    matches = [(PIN.match(line), sorted(HASH.findall(line))) for line in lines]
    return sorted((pin[1].lower(), pin[2], hashes) for pin, hashes in matches if pin)


def licence(name: str) -> str:
    """Return what the installed package says of its licence, in at most 100 characters."""
    try:
        told = metadata(name)
    except PackageNotFoundError:
        return ""
    named = told.get("License-Expression") or told.get("License") or ""
    listed = [
        one.rpartition(" :: ")[2] for one in told.get_all("Classifier") or () if "License" in one
    ]
    first = named.strip().splitlines()[0] if named.strip() else ", ".join(listed)
    return first[:100]


def package(name: str, version: str, hashes: list[str]) -> dict[str, Any]:
    part: dict[str, Any] = {
        "type": "library",
        "bom-ref": f"pkg:pypi/{name}@{version}",
        "name": name,
        "version": version,
        "purl": f"pkg:pypi/{name}@{version}",
        "hashes": [{"alg": "SHA-256", "content": one} for one in hashes],
    }
    if told := licence(name):
        part["licenses"] = [{"license": {"name": told}}]
    return part


def vendored(readme: str) -> list[dict[str, Any]]:
    """Return the vendored files that the table in a README names; each hash is checked."""
    parts = []
    for file, name, version, told, digest in ROW.findall(readme):
        if sha256((VENDORED / file).read_bytes()).hexdigest() != digest:
            raise ValueError(f"{file} is not the file that {VENDORED.name}/README.md names.")
        purl = f"pkg:npm/{name.replace('@', '%40')}@{version}"
        parts.append(
            {
                "type": "library",
                "bom-ref": purl,
                "name": name,
                "version": version,
                "purl": purl,
                "hashes": [{"alg": "SHA-256", "content": digest}],
                "licenses": [{"license": {"id": told}}],
            }
        )
    if not parts:
        raise ValueError("The table of vendored files has no row that can be read.")
    return parts


def bill(constraints: str, readme: str, own: dict[str, Any]) -> dict[str, Any]:
    found = pins(constraints)
    if not found or any(not hashes for _, _, hashes in found):
        raise ValueError("Every line of the constraints needs a version and a hash.")
    parts = [package(*pin) for pin in found] + vendored(readme)
    reference = f"pkg:pypi/{own['name']}@{own['version']}"
    body = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": reference,
                "name": own["name"],
                "version": own["version"],
                "licenses": [{"license": {"id": own["license"]}}],
            }
        },
        "components": parts,
        "dependencies": [{"ref": reference, "dependsOn": [part["bom-ref"] for part in parts]}],
    }
    name = UUID(bytes=sha256(json.dumps(body, sort_keys=True).encode()).digest()[:16], version=5)
    return {**body, "serialNumber": f"urn:uuid:{name}"}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--constraints", type=Path, default=ROOT / "constraints.txt")
    given = parser.parse_args()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    version = project.get("version") or metadata("whybench")["Version"]
    own = {"name": project["name"], "version": version, "license": project["license"]}
    readme = (VENDORED / "README.md").read_text("utf-8")
    made = bill(given.constraints.read_text("utf-8"), readme, own)
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(json.dumps(made, indent=1) + "\n", "utf-8")
    licensed = sum("licenses" in part for part in made["components"])
    print(f"{len(made['components'])} components, {licensed} with a licence, in {given.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
