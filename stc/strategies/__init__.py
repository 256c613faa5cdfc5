"""Decisions a researcher may take over: for each a small graph in and a plan out, plain dataclasses (`stc.strategies.registry`)."""
