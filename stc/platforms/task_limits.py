"""What one task may have at most (emission rule 18, docs/design/emission_rules.md)."""

MAX_PARTITIONS = 1024
"""Banks of an array."""

MAX_MULTIPLY_ACCUMULATES = 128
"""Float multiply-accumulates at once."""
