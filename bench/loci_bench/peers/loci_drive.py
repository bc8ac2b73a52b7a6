"""Loci in process: `loci bench drive`, a worker written in Rust that speaks the same protocol.

There is nothing to adapt here: the harness starts the program itself.
"""

import os

COMMAND = [os.environ.get("LOCI", "target/release/loci"), "bench", "drive"]
