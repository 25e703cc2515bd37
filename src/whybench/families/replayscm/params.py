"""Knobs and suites of ReplaySCM."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, Field

from whybench.families.replayscm.world import Disclosure, Task

FAMILY = "replayscm"

LEVELS = (1, 2, 4, 8, 16, 32)
"""Bits of residual ambiguity of the `bits_*` suites, besides 0."""


@dataclass(frozen=True, slots=True)
class Pool:
    """What a suite is made of."""

    size: int
    disclosure: Disclosure
    what: str
    source: str
    """Where its SCMs come from: `match` (shared by most suites), `ord`, `hid`, `lab`"""
    worlds: str = "base"
    """Which training worlds are shown: of the source's `base`, `ext`, `cex_ord`, `cert` …"""
    task: Task = "induce"


_TOLD: dict[Disclosure, str] = {
    "ordered": "a full order is told",
    "block": "two or three blocks are told",
    "hidden": "the order is hidden",
    "roots": "order and roots are hidden",
}


def _bits(count: int) -> str:
    return "bit" if count == 1 else "bits"


def _pools() -> dict[str, Pool]:
    found: dict[str, Pool] = {}
    for short, disclosure in (("ord", "ordered"), ("hid", "hidden")):
        told: Disclosure = "ordered" if disclosure == "ordered" else "hidden"
        extra, same = "3-4 more worlds", "the 100 matched SCMs"
        audit = "alternatives found on _ext ruled out"
        found |= {
            f"{short}_full": Pool(250, told, f"{_TOLD[told]}; the full pool", short, "full"),
            f"{short}_match": Pool(100, told, f"{_TOLD[told]}; {same}", "match"),
            f"{short}_ext": Pool(100, told, f"{_TOLD[told]}; {same}, {extra}", "match", "ext"),
            f"{short}_cex": Pool(
                100, told, f"{_TOLD[told]}; {same}, {audit}", "match", f"cex_{short}"
            ),
            f"alt_{short}": Pool(
                100,
                told,
                f"{_TOLD[told]}; give another SCM that fits",
                "match",
                "base",
                "alternative",
            ),
        }
    found["block"] = Pool(100, "block", f"{_TOLD['block']}; the 100 matched SCMs", "match")
    found["hid_roots"] = Pool(100, "roots", f"{_TOLD['roots']}; the 100 matched SCMs", "match")
    for name, told in (
        ("ord_cert", "ordered"),
        ("block_cert", "block"),
        ("hid_cert", "hidden"),
        ("roots_cert", "roots"),
    ):
        what = f"{_TOLD[told]}; one SCM fits, proven"
        found[name] = Pool(100, told, what, "match", "cert")
    found["bits_0"] = Pool(100, "hidden", "the matched SCMs at 0 bits", "match", "cert")
    for bits in LEVELS:
        what = f"the matched SCMs at about {bits} {_bits(bits)}"
        found[f"bits_{bits}"] = Pool(100, "hidden", what, "match", f"bits_{bits}")
    for bits in LEVELS:
        what = f"the same at about {bits} {_bits(bits)}, as long as bits_0"
        found[f"bits_{bits}_long"] = Pool(100, "hidden", what, "match", f"bits_{bits}_long")
    found["lab"] = Pool(100, "hidden", "choose the interventions yourself", "lab", "lab")
    return found


POOLS = _pools()


class Knobs(BaseModel):
    """What may be turned; every suite has its own setting as the default."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    data: str | None = Field(
        None, description="profile `published` only: a folder with the released problems"
    )
    budget: int = Field(24, ge=0, le=200, description="`lab` only: most experiments")
    max_errors: int = Field(
        3, ge=1, le=100, description="invalid answers or requests after which an episode ends"
    )
