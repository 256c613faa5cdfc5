// RUN: stc-opt %s -p 'choose-converters' --split-input-file | filecheck %s
// RUN: stc-opt %s -p 'choose-converters{serial=always}' --split-input-file | filecheck %s --check-prefix=ALWAYS
// RUN: stc-opt %s -p 'choose-converters{serial=never}' --split-input-file | filecheck %s --check-prefix=NEVER

// Windows of three rows: nothing can leave before the tensor is there, or line by line, which is no slower for rows as long as these.
!Rows = !itensor.itensor<1x16xf32, iter_space: [48, 256] * [1, 16], iter_map: (d0, d1) -> (d0, d1)>
!Windows = !itensor.itensor<1x16xf32, iter_space: [46, 256, 3] * [1, 16, 1], iter_map: (d0, d1, d2) -> (d0 + d2, d1)>
!Out = !itensor.itensor<1x16xf32, iter_space: [46, 256] * [1, 16], iter_map: (d0, d1) -> (d0, d1)>
// CHECK-LABEL: @long_windows
// ALWAYS-LABEL: @long_windows
// NEVER-LABEL: @long_windows
func.func @long_windows(%x: tensor<48x4096xf32>) -> tensor<46x4096xf32> {
  // CHECK: itensor.converter %p {shared_loops = 0, buffer_shape = [3, 4096], blocks = 1, window = 0} :
  // ALWAYS: itensor.converter %p {shared_loops = 0, buffer_shape = [3, 4096], blocks = 1, window = 0} :
  // NEVER: itensor.converter %p {shared_loops = 0, buffer_shape = [48, 4096], blocks = 1} :
  %r = dataflow.kernel @k(%p = %x : tensor<48x4096xf32> as !Rows) -> (tensor<46x4096xf32> as !Out) {
    %c = itensor.converter %p {shared_loops = 0, buffer_shape = [48, 4096], blocks = 1} : !Rows to !Windows
    %e = itensor.empty : !Out
    %y = dataflow.task @sum ins(%a = %c : !Windows) outs(%o = %e : !Out) -> !Out {
      dataflow.yield %o : !Out
    }
    dataflow.yield %y : !Out
  }
  func.return %r : tensor<46x4096xf32>
}

// -----

// Rows of one token: to start a loop nest for each would take longer than the tokens do.
!Rows = !itensor.itensor<1x16xf32, iter_space: [48] * [1], iter_map: (d0) -> (d0, 0)>
!Windows = !itensor.itensor<1x8xf32, iter_space: [46, 2, 3] * [1, 8, 1], iter_map: (d0, d1, d2) -> (d0 + d2, d1)>
!Out = !itensor.itensor<1x8xf32, iter_space: [46, 2] * [1, 8], iter_map: (d0, d1) -> (d0, d1)>
// CHECK-LABEL: @short_windows
// ALWAYS-LABEL: @short_windows
// NEVER-LABEL: @short_windows
func.func @short_windows(%x: tensor<48x16xf32>) -> tensor<46x16xf32> {
  // CHECK: itensor.converter %p {shared_loops = 0, buffer_shape = [48, 16], blocks = 1} :
  // ALWAYS: itensor.converter %p {shared_loops = 0, buffer_shape = [3, 16], blocks = 1, window = 0} :
  // NEVER: itensor.converter %p {shared_loops = 0, buffer_shape = [48, 16], blocks = 1} :
  %r = dataflow.kernel @k(%p = %x : tensor<48x16xf32> as !Rows) -> (tensor<46x16xf32> as !Out) {
    %c = itensor.converter %p {shared_loops = 0, buffer_shape = [48, 16], blocks = 1} : !Rows to !Windows
    %e = itensor.empty : !Out
    %y = dataflow.task @sum ins(%a = %c : !Windows) outs(%o = %e : !Out) -> !Out {
      dataflow.yield %o : !Out
    }
    dataflow.yield %y : !Out
  }
  func.return %r : tensor<46x16xf32>
}

// -----

// 32 tokens come straight from memory, while 4096 tokens of weights pass by: one block will do. What a task sends out keeps two.
!Rows = !itensor.itensor<1x4xf32, iter_space: [4, 4, 2] * [4, 1, 4], iter_map: (d0, d1, d2) -> (d0 + d1, d2)>
!Columns = !itensor.itensor<1x4xf32, iter_space: [4, 2, 4] * [4, 4, 1], iter_map: (d0, d1, d2) -> (d0 + d2, d1)>
!Weights = !itensor.itensor<1x4xf32, iter_space: [4096] * [1], iter_map: (d0) -> (d0, 0)>
// CHECK-LABEL: @small_side
// ALWAYS-LABEL: @small_side
// NEVER-LABEL: @small_side
func.func @small_side(%x: tensor<16x8xf32>, %w: tensor<4096x4xf32>) -> tensor<16x8xf32> {
  // CHECK: itensor.converter %p {shared_loops = 1, buffer_shape = [4, 8], blocks = 1} :
  // CHECK: itensor.converter %y {shared_loops = 1, buffer_shape = [4, 8], blocks = 2} :
  // ALWAYS: itensor.converter %p {shared_loops = 1, buffer_shape = [4, 8], blocks = 1} :
  // ALWAYS: itensor.converter %y {shared_loops = 1, buffer_shape = [4, 8], blocks = 1} :
  // NEVER: itensor.converter %p {shared_loops = 1, buffer_shape = [4, 8], blocks = 2} :
  // NEVER: itensor.converter %y {shared_loops = 1, buffer_shape = [4, 8], blocks = 2} :
  %r = dataflow.kernel @k(%p = %x : tensor<16x8xf32> as !Rows, %q = %w : tensor<4096x4xf32> as !Weights) -> (tensor<16x8xf32> as !Rows) {
    %c = itensor.converter %p {shared_loops = 1, buffer_shape = [4, 8], blocks = 2} : !Rows to !Columns
    %e = itensor.empty : !Rows
    %y = dataflow.task @work ins(%a = %c : !Columns, %b = %q : !Weights) outs(%o = %e : !Rows) -> !Rows {
      dataflow.yield %o : !Rows
    }
    %d = itensor.converter %y {shared_loops = 1, buffer_shape = [4, 8], blocks = 2} : !Rows to !Columns
    %f = itensor.empty : !Rows
    %z = dataflow.task @more ins(%a = %d : !Columns) outs(%o = %f : !Rows) -> !Rows {
      dataflow.yield %o : !Rows
    }
    dataflow.yield %z : !Rows
  }
  func.return %r : tensor<16x8xf32>
}

// -----

// Of tokens that are vectors more loops may be the same than of tiles: both sides go row by row.
!Wide = !itensor.itensor<1x4xf32, iter_space: [8, 4, 4] * [4, 1, 4], iter_map: (d0, d1, d2) -> (d0 + d1, d2)>
!Twice = !itensor.itensor<1x4xf32, iter_space: [16, 2, 2, 4] * [2, 1, 1, 4], iter_map: (d0, d1, d2, d3) -> (d0 + d2, d3)>
// CHECK-LABEL: @finer_loops
// ALWAYS-LABEL: @finer_loops
// NEVER-LABEL: @finer_loops
func.func @finer_loops(%x: tensor<32x16xf32>) -> tensor<32x16xf32> {
  // CHECK: itensor.converter %p_1 {shared_loops = 1, buffer_shape = [2, 16], blocks = 2} :
  // ALWAYS: itensor.converter %p_1 {shared_loops = 1, buffer_shape = [2, 16], blocks = 1} :
  // NEVER: itensor.converter %p_1 {shared_loops = 1, buffer_shape = [2, 16], blocks = 2} :
  %r = dataflow.kernel @k(%p = %x : tensor<32x16xf32> as !Wide) -> (tensor<32x16xf32> as !Twice) {
    %c = itensor.converter %p {shared_loops = 0, buffer_shape = [32, 16], blocks = 1} : !Wide to !Twice
    dataflow.yield %c : !Twice
  }
  func.return %r : tensor<32x16xf32>
}
