"""What do all peers remember, and what are they asked?

Seeded: the same size and seed give the same files. Every user's share of a store is fixed by the size, so that scopes of
10, 100, 1,000 … memories are in one store. Reading needs the standard library alone, because a
worker's resident memory is measured.
"""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

DIMENSIONS = 384
ROW = DIMENSIONS * 4
# Memories beyond the size, for workloads that add. They belong to users of their own and so change no scope. Enough for a
# minute of nine finds to one add at 10,000 operations a second, which a sync for each add keeps out of reach.
SPARE = 60_100
# Questions asked within each scope size.
QUESTIONS = 100
# Counted up when the same size and seed give other files than before, so that old ones are not taken for them.
MAKING = 2
# Rows made at once: a store of a million is never in memory as a whole.
CHUNK = 10_000
# The shortest and the longest text, in words before repeated ones are left out.
SHORTEST, LONGEST = 10, 17


@dataclass(frozen=True, slots=True)
class Row:
    """A memory or a question: its text and its owner."""

    number: int
    user: str
    text: str


class Data:
    """A folder of memories and questions, read as needed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._vectors = os.open(folder / "vectors.f32", os.O_RDONLY)
        self._queries = os.open(folder / "queries.f32", os.O_RDONLY)

    def memories(self, start: int, until: int) -> Iterator[tuple[Row, bytes]]:
        """Memories with their vectors, as raw little-endian floats."""
        return _read(self.folder / "memories.jsonl", self._vectors, start, until)

    def queries(self, start: int, until: int) -> Iterator[tuple[Row, bytes]]:
        """Questions with theirs."""
        return _read(self.folder / "queries.jsonl", self._queries, start, until)

    def query_count(self) -> int:
        """How many questions there are."""
        return os.fstat(self._queries).st_size // ROW


def _read(lines: Path, vectors: int, start: int, until: int) -> Iterator[tuple[Row, bytes]]:
    with lines.open(encoding="utf-8") as file:
        for offset, line in enumerate(islice(file, start, until), start):
            yield Row(**json.loads(line)), os.pread(vectors, ROW, offset * ROW)


def scopes(size: int) -> dict[int, list[str]]:
    """The users of a store by how many memories each has: five with a tenth of it, forty with a hundredth, and some
    with 10, 100 … below that. What remains is one user's."""
    shares = {size // 10: [f"tenth{i}" for i in range(5)], size // 100: [f"hundredth{i:02}" for i in range(40)]}
    small = 10
    while small < size // 100:
        shares[small] = [f"small{small}x{i}" for i in range(10 if small < 1000 else 2)]
        small *= 10
    return dict(sorted(shares.items()))


def question_ranges(size: int) -> dict[int, tuple[int, int]]:
    """Which questions are asked within scopes of which size."""
    return {scope: (i * QUESTIONS, (i + 1) * QUESTIONS) for i, scope in enumerate(scopes(size))}


def make(folder: Path, size: int, seed: int) -> Data:
    """The files for one size, made unless they are there."""
    mark, wanted = folder / "whole", f"{MAKING} {size} {SPARE} {seed}\n"
    if not mark.exists() or mark.read_text() != wanted:
        folder.mkdir(parents=True, exist_ok=True)
        # Before anything is overwritten: what was begun and not ended must not look whole.
        mark.unlink(missing_ok=True)
        _write(folder, size, seed)
        mark.write_text(wanted)
    return Data(folder)


# Plain English of about 20 tokens, for the workloads that encode.
WHO = ["Ana", "Bo", "Carla", "Dev", "Emil", "Farah", "Goran", "Hana", "Ivo", "Jun"]
DID = ["told the team that", "wrote to the board that", "heard from a friend that", "is quite sure that", "once said that"]
WHAT = ["the deploy of the new build", "her flight to the coast", "the meeting about the budget", "a cake with peanuts"]
WAS = ["had to wait until the end of", "was moved to the first week of", "will not be possible before"]
WHEN = ["March", "April", "May", "June", "July", "August"]


def make_sentences(folder: Path, count: int) -> Data:
    """Sentences that a model reads as language; their vectors are left to the encoders."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, turn in (("memories", 0), ("queries", 1)):
        with (folder / f"{name}.jsonl").open("w", encoding="utf-8") as file:
            for i in range(count):
                j = i * 2 + turn
                text = f"{WHO[j % 10]} {DID[j % 7 % 5]} {WHAT[j % 11 % 4]} {WAS[j % 13 % 3]} {WHEN[j % 17 % 6]} {2000 + j}."
                file.write(json.dumps({"number": i, "user": "tenth0", "text": text}) + "\n")
    for name in ("vectors.f32", "queries.f32"):
        (folder / name).write_bytes(bytes(ROW * count))
    return Data(folder)


def _write(folder: Path, size: int, seed: int) -> None:
    import numpy

    random = numpy.random.default_rng(seed)
    vocabulary = _vocabulary(random)
    owners = _owners(size, random)
    centres = _normal(random.standard_normal((256, DIMENSIONS), dtype="f4"))
    texts: list[str] = []
    with (folder / "memories.jsonl").open("w", encoding="utf-8") as lines, (folder / "vectors.f32").open("wb") as floats:
        for start in range(0, len(owners), CHUNK):
            count = min(CHUNK, len(owners) - start)
            texts += _texts(random, vocabulary, count)
            for number in range(start, start + count):
                lines.write(json.dumps({"number": number, "user": owners[number], "text": texts[number]}) + "\n")
            floats.write(_clustered(random, centres, count).tobytes())
    by_owner: dict[str, list[int]] = {}
    for number, owner in enumerate(owners):
        by_owner.setdefault(owner, []).append(number)
    with (folder / "queries.jsonl").open("w", encoding="utf-8") as file:
        asked = 0
        for users in scopes(size).values():
            for i in range(QUESTIONS):
                user = users[i % len(users)]
                known = by_owner[user]
                words = texts[known[int(random.integers(len(known)))]].split()
                text = " ".join(random.choice(words, 5, replace=False))
                file.write(json.dumps({"number": asked, "user": user, "text": text}) + "\n")
                asked += 1
    (folder / "queries.f32").write_bytes(_clustered(random, centres, asked).tobytes())


def _owners(size: int, random) -> list[str]:
    """The owner of each memory in random order, then the spare ones."""
    owners = [user for share, users in scopes(size).items() for user in users for _ in range(share)]
    owners += ["rest"] * (size - len(owners))
    shuffled = [owners[place] for place in random.permutation(size).tolist()]
    return shuffled + [f"spare{i % 10}" for i in range(SPARE)]


def _vocabulary(random) -> list[str]:
    """Made-up words of two to four syllables."""
    syllables = [c + v for c in "bdfghklmnprstvz" for v in "aeiou"]
    words: set[str] = set()
    while len(words) < 20_000:
        words.add("".join(random.choice(syllables, int(random.integers(2, 5)))))
    return sorted(words)


def _texts(random, vocabulary: list[str], count: int) -> list[str]:
    """Words as rare and as common as in speech (Zipf), so that an index of words has work to do."""
    lengths = random.integers(SHORTEST, LONGEST + 1, count).tolist()
    ranks = (random.zipf(1.15, (count, LONGEST)) - 1) % len(vocabulary)
    # Words next to each other in the alphabet look alike; the common ones must not.
    places = (ranks * 7919 % len(vocabulary)).tolist()
    return [
        " ".join(dict.fromkeys(map(vocabulary.__getitem__, row[:length])))
        for row, length in zip(places, lengths, strict=True)
    ]


def _clustered(random, centres, count: int):
    """Unit vectors about as far from their centre as sentences of one topic are from each other."""
    noise = random.standard_normal((count, DIMENSIONS), dtype="f4") * 0.04
    return _normal(centres[random.integers(0, len(centres), count)] + noise)


def _normal(vectors):
    import numpy

    return vectors / numpy.linalg.norm(vectors, axis=1, keepdims=True)
