# Generated from _async/ by scripts/generate.py; do not edit.
"""The asynchronous client. `_sync` is generated from these modules."""
