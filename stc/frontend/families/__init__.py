"""Model families: how a decoder layer is built, what its inputs are, and how its weights are named in checkpoints."""

from stc.frontend.families.family import Family, Options
from stc.frontend.families.gpt2 import GPT2

__all__ = ["GPT2", "Family", "Options"]
