"""What does all-MiniLM-L6-v2 say of a sentence?

A forward pass in numpy over the very weights that Loci uses, so that all peers get the same vectors and none needs
torch. Mean over the tokens, then unit length; at most 256 tokens, as the model was published.
"""

import json
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy
from safetensors.numpy import load_file
from tokenizers import Tokenizer

LAYERS, HEADS, WIDTH, LENGTH = 6, 12, 384, 256


class Encoder:
    """The weights in memory."""

    def __init__(self, folder: Path) -> None:
        self.weights = load_file(folder / "model.safetensors")
        self.tokens = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokens.no_padding()
        self.tokens.enable_truncation(LENGTH)

    @classmethod
    def found(cls) -> "Encoder":
        """Where Loci looks for its model."""
        cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
        return cls(Path(os.environ.get("LOCI_MODEL_DIR", cache / "loci/models/all-MiniLM-L6-v2")))

    def encode(self, texts: Sequence[str]) -> list[numpy.ndarray]:
        """A unit vector for each text. One at a time, so that nothing is padded; many on all cores."""
        found = [encoding.ids for encoding in self.tokens.encode_batch(list(texts))]
        if len(found) == 1:
            return [self._one(found[0])]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            return list(pool.map(self._one, found))

    def _one(self, ids: list[int]) -> numpy.ndarray:
        w = self.weights
        length = len(ids)
        x = w["embeddings.word_embeddings.weight"][ids] + w["embeddings.position_embeddings.weight"][:length]
        x = self._norm(x + w["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
        for layer in range(LAYERS):
            at = f"encoder.layer.{layer}"
            x = self._norm(x + self._attention(x, at), f"{at}.attention.output.LayerNorm")
            inner = _gelu(self._linear(x, f"{at}.intermediate.dense"))
            x = self._norm(x + self._linear(inner, f"{at}.output.dense"), f"{at}.output.LayerNorm")
        mean = x.mean(axis=0)
        return (mean / numpy.linalg.norm(mean)).astype("<f4")

    def _attention(self, x: numpy.ndarray, at: str) -> numpy.ndarray:
        def heads(part: str) -> numpy.ndarray:
            return self._linear(x, f"{at}.attention.self.{part}").reshape(len(x), HEADS, -1).transpose(1, 0, 2)

        query, key, value = heads("query"), heads("key"), heads("value")
        scores = query @ key.transpose(0, 2, 1) / numpy.sqrt(numpy.float32(WIDTH // HEADS))
        scores = numpy.exp(scores - scores.max(axis=-1, keepdims=True))
        mixed = (scores / scores.sum(axis=-1, keepdims=True)) @ value
        return self._linear(mixed.transpose(1, 0, 2).reshape(len(x), WIDTH), f"{at}.attention.output.dense")

    def _linear(self, x: numpy.ndarray, at: str) -> numpy.ndarray:
        return x @ self.weights[f"{at}.weight"].T + self.weights[f"{at}.bias"]

    def _norm(self, x: numpy.ndarray, at: str) -> numpy.ndarray:
        centred = x - x.mean(axis=-1, keepdims=True)
        spread = numpy.sqrt((centred**2).mean(axis=-1, keepdims=True) + numpy.float32(1e-12))
        return centred / spread * self.weights[f"{at}.weight"] + self.weights[f"{at}.bias"]


def _gelu(x: numpy.ndarray) -> numpy.ndarray:
    """Exact to 1e-7: the error function by Abramowitz and Stegun 7.1.26, since numpy has none."""
    z = numpy.abs(x) * numpy.float32(0.7071067811865476)
    t = 1 / (1 + numpy.float32(0.3275911) * z)
    poly = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    return (0.5 * x * (1 + numpy.sign(x) * (1 - poly * numpy.exp(-z * z)))).astype("f4")


def vectors_of(texts: Sequence[str], cache: Path) -> list[bytes]:
    """The vectors of texts, kept in a file for the next run of the same texts."""
    wanted = json.dumps(list(texts))
    key, values = cache.with_suffix(".texts.json"), cache.with_suffix(".f32")
    if not (key.exists() and values.exists() and key.read_text() == wanted):
        encoder = Encoder.found()
        cache.parent.mkdir(parents=True, exist_ok=True)
        values.write_bytes(b"".join(vector.tobytes() for vector in encoder.encode(texts)))
        key.write_text(wanted)
    raw = values.read_bytes()
    return [raw[i * WIDTH * 4 : (i + 1) * WIDTH * 4] for i in range(len(texts))]
