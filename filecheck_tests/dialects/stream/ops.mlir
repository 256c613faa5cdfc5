// RUN: stc-opt %s | stc-opt - --no-aliases | filecheck %s

!X = !itensor.itensor<1x8xf32, iter_space: [2, 2] * [1, 8], iter_map: (d0, d1) -> (d0, d1)>

func.func @ops(%x : !X, %m : memref<4xvector<8xf32>>) {
  dataflow.kernel @k() {
    // CHECK: %s = stream.create @fc_to_gelu : !stream.stream<vector<8xf32>, depth: 34>
    %s = stream.create @fc_to_gelu : !stream.stream<vector<8xf32>, depth: 34>
    // CHECK: %b = stream.buffer @conv : !stream.block<memref<16x64xf32>, count: 2>
    %b = stream.buffer @conv : !stream.block<memref<16x64xf32>, count: 2>
    // CHECK: %c = stream.cast %s : !stream.stream<vector<8xf32>, depth: 34> to !stream.stream<vector<4xi64>, depth: 34>
    %c = stream.cast %s : !stream.stream<vector<8xf32>, depth: 34> to !stream.stream<vector<4xi64>, depth: 34>
    // CHECK: dataflow.task @fill ins(%i = %s : !stream.stream<vector<8xf32>, depth: 34>) outs(%o = %b : !stream.block<memref<16x64xf32>, count: 2>, %p = %s : !stream
    dataflow.task @fill ins(%i = %s : !stream.stream<vector<8xf32>, depth: 34>)
                        outs(%o = %b : !stream.block<memref<16x64xf32>, count: 2>, %p = %s : !stream.stream<vector<8xf32>, depth: 34>) {
      // CHECK: %buffer = stream.acquire %o : !stream.block<memref<16x64xf32>, count: 2> -> memref<16x64xf32>
      %buffer = stream.acquire %o : !stream.block<memref<16x64xf32>, count: 2> -> memref<16x64xf32>
      // CHECK: %v = stream.read %i : !stream.stream<vector<8xf32>, depth: 34>
      %v = stream.read %i : !stream.stream<vector<8xf32>, depth: 34>
      // CHECK: stream.write %v into %p : !stream.stream<vector<8xf32>, depth: 34>
      stream.write %v into %p : !stream.stream<vector<8xf32>, depth: 34>
      // The terminator may be left out.
      // CHECK-NEXT: dataflow.yield
    }
    // CHECK: dataflow.task @writer outs(
    dataflow.task @writer outs(%o = %s : !stream.stream<vector<8xf32>, depth: 34>) {
    }
  }
  // CHECK: %f = stream.from_itensor %x : !itensor.itensor<1x8xf32, iter_space: [2, 2] * [1, 8], iter_map: (d0, d1) -> (d0, d1)> to !stream.stream<vector<8xf32>, depth: 2>
  %f = stream.from_itensor %x : !X to !stream.stream<vector<8xf32>, depth: 2>
  // CHECK: %t = stream.to_itensor %f : !stream.stream<vector<8xf32>, depth: 2> to !itensor
  %t = stream.to_itensor %f : !stream.stream<vector<8xf32>, depth: 2> to !X
  func.return
}
