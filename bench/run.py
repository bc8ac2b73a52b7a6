"""Compares Loci with what people would use instead: see `--help` and docs/benchmarks.md."""

import os
import sys
from pathlib import Path

# Before numpy is loaded: texts are spread over threads, so a matrix needs none of its own.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parent))

from loci_bench.command import main

main()
