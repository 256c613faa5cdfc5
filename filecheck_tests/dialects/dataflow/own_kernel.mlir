// RUN: stc-opt %s | stc-opt - --no-aliases | filecheck %s
// RUN: stc-opt %s --print-op-generic | stc-opt - --no-aliases | filecheck %s
// RUN: stc-opt %s -p lower-tasks --no-aliases | stc-opt - --no-aliases | filecheck %s --check-prefix=STREAMS

// The body of a task is a C++ function: what it declares is printed and read, also as loops over streams.

!V = !itensor.itensor<4xf32, iter_space: [6] * [4], iter_map: (d0) -> (d0)>
func.func @f(%x: tensor<24xf32>) -> tensor<24xf32> {
  %y = dataflow.kernel @k(%a = %x : tensor<24xf32> as !V) -> (tensor<24xf32> as !V) {
    %e = itensor.empty : !V
    %r = dataflow.task @t ins(%p = %a : !V) outs(%o = %e : !V) -> !V {
      %s = dataflow.own_kernel @twice<4> ins(%p : !V) outs(%o : !V) -> !V {file = "twice.cpp", source = "...", loops = [#dataflow.own_loop<"tokens", trips = [2, 8], ii = 1, depth = 7, ports = [[0 to 2, 0 to 3], [0 to 2, 5 to 8]]>], resources = {dsp = 12 : i64}}
      dataflow.yield %s : !V
    }
    dataflow.yield %r : !V
  }
  func.return %y : tensor<24xf32>
}

// CHECK: %[[S:.*]] = dataflow.own_kernel @twice<4> ins(%[[P:.*]] : [[V:!itensor.itensor<.*>]]) outs(%[[O:.*]] : [[V]]) -> [[V]] {file = "twice.cpp"
// CHECK-SAME: source = "..."
// CHECK-SAME: loops = [#dataflow.own_loop<"tokens", trips = [2, 8], ii = 1, depth = 7, ports = {{\[\[}}0 to 2, 0 to 3], [0 to 2, 5 to 8]]>]

// STREAMS: dataflow.own_kernel @twice<4> ins(%[[P:.*]] : !stream.stream<vector<4xf32>, depth: 2>) outs(%[[O:.*]] : !stream.stream<vector<4xf32>, depth: 2>)
// STREAMS-SAME: ports = [!itensor.itensor<4xf32, iter_space: [6] * [4], iter_map: (d0) -> (d0)>
// STREAMS-SAME: model {
// STREAMS-NEXT: ^bb{{.*}}(%[[T:.*]]: vector<4xf32>):
// STREAMS: scf.for
// STREAMS: scf.for %[[J:.*]] = 
// STREAMS: %[[READS:.*]] = arith.cmpi slt, %[[J]], %c3 : index
// STREAMS-NEXT: scf.if %[[READS]] {
// STREAMS-NEXT: stream.read %[[P]]
// STREAMS: %[[WRITES:.*]] = arith.cmpi sge, %[[J]], %c5 : index
// STREAMS-NEXT: scf.if %[[WRITES]] {
// STREAMS-NEXT: stream.write %[[T]] into %[[O]]
// STREAMS: stc.label = "tokens", stc.depth = 7 : i32, stc.pipeline = 1 : i32
