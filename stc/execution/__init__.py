"""Reference semantics of every level on numpy: `from stc.execution.run import execute`."""
