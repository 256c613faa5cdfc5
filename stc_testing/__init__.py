"""Testing the compiler itself: random programs and mutants of IR (`fuzzing`), which pass breaks a compile (`bisect`), and small
modules that still fail (`reduction`).

For those who develop `stc`; `stc` does not import it. Its commands, `stc fuzz` and `stc bisect`, reach the command line through the
entry points `stc.commands` of its package.
"""
