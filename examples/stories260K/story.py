"""A story by the emitted accelerator of stories260K, and whether transformers writes the same one.

    python examples/stories260K/story.py FOLDER

compiles the model into FOLDER, which must not exist. Exit code 0 if all tokens are equal, 1 if not.
"""

import os
import sys
from pathlib import Path
from typing import Any

os.environ["HF_HUB_OFFLINE"] = "1"  # all there is to read is here
os.environ["HF_HUB_DISABLE_PROGRESS_BARS"] = "1"

import torch
from transformers import AutoModelForCausalLM

import stc

HERE = Path(__file__).resolve().parent
PROMPT = "Once upon a time"
TOKENS = 200


def main() -> int:
    if len(sys.argv) != 2:
        print("usage: python examples/stories260K/story.py FOLDER", file=sys.stderr)
        return 2
    model = stc.compile_model(HERE, max_seq=256, out=sys.argv[1])
    print(f"compiled into {model.folder}; now built and run, a launch per layer and token:\n\n{PROMPT}", end="", flush=True)
    generation = model.generate(PROMPT, TOKENS)
    written: list[int] = []
    for token, text in model.tokenizer().stream(generation.prompt, generation):
        print(text, end="", flush=True)
        written.append(token)
    expected = by_transformers(generation.prompt)
    equal = sum(one == other for one, other in zip(written, expected, strict=False))
    print(f"\n\n{equal} of {len(expected)} tokens are those of transformers; near-ties: {generation.near_ties}")
    print(f"{len(written) / generation.seconds:.0f} tokens per second in the C simulation")
    return 0 if written == expected else 1


def by_transformers(prompt: tuple[int, ...]) -> list[int]:
    reference: Any = AutoModelForCausalLM.from_pretrained(HERE, dtype=torch.float32)
    with torch.no_grad():
        return reference.generate(torch.tensor([prompt]), max_new_tokens=TOKENS, do_sample=False)[0, len(prompt) :].tolist()


if __name__ == "__main__":
    sys.exit(main())
