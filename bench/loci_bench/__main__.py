"""`python -m loci_bench PEER`: the worker of one peer, for the harness."""

import sys
from importlib import import_module

from .worker import serve

serve(import_module(f".peers.{sys.argv[1]}", "loci_bench").PEER())
