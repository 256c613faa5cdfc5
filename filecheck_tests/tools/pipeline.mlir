// RUN: stc-opt %s --pipeline 'compile{tile=2 budget="small"}' --until linalg-tiling | stc-opt - --from kernel-fusion --until insert-converters | filecheck %s
// RUN: stc-opt %s --pipeline 'compile{tile=2 budget="small"}' --until insert-converters --timing 2>&1 | filecheck %s --check-prefix=TIMING
// RUN: stc-opt --list-pipelines | filecheck %s --check-prefix=LIST

// The pipeline of `stc compile` in two parts; its time; what it consists of.
// CHECK: [[X:!itensor]] = !itensor.itensor<2xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0)>
// CHECK-LABEL: func.func @main(
// CHECK-NEXT: dataflow.kernel @main(%x_1 = %x : tensor<4xf32> as [[X]]) -> (tensor<4xf32> as [[X]]) {
// CHECK: itensor.read
// TIMING: seconds{{ +}}share{{ +}}pass
// TIMING: {{[0-9.]+ +[0-9.]+}} %  generalize-named-ops
// TIMING: {{[0-9.]+ +[0-9.]+}} %  share-subexpressions#2
// TIMING: {{[0-9.]+ +[0-9.]+}} %  insert-converters
// TIMING-NOT: insert-forks
// TIMING: {{[0-9.]+ +[0-9.]+}} %  (verify)
// TIMING: {{[0-9.]+ +}}100.0 %  total
// LIST: compile{platform: str
// LIST: linalg-optimisation
// LIST-NEXT: generalize-named-ops
// LIST: kernel-fusion
// LIST-NEXT: linalg-to-dataflow
// LIST: HLS-optimisation
func.func @main(%x: tensor<4xf32> {stc.name = "x"}) -> (tensor<4xf32> {stc.name = "y"}) {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.addf %a, %a : f32
    linalg.yield %b : f32
  } -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
