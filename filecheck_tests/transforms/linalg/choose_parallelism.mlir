// RUN: stc-opt %s -p 'choose-parallelism{budget="dsp=420"}' --split-input-file | filecheck %s
// SHOW: func.func|linalg.generic|return

// 11 lanes of 22 columns would fit once; five DSPs a point, 84 points: 22 lanes of 3 of the 27 rows make 66.
func.func @matmul(%x: tensor<27x40xf32>, %w: tensor<40x22xf32>) -> tensor<27x22xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<27x22xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<27x22xf32>) -> tensor<27x22xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>,
      affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<27x40xf32>, tensor<40x22xf32>) outs(%f : tensor<27x22xf32>) attrs = {stc.name = "fc"} {
  ^bb0(%a: f32, %c: f32, %s: f32):  %p = arith.mulf %a, %c : f32  %t = arith.addf %s, %p : f32  linalg.yield %t : f32
  } -> tensor<27x22xf32>
  return %y : tensor<27x22xf32>
}

// CHECK: #map = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK: #map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK: #map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func.func @matmul(
// CHECK: %y = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<27x40xf32>, tensor<40x22xf32>) outs(%f : tensor<27x22xf32>) attrs ={{ +}}{stc.name = "fc", stc.lanes = 22 : i32, stc.rows = 3 : i32} {
// CHECK: func.return %y : tensor<27x22xf32>

// -----

// As many rows of each head as `pos` says: they are neither divided nor computed side by side. Of 3, half of them, 4 lanes leave
// sums enough for the adder.
// SHOW: linalg.generic ... attrs = .*?}
func.func @some_rows(%x: tensor<2x6x40xf32> {stc.sizes = [#itensor.size<2>, #itensor.size<pos<=6>, #itensor.size<40>]},
                     %w: tensor<2x40x8xf32>, %pos: i32 {stc.name = "pos"}) -> (tensor<6x2x8xf32>, tensor<2x40x6xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<6x2x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<6x2x8xf32>) -> tensor<6x2x8xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d1, d0, d3)>, affine_map<(d0, d1, d2, d3) -> (d1, d3, d2)>,
      affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<2x6x40xf32>, tensor<2x40x8xf32>) outs(%f : tensor<6x2x8xf32>) attrs = {stc.name = "fc"} {
  ^bb0(%a: f32, %c: f32, %s: f32):  %p = arith.mulf %a, %c : f32  %t = arith.addf %s, %p : f32  linalg.yield %t : f32
  } -> tensor<6x2x8xf32>
  %g = tensor.empty() : tensor<2x40x6xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>],
      iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : tensor<2x6x40xf32>) outs(%g : tensor<2x40x6xf32>)
      attrs = {stc.name = "exp"} {
  ^bb0(%a: f32, %s: f32):  %t = math.exp %a : f32  linalg.yield %t : f32
  } -> tensor<2x40x6xf32>
  return %y, %z : tensor<6x2x8xf32>, tensor<2x40x6xf32>
}

// CHECK-LABEL: func.func @some_rows(
// CHECK: linalg.generic{{.*}}attrs ={{ +}}{stc.name = "fc", stc.lanes = 4 : i32} {
// CHECK: linalg.generic{{.*}}attrs ={{ +}}{stc.name = "exp", stc.lanes = 1 : i32} {

// -----

// No parallel loop has lanes where both factors lie along the reduction: of integers terms are. Rows that there are at run time are
// not computed side by side.
// SHOW: linalg.generic ... attrs = .*?}
func.func @scores(%q: tensor<2x40xi8>, %k: tensor<2x96x40xi8> {stc.sizes = [#itensor.size<2>, #itensor.size<pos<=96>, #itensor.size<40>]},
                  %pos: i32 {stc.name = "pos"}) -> tensor<2x96xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<2x96xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<2x96xi32>) -> tensor<2x96xi32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>,
      affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<2x40xi8>, tensor<2x96x40xi8>) outs(%f : tensor<2x96xi32>) attrs = {stc.name = "scores"} {
  ^bb0(%a: i8, %c: i8, %s: i32):
    %v = arith.extsi %a : i8 to i32  %w = arith.extsi %c : i8 to i32
    %p = arith.muli %v, %w : i32  %t = arith.addi %s, %p : i32  linalg.yield %t : i32
  } -> tensor<2x96xi32>
  return %y : tensor<2x96xi32>
}

// CHECK-LABEL: func.func @scores(
// CHECK: linalg.generic{{.*}}attrs ={{ +}}{stc.name = "scores", stc.lanes = 40 : i32, stc.copies = array<i64: 2, 1, 1>} {

// -----

// Sums of groups, which the reader adds up: copies divide the rows of results, not the groups, of which each copy would have a part
// of every sum.
// SHOW: linalg.generic ... attrs = .*?}
func.func @groups(%x: tensor<4x64xi8>, %w: tensor<4x64x6x32xi8>) -> tensor<6x32xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<4x6x32xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<4x6x32xi32>) -> tensor<4x6x32xi32>
  %p = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d3, d1, d2)>,
      affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<4x64xi8>, tensor<4x64x6x32xi8>) outs(%f : tensor<4x6x32xi32>) attrs = {stc.name = "group_sums"} {
  ^bb0(%a: i8, %c: i8, %s: i32):
    %v = arith.extsi %a : i8 to i32  %u = arith.extsi %c : i8 to i32
    %m = arith.muli %v, %u : i32  %t = arith.addi %s, %m : i32  linalg.yield %t : i32
  } -> tensor<4x6x32xi32>
  %g = tensor.empty() : tensor<6x32xi32>
  %h = linalg.fill ins(%zero : i32) outs(%g : tensor<6x32xi32>) -> tensor<6x32xi32>
  %q = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d2, d0, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%p : tensor<4x6x32xi32>) outs(%h : tensor<6x32xi32>)
      attrs = {stc.name = "sum"} {
  ^bb0(%a: i32, %s: i32):  %t = arith.addi %s, %a : i32  linalg.yield %t : i32
  } -> tensor<6x32xi32>
  return %q : tensor<6x32xi32>
}

// CHECK-LABEL: func.func @groups(
// CHECK: linalg.generic{{.*}}attrs ={{ +}}{stc.name = "group_sums", stc.lanes = 32 : i32, stc.copies = array<i64: 1, 6, 1, 1>} {
// CHECK: linalg.generic{{.*}}attrs ={{ +}}{stc.name = "sum", stc.lanes = 8 : i32, stc.copies = array<i64: 6, 1, 1>} {

// -----

// The largest of each row is looked for among several of its entries at once, of each by a copy, which needs no other to wait for.
// SHOW: linalg.generic ... attrs = .*?}
func.func @largest(%x: tensor<6x512xf32>) -> tensor<6xf32> {
  %low = arith.constant 0.0 : f32
  %i = tensor.empty() : tensor<6xf32>
  %j = linalg.fill ins(%low : f32) outs(%i : tensor<6xf32>) -> tensor<6xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>],
      iterator_types = ["parallel", "reduction"]} ins(%x : tensor<6x512xf32>) outs(%j : tensor<6xf32>) attrs = {stc.name = "most"} {
  ^bb0(%a: f32, %s: f32):  %t = arith.maximumf %s, %a : f32  linalg.yield %t : f32
  } -> tensor<6xf32>
  return %r : tensor<6xf32>
}

// CHECK-LABEL: func.func @largest(
// CHECK: linalg.generic{{.*}}attrs ={{ +}}{stc.name = "most", stc.lanes = 64 : i32, stc.copies = array<i64: 6, 1>} {

// -----

// A single sum of floats: nothing of it could run beside its terms, so some of them are the lanes; of 96, as many as a power of
// two: partial sums are told apart by bits of the index.
// SHOW: linalg.generic ... attrs = .*?}
func.func @norm(%x: tensor<4x96xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ()>],
      iterator_types = ["reduction", "reduction"]} ins(%x : tensor<4x96xf32>) outs(%f : tensor<f32>)
      attrs = {stc.name = "sum_square"} {
  ^bb0(%a: f32, %s: f32):  %q = arith.mulf %a, %a : f32  %t = arith.addf %s, %q : f32  linalg.yield %t : f32
  } -> tensor<f32>
  return %y : tensor<f32>
}

// CHECK-LABEL: func.func @norm(
// CHECK: linalg.generic{{.*}}attrs ={{ +}}{stc.name = "sum_square", stc.lanes = 32 : i32} {

// -----

// As many terms as `pos` says are added one by one.
// SHOW: linalg.generic ... attrs = .*?}
func.func @some_terms(%x: tensor<448xf32> {stc.sizes = [#itensor.size<pos<=448>]}, %pos: i32 {stc.name = "pos"}) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]}
      ins(%x : tensor<448xf32>) outs(%f : tensor<f32>) attrs = {stc.name = "sum"} {
  ^bb0(%a: f32, %s: f32):  %t = arith.addf %s, %a : f32  linalg.yield %t : f32
  } -> tensor<f32>
  return %y : tensor<f32>
}

// CHECK-LABEL: func.func @some_terms(
// CHECK: linalg.generic{{.*}}attrs ={{ +}}{stc.name = "sum", stc.lanes = 1 : i32} {
