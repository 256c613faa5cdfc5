"""Decisions as plain graph problems: a small description in, a plan out. No IR, no rewriting."""
