"""Passes on tasks over streams: from itensors down to what is printed."""

from stc.transforms.registry import passes_of

STREAM_PASSES = passes_of(
    __name__,
    {
        "lower-converters": "LowerConverters",
        "lower-layout": "LowerLayout",
        "lower-dmas": "LowerDmas",
        "lower-tasks": "LowerTasks",
        "mark-behind-layers": "MarkBehindLayers",
        "interleave-loads": "InterleaveLoads",
        "share-ports": "SharePorts",
        "load-in-turn": "LoadInTurn",
        "share-contractions": "ShareContractions",
        "set-fifo-depths": "SetFifoDepths",
        "duplicate-loads": "DuplicateLoads",
        "lower-linalg-to-loops": "LowerLinalgToLoops",
        "allow-unsafe-math": "AllowUnsafeMath",
        "hoist-constants": "HoistConstants",
        "expand-partial-sums": "ExpandPartialSums",
        "fuse-writes": "FuseWrites",
        "fuse-reads": "FuseReads",
        "sink-reads": "SinkReads",
        "build-adder-trees": "BuildAdderTrees",
        "hls-directives": "HlsDirectives",
        "merge-banks": "MergeBanks",
        "relax-intervals": "RelaxIntervals",
        "assign-units": "AssignUnits",
        "assign-dies": "AssignDies",
        "repeat-layers": "RepeatLayers",
        "send-scalars": "SendScalars",
        "apply-measurements": "ApplyMeasurements",
        "size-fifos": "SizeFifos",
        "choose-storage": "ChooseStorage",
        "verify-bounds": "VerifyBounds",
    },
)
