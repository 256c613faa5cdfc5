"""`stc report`: one self-contained HTML page about an emitted project."""
