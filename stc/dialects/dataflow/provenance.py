"""The attribute that says where a module comes from: enough to make its inputs and its reference again, and to go on from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, StringAttr
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition, param_def
from xdsl.parser import AttrParser
from xdsl.printer import Printer

PROVENANCE = "dataflow.provenance"
"""The module's attribute."""


@irdl_attr_definition
class ProvenanceAttr(ParametrizedAttribute):
    """What a module was compiled from, and how far: `model` and `request` (its seed, tokens, weights, ...) say what to export,
    `pipeline` and `edits` which passes there are, `files` what has to be loaded for them, `after` the last pass that has run
    (empty where none has).

    Example: `#dataflow.provenance<"gpt2-tiny" {seed = 0 : i64} runs "compile{tile=8}" after "merge-kernels">`, and behind the
    pipeline perhaps `edits ["after merge-kernels=mine"]` and `load ["mine.py"]`.
    """

    name = "dataflow.provenance"

    model: StringAttr = param_def()
    request: DictionaryAttr = param_def()
    pipeline: StringAttr = param_def()
    edits: ArrayAttr[StringAttr] = param_def()
    files: ArrayAttr[StringAttr] = param_def()
    after: StringAttr = param_def()

    @classmethod
    def of(
        cls,
        model: str,
        request: Mapping[str, Attribute],
        pipeline: str,
        edits: Sequence[str] = (),
        files: Sequence[str] = (),
        after: str = "",
    ) -> ProvenanceAttr:
        entries = DictionaryAttr(request)
        return cls(StringAttr(model), entries, StringAttr(pipeline), _strings(edits), _strings(files), StringAttr(after))

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> list[Attribute]:
        with parser.in_angle_brackets():
            model = StringAttr(parser.parse_str_literal())
            request = DictionaryAttr(parser.parse_optional_dictionary_attr_dict())
            parser.parse_keyword("runs")
            pipeline = StringAttr(parser.parse_str_literal())
            edits, files = (_parse_strings(parser, keyword) for keyword in ("edits", "load"))
            parser.parse_keyword("after")
            after = StringAttr(parser.parse_str_literal())
        return [model, request, pipeline, edits, files, after]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_attribute(self.model)
            printer.print_string(" ")
            printer.print_attribute(self.request)
            printer.print_string(" runs ")
            printer.print_attribute(self.pipeline)
            for keyword, strings in (("edits", self.edits), ("load", self.files)):
                if strings.data:
                    printer.print_string(f" {keyword} ")
                    printer.print_attribute(strings)
            printer.print_string(" after ")
            printer.print_attribute(self.after)


def _strings(texts: Sequence[str]) -> ArrayAttr[StringAttr]:
    return ArrayAttr([StringAttr(text) for text in texts])


def _parse_strings(parser: AttrParser, keyword: str) -> ArrayAttr[StringAttr]:
    """`keyword ["...", ...]`, or nothing."""
    if parser.parse_optional_keyword(keyword) is None:
        return _strings(())
    return _strings(parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_str_literal))
