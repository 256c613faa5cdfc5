// RUN: stc-opt %s -p split-arg-max --split-input-file --check-semantics=5 | filecheck %s

// Of 640 terms: two copies of 16 lanes, each of which finds the best of 20, at a place counted from where the copy begins.
#all = affine_map<(d) -> (d)>
#one = affine_map<(d) -> ()>
func.func @largest(%x: tensor<640xf32>) -> (tensor<f32>, tensor<i64>) {
  %inf = arith.constant 0xFF800000 : f32  %c0 = arith.constant 0 : i64
  %a = tensor.empty() : tensor<f32>  %low = linalg.fill ins(%inf : f32) outs(%a : tensor<f32>) -> tensor<f32>
  %b = tensor.empty() : tensor<i64>  %zero = linalg.fill ins(%c0 : i64) outs(%b : tensor<i64>) -> tensor<i64>
  %m, %i = linalg.generic {indexing_maps = [#all, #one, #one], iterator_types = ["reduction"]}
      ins(%x : tensor<640xf32>) outs(%low, %zero : tensor<f32>, tensor<i64>) attrs = {stc.name = "max"} {
  ^bb0(%t: f32, %best: f32, %place: i64):
    %d = linalg.index 0 : index  %at = arith.index_cast %d : index to i64
    %max = arith.maximumf %t, %best : f32
    %more = arith.cmpf ugt, %t, %best : f32  %is = arith.cmpf ord, %best, %best : f32
    %both = arith.andi %more, %is : i1  %new = arith.select %both, %at, %place : i64
    linalg.yield %max, %new : f32, i64
  } -> (tensor<f32>, tensor<i64>)
  return %m, %i : tensor<f32>, tensor<i64>
}

// CHECK: [[READ:#.*]] = affine_map<(d0, d1, d2) -> (d0, d2, d1)>
// CHECK-LABEL: @largest(
// CHECK: [[X:%.*]] = tensor.expand_shape %x {{.*}} output_shape [2, 20, 16]
// CHECK: linalg.generic {indexing_maps = {{\[}}[[READ]], {{.*}}"parallel", "parallel", "reduction"]} ins([[X]] : {{.*}}stc.name = "max_partial"
// CHECK: arith.constant 16 : index
// CHECK: linalg.generic {{.*}}"reduction", "reduction"]} ins(%m_partial, %i_partial : tensor<2x16xf32>, tensor<2x16xi16>)
// CHECK: arith.constant 320 : index
// CHECK: arith.extsi {{.*}} : i16 to i64
// CHECK: arith.cmpi slt

// -----

// Not where the place is not that of the term: it counts by two.
#all = affine_map<(d) -> (d)>
#one = affine_map<(d) -> ()>
func.func @other(%x: tensor<640xf32>) -> tensor<i64> {
  %inf = arith.constant 0xFF800000 : f32  %c0 = arith.constant 0 : i64
  %a = tensor.empty() : tensor<f32>  %low = linalg.fill ins(%inf : f32) outs(%a : tensor<f32>) -> tensor<f32>
  %b = tensor.empty() : tensor<i64>  %zero = linalg.fill ins(%c0 : i64) outs(%b : tensor<i64>) -> tensor<i64>
  %m, %i = linalg.generic {indexing_maps = [#all, #one, #one], iterator_types = ["reduction"]}
      ins(%x : tensor<640xf32>) outs(%low, %zero : tensor<f32>, tensor<i64>) {
  ^bb0(%t: f32, %best: f32, %place: i64):
    %d = linalg.index 0 : index  %c2 = arith.constant 2 : index  %e = arith.muli %d, %c2 : index
    %at = arith.index_cast %e : index to i64
    %max = arith.maximumf %t, %best : f32
    %more = arith.cmpf ugt, %t, %best : f32  %is = arith.cmpf ord, %best, %best : f32
    %both = arith.andi %more, %is : i1  %new = arith.select %both, %at, %place : i64
    linalg.yield %max, %new : f32, i64
  } -> (tensor<f32>, tensor<i64>)
  return %i : tensor<i64>
}

// CHECK-LABEL: @other(
// CHECK-NOT: tensor.expand_shape
