"""What xDSL 0.74 lacks, or reads, prints and verifies wrongly: one file per gap, each with what fills it.

`tests/xdsl_gaps` has a test for each that fails once xDSL has closed it: then the file goes. Nothing here changes a class of xDSL:
the parser, the printer, the context and the verification of `stc` use what is here, plain `xdsl-opt` does not.
"""
