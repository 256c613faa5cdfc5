"""What devices are called where a user or a program chooses one; a card, by its index as text."""

CSIM = "csim"
"""The C simulation, behind an interface like XRT's that is ours."""
XRT = "xrt"
"""The first device of XRT's runtime: a card, or where there is none the C simulation behind it (stc.runtime.xrt)."""
