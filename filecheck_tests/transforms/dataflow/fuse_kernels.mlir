// RUN: stc-opt %s -p 'fuse-kernels{budget=800 kernel-name="acc"}' --split-input-file | filecheck %s

// Equal orders meet directly.
// SHOW: kernel|itensor.converter|itensor.cast|itensor.chunk|dataflow.task|^      dataflow.yield|return|collapse
func.func @direct(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %n = dataflow.kernel @n(%x_1 = %x : tensor<4x6xf32> as !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>) -> (tensor<4x6xf32> as !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>) attributes {stc.name = "n"} {
    %0 = itensor.empty : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
    %1 = dataflow.task @n ins(%x_2 = %x_1 : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>) outs(%out = %0 : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>) -> !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)> attributes {stc.name = "n"} {
      %c0 = arith.constant 0 : index
      %c4 = arith.constant 4 : index
      %c2 = arith.constant 2 : index
      %c6 = arith.constant 6 : index
      %c3 = arith.constant 3 : index
      %n_1 = scf.for %i = %c0 to %c4 step %c2 iter_args(%2 = %out) -> (!itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>) {
        %3 = scf.for %j = %c0 to %c6 step %c3 iter_args(%4 = %2) -> (!itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>) {
          %5 = itensor.read %x_2[%i, %j] : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)> -> tensor<2x3xf32>
          %6 = tensor.empty() : tensor<2x3xf32>
          %7 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%5 : tensor<2x3xf32>) outs(%6 : tensor<2x3xf32>) attrs = {stc.name = "n", stc.schedule = #dataflow.schedule<tile = [2, 3], order = [0, 1], unroll = [1, 1], vector = []>, stc.tile = "n"} {
          ^bb0(%a0: f32, %o0: f32):
            %t0 = arith.negf %a0 : f32
            linalg.yield %t0 : f32
          } -> tensor<2x3xf32>
          %8 = itensor.write %7 into %4[%i, %j] : tensor<2x3xf32> -> !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
          scf.yield %8 : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
        }
        scf.yield %3 : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
      }
      dataflow.yield %n_1 : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
    }
    dataflow.yield %1 : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
  }
  %y = dataflow.kernel @y(%n_1 = %n : tensor<4x6xf32> as !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>) -> (tensor<4x6xf32> as !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>) attributes {stc.name = "y"} {
    %0 = itensor.empty : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
    %1 = dataflow.task @y ins(%n_2 = %n_1 : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>) outs(%out = %0 : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>) -> !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)> attributes {stc.name = "y"} {
      %c0 = arith.constant 0 : index
      %c4 = arith.constant 4 : index
      %c2 = arith.constant 2 : index
      %c6 = arith.constant 6 : index
      %c3 = arith.constant 3 : index
      %y_1 = scf.for %i = %c0 to %c4 step %c2 iter_args(%2 = %out) -> (!itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>) {
        %3 = scf.for %j = %c0 to %c6 step %c3 iter_args(%4 = %2) -> (!itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>) {
          %5 = itensor.read %n_2[%i, %j] : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)> -> tensor<2x3xf32>
          %6 = tensor.empty() : tensor<2x3xf32>
          %7 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%5 : tensor<2x3xf32>) outs(%6 : tensor<2x3xf32>) attrs = {stc.name = "y", stc.schedule = #dataflow.schedule<tile = [2, 3], order = [0, 1], unroll = [1, 1], vector = []>, stc.tile = "y"} {
          ^bb0(%a0: f32, %o0: f32):
            %t0 = arith.negf %a0 : f32
            linalg.yield %t0 : f32
          } -> tensor<2x3xf32>
          %8 = itensor.write %7 into %4[%i, %j] : tensor<2x3xf32> -> !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
          scf.yield %8 : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
        }
        scf.yield %3 : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
      }
      dataflow.yield %y_1 : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
    }
    dataflow.yield %1 : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
  }
  func.return %y : tensor<4x6xf32>
}

// CHECK: !itensor = !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @direct(
// CHECK-NEXT: %y = dataflow.kernel @acc(%x_1 = %x : tensor<4x6xf32> as !itensor) -> (tensor<4x6xf32> as !itensor) {
// CHECK: %n = dataflow.task @n ins(%x_2 = %x_1 : !itensor) outs(%out = %0 : !itensor) -> !itensor attributes {stc.name = "n"} {
// CHECK: %y_1 = dataflow.task @y ins(%n_1 = %n : !itensor) outs(%out = %1 : !itensor) -> !itensor attributes {stc.name = "y"} {
// CHECK: dataflow.yield %y_1 : !itensor
// CHECK: func.return %y : tensor<4x6xf32>

// -----

// Types that differ in spelling only (4 steps of 1, 2 x 2 steps of 1) meet through a cast.
// SHOW: kernel|itensor.converter|itensor.cast|itensor.chunk|dataflow.task|^      dataflow.yield|return|collapse
!S = !itensor.itensor<1xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0)>
!T = !itensor.itensor<1xf32, iter_space: [2, 2] * [2, 1], iter_map: (d0, d1) -> (d0 + d1)>
func.func @cast(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = dataflow.kernel @first(%p = %x : tensor<4xf32> as !S) -> (tensor<4xf32> as !S) {
    dataflow.yield %p : !S
  }
  %b = dataflow.kernel @second(%p = %a : tensor<4xf32> as !T) -> (tensor<4xf32> as !T) {
    dataflow.yield %p : !T
  }
  func.return %b : tensor<4xf32>
}

// CHECK: !itensor = !itensor.itensor<1xf32, iter_space: [4] * [1], iter_map: (d0) -> (d0)>
// CHECK: !itensor1 = !itensor.itensor<1xf32, iter_space: [2, 2] * [2, 1], iter_map: (d0, d1) -> (d0 + d1)>
// CHECK-LABEL: func.func @cast(
// CHECK-NEXT: %b = dataflow.kernel @acc(%a = %x : tensor<4xf32> as !itensor) -> (tensor<4xf32> as !itensor1) {
// CHECK-NEXT: %b_1 = itensor.cast %a : !itensor to !itensor1
// CHECK-NEXT: dataflow.yield %b_1 : !itensor1
// CHECK: func.return %b : tensor<4xf32>

// -----

// Orders that differ meet through a converter; the loop over rows is shared, so two blocks of two rows suffice.
// SHOW: kernel|itensor.converter|itensor.cast|itensor.chunk|dataflow.task|^      dataflow.yield|return|collapse
func.func @converter_shared(%x: tensor<8x6xf32>) -> tensor<8x6xf32> {
  %n = dataflow.kernel @n(%x_1 = %x : tensor<8x6xf32> as !itensor.itensor<2x3xf32, iter_space: [4, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>) -> (tensor<8x6xf32> as !itensor.itensor<2x3xf32, iter_space: [4, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>) attributes {stc.name = "n"} {
    %0 = itensor.empty : !itensor.itensor<2x3xf32, iter_space: [4, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
    %1 = dataflow.task @n ins(%x_2 = %x_1 : !itensor.itensor<2x3xf32, iter_space: [4, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>) outs(%out = %0 : !itensor.itensor<2x3xf32, iter_space: [4, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>) -> !itensor.itensor<2x3xf32, iter_space: [4, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)> attributes {stc.name = "n"} {
      %c0 = arith.constant 0 : index
      %c8 = arith.constant 8 : index
      %c2 = arith.constant 2 : index
      %c6 = arith.constant 6 : index
      %c3 = arith.constant 3 : index
      %n_1 = scf.for %i = %c0 to %c8 step %c2 iter_args(%2 = %out) -> (!itensor.itensor<2x3xf32, iter_space: [4, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>) {
        %3 = scf.for %j = %c0 to %c6 step %c3 iter_args(%4 = %2) -> (!itensor.itensor<2x3xf32, iter_space: [4, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>) {
          %5 = itensor.read %x_2[%i, %j] : !itensor.itensor<2x3xf32, iter_space: [4, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)> -> tensor<2x3xf32>
          %6 = tensor.empty() : tensor<2x3xf32>
          %7 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%5 : tensor<2x3xf32>) outs(%6 : tensor<2x3xf32>) attrs = {stc.name = "n", stc.schedule = #dataflow.schedule<tile = [2, 3], order = [0, 1], unroll = [1, 1], vector = []>, stc.tile = "n"} {
          ^bb0(%a0: f32, %o0: f32):
            %t0 = arith.negf %a0 : f32
            linalg.yield %t0 : f32
          } -> tensor<2x3xf32>
          %8 = itensor.write %7 into %4[%i, %j] : tensor<2x3xf32> -> !itensor.itensor<2x3xf32, iter_space: [4, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
          scf.yield %8 : !itensor.itensor<2x3xf32, iter_space: [4, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
        }
        scf.yield %3 : !itensor.itensor<2x3xf32, iter_space: [4, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
      }
      dataflow.yield %n_1 : !itensor.itensor<2x3xf32, iter_space: [4, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
    }
    dataflow.yield %1 : !itensor.itensor<2x3xf32, iter_space: [4, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
  }
  %y = dataflow.kernel @y(%n_1 = %n : tensor<8x6xf32> as !itensor.itensor<2x2xf32, iter_space: [4, 3] * [2, 2], iter_map: (d0, d1) -> (d0, d1)>) -> (tensor<8x6xf32> as !itensor.itensor<2x2xf32, iter_space: [4, 3] * [2, 2], iter_map: (d0, d1) -> (d0, d1)>) attributes {stc.name = "y"} {
    %0 = itensor.empty : !itensor.itensor<2x2xf32, iter_space: [4, 3] * [2, 2], iter_map: (d0, d1) -> (d0, d1)>
    %1 = dataflow.task @y ins(%n_2 = %n_1 : !itensor.itensor<2x2xf32, iter_space: [4, 3] * [2, 2], iter_map: (d0, d1) -> (d0, d1)>) outs(%out = %0 : !itensor.itensor<2x2xf32, iter_space: [4, 3] * [2, 2], iter_map: (d0, d1) -> (d0, d1)>) -> !itensor.itensor<2x2xf32, iter_space: [4, 3] * [2, 2], iter_map: (d0, d1) -> (d0, d1)> attributes {stc.name = "y"} {
      %c0 = arith.constant 0 : index
      %c8 = arith.constant 8 : index
      %c2 = arith.constant 2 : index
      %c6 = arith.constant 6 : index
      %y_1 = scf.for %i = %c0 to %c8 step %c2 iter_args(%2 = %out) -> (!itensor.itensor<2x2xf32, iter_space: [4, 3] * [2, 2], iter_map: (d0, d1) -> (d0, d1)>) {
        %3 = scf.for %j = %c0 to %c6 step %c2 iter_args(%4 = %2) -> (!itensor.itensor<2x2xf32, iter_space: [4, 3] * [2, 2], iter_map: (d0, d1) -> (d0, d1)>) {
          %5 = itensor.read %n_2[%i, %j] : !itensor.itensor<2x2xf32, iter_space: [4, 3] * [2, 2], iter_map: (d0, d1) -> (d0, d1)> -> tensor<2x2xf32>
          %6 = tensor.empty() : tensor<2x2xf32>
          %7 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%5 : tensor<2x2xf32>) outs(%6 : tensor<2x2xf32>) attrs = {stc.name = "y", stc.schedule = #dataflow.schedule<tile = [2, 2], order = [0, 1], unroll = [1, 1], vector = []>, stc.tile = "y"} {
          ^bb0(%a0: f32, %o0: f32):
            %t0 = arith.negf %a0 : f32
            linalg.yield %t0 : f32
          } -> tensor<2x2xf32>
          %8 = itensor.write %7 into %4[%i, %j] : tensor<2x2xf32> -> !itensor.itensor<2x2xf32, iter_space: [4, 3] * [2, 2], iter_map: (d0, d1) -> (d0, d1)>
          scf.yield %8 : !itensor.itensor<2x2xf32, iter_space: [4, 3] * [2, 2], iter_map: (d0, d1) -> (d0, d1)>
        }
        scf.yield %3 : !itensor.itensor<2x2xf32, iter_space: [4, 3] * [2, 2], iter_map: (d0, d1) -> (d0, d1)>
      }
      dataflow.yield %y_1 : !itensor.itensor<2x2xf32, iter_space: [4, 3] * [2, 2], iter_map: (d0, d1) -> (d0, d1)>
    }
    dataflow.yield %1 : !itensor.itensor<2x2xf32, iter_space: [4, 3] * [2, 2], iter_map: (d0, d1) -> (d0, d1)>
  }
  func.return %y : tensor<8x6xf32>
}

// CHECK: !itensor = !itensor.itensor<2x3xf32, iter_space: [4, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
// CHECK: !itensor1 = !itensor.itensor<2x2xf32, iter_space: [4, 3] * [2, 2], iter_map: (d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @converter_shared(
// CHECK-NEXT: %y = dataflow.kernel @acc(%x_1 = %x : tensor<8x6xf32> as !itensor) -> (tensor<8x6xf32> as !itensor1) {
// CHECK: %n = dataflow.task @n ins(%x_2 = %x_1 : !itensor) outs(%out = %0 : !itensor) -> !itensor attributes {stc.name = "n"} {
// CHECK: %n_1 = itensor.converter %n {shared_loops = 1, buffer_shape = [2, 6], blocks = 2} : !itensor to !itensor1
// CHECK: %y_1 = dataflow.task @y ins(%n_2 = %n_1 : !itensor1) outs(%out = %1 : !itensor1) -> !itensor1 attributes {stc.name = "y"} {
// CHECK: dataflow.yield %y_1 : !itensor1
// CHECK: func.return %y : tensor<8x6xf32>

// -----

// No loop is shared between rows outside and columns outside: one block holds everything.
// SHOW: kernel|itensor.converter|itensor.cast|itensor.chunk|dataflow.task|^      dataflow.yield|return|collapse
func.func @converter_whole(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %n = dataflow.kernel @n(%x_1 = %x : tensor<4x6xf32> as !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>) -> (tensor<4x6xf32> as !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>) attributes {stc.name = "n"} {
    %0 = itensor.empty : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
    %1 = dataflow.task @n ins(%x_2 = %x_1 : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>) outs(%out = %0 : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>) -> !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)> attributes {stc.name = "n"} {
      %c0 = arith.constant 0 : index
      %c4 = arith.constant 4 : index
      %c2 = arith.constant 2 : index
      %c6 = arith.constant 6 : index
      %c3 = arith.constant 3 : index
      %n_1 = scf.for %i = %c0 to %c4 step %c2 iter_args(%2 = %out) -> (!itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>) {
        %3 = scf.for %j = %c0 to %c6 step %c3 iter_args(%4 = %2) -> (!itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>) {
          %5 = itensor.read %x_2[%i, %j] : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)> -> tensor<2x3xf32>
          %6 = tensor.empty() : tensor<2x3xf32>
          %7 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%5 : tensor<2x3xf32>) outs(%6 : tensor<2x3xf32>) attrs = {stc.name = "n", stc.schedule = #dataflow.schedule<tile = [2, 3], order = [0, 1], unroll = [1, 1], vector = []>, stc.tile = "n"} {
          ^bb0(%a0: f32, %o0: f32):
            %t0 = arith.negf %a0 : f32
            linalg.yield %t0 : f32
          } -> tensor<2x3xf32>
          %8 = itensor.write %7 into %4[%i, %j] : tensor<2x3xf32> -> !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
          scf.yield %8 : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
        }
        scf.yield %3 : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
      }
      dataflow.yield %n_1 : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
    }
    dataflow.yield %1 : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
  }
  %y = dataflow.kernel @y(%n_1 = %n : tensor<4x6xf32> as !itensor.itensor<2x3xf32, iter_space: [2, 2] * [3, 2], iter_map: (d0, d1) -> (d1, d0)>) -> (tensor<4x6xf32> as !itensor.itensor<2x3xf32, iter_space: [2, 2] * [3, 2], iter_map: (d0, d1) -> (d1, d0)>) attributes {stc.name = "y"} {
    %0 = itensor.empty : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [3, 2], iter_map: (d0, d1) -> (d1, d0)>
    %1 = dataflow.task @y ins(%n_2 = %n_1 : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [3, 2], iter_map: (d0, d1) -> (d1, d0)>) outs(%out = %0 : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [3, 2], iter_map: (d0, d1) -> (d1, d0)>) -> !itensor.itensor<2x3xf32, iter_space: [2, 2] * [3, 2], iter_map: (d0, d1) -> (d1, d0)> attributes {stc.name = "y"} {
      %c0 = arith.constant 0 : index
      %c6 = arith.constant 6 : index
      %c3 = arith.constant 3 : index
      %c4 = arith.constant 4 : index
      %c2 = arith.constant 2 : index
      %y_1 = scf.for %j = %c0 to %c6 step %c3 iter_args(%2 = %out) -> (!itensor.itensor<2x3xf32, iter_space: [2, 2] * [3, 2], iter_map: (d0, d1) -> (d1, d0)>) {
        %3 = scf.for %i = %c0 to %c4 step %c2 iter_args(%4 = %2) -> (!itensor.itensor<2x3xf32, iter_space: [2, 2] * [3, 2], iter_map: (d0, d1) -> (d1, d0)>) {
          %5 = itensor.read %n_2[%j, %i] : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [3, 2], iter_map: (d0, d1) -> (d1, d0)> -> tensor<2x3xf32>
          %6 = tensor.empty() : tensor<2x3xf32>
          %7 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%5 : tensor<2x3xf32>) outs(%6 : tensor<2x3xf32>) attrs = {stc.name = "y", stc.schedule = #dataflow.schedule<tile = [2, 3], order = [1, 0], unroll = [1, 1], vector = []>, stc.tile = "y"} {
          ^bb0(%a0: f32, %o0: f32):
            %t0 = arith.negf %a0 : f32
            linalg.yield %t0 : f32
          } -> tensor<2x3xf32>
          %8 = itensor.write %7 into %4[%j, %i] : tensor<2x3xf32> -> !itensor.itensor<2x3xf32, iter_space: [2, 2] * [3, 2], iter_map: (d0, d1) -> (d1, d0)>
          scf.yield %8 : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [3, 2], iter_map: (d0, d1) -> (d1, d0)>
        }
        scf.yield %3 : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [3, 2], iter_map: (d0, d1) -> (d1, d0)>
      }
      dataflow.yield %y_1 : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [3, 2], iter_map: (d0, d1) -> (d1, d0)>
    }
    dataflow.yield %1 : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [3, 2], iter_map: (d0, d1) -> (d1, d0)>
  }
  func.return %y : tensor<4x6xf32>
}

// CHECK: !itensor = !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
// CHECK: !itensor1 = !itensor.itensor<2x3xf32, iter_space: [2, 2] * [3, 2], iter_map: (d0, d1) -> (d1, d0)>
// CHECK-LABEL: func.func @converter_whole(
// CHECK-NEXT: %y = dataflow.kernel @acc(%x_1 = %x : tensor<4x6xf32> as !itensor) -> (tensor<4x6xf32> as !itensor1) {
// CHECK: %n = dataflow.task @n ins(%x_2 = %x_1 : !itensor) outs(%out = %0 : !itensor) -> !itensor attributes {stc.name = "n"} {
// CHECK: %n_1 = itensor.converter %n {shared_loops = 0, buffer_shape = [4, 6], blocks = 1} : !itensor to !itensor1
// CHECK: %y_1 = dataflow.task @y ins(%n_2 = %n_1 : !itensor1) outs(%out = %1 : !itensor1) -> !itensor1 attributes {stc.name = "y"} {
// CHECK: dataflow.yield %y_1 : !itensor1
// CHECK: func.return %y : tensor<4x6xf32>

// -----

// A reader that revisits needs a converter, though it sees the same tiles in the same order.
// SHOW: kernel|itensor.converter|itensor.cast|itensor.chunk|dataflow.task|^      dataflow.yield|return|collapse
func.func @revisits(%x: tensor<4x3xf32>, %w: tensor<3x6xf32>) -> tensor<4x6xf32> {
  %n = dataflow.kernel @n(%x_1 = %x : tensor<4x3xf32> as !itensor.itensor<2x3xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0, 0)>) -> (tensor<4x3xf32> as !itensor.itensor<2x3xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0, 0)>) attributes {stc.name = "n"} {
    %0 = itensor.empty : !itensor.itensor<2x3xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0, 0)>
    %1 = dataflow.task @n ins(%x_2 = %x_1 : !itensor.itensor<2x3xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0, 0)>) outs(%out = %0 : !itensor.itensor<2x3xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0, 0)>) -> !itensor.itensor<2x3xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0, 0)> attributes {stc.name = "n"} {
      %c0 = arith.constant 0 : index
      %c4 = arith.constant 4 : index
      %c2 = arith.constant 2 : index
      %n_1 = scf.for %i = %c0 to %c4 step %c2 iter_args(%2 = %out) -> (!itensor.itensor<2x3xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0, 0)>) {
        %3 = itensor.read %x_2[%i] : !itensor.itensor<2x3xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0, 0)> -> tensor<2x3xf32>
        %4 = tensor.empty() : tensor<2x3xf32>
        %5 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%3 : tensor<2x3xf32>) outs(%4 : tensor<2x3xf32>) attrs = {stc.name = "n", stc.schedule = #dataflow.schedule<tile = [2, 3], order = [0, 1], unroll = [1, 1], vector = []>, stc.tile = "n"} {
        ^bb0(%a0: f32, %o0: f32):
          %t0 = arith.negf %a0 : f32
          linalg.yield %t0 : f32
        } -> tensor<2x3xf32>
        %6 = itensor.write %5 into %2[%i] : tensor<2x3xf32> -> !itensor.itensor<2x3xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0, 0)>
        scf.yield %6 : !itensor.itensor<2x3xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0, 0)>
      }
      dataflow.yield %n_1 : !itensor.itensor<2x3xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0, 0)>
    }
    dataflow.yield %1 : !itensor.itensor<2x3xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0, 0)>
  }
  %y = dataflow.kernel @y(%w_1 = %w : tensor<3x6xf32> as !itensor.itensor<3x2xf32, iter_space: [3] * [2], iter_map: (d0) -> (0, d0)>, %n_1 = %n : tensor<4x3xf32> as !itensor.itensor<2x3xf32, iter_space: [3, 2] * [2, 2], iter_map: (d0, d1) -> (d1, 0)>) -> (tensor<4x6xf32> as !itensor.itensor<2x2xf32, iter_space: [3, 2] * [2, 2], iter_map: (d0, d1) -> (d1, d0)>) attributes {stc.name = "y"} {
    %0 = itensor.empty : !itensor.itensor<2x2xf32, iter_space: [3, 2] * [2, 2], iter_map: (d0, d1) -> (d1, d0)>
    %1 = dataflow.task @y ins(%w_2 = %w_1 : !itensor.itensor<3x2xf32, iter_space: [3] * [2], iter_map: (d0) -> (0, d0)>, %n_2 = %n_1 : !itensor.itensor<2x3xf32, iter_space: [3, 2] * [2, 2], iter_map: (d0, d1) -> (d1, 0)>) outs(%out = %0 : !itensor.itensor<2x2xf32, iter_space: [3, 2] * [2, 2], iter_map: (d0, d1) -> (d1, d0)>) -> !itensor.itensor<2x2xf32, iter_space: [3, 2] * [2, 2], iter_map: (d0, d1) -> (d1, d0)> attributes {stc.name = "y"} {
      %c0 = arith.constant 0 : index
      %c6 = arith.constant 6 : index
      %c2 = arith.constant 2 : index
      %c4 = arith.constant 4 : index
      %y_c = arith.constant 0.000000e+00 : f32
      %y_1 = scf.for %j = %c0 to %c6 step %c2 iter_args(%2 = %out) -> (!itensor.itensor<2x2xf32, iter_space: [3, 2] * [2, 2], iter_map: (d0, d1) -> (d1, d0)>) {
        %3 = itensor.read %w_2[%j] : !itensor.itensor<3x2xf32, iter_space: [3] * [2], iter_map: (d0) -> (0, d0)> -> tensor<3x2xf32>
        %4 = scf.for %i = %c0 to %c4 step %c2 iter_args(%5 = %2) -> (!itensor.itensor<2x2xf32, iter_space: [3, 2] * [2, 2], iter_map: (d0, d1) -> (d1, d0)>) {
          %6 = itensor.read %n_2[%j, %i] : !itensor.itensor<2x3xf32, iter_space: [3, 2] * [2, 2], iter_map: (d0, d1) -> (d1, 0)> -> tensor<2x3xf32>
          %7 = tensor.empty() : tensor<2x2xf32>
          %8 = linalg.fill {stc.name = "y"} ins(%y_c : f32) outs(%7 : tensor<2x2xf32>) -> tensor<2x2xf32>
          %9 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%6, %3 : tensor<2x3xf32>, tensor<3x2xf32>) outs(%8 : tensor<2x2xf32>) attrs = {stc.name = "y", stc.schedule = #dataflow.schedule<tile = [2, 2, 3], order = [1, 0, 2], unroll = [1, 1, 1], vector = []>, stc.tile = "y"} {
          ^bb0(%a0: f32, %a1: f32, %o0: f32):
            %t0 = arith.mulf %a0, %a1 : f32
            %t1 = arith.addf %t0, %o0 : f32
            linalg.yield %t1 : f32
          } -> tensor<2x2xf32>
          %10 = itensor.write %9 into %5[%j, %i] : tensor<2x2xf32> -> !itensor.itensor<2x2xf32, iter_space: [3, 2] * [2, 2], iter_map: (d0, d1) -> (d1, d0)>
          scf.yield %10 : !itensor.itensor<2x2xf32, iter_space: [3, 2] * [2, 2], iter_map: (d0, d1) -> (d1, d0)>
        }
        scf.yield %4 : !itensor.itensor<2x2xf32, iter_space: [3, 2] * [2, 2], iter_map: (d0, d1) -> (d1, d0)>
      }
      dataflow.yield %y_1 : !itensor.itensor<2x2xf32, iter_space: [3, 2] * [2, 2], iter_map: (d0, d1) -> (d1, d0)>
    }
    dataflow.yield %1 : !itensor.itensor<2x2xf32, iter_space: [3, 2] * [2, 2], iter_map: (d0, d1) -> (d1, d0)>
  }
  func.return %y : tensor<4x6xf32>
}

// CHECK: !itensor = !itensor.itensor<2x3xf32, iter_space: [2] * [2], iter_map: (d0) -> (d0, 0)>
// CHECK: !itensor1 = !itensor.itensor<3x2xf32, iter_space: [3] * [2], iter_map: (d0) -> (0, d0)>
// CHECK: !itensor2 = !itensor.itensor<2x2xf32, iter_space: [3, 2] * [2, 2], iter_map: (d0, d1) -> (d1, d0)>
// CHECK: !itensor3 = !itensor.itensor<2x3xf32, iter_space: [3, 2] * [1, 2], iter_map: (d0, d1) -> (d1, 0)>
// CHECK: !itensor4 = !itensor.itensor<2x3xf32, iter_space: [3, 2] * [2, 2], iter_map: (d0, d1) -> (d1, 0)>
// CHECK-LABEL: func.func @revisits(
// CHECK-NEXT: %y = dataflow.kernel @acc(%x_1 = %x : tensor<4x3xf32> as !itensor, %w_1 = %w : tensor<3x6xf32> as !itensor1) -> (tensor<4x6xf32> as !itensor2) {
// CHECK: %n = dataflow.task @n ins(%x_2 = %x_1 : !itensor) outs(%out = %0 : !itensor) -> !itensor attributes {stc.name = "n"} {
// CHECK: %n_1 = itensor.converter %n {shared_loops = 0, buffer_shape = [4, 3], blocks = 1} : !itensor to !itensor3
// CHECK-NEXT: %n_2 = itensor.cast %n_1 : !itensor3 to !itensor4
// CHECK: %y_1 = dataflow.task @y ins(%w_2 = %w_1 : !itensor1, %n_3 = %n_2 : !itensor4) outs(%out = %1 : !itensor2) -> !itensor2 attributes {stc.name = "y"} {
// CHECK: dataflow.yield %y_1 : !itensor2
// CHECK: func.return %y : tensor<4x6xf32>

// -----

// An input read by two kernels in different orders enters once, in the order of the first; the second converts.
// SHOW: kernel|itensor.converter|itensor.cast|itensor.chunk|dataflow.task|^      dataflow.yield|return|collapse
func.func @two_readers(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %n = dataflow.kernel @n(%x_1 = %x : tensor<4x6xf32> as !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>) -> (tensor<4x6xf32> as !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>) attributes {stc.name = "n"} {
    %0 = itensor.empty : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
    %1 = dataflow.task @n ins(%x_2 = %x_1 : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>) outs(%out = %0 : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>) -> !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)> attributes {stc.name = "n"} {
      %c0 = arith.constant 0 : index
      %c4 = arith.constant 4 : index
      %c2 = arith.constant 2 : index
      %c6 = arith.constant 6 : index
      %c3 = arith.constant 3 : index
      %n_1 = scf.for %i = %c0 to %c4 step %c2 iter_args(%2 = %out) -> (!itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>) {
        %3 = scf.for %j = %c0 to %c6 step %c3 iter_args(%4 = %2) -> (!itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>) {
          %5 = itensor.read %x_2[%i, %j] : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)> -> tensor<2x3xf32>
          %6 = tensor.empty() : tensor<2x3xf32>
          %7 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%5 : tensor<2x3xf32>) outs(%6 : tensor<2x3xf32>) attrs = {stc.name = "n", stc.schedule = #dataflow.schedule<tile = [2, 3], order = [0, 1], unroll = [1, 1], vector = []>, stc.tile = "n"} {
          ^bb0(%a0: f32, %o0: f32):
            %t0 = arith.negf %a0 : f32
            linalg.yield %t0 : f32
          } -> tensor<2x3xf32>
          %8 = itensor.write %7 into %4[%i, %j] : tensor<2x3xf32> -> !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
          scf.yield %8 : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
        }
        scf.yield %3 : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
      }
      dataflow.yield %n_1 : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
    }
    dataflow.yield %1 : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
  }
  %m = dataflow.kernel @m(%x_1 = %x : tensor<4x6xf32> as !itensor.itensor<2x3xf32, iter_space: [2, 2] * [3, 2], iter_map: (d0, d1) -> (d1, d0)>) -> (tensor<4x6xf32> as !itensor.itensor<2x3xf32, iter_space: [2, 2] * [3, 2], iter_map: (d0, d1) -> (d1, d0)>) attributes {stc.name = "m"} {
    %0 = itensor.empty : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [3, 2], iter_map: (d0, d1) -> (d1, d0)>
    %1 = dataflow.task @m ins(%x_2 = %x_1 : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [3, 2], iter_map: (d0, d1) -> (d1, d0)>) outs(%out = %0 : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [3, 2], iter_map: (d0, d1) -> (d1, d0)>) -> !itensor.itensor<2x3xf32, iter_space: [2, 2] * [3, 2], iter_map: (d0, d1) -> (d1, d0)> attributes {stc.name = "m"} {
      %c0 = arith.constant 0 : index
      %c6 = arith.constant 6 : index
      %c3 = arith.constant 3 : index
      %c4 = arith.constant 4 : index
      %c2 = arith.constant 2 : index
      %m_1 = scf.for %j = %c0 to %c6 step %c3 iter_args(%2 = %out) -> (!itensor.itensor<2x3xf32, iter_space: [2, 2] * [3, 2], iter_map: (d0, d1) -> (d1, d0)>) {
        %3 = scf.for %i = %c0 to %c4 step %c2 iter_args(%4 = %2) -> (!itensor.itensor<2x3xf32, iter_space: [2, 2] * [3, 2], iter_map: (d0, d1) -> (d1, d0)>) {
          %5 = itensor.read %x_2[%j, %i] : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [3, 2], iter_map: (d0, d1) -> (d1, d0)> -> tensor<2x3xf32>
          %6 = tensor.empty() : tensor<2x3xf32>
          %7 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%5 : tensor<2x3xf32>) outs(%6 : tensor<2x3xf32>) attrs = {stc.name = "m", stc.schedule = #dataflow.schedule<tile = [2, 3], order = [1, 0], unroll = [1, 1], vector = []>, stc.tile = "m"} {
          ^bb0(%a0: f32, %o0: f32):
            %t0 = arith.negf %a0 : f32
            linalg.yield %t0 : f32
          } -> tensor<2x3xf32>
          %8 = itensor.write %7 into %4[%j, %i] : tensor<2x3xf32> -> !itensor.itensor<2x3xf32, iter_space: [2, 2] * [3, 2], iter_map: (d0, d1) -> (d1, d0)>
          scf.yield %8 : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [3, 2], iter_map: (d0, d1) -> (d1, d0)>
        }
        scf.yield %3 : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [3, 2], iter_map: (d0, d1) -> (d1, d0)>
      }
      dataflow.yield %m_1 : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [3, 2], iter_map: (d0, d1) -> (d1, d0)>
    }
    dataflow.yield %1 : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [3, 2], iter_map: (d0, d1) -> (d1, d0)>
  }
  %y = dataflow.kernel @y(%n_1 = %n : tensor<4x6xf32> as !itensor.itensor<4x6xf32, iter_space: [] * [], iter_map: () -> (0, 0)>, %m_1 = %m : tensor<4x6xf32> as !itensor.itensor<4x6xf32, iter_space: [] * [], iter_map: () -> (0, 0)>) -> (tensor<4x6xf32> as !itensor.itensor<4x6xf32, iter_space: [] * [], iter_map: () -> (0, 0)>) attributes {stc.name = "y"} {
    %0 = itensor.empty : !itensor.itensor<4x6xf32, iter_space: [] * [], iter_map: () -> (0, 0)>
    %1 = dataflow.task @y ins(%n_2 = %n_1 : !itensor.itensor<4x6xf32, iter_space: [] * [], iter_map: () -> (0, 0)>, %m_2 = %m_1 : !itensor.itensor<4x6xf32, iter_space: [] * [], iter_map: () -> (0, 0)>) outs(%out = %0 : !itensor.itensor<4x6xf32, iter_space: [] * [], iter_map: () -> (0, 0)>) -> !itensor.itensor<4x6xf32, iter_space: [] * [], iter_map: () -> (0, 0)> attributes {stc.name = "y"} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %2 = itensor.read %n_2[] : !itensor.itensor<4x6xf32, iter_space: [] * [], iter_map: () -> (0, 0)> -> tensor<4x6xf32>
      %3 = itensor.read %m_2[] : !itensor.itensor<4x6xf32, iter_space: [] * [], iter_map: () -> (0, 0)> -> tensor<4x6xf32>
      %4 = tensor.empty() : tensor<4x6xf32>
      %5 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%2, %3 : tensor<4x6xf32>, tensor<4x6xf32>) outs(%4 : tensor<4x6xf32>) attrs = {stc.name = "y", stc.schedule = #dataflow.schedule<tile = [4, 6], order = [0, 1], unroll = [1, 1], vector = []>, stc.tile = "y"} {
      ^bb0(%a0: f32, %a1: f32, %o0: f32):
        %t0 = arith.addf %a0, %a1 : f32
        linalg.yield %t0 : f32
      } -> tensor<4x6xf32>
      %y_1 = itensor.write %5 into %out[] : tensor<4x6xf32> -> !itensor.itensor<4x6xf32, iter_space: [] * [], iter_map: () -> (0, 0)>
      dataflow.yield %y_1 : !itensor.itensor<4x6xf32, iter_space: [] * [], iter_map: () -> (0, 0)>
    }
    dataflow.yield %1 : !itensor.itensor<4x6xf32, iter_space: [] * [], iter_map: () -> (0, 0)>
  }
  func.return %y : tensor<4x6xf32>
}

// CHECK: !itensor = !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
// CHECK: !itensor1 = !itensor.itensor<4x6xf32, iter_space: [] * [], iter_map: () -> (0, 0)>
// CHECK: !itensor2 = !itensor.itensor<2x3xf32, iter_space: [2, 2] * [3, 2], iter_map: (d0, d1) -> (d1, d0)>
// CHECK-LABEL: func.func @two_readers(
// CHECK-NEXT: %y = dataflow.kernel @acc(%x_1 = %x : tensor<4x6xf32> as !itensor) -> (tensor<4x6xf32> as !itensor1) {
// CHECK: %n = dataflow.task @n ins(%x_2 = %x_1 : !itensor) outs(%out = %0 : !itensor) -> !itensor attributes {stc.name = "n"} {
// CHECK: %x_2 = itensor.converter %x_1 {shared_loops = 0, buffer_shape = [4, 6], blocks = 1} : !itensor to !itensor2
// CHECK: %m = dataflow.task @m ins(%x_3 = %x_2 : !itensor2) outs(%out = %1 : !itensor2) -> !itensor2 attributes {stc.name = "m"} {
// CHECK: %n_1 = itensor.converter %n {shared_loops = 0, buffer_shape = [4, 6], blocks = 1} : !itensor to !itensor1
// CHECK-NEXT: %m_1 = itensor.converter %m {shared_loops = 0, buffer_shape = [4, 6], blocks = 1} : !itensor2 to !itensor1
// CHECK: %y_1 = dataflow.task @y ins(%n_2 = %n_1 : !itensor1, %m_2 = %m_1 : !itensor1) outs(%out = %2 : !itensor1) -> !itensor1 attributes {stc.name = "y"} {
// CHECK: dataflow.yield %y_1 : !itensor1
// CHECK: func.return %y : tensor<4x6xf32>

// -----

// A result that is also an intermediate leaves, and goes on inside.
// SHOW: kernel|itensor.converter|itensor.cast|itensor.chunk|dataflow.task|^      dataflow.yield|return|collapse
func.func @result_and_intermediate(%x: tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>) {
  %n = dataflow.kernel @n(%x_1 = %x : tensor<4x6xf32> as !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>) -> (tensor<4x6xf32> as !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>) attributes {stc.name = "n"} {
    %0 = itensor.empty : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
    %1 = dataflow.task @n ins(%x_2 = %x_1 : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>) outs(%out = %0 : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>) -> !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)> attributes {stc.name = "n"} {
      %c0 = arith.constant 0 : index
      %c4 = arith.constant 4 : index
      %c2 = arith.constant 2 : index
      %c6 = arith.constant 6 : index
      %c3 = arith.constant 3 : index
      %n_1 = scf.for %i = %c0 to %c4 step %c2 iter_args(%2 = %out) -> (!itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>) {
        %3 = scf.for %j = %c0 to %c6 step %c3 iter_args(%4 = %2) -> (!itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>) {
          %5 = itensor.read %x_2[%i, %j] : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)> -> tensor<2x3xf32>
          %6 = tensor.empty() : tensor<2x3xf32>
          %7 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%5 : tensor<2x3xf32>) outs(%6 : tensor<2x3xf32>) attrs = {stc.name = "n", stc.schedule = #dataflow.schedule<tile = [2, 3], order = [0, 1], unroll = [1, 1], vector = []>, stc.tile = "n"} {
          ^bb0(%a0: f32, %o0: f32):
            %t0 = arith.negf %a0 : f32
            linalg.yield %t0 : f32
          } -> tensor<2x3xf32>
          %8 = itensor.write %7 into %4[%i, %j] : tensor<2x3xf32> -> !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
          scf.yield %8 : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
        }
        scf.yield %3 : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
      }
      dataflow.yield %n_1 : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
    }
    dataflow.yield %1 : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
  }
  %y = dataflow.kernel @y(%n_1 = %n : tensor<4x6xf32> as !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>) -> (tensor<4x6xf32> as !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>) attributes {stc.name = "y"} {
    %0 = itensor.empty : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
    %1 = dataflow.task @y ins(%n_2 = %n_1 : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>) outs(%out = %0 : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>) -> !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)> attributes {stc.name = "y"} {
      %c0 = arith.constant 0 : index
      %c4 = arith.constant 4 : index
      %c2 = arith.constant 2 : index
      %c6 = arith.constant 6 : index
      %c3 = arith.constant 3 : index
      %y_1 = scf.for %i = %c0 to %c4 step %c2 iter_args(%2 = %out) -> (!itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>) {
        %3 = scf.for %j = %c0 to %c6 step %c3 iter_args(%4 = %2) -> (!itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>) {
          %5 = itensor.read %n_2[%i, %j] : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)> -> tensor<2x3xf32>
          %6 = tensor.empty() : tensor<2x3xf32>
          %7 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%5 : tensor<2x3xf32>) outs(%6 : tensor<2x3xf32>) attrs = {stc.name = "y", stc.schedule = #dataflow.schedule<tile = [2, 3], order = [0, 1], unroll = [1, 1], vector = []>, stc.tile = "y"} {
          ^bb0(%a0: f32, %o0: f32):
            %t0 = arith.negf %a0 : f32
            linalg.yield %t0 : f32
          } -> tensor<2x3xf32>
          %8 = itensor.write %7 into %4[%i, %j] : tensor<2x3xf32> -> !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
          scf.yield %8 : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
        }
        scf.yield %3 : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
      }
      dataflow.yield %y_1 : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
    }
    dataflow.yield %1 : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
  }
  func.return %n, %y, %n : tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>
}

// CHECK: !itensor = !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @result_and_intermediate(
// CHECK-NEXT: %n, %y = dataflow.kernel @acc(%x_1 = %x : tensor<4x6xf32> as !itensor) -> (tensor<4x6xf32> as !itensor, tensor<4x6xf32> as !itensor) {
// CHECK: %n_1 = dataflow.task @n ins(%x_2 = %x_1 : !itensor) outs(%out = %0 : !itensor) -> !itensor attributes {stc.name = "n"} {
// CHECK: %y_1 = dataflow.task @y ins(%n_2 = %n_1 : !itensor) outs(%out = %1 : !itensor) -> !itensor attributes {stc.name = "y"} {
// CHECK: dataflow.yield %n_1, %y_1 : !itensor, !itensor
// CHECK: func.return %n, %y, %n : tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>

// -----

// What does not fit the budget (800 bytes) opens a group of its own.
// SHOW: kernel|itensor.converter|itensor.cast|itensor.chunk|dataflow.task|^      dataflow.yield|return|collapse
func.func @two_groups(%x: tensor<12x12xf32>) -> tensor<12x12xf32> {
  %n = dataflow.kernel @n(%x_1 = %x : tensor<12x12xf32> as !itensor.itensor<6x6xf32, iter_space: [2, 2] * [6, 6], iter_map: (d0, d1) -> (d0, d1)>) -> (tensor<12x12xf32> as !itensor.itensor<6x6xf32, iter_space: [2, 2] * [6, 6], iter_map: (d0, d1) -> (d0, d1)>) attributes {stc.name = "n"} {
    %0 = itensor.empty : !itensor.itensor<6x6xf32, iter_space: [2, 2] * [6, 6], iter_map: (d0, d1) -> (d0, d1)>
    %1 = dataflow.task @n ins(%x_2 = %x_1 : !itensor.itensor<6x6xf32, iter_space: [2, 2] * [6, 6], iter_map: (d0, d1) -> (d0, d1)>) outs(%out = %0 : !itensor.itensor<6x6xf32, iter_space: [2, 2] * [6, 6], iter_map: (d0, d1) -> (d0, d1)>) -> !itensor.itensor<6x6xf32, iter_space: [2, 2] * [6, 6], iter_map: (d0, d1) -> (d0, d1)> attributes {stc.name = "n"} {
      %c0 = arith.constant 0 : index
      %c12 = arith.constant 12 : index
      %c6 = arith.constant 6 : index
      %n_1 = scf.for %i = %c0 to %c12 step %c6 iter_args(%2 = %out) -> (!itensor.itensor<6x6xf32, iter_space: [2, 2] * [6, 6], iter_map: (d0, d1) -> (d0, d1)>) {
        %3 = scf.for %j = %c0 to %c12 step %c6 iter_args(%4 = %2) -> (!itensor.itensor<6x6xf32, iter_space: [2, 2] * [6, 6], iter_map: (d0, d1) -> (d0, d1)>) {
          %5 = itensor.read %x_2[%i, %j] : !itensor.itensor<6x6xf32, iter_space: [2, 2] * [6, 6], iter_map: (d0, d1) -> (d0, d1)> -> tensor<6x6xf32>
          %6 = tensor.empty() : tensor<6x6xf32>
          %7 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%5 : tensor<6x6xf32>) outs(%6 : tensor<6x6xf32>) attrs = {stc.name = "n", stc.schedule = #dataflow.schedule<tile = [6, 6], order = [0, 1], unroll = [1, 1], vector = []>, stc.tile = "n"} {
          ^bb0(%a0: f32, %o0: f32):
            %t0 = arith.negf %a0 : f32
            linalg.yield %t0 : f32
          } -> tensor<6x6xf32>
          %8 = itensor.write %7 into %4[%i, %j] : tensor<6x6xf32> -> !itensor.itensor<6x6xf32, iter_space: [2, 2] * [6, 6], iter_map: (d0, d1) -> (d0, d1)>
          scf.yield %8 : !itensor.itensor<6x6xf32, iter_space: [2, 2] * [6, 6], iter_map: (d0, d1) -> (d0, d1)>
        }
        scf.yield %3 : !itensor.itensor<6x6xf32, iter_space: [2, 2] * [6, 6], iter_map: (d0, d1) -> (d0, d1)>
      }
      dataflow.yield %n_1 : !itensor.itensor<6x6xf32, iter_space: [2, 2] * [6, 6], iter_map: (d0, d1) -> (d0, d1)>
    }
    dataflow.yield %1 : !itensor.itensor<6x6xf32, iter_space: [2, 2] * [6, 6], iter_map: (d0, d1) -> (d0, d1)>
  }
  %y = dataflow.kernel @y(%n_1 = %n : tensor<12x12xf32> as !itensor.itensor<6x6xf32, iter_space: [2, 2] * [6, 6], iter_map: (d0, d1) -> (d1, d0)>) -> (tensor<12x12xf32> as !itensor.itensor<6x6xf32, iter_space: [2, 2] * [6, 6], iter_map: (d0, d1) -> (d1, d0)>) attributes {stc.name = "y"} {
    %0 = itensor.empty : !itensor.itensor<6x6xf32, iter_space: [2, 2] * [6, 6], iter_map: (d0, d1) -> (d1, d0)>
    %1 = dataflow.task @y ins(%n_2 = %n_1 : !itensor.itensor<6x6xf32, iter_space: [2, 2] * [6, 6], iter_map: (d0, d1) -> (d1, d0)>) outs(%out = %0 : !itensor.itensor<6x6xf32, iter_space: [2, 2] * [6, 6], iter_map: (d0, d1) -> (d1, d0)>) -> !itensor.itensor<6x6xf32, iter_space: [2, 2] * [6, 6], iter_map: (d0, d1) -> (d1, d0)> attributes {stc.name = "y"} {
      %c0 = arith.constant 0 : index
      %c12 = arith.constant 12 : index
      %c6 = arith.constant 6 : index
      %y_1 = scf.for %j = %c0 to %c12 step %c6 iter_args(%2 = %out) -> (!itensor.itensor<6x6xf32, iter_space: [2, 2] * [6, 6], iter_map: (d0, d1) -> (d1, d0)>) {
        %3 = scf.for %i = %c0 to %c12 step %c6 iter_args(%4 = %2) -> (!itensor.itensor<6x6xf32, iter_space: [2, 2] * [6, 6], iter_map: (d0, d1) -> (d1, d0)>) {
          %5 = itensor.read %n_2[%j, %i] : !itensor.itensor<6x6xf32, iter_space: [2, 2] * [6, 6], iter_map: (d0, d1) -> (d1, d0)> -> tensor<6x6xf32>
          %6 = tensor.empty() : tensor<6x6xf32>
          %7 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%5 : tensor<6x6xf32>) outs(%6 : tensor<6x6xf32>) attrs = {stc.name = "y", stc.schedule = #dataflow.schedule<tile = [6, 6], order = [1, 0], unroll = [1, 1], vector = []>, stc.tile = "y"} {
          ^bb0(%a0: f32, %o0: f32):
            %t0 = arith.negf %a0 : f32
            linalg.yield %t0 : f32
          } -> tensor<6x6xf32>
          %8 = itensor.write %7 into %4[%j, %i] : tensor<6x6xf32> -> !itensor.itensor<6x6xf32, iter_space: [2, 2] * [6, 6], iter_map: (d0, d1) -> (d1, d0)>
          scf.yield %8 : !itensor.itensor<6x6xf32, iter_space: [2, 2] * [6, 6], iter_map: (d0, d1) -> (d1, d0)>
        }
        scf.yield %3 : !itensor.itensor<6x6xf32, iter_space: [2, 2] * [6, 6], iter_map: (d0, d1) -> (d1, d0)>
      }
      dataflow.yield %y_1 : !itensor.itensor<6x6xf32, iter_space: [2, 2] * [6, 6], iter_map: (d0, d1) -> (d1, d0)>
    }
    dataflow.yield %1 : !itensor.itensor<6x6xf32, iter_space: [2, 2] * [6, 6], iter_map: (d0, d1) -> (d1, d0)>
  }
  func.return %y : tensor<12x12xf32>
}

// CHECK: !itensor = !itensor.itensor<6x6xf32, iter_space: [2, 2] * [6, 6], iter_map: (d0, d1) -> (d0, d1)>
// CHECK: !itensor1 = !itensor.itensor<6x6xf32, iter_space: [2, 2] * [6, 6], iter_map: (d0, d1) -> (d1, d0)>
// CHECK-LABEL: func.func @two_groups(
// CHECK-NEXT: %n = dataflow.kernel @acc_0(%x_1 = %x : tensor<12x12xf32> as !itensor) -> (tensor<12x12xf32> as !itensor) {
// CHECK: %n_1 = dataflow.task @n ins(%x_2 = %x_1 : !itensor) outs(%out = %0 : !itensor) -> !itensor attributes {stc.name = "n"} {
// CHECK: dataflow.yield %n_1 : !itensor
// CHECK: %y = dataflow.kernel @acc_1(%n_1 = %n : tensor<12x12xf32> as !itensor1) -> (tensor<12x12xf32> as !itensor1) {
// CHECK: %y_1 = dataflow.task @y ins(%n_2 = %n_1 : !itensor1) outs(%out = %0 : !itensor1) -> !itensor1 attributes {stc.name = "y"} {
// CHECK: dataflow.yield %y_1 : !itensor1
// CHECK: func.return %y : tensor<12x12xf32>

// -----

// A source (a kernel that no kernel feeds) waits for its first consumer; host work between members moves out of the way.
// SHOW: kernel|itensor.converter|itensor.cast|itensor.chunk|dataflow.task|^      dataflow.yield|return|collapse
func.func @sources(%x: tensor<4x6xf32>, %u: tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<24xf32>) {
  %n = dataflow.kernel @n(%x_1 = %x : tensor<4x6xf32> as !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>) -> (tensor<4x6xf32> as !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>) attributes {stc.name = "n"} {
    %0 = itensor.empty : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
    %1 = dataflow.task @n ins(%x_2 = %x_1 : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>) outs(%out = %0 : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>) -> !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)> attributes {stc.name = "n"} {
      %c0 = arith.constant 0 : index
      %c4 = arith.constant 4 : index
      %c2 = arith.constant 2 : index
      %c6 = arith.constant 6 : index
      %c3 = arith.constant 3 : index
      %n_1 = scf.for %i = %c0 to %c4 step %c2 iter_args(%2 = %out) -> (!itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>) {
        %3 = scf.for %j = %c0 to %c6 step %c3 iter_args(%4 = %2) -> (!itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>) {
          %5 = itensor.read %x_2[%i, %j] : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)> -> tensor<2x3xf32>
          %6 = tensor.empty() : tensor<2x3xf32>
          %7 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%5 : tensor<2x3xf32>) outs(%6 : tensor<2x3xf32>) attrs = {stc.name = "n", stc.schedule = #dataflow.schedule<tile = [2, 3], order = [0, 1], unroll = [1, 1], vector = []>, stc.tile = "n"} {
          ^bb0(%a0: f32, %o0: f32):
            %t0 = arith.negf %a0 : f32
            linalg.yield %t0 : f32
          } -> tensor<2x3xf32>
          %8 = itensor.write %7 into %4[%i, %j] : tensor<2x3xf32> -> !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
          scf.yield %8 : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
        }
        scf.yield %3 : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
      }
      dataflow.yield %n_1 : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
    }
    dataflow.yield %1 : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
  }
  %c = tensor.collapse_shape %n [[0 : i64, 1 : i64]] : tensor<4x6xf32> into tensor<24xf32>
  %m = dataflow.kernel @m(%u_1 = %u : tensor<4x6xf32> as !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>) -> (tensor<4x6xf32> as !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>) attributes {stc.name = "m"} {
    %0 = itensor.empty : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
    %1 = dataflow.task @m ins(%u_2 = %u_1 : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>) outs(%out = %0 : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>) -> !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)> attributes {stc.name = "m"} {
      %c0 = arith.constant 0 : index
      %c4 = arith.constant 4 : index
      %c2 = arith.constant 2 : index
      %c6 = arith.constant 6 : index
      %c3 = arith.constant 3 : index
      %m_1 = scf.for %i = %c0 to %c4 step %c2 iter_args(%2 = %out) -> (!itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>) {
        %3 = scf.for %j = %c0 to %c6 step %c3 iter_args(%4 = %2) -> (!itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>) {
          %5 = itensor.read %u_2[%i, %j] : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)> -> tensor<2x3xf32>
          %6 = tensor.empty() : tensor<2x3xf32>
          %7 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%5 : tensor<2x3xf32>) outs(%6 : tensor<2x3xf32>) attrs = {stc.name = "m", stc.schedule = #dataflow.schedule<tile = [2, 3], order = [0, 1], unroll = [1, 1], vector = []>, stc.tile = "m"} {
          ^bb0(%a0: f32, %o0: f32):
            %t0 = arith.negf %a0 : f32
            linalg.yield %t0 : f32
          } -> tensor<2x3xf32>
          %8 = itensor.write %7 into %4[%i, %j] : tensor<2x3xf32> -> !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
          scf.yield %8 : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
        }
        scf.yield %3 : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
      }
      dataflow.yield %m_1 : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
    }
    dataflow.yield %1 : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
  }
  %y = dataflow.kernel @y(%n_1 = %n : tensor<4x6xf32> as !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>, %m_1 = %m : tensor<4x6xf32> as !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>) -> (tensor<4x6xf32> as !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>) attributes {stc.name = "y"} {
    %0 = itensor.empty : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
    %1 = dataflow.task @y ins(%n_2 = %n_1 : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>, %m_2 = %m_1 : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>) outs(%out = %0 : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>) -> !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)> attributes {stc.name = "y"} {
      %c0 = arith.constant 0 : index
      %c4 = arith.constant 4 : index
      %c2 = arith.constant 2 : index
      %c6 = arith.constant 6 : index
      %c3 = arith.constant 3 : index
      %y_1 = scf.for %i = %c0 to %c4 step %c2 iter_args(%2 = %out) -> (!itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>) {
        %3 = scf.for %j = %c0 to %c6 step %c3 iter_args(%4 = %2) -> (!itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>) {
          %5 = itensor.read %n_2[%i, %j] : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)> -> tensor<2x3xf32>
          %6 = itensor.read %m_2[%i, %j] : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)> -> tensor<2x3xf32>
          %7 = tensor.empty() : tensor<2x3xf32>
          %8 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%5, %6 : tensor<2x3xf32>, tensor<2x3xf32>) outs(%7 : tensor<2x3xf32>) attrs = {stc.name = "y", stc.schedule = #dataflow.schedule<tile = [2, 3], order = [0, 1], unroll = [1, 1], vector = []>, stc.tile = "y"} {
          ^bb0(%a0: f32, %a1: f32, %o0: f32):
            %t0 = arith.addf %a0, %a1 : f32
            linalg.yield %t0 : f32
          } -> tensor<2x3xf32>
          %9 = itensor.write %8 into %4[%i, %j] : tensor<2x3xf32> -> !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
          scf.yield %9 : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
        }
        scf.yield %3 : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
      }
      dataflow.yield %y_1 : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
    }
    dataflow.yield %1 : !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
  }
  func.return %y, %c : tensor<4x6xf32>, tensor<24xf32>
}

// CHECK: !itensor = !itensor.itensor<2x3xf32, iter_space: [2, 2] * [2, 3], iter_map: (d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @sources(
// CHECK-NEXT: %n, %y = dataflow.kernel @acc(%x_1 = %x : tensor<4x6xf32> as !itensor, %u_1 = %u : tensor<4x6xf32> as !itensor) -> (tensor<4x6xf32> as !itensor, tensor<4x6xf32> as !itensor) {
// CHECK: %n_1 = dataflow.task @n ins(%x_2 = %x_1 : !itensor) outs(%out = %0 : !itensor) -> !itensor attributes {stc.name = "n"} {
// CHECK: %m = dataflow.task @m ins(%u_2 = %u_1 : !itensor) outs(%out = %1 : !itensor) -> !itensor attributes {stc.name = "m"} {
// CHECK: %y_1 = dataflow.task @y ins(%n_2 = %n_1 : !itensor, %m_1 = %m : !itensor) outs(%out = %2 : !itensor) -> !itensor attributes {stc.name = "y"} {
// CHECK: dataflow.yield %n_1, %y_1 : !itensor, !itensor
// CHECK: %c = tensor.collapse_shape %n {{\[\[}}0 : i64, 1 : i64]] : tensor<4x6xf32> into tensor<24xf32>
// CHECK-NEXT: func.return %y, %c : tensor<4x6xf32>, tensor<24xf32>

// -----

// Tasks of one name are numbered.
// SHOW: kernel|itensor.converter|itensor.cast|itensor.chunk|dataflow.task|^      dataflow.yield|return|collapse
func.func @names(%x: tensor<4xf32>) -> tensor<4xf32> {
  %n = dataflow.kernel @n(%x_1 = %x : tensor<4xf32> as !itensor.itensor<4xf32, iter_space: [] * [], iter_map: () -> (0)>) -> (tensor<4xf32> as !itensor.itensor<4xf32, iter_space: [] * [], iter_map: () -> (0)>) attributes {stc.name = "n"} {
    %0 = itensor.empty : !itensor.itensor<4xf32, iter_space: [] * [], iter_map: () -> (0)>
    %1 = dataflow.task @n ins(%x_2 = %x_1 : !itensor.itensor<4xf32, iter_space: [] * [], iter_map: () -> (0)>) outs(%out = %0 : !itensor.itensor<4xf32, iter_space: [] * [], iter_map: () -> (0)>) -> !itensor.itensor<4xf32, iter_space: [] * [], iter_map: () -> (0)> attributes {stc.name = "n"} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %2 = itensor.read %x_2[] : !itensor.itensor<4xf32, iter_space: [] * [], iter_map: () -> (0)> -> tensor<4xf32>
      %3 = tensor.empty() : tensor<4xf32>
      %4 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%2 : tensor<4xf32>) outs(%3 : tensor<4xf32>) attrs = {stc.name = "n", stc.schedule = #dataflow.schedule<tile = [4], order = [0], unroll = [4], vector = []>, stc.tile = "n"} {
      ^bb0(%a0: f32, %o0: f32):
        %t0 = arith.negf %a0 : f32
        linalg.yield %t0 : f32
      } -> tensor<4xf32>
      %n_1 = itensor.write %4 into %out[] : tensor<4xf32> -> !itensor.itensor<4xf32, iter_space: [] * [], iter_map: () -> (0)>
      dataflow.yield %n_1 : !itensor.itensor<4xf32, iter_space: [] * [], iter_map: () -> (0)>
    }
    dataflow.yield %1 : !itensor.itensor<4xf32, iter_space: [] * [], iter_map: () -> (0)>
  }
  %y = dataflow.kernel @n(%n_1 = %n : tensor<4xf32> as !itensor.itensor<4xf32, iter_space: [] * [], iter_map: () -> (0)>) -> (tensor<4xf32> as !itensor.itensor<4xf32, iter_space: [] * [], iter_map: () -> (0)>) attributes {stc.name = "n"} {
    %0 = itensor.empty : !itensor.itensor<4xf32, iter_space: [] * [], iter_map: () -> (0)>
    %1 = dataflow.task @n ins(%n_2 = %n_1 : !itensor.itensor<4xf32, iter_space: [] * [], iter_map: () -> (0)>) outs(%out = %0 : !itensor.itensor<4xf32, iter_space: [] * [], iter_map: () -> (0)>) -> !itensor.itensor<4xf32, iter_space: [] * [], iter_map: () -> (0)> attributes {stc.name = "n"} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %2 = itensor.read %n_2[] : !itensor.itensor<4xf32, iter_space: [] * [], iter_map: () -> (0)> -> tensor<4xf32>
      %3 = tensor.empty() : tensor<4xf32>
      %4 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%2 : tensor<4xf32>) outs(%3 : tensor<4xf32>) attrs = {stc.name = "n", stc.schedule = #dataflow.schedule<tile = [4], order = [0], unroll = [4], vector = []>, stc.tile = "n"} {
      ^bb0(%a0: f32, %o0: f32):
        %t0 = arith.negf %a0 : f32
        linalg.yield %t0 : f32
      } -> tensor<4xf32>
      %y_1 = itensor.write %4 into %out[] : tensor<4xf32> -> !itensor.itensor<4xf32, iter_space: [] * [], iter_map: () -> (0)>
      dataflow.yield %y_1 : !itensor.itensor<4xf32, iter_space: [] * [], iter_map: () -> (0)>
    }
    dataflow.yield %1 : !itensor.itensor<4xf32, iter_space: [] * [], iter_map: () -> (0)>
  }
  func.return %y : tensor<4xf32>
}

// CHECK: !itensor = !itensor.itensor<4xf32, iter_space: [] * [], iter_map: () -> (0)>
// CHECK-LABEL: func.func @names(
// CHECK-NEXT: %y = dataflow.kernel @acc(%x_1 = %x : tensor<4xf32> as !itensor) -> (tensor<4xf32> as !itensor) {
// CHECK: %n = dataflow.task @n ins(%x_2 = %x_1 : !itensor) outs(%out = %0 : !itensor) -> !itensor attributes {stc.name = "n"} {
// CHECK: %y_1 = dataflow.task @n_2 ins(%n_1 = %n : !itensor) outs(%out = %1 : !itensor) -> !itensor attributes {stc.name = "n"} {
// CHECK: dataflow.yield %y_1 : !itensor
// CHECK: func.return %y : tensor<4xf32>
