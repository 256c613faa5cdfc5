#!/usr/bin/env bash
# Part of the pipeline on a file: linear_relu.mlir tiled, then as dataflow kernels over itensors, then as one kernel.
#
#     examples/levels.sh FOLDER
#
# Every level is text that parses and verifies: FOLDER holds the IR after each pass, and stc-opt goes on from any of them.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
[ $# = 1 ] || { echo "usage: examples/levels.sh FOLDER" >&2; exit 2; }
folder=$1

stc-opt "$here/linear_relu.mlir" --print-ir-to "$folder/linalg" -o "$folder/tiled.mlir" \
  -p 'generalize-named-ops,fold-fills,name-ops,default-tile-size{size=4 lanes=4},tile-linalg'

stc-opt "$folder/tiled.mlir" -p 'linalg-to-dataflow' -o "$folder/kernels.mlir"
stc-opt "$folder/kernels.mlir" -p 'choose-groups{on-chip=100000},merge-kernels,trim-boundaries,insert-converters' -o "$folder/fused.mlir"

echo "kernels before fusion: $(grep -c 'dataflow.kernel' "$folder/kernels.mlir"), after: $(grep -c 'dataflow.kernel' "$folder/fused.mlir")"
grep 'dataflow.task' "$folder/fused.mlir"
