"""Compares Loci with what people would use instead: see `--help` and docs/benchmarks.md."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from loci_bench.command import main

main()
