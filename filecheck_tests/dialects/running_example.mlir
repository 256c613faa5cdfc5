// RUN: stc-opt %s | stc-opt - --no-aliases | filecheck %s

// The running example of docs/design/architecture.md: a matrix multiplication, then an element-wise function, first as two kernels whose
// conversions at the boundary are DMAs, then fused into one by a converter.

!X = !itensor.itensor<4x4xf32, iter_space: [2, 2, 3] * [4, 8, 4], iter_map: (d0, d1, d2) -> (d0, d2)>
!W = !itensor.itensor<4x8xf32, iter_space: [2, 2, 3] * [4, 8, 4], iter_map: (d0, d1, d2) -> (d2, d1)>
!H = !itensor.itensor<4x8xf32, iter_space: [2, 2] * [4, 8], iter_map: (d0, d1) -> (d0, d1)>
!H2 = !itensor.itensor<4x4xf32, iter_space: [2, 4] * [4, 4], iter_map: (d0, d1) -> (d0, d1)>

#id = affine_map<(d0, d1) -> (d0, d1)>

// CHECK-LABEL: func.func @unfused
func.func @unfused(%x : tensor<8x12xf32>, %w : tensor<12x16xf32>) -> tensor<8x16xf32> {
  // CHECK: %h = dataflow.kernel @fc(%a = %x : tensor<8x12xf32> as !itensor.itensor<4x4xf32, iter_space: [2, 2, 3] * [4, 8, 4], iter_map: (d0, d1, d2) -> (d0, d2)>, %b = %w : tensor<12x16xf32> as
  %h = dataflow.kernel @fc(%a = %x : tensor<8x12xf32> as !X, %b = %w : tensor<12x16xf32> as !W) -> (tensor<8x16xf32> as !H) {
    %e = itensor.empty : !H
    // CHECK: %r = dataflow.task @fc ins(%p = %a : {{.*}}, %q = %b : {{.*}}) outs(%o = %e : {{.*}}) -> !itensor.itensor<4x8xf32, iter_space: [2, 2] * [4, 8], iter_map: (d0, d1) -> (d0, d1)> {
    %r = dataflow.task @fc ins(%p = %a : !X, %q = %b : !W) outs(%o = %e : !H) -> !H {
      %c0 = arith.constant 0 : index
      %c4 = arith.constant 4 : index
      %c8 = arith.constant 8 : index
      %c12 = arith.constant 12 : index
      %c16 = arith.constant 16 : index
      %zero = arith.constant 0.0 : f32
      %tile = tensor.empty() : tensor<4x8xf32>
      %o3 = scf.for %i = %c0 to %c8 step %c4 iter_args(%o0 = %o) -> (!H) {
        %o2 = scf.for %j = %c0 to %c16 step %c8 iter_args(%o1 = %o0) -> (!H) {
          %zero_tile = linalg.fill ins(%zero : f32) outs(%tile : tensor<4x8xf32>) -> tensor<4x8xf32>
          %acc = scf.for %k = %c0 to %c12 step %c4 iter_args(%c = %zero_tile) -> (tensor<4x8xf32>) {
            // CHECK: %ta = itensor.read %p[%i, %j, %k] :
            %ta = itensor.read %p[%i, %j, %k] : !X -> tensor<4x4xf32>
            %tb = itensor.read %q[%i, %j, %k] : !W -> tensor<4x8xf32>
            %n = linalg.matmul ins(%ta, %tb : tensor<4x4xf32>, tensor<4x8xf32>) outs(%c : tensor<4x8xf32>) -> tensor<4x8xf32>
            scf.yield %n : tensor<4x8xf32>
          }
          // CHECK: itensor.write %acc into %o1[%i, %j] :
          %o4 = itensor.write %acc into %o1[%i, %j] : tensor<4x8xf32> -> !H
          scf.yield %o4 : !H
        }
        scf.yield %o2 : !H
      }
      dataflow.yield %o3 : !H
    }
    dataflow.yield %r : !H
  }
  // CHECK: %y = dataflow.kernel @gelu
  %y = dataflow.kernel @gelu(%a = %h : tensor<8x16xf32> as !H2) -> (tensor<8x16xf32> as !H2) {
    %e = itensor.empty : !H2
    %r = dataflow.task @gelu ins(%p = %a : !H2) outs(%o = %e : !H2) -> !H2 {
      %c0 = arith.constant 0 : index
      %c4 = arith.constant 4 : index
      %c8 = arith.constant 8 : index
      %c16 = arith.constant 16 : index
      %tile = tensor.empty() : tensor<4x4xf32>
      %o2 = scf.for %i = %c0 to %c8 step %c4 iter_args(%o0 = %o) -> (!H2) {
        %o1 = scf.for %j = %c0 to %c16 step %c4 iter_args(%oj = %o0) -> (!H2) {
          %t = itensor.read %p[%i, %j] : !H2 -> tensor<4x4xf32>
          %g = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%t : tensor<4x4xf32>) outs(%tile : tensor<4x4xf32>) {
          ^bb0(%in : f32, %out : f32):
            %th = math.tanh %in : f32
            %m = arith.mulf %in, %th : f32
            linalg.yield %m : f32
          } -> tensor<4x4xf32>
          %w = itensor.write %g into %oj[%i, %j] : tensor<4x4xf32> -> !H2
          scf.yield %w : !H2
        }
        scf.yield %o1 : !H2
      }
      dataflow.yield %o2 : !H2
    }
    dataflow.yield %r : !H2
  }
  func.return %y : tensor<8x16xf32>
}

// CHECK-LABEL: func.func @fused
func.func @fused(%h : tensor<8x16xf32>) -> tensor<8x16xf32> {
  %y = dataflow.kernel @fc_gelu(%r = %h : tensor<8x16xf32> as !H) -> (tensor<8x16xf32> as !H2) {
    // CHECK: %s = itensor.converter %r {shared_loops = 1, buffer_shape = [4, 16], blocks = 2} : {{.*}} to !itensor.itensor<4x4xf32, iter_space: [2, 4] * [4, 4]
    %s = itensor.converter %r {shared_loops = 1, buffer_shape = [4, 16], blocks = 2} : !H to !H2
    // CHECK: dataflow.yield %s
    dataflow.yield %s : !H2
  }
  func.return %y : tensor<8x16xf32>
}
