"""Scalar operations: what is known of each in one row (`table.ROWS`), for the execution, the C++, the costs and the fuzzing."""
