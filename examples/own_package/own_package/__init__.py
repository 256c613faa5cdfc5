"""Passes of one's own for stc, found by the entry point in pyproject.toml."""
