"""The independent checker: silent on true certificates, and it notices every spoilt one."""

import pytest
from tests.twins.spoiled import unnoticed

from whybench.episode.registry import families
from whybench.families.prism.proof.checker import check

FAMILY = families()["prism"]


def flaws(instance, certificate) -> list[str]:
    return check.flaws(instance, FAMILY.world(instance), certificate)


@pytest.mark.parametrize(
    ("suite", "parameters"),
    [
        ("teaching", {"triples": 1}),
        ("main", {"n": 5, "triples": 1}),
        ("hidden", {"n": 6, "kind": "had", "triples": 1}),
        ("lab", {"n": 5, "kind": "direct", "triples": 1}),
    ],
)
def test_true_certificates_have_no_flaw_and_spoilt_ones_have(suite, parameters) -> None:
    for instance in FAMILY.suite(suite, parameters=parameters):
        certificate = FAMILY.certify(instance)
        assert certificate.defects() == []
        assert flaws(instance, certificate) == []
        if certificate.facts["verdict"] == "cannot":
            missed = unnoticed(certificate, lambda tampered, of=instance: flaws(of, tampered))
            assert missed == []


@pytest.mark.slow
@pytest.mark.parametrize("n", [6, 7, 8])
@pytest.mark.parametrize("suite", ["main", "hidden"])
def test_a_second_route_agrees_on_larger_systems(suite, n) -> None:
    """Systems, verdicts and posteriors are listed again: 50 problems of each, 300 in all."""
    made = FAMILY.suite(suite, parameters={"n": n, "triples": 3}, seed="second")
    for index in range(50):
        instance = made[index]
        assert flaws(instance, FAMILY.certify(instance)) == []
