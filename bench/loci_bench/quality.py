"""How much of the evidence does each peer's own search find?

The sets are public conversations with labelled evidence; they are read where they lie and never copied into the
project. Every peer gets the same texts and the same MiniLM vectors and is asked in its own default way: the mixture of
words and vectors where it has one, else what it has. Loci is measured by `loci eval` with default settings.
"""

import json
import os
import subprocess
from pathlib import Path

from .data import Data
from .harness import Refused, Results, Worker
from .measure import mean_recall
from .titles import LOCI
from .together import fresh, opened
from .workloads import Settings, written_down

SETS = {"LoCoMo": "locomo-dev", "BEAM": "beam100k-dev"}


def quality(peers: list[str], results: Results, settings: Settings) -> None:
    """R@10 of every peer on every set that is there."""
    home = os.environ.get("LOCI_BENCH_SETS", "")
    for name, folder in SETS.items():
        source = Path(home) / folder
        if not home or not source.exists():
            results.note("all", f"R@10 {name}", 0, cannot="the set is not there (LOCI_BENCH_SETS)")
            continue
        questions = _lines(source / "questions.jsonl")
        scored = [question for question in questions if question["evidence"]]
        _loci(name, source, peers, scored, results, settings)
        data, ids = _prepare(source, scored, settings)
        for peer in peers:
            if peer not in LOCI:
                _peer(peer, name, data, ids, scored, results, settings)


def _lines(path: Path) -> list[dict]:
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def _loci(
    name: str, source: Path, peers: list[str], scored: list[dict], results: Results, settings: Settings
) -> None:
    if not set(LOCI) & set(peers):
        return
    run = settings.work / "eval.jsonl"
    command = [os.environ.get("LOCI", "target/release/loci"), "eval", "--corpus", str(source / "corpus.jsonl"),
               "--questions", str(source / "questions.jsonl"), "--out", str(run)]
    done = subprocess.run(command, capture_output=True, text=True)
    if "loci_http" in peers:
        results.note("loci_http", f"R@10 {name}", len(scored), cannot="the same engine")
    if done.returncode:
        results.note("loci_drive", f"R@10 {name}", len(scored), cannot=done.stderr.strip()[-160:])
        return
    ranked = {answer["qid"]: answer["ranked"] for answer in _lines(run)}
    results.note("loci_drive", f"R@10 {name}", len(scored), recall=mean_recall(10, scored, ranked), search="recall")


def _prepare(source: Path, scored: list[dict], settings: Settings) -> tuple[Data, list[str]]:
    """The set in the form of the other workloads: a conversation is a user."""
    from .minilm import vectors_of

    turns = _lines(source / "corpus.jsonl")
    texts = [_text(turn) for turn in turns]
    folder = settings.work / f"set-{source.name}"
    folder.mkdir(parents=True, exist_ok=True)
    cache = settings.work / "vectors"
    _write(folder / "memories.jsonl", [turn["conv"] for turn in turns], texts)
    (folder / "vectors.f32").write_bytes(b"".join(vectors_of(texts, cache / f"{source.name}-turns")))
    asked = [question["question"] for question in scored]
    _write(folder / "queries.jsonl", [question["conv"] for question in scored], asked)
    (folder / "queries.f32").write_bytes(b"".join(vectors_of(asked, cache / f"{source.name}-questions")))
    return Data(folder), [turn["id"] for turn in turns]


def _text(turn: dict) -> str:
    """A turn as the text that Loci also stores: date, speaker, words, and the caption of a picture."""
    picture = f" (picture: {turn['caption']})" if turn.get("caption") else ""
    return f"{turn['date']}, {turn['speaker']}: {turn['text']}{picture}"


def _write(path: Path, users: list[str], texts: list[str]) -> None:
    with path.open("w", encoding="utf-8") as file:
        for number, (user, text) in enumerate(zip(users, texts, strict=True)):
            file.write(json.dumps({"number": number, "user": user, "text": text}) + "\n")


def _peer(
    peer: str, name: str, data: Data, ids: list[str], scored: list[dict], results: Results, settings: Settings
) -> None:
    folder = fresh(settings, f"{peer}-quality")
    with written_down(results, peer, f"R@10 {name}", len(scored)), opened(peer, folder, data, settings) as worker:
        worker.ask("load", settings.limit, start=0, until=len(ids))
        search, ranked = _default_search(worker, len(scored), settings)
        run = {q["qid"]: [ids[number] for number in found] for q, found in zip(scored, ranked, strict=True)}
        results.note(peer, f"R@10 {name}", len(scored), recall=mean_recall(10, scored, run), search=search)


def _default_search(worker: Worker, count: int, settings: Settings) -> tuple[str, list[list[int]]]:
    try:
        return "hybrid", worker.ask("hybrid", settings.limit, start=0, until=count, k=10)["ranked"]
    except Refused:
        return "find", worker.ask("find", settings.limit, start=0, until=count, k=10)["ranked"]
