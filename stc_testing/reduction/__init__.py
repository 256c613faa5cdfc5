"""Delta debugging of IR: reduce a module to a small one that still fails.

Each file holds one kind of reduction, `engine` the loop that tries them.
"""
