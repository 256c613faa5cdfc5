"""Canonicalisation patterns of our dialects, one file per dialect; `canonicalize` finds them through traits."""
