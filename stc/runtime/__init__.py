"""An emitted project as a callable: buffers, launches, `pyxrt` or the C-simulation device behind one interface."""
