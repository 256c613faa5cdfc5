"""What quantised arithmetic costs stories260K: perplexities of two texts, and a story by the emitted C++.

    python benchmarks/quantised_stories.py [--emit FORMAT] [--rows FILE] [--table] [--json] [--write]

Perplexities are executed by PyTorch: the f32 model, and the reference of each FORMAT (docs/quantisation.md, what `--quantize`
takes), over every token behind the first. The first text is what the f32 model writes (`examples/stories260K`, 200 tokens behind
"Once upon a time"); the second was written for this file, in words that the model knows. With --emit (may be repeated) formats are
compiled: perplexities are executed by the emitted C++, too, token by token through decode and head, and it writes a story that is
compared with the reference; each takes some three minutes. Without, all formats of which there is nothing are executed by PyTorch.

Rows are kept in FILE, each in place of an earlier one of its format, with the commit that it was measured at: what is printed and
written (--write: into docs/quantisation.md) is the table of all rows there are (--table: measure none).
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from measured_at import measured_at, write_between

from stc.api import compile_model
from stc.frontend.sources import find_language_model
from stc.runtime.language_model import LanguageModel
from stc.runtime.tokenizer import Tokenizer
from stc.tools.generation_check import check_generation

STORIES = Path(__file__).parents[1] / "examples" / "stories260K"
DOCUMENT = Path(__file__).parents[1] / "docs" / "quantisation.md"
ROWS = Path(__file__).parent / "data" / "quantised_stories.json"
BEGIN, END = "<!-- stories -->\n", "<!-- end of stories -->\n"
F32 = "f32"
POSITIONS, PROMPT, TOKENS = 256, "Once upon a time", 200
FORMATS = (
    "",
    "bits=8",
    "bits=8,group=32,activations=group",
    *(f"bits=4,group={group},head=8{activations}" for group in (32, 64) for activations in ("", ",activations=group")),
    "bits=4,group=32,head=4",
    "bits=4,group=32,head=f32",
    "kv=bf16",
    "bits=4,group=32,head=8,kv=bf16",
    "bits=4,group=32,head=8,kv=int8",
    "bits=4,group=32,head=8,activations=group,kv=int8,attention=int8",
)
SECOND = (
    "One day, a boy named Tom went to the big lake with his mom. He saw a small green frog on a rock. The frog was sad. "
    '"Why are you sad?" asked Tom. "I lost my ball in the water," said the frog. Tom wanted to help. He found a long stick and '
    "pulled the ball out of the water. The frog was very happy. They played with the ball all day. When the sun went down, Tom "
    'said goodbye to his new friend and went home with his mom. He told her, "It is good to help others."'
)


Perplexities = tuple[float, float]
"""Of the text that the f32 model writes, and of the second one."""


@dataclass(frozen=True)
class Row:
    """What a format costs, executed by PyTorch; where it was compiled, also by the emitted C++, and in words how far the story that
    this writes is from the reference's. `measured`: when, at what."""

    format: str
    pytorch: Perplexities
    measured: str
    emitted: Perplexities | None = None
    story: str = ""


def perplexity(logits: np.ndarray, tokens: Sequence[int]) -> float:
    """Of `tokens` but the first, from the logits [tokens - 1, vocabulary] behind each but the last."""
    rows = logits.astype(np.float64)
    rows = rows - rows.max(1, keepdims=True)
    probable = rows - np.log(np.exp(rows).sum(1, keepdims=True))
    return float(np.exp(-probable[np.arange(len(rows)), list(tokens[1:])].mean()))


def by_pytorch(model: Any, tokens: Sequence[int]) -> np.ndarray:
    with torch.no_grad():
        return model(torch.tensor([tokens[:-1]]), use_cache=True).logits[0].numpy()


def by_emitted(model: LanguageModel, tokens: Sequence[int]) -> np.ndarray:
    """Each token through decode and head."""
    caches, launches = model.caches(), Counter[tuple[str, int]]()
    steps = (model.forward([token], position, caches, launches) for position, token in enumerate(tokens[:-1]))
    return np.stack([model.head(x, launches)[1] for x in steps])


def measured(formats: Sequence[str], *, emitted: bool) -> Iterator[Row]:
    """A row for each of `formats`, which are compiled where it shall be `emitted`, too."""
    source = find_language_model(f"config:{STORIES}", max_seq=POSITIONS, seed=0, weights=str(STORIES)).model
    tokenizer = Tokenizer(STORIES / "tokenizer.json")
    f32: Any = source.whole()
    prompt = tokenizer.encode(PROMPT)
    with torch.no_grad():
        written = f32.generate(torch.tensor([prompt]), max_new_tokens=TOKENS, do_sample=False)[0].tolist()
    texts = (written, tokenizer.encode(SECOND))
    at = measured_at().removeprefix("Measured on ").removesuffix(".")
    for text in formats:
        model = source.whole(text)
        own, second = (perplexity(by_pytorch(model, tokens), tokens) for tokens in texts)
        if not emitted:
            yield Row(text or F32, (own, second), at)
            continue
        with tempfile.TemporaryDirectory() as folder:
            compiled = compile_model(STORIES, max_seq=POSITIONS, out=Path(folder) / "model", quantize=text).loaded
            first, other = (perplexity(by_emitted(compiled, tokens), tokens) for tokens in texts)
            yield Row(text or F32, (own, second), at, (first, other), story(compiled, prompt))


def story(model: LanguageModel, prompt: Sequence[int]) -> str:
    """How many tokens that the emitted C++ writes behind `prompt` are those that PyTorch would write of the same format."""
    generation = model.generate(prompt, TOKENS)
    written: list[int] = []
    logits: list[Any] = []
    for token in generation:
        written.append(token)
        logits.append(generation.logits)
    found = check_generation(model.manifest, prompt, written, np.stack(logits)).reference
    return f"{found.equal} of {found.tokens}" + (f", near-ties: {found.near_ties}" if found.near_ties else "")


def read_rows(file: Path) -> list[Row]:
    """What is kept; nothing where there is no file."""
    if not file.is_file():
        return []
    return [Row(**entry) for entry in json.loads(file.read_text())]


def keep(row: Row, file: Path) -> None:
    """`row` in place of that of its format, in the order of `FORMATS`."""
    place = {text or F32: index for index, text in enumerate(FORMATS)}
    rows = [*(each for each in read_rows(file) if each.format != row.format), row]
    rows.sort(key=lambda each: place.get(each.format, len(place)))
    file.write_text(json.dumps([asdict(each) for each in rows], indent=1) + "\n")


def markdown(rows: Sequence[Row]) -> str:
    """The table."""
    lines = [
        "`python benchmarks/quantised_stories.py` (which says what the texts are, and has the second); all *executed*.",
        "Perplexities of its own 200 tokens, and of the second text; of the story that the emitted C++ writes",
        "(`--emit FORMAT`) the tokens that are the reference's, and near-ties among the others.",
        "",
        "| format | PyTorch: own | second | emitted C++: own | second | its story | measured |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        *(f"| {' | '.join(_cells(row))} |" for row in rows),
    ]
    return "\n".join(lines) + "\n"


def _cells(row: Row) -> list[str]:
    figures = [f"{value:.4f}" for value in (*row.pytorch, *(row.emitted or ()))]
    return [f"`{row.format}`", *figures, *([] if row.emitted else [""] * 2), row.story, row.measured]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--emit", action="append", default=[], metavar="FORMAT", help="compile this format as well")
    parser.add_argument("--rows", type=Path, default=ROWS, help="kept rows (default benchmarks/data/quantised_stories.json)")
    parser.add_argument("--table", action="store_true", help="measure nothing, take the rows there are")
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    parser.add_argument("--write", action="store_true", help="write the table into docs/quantisation.md")
    arguments = parser.parse_args()
    if not arguments.table:
        known = {row.format for row in read_rows(arguments.rows)}
        wanted = arguments.emit or [text for text in FORMATS if (text or F32) not in known]
        for row in measured(list(dict.fromkeys(wanted)), emitted=bool(arguments.emit)):
            keep(row, arguments.rows)
    rows = read_rows(arguments.rows)
    print(json.dumps([asdict(row) for row in rows], indent=1) if arguments.json else markdown(rows))
    if arguments.write:
        write_between(DOCUMENT, BEGIN, markdown(rows), END)
    return 0


if __name__ == "__main__":
    sys.exit(main())
