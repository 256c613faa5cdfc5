"""Passes on tasks over streams: from itensors down to what is printed."""

from stc.transforms.registry import passes_of

STREAM_PASSES = passes_of(
    __name__,
    {
        "lower-converters": "LowerConverters",
        "lower-layout": "LowerLayout",
        "lower-dmas": "LowerDmas",
        "lower-tasks": "LowerTasks",
        "set-fifo-depths": "SetFifoDepths",
        "reread-inputs": "RereadInputs",
        "expand-tiles": "ExpandTiles",
        "allow-unsafe-math": "AllowUnsafeMath",
        "hoist-constants": "HoistConstants",
        "interleave-sums": "InterleaveSums",
        "hls-directives": "HlsDirectives",
        "size-fifos": "SizeFifos",
        "verify-bounds": "VerifyBounds",
    },
)
