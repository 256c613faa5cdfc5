"""Names that nobody should give: for modules, arguments, results and files."""

from __future__ import annotations

PAYLOAD = "pwned"
"""Stands in every name that would run, were it copied into a file; a file of this name shows that it did."""

INJECTIONS = (
    f"a\n#error {PAYLOAD}\n",
    f"b\r\nint {PAYLOAD}() {{ return 1; }} //",
    f"c*/ int {PAYLOAD}; /*",
    f'd"); system("touch {PAYLOAD}"); ("',
    f"e'''\nopen('{PAYLOAD}', 'w')\n'''",
    f'f"""\nopen("{PAYLOAD}", "w")\n"""',
    f"g$(shell touch {PAYLOAD})`touch {PAYLOAD}`;touch {PAYLOAD}",
    f"h</script><img src=x onerror=alert('{PAYLOAD}')>",
    "../../evil",
    "/etc/evil",
    "k\\",
    "l ??/",
    "m\\u000a#error",
    "n\x00\x1b[31m\x7f",
    "{{ 7 * 7 }}{% raw %}",
    "[bold]rich[/bold]",
    "%s%n%d",
)
FOREIGN = ("", " ", "_", "\u6a21\u578b", "na\u00efve", "\u202ertl", "\U0001f4a3", "é", "e\u0301")
LENGTHS = ("x" * 300, "x" * 299 + "y", "a.b." * 75)
NUMBERS = ("0", "0.weight", "7seven", "1e9", "-1", "3.14")
KEYWORDS = ("for", "template", "co_await", "and", "char16_t", "register", "wchar_t", "float16", "float_x16", "float_x4", "half",
            "int8_t", "size_t", "hls", "ap_int", "std", "pipeline", "dataflow", "stream", "signal", "module", "entity")
LIBRARY = ("select", "dup", "free", "random", "malloc", "exit", "read", "write", "pow", "powf", "y0", "link", "div", "index",
           "main", "NULL", "EOF", "M_PI", "assert", "errno", "linux", "I", "BUFSIZ", "INFINITY", "STC_KERNEL_H", "STC_LAYOUT_H")
OURS = ("maximum", "F32_INFINITY", "int_quotient", "stc_sim", "kernel", "tensor", "words", "word", "report", "dir", "argv", "lane",
        "load_x", "pack_x", "x_tensor", "x_buffer", "x_stream", "x_kernel", "pack_words", "row", "column", "token", "block")
RESERVED = ("__double", "_Upper", "a__b", "_", "__", "a_", "_a")
MEETING = ("a b", "a_b", "a.b", "a-b", "a/b", "A b", "A_B", "a_b2", "a_b_2")

COMPILED = (*INJECTIONS, *FOREIGN[:2], *FOREIGN[-2:], *LENGTHS[:2], NUMBERS[0], KEYWORDS[0], *KEYWORDS[8:10], *LIBRARY[:2],
            *LIBRARY[16:18], OURS[0], *OURS[12:14], *RESERVED[:2], *MEETING[:6])
"""Enough of each kind for whole projects, which take seconds."""

HOSTILE = (*INJECTIONS, *FOREIGN, *LENGTHS, *NUMBERS, *KEYWORDS, *LIBRARY, *OURS, *RESERVED, *MEETING)
