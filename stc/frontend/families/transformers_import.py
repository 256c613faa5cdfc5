"""The first import of transformers' models: it looks into optional packages that are installed, whose warnings are not ours."""

from importlib import import_module

from stc.frontend.silent_torch import silent_torch

import_module("torch")  # its loggers exist from now on
with silent_torch():  # torchao registers types in a way that PyTorch calls deprecated
    import_module("transformers.modeling_utils")
