"""What does an agent pay for a sentence, with the encoder?"""

import json
import os
import shutil
import subprocess
import time
from pathlib import Path

from .data import Data, make_sentences
from .harness import Results
from .together import fresh, opened
from .workloads import Settings, written_down

# Sentences encoded in batches.
BATCH = 1000
# Sentences that count one at a time, and those before them that do not: the first loads the model.
SENTENCES, WARM = 200, 20


def end_to_end(peers: list[str], results: Results, settings: Settings) -> None:
    """Every peer one sentence at a time, then Loci in batches."""
    data = make_sentences(settings.work / "sentences", BATCH)
    for peer in peers:
        _text(peer, data, results, settings)
    if any(peer.startswith("loci") for peer in peers):
        _batch(data, results, settings)


def _text(peer: str, data: Data, results: Results, settings: Settings) -> None:
    """Added one at a time, then asked for."""
    count = 20 if settings.quick else SENTENCES
    folder = fresh(settings, f"{peer}-text")
    with written_down(results, peer, "text add", count), opened(peer, folder, data, settings) as worker:
        for work, more in (("text_add", {}), ("text_find", {"k": 10})):
            name = work.replace("_", " ")
            with written_down(results, peer, name, count):
                worker.ask(work, settings.limit, start=0, until=WARM, **more)
                answer = worker.ask(work, settings.limit, start=WARM, until=WARM + count, **more)
                figures = {"p50_ms": answer["p50_ms"], "cpu_ms": answer["cpu"] * 1000 / count}
                if answer.get("embedding_cpu"):
                    figures["embedding_cpu_ms"] = answer["embedding_cpu"] * 1000 / count
                    figures["cpu_ratio"] = answer["cpu"] / answer["embedding_cpu"]
                results.note(peer, name, count, **figures)
    shutil.rmtree(folder, ignore_errors=True)


def _batch(data: Data, results: Results, settings: Settings) -> None:
    """`loci import` with the embedding, less the same without: what its encoder does with many at once."""
    lines = settings.work / "sentences.import.jsonl"
    with lines.open("w", encoding="utf-8") as file:
        for row, _ in data.memories(0, BATCH):
            file.write(json.dumps({"content": row.text, "identifiers": {"userId": row.user}}) + "\n")
    folder = fresh(settings, "loci-batch")
    try:
        without = _imported(folder / "without", lines, "--no-embed")
        embedded = _imported(folder / "with", lines)
        results.note("loci_drive", "embed batch", BATCH, per_second=BATCH / max(embedded - without, 1e-3))
    except subprocess.CalledProcessError as failure:
        results.note("loci_drive", "embed batch", BATCH, cannot=failure.stderr.strip()[-160:])
    shutil.rmtree(folder, ignore_errors=True)


def _imported(folder: Path, lines: Path, *more: str) -> float:
    binary = os.environ.get("LOCI", "target/release/loci")
    start = time.perf_counter()
    subprocess.run(
        [binary, "--data", str(folder), "import", *more, str(lines)], check=True, capture_output=True, text=True
    )
    return time.perf_counter() - start
