"""The mathematics of streams: iteration spaces, stream orders, converters, proofs. Plain dataclasses, free of IR."""
