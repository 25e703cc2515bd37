import stat
from pathlib import Path

import pytest

from whybench.causal.suite_seeds import (
    SECRETS,
    SHORTEST,
    keep,
    name_of,
    new_secret,
    read_secrets,
    revealed,
    secret_of,
)
from whybench.episode.registry import load_suite

OTHER = "another-secret-of-thirty-characters"


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "kept" / "secrets"
    monkeypatch.setenv(SECRETS, str(path))
    return path


def test_a_kept_secret_stands_behind_its_name_and_is_not_in_it(file: Path) -> None:
    secret = new_secret()
    name = keep(secret)
    assert secret_of(name) == secret
    assert name == name_of(secret) != name_of(OTHER)
    assert secret not in name


def test_secrets_are_long_and_never_the_same() -> None:
    made = {new_secret() for _ in range(50)}
    assert len(made) == 50
    assert min(map(len, made)) >= 2 * SHORTEST - 1


def test_only_the_owner_may_read_the_file(file: Path) -> None:
    keep(new_secret())
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    file.chmod(0o644)
    keep(new_secret())
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_secrets_are_added_once_and_below_what_is_there(file: Path) -> None:
    file.parent.mkdir()
    file.write_text(f"# of the spring run\n\n{OTHER}")
    secret = new_secret()
    keep(secret)
    keep(secret)
    keep(OTHER)
    assert read_secrets(file) == (OTHER, secret)
    assert file.read_text().startswith("# of the spring run\n")


def test_what_is_no_secret_is_refused_and_not_shown(file: Path) -> None:
    for bad in (
        "short",
        "x" * (SHORTEST - 1),
        "two words of more than 22",
        "#" * 30,
        name_of(OTHER),
    ):
        with pytest.raises(ValueError, match="secret"):
            keep(bad)
    assert not file.exists()
    file.parent.mkdir()
    file.write_text(f"{OTHER}\nhush-hush\n")
    file.chmod(0o600)
    with pytest.raises(ValueError, match="line 2 of") as told:
        secret_of(name_of(OTHER))
    assert "hush-hush" not in str(told.value)


def test_a_name_without_its_secret_is_refused(file: Path) -> None:
    name = keep(new_secret())
    for unknown in (name_of(OTHER), name.upper().replace("PRIVATE", "private"), name + "0"):
        with pytest.raises(ValueError, match="private"):
            secret_of(unknown)
    with pytest.raises(ValueError, match="not known here"):
        load_suite("causallink/core", seed=name_of(OTHER))[0]


def test_no_file_is_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SECRETS, raising=False)
    with pytest.raises(ValueError, match=SECRETS):
        secret_of(name_of(OTHER))
    with pytest.raises(ValueError, match=SECRETS):
        keep(OTHER)


def test_a_secret_is_known_where_it_is_revealed_and_only_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(SECRETS, raising=False)
    secret = new_secret()
    with revealed(secret) as name:
        assert secret_of(name) == secret
        with pytest.raises(ValueError, match="not known here"):
            secret_of(name_of(OTHER))
    with pytest.raises(ValueError, match="not known here"):
        secret_of(name)


def test_a_secret_given_as_an_ordinary_seed_is_refused_and_not_shown(file: Path) -> None:
    secret = new_secret()
    name = keep(secret)
    with pytest.raises(ValueError, match=name) as told:
        load_suite("causallink/core", seed=secret)[0]
    assert secret not in str(told.value)


def test_ordinary_seeds_are_their_own_seeds_unless_they_look_like_blocks(file: Path) -> None:
    keep(new_secret())
    for seed in ("public", "train-7", "a.b", "v1.0", "rather-long-but-no-secret-of-ours"):
        assert secret_of(seed) == seed
    for bad in ("public.1", "v1.20", ""):
        with pytest.raises(ValueError, match="a seed"):
            secret_of(bad)
