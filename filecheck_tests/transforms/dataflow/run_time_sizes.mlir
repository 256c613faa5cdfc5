// RUN: stc-opt %s -p 'choose-groups,merge-kernels,insert-converters,pack-interfaces' | filecheck %s

// Two kernels of one scalar become one kernel, which takes it once; memory is packed for the maximum.
// SHOW: dataflow.pack .*|dataflow.kernel .*|dataflow.unpack .*
!x = !itensor.itensor<1x16xf32, iter_space: [pos<=5] * [1], iter_map: (d0) -> (d0, 0)>
func.func @main(%x: tensor<5x16xf32>, %p: i32) -> (tensor<5x16xf32>) {
  %h = dataflow.kernel @f(%a = %x : tensor<5x16xf32> as !x, %pos = %p : i32 as !itensor.symbol<pos<=5>) -> (tensor<5x16xf32> as !x) {
    dataflow.yield %a : !x
  }
  %y = dataflow.kernel @g(%b = %h : tensor<5x16xf32> as !x, %pos = %p : i32 as !itensor.symbol<pos<=5>) -> (tensor<5x16xf32> as !x) {
    dataflow.yield %b : !x
  }
  func.return %y : tensor<5x16xf32>
}

// CHECK: !itensor = !itensor.itensor<1x16xf32, iter_space: [5] * [1], iter_map: (d0) -> (d0, 0)>
// CHECK: !itensor1 = !itensor.itensor<1x16xf32, iter_space: [pos<=5] * [1], iter_map: (d0) -> (d0, 0)>
// CHECK-LABEL: func.func @main(
// CHECK-NEXT: %[[X:.*]] = dataflow.pack %x : tensor<5x16xf32> as !itensor -> tensor<5xvector<16xf32>>
// CHECK-NEXT: %h, %y = dataflow.kernel @main(%x_{{.*}} = %[[X]] : tensor<5xvector<16xf32>> as !itensor1, %p_{{.*}} = %p : i32 as !itensor.symbol<pos<=5>) -> (tensor<5xvector<16xf32>> as !itensor1, tensor<5xvector<16xf32>> as !itensor1) {
// CHECK: dataflow.unpack %h : tensor<5xvector<16xf32>> as !itensor -> tensor<5x16xf32>
// CHECK-NEXT: dataflow.unpack %y : tensor<5xvector<16xf32>> as !itensor -> tensor<5x16xf32>
