"""Random programs and mutants of IR: every level and the emitted C++ must agree, or the input is refused."""
