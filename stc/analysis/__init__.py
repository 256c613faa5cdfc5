"""Facts about IR, found without rewriting it."""
