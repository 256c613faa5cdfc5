// RUN: stc-opt %s -p fuse-elementwise --split-input-file | filecheck %s

func.func @chain(%x: tensor<3x5xf32>, %b: tensor<5xf32>) -> tensor<3x5xf32> {
  %e = tensor.empty() : tensor<3x5xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x, %b : tensor<3x5xf32>, tensor<5xf32>) outs(%e : tensor<3x5xf32>) attrs = {stc.module = "mlp.c_fc"} {
  ^bb0(%a: f32, %c: f32, %o: f32):  %s = arith.addf %a, %c : f32  linalg.yield %s : f32
  } -> tensor<3x5xf32>
  %q = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<3x5xf32>) outs(%e : tensor<3x5xf32>) attrs = {stc.module = "mlp.act"} {
  ^bb0(%a: f32, %o: f32):  %t = math.tanh %a : f32  linalg.yield %t : f32
  } -> tensor<3x5xf32>
  func.return %q : tensor<3x5xf32>
}

// CHECK: #map = affine_map<(d0, d1) -> (d0, d1)>
// CHECK: #map1 = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: func.func @chain(
// CHECK-NEXT: %e = tensor.empty() : tensor<3x5xf32>
// CHECK-NEXT: %q = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%x, %b : tensor<3x5xf32>, tensor<5xf32>) outs(%e : tensor<3x5xf32>) attrs ={{ +}}{stc.module = "mlp.act"} {
// CHECK-NEXT: ^bb0(%[[VALUE:.*]]: f32, %[[VALUE1:.*]]: f32, %o: f32):
// CHECK-NEXT: %s = arith.addf %[[VALUE]], %[[VALUE1]] : f32
// CHECK-NEXT: %t = math.tanh %s : f32
// CHECK-NEXT: linalg.yield %t : f32
// CHECK: func.return %q : tensor<3x5xf32>

// -----

// Into a contraction: never.
func.func @contraction(%x: tensor<3x5xf32>, %w: tensor<5x7xf32>, %o: tensor<3x7xf32>) -> tensor<3x7xf32> {
  %e = tensor.empty() : tensor<3x5xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<3x5xf32>) outs(%e : tensor<3x5xf32>) {
  ^bb0(%a: f32, %b: f32):  %t = math.exp %a : f32  linalg.yield %t : f32
  } -> tensor<3x5xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%p, %w : tensor<3x5xf32>, tensor<5x7xf32>) outs(%o : tensor<3x7xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):  %m = arith.mulf %a, %b : f32  %s = arith.addf %m, %c : f32  linalg.yield %s : f32
  } -> tensor<3x7xf32>
  func.return %y : tensor<3x7xf32>
}

// CHECK: #map = affine_map<(d0, d1) -> (d0, d1)>
// CHECK: #map1 = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK: #map2 = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK: #map3 = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func.func @contraction(
// CHECK-NEXT: %e = tensor.empty() : tensor<3x5xf32>
// CHECK-NEXT: %p = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<3x5xf32>) outs(%e : tensor<3x5xf32>) {
// CHECK-NEXT: ^bb0(%a: f32, %b: f32):
// CHECK-NEXT: %t = math.exp %a : f32
// CHECK-NEXT: linalg.yield %t : f32
// CHECK: %y = linalg.generic {indexing_maps = [#map1, #map2, #map3], iterator_types = ["parallel", "parallel", "reduction"]} ins(%p, %w : tensor<3x5xf32>, tensor<5x7xf32>) outs(%o : tensor<3x7xf32>) {
// CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32, %c: f32):
// CHECK-NEXT: %m = arith.mulf %[[A]], %[[B]] : f32
// CHECK-NEXT: %s = arith.addf %m, %c : f32
// CHECK-NEXT: linalg.yield %s : f32
// CHECK: func.return %y : tensor<3x7xf32>

// -----

// Into a reduction that reads each value once.
func.func @reduction(%x: tensor<3x5xf32>, %o: tensor<3xf32>) -> tensor<3xf32> {
  %e = tensor.empty() : tensor<3x5xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x, %x : tensor<3x5xf32>, tensor<3x5xf32>) outs(%e : tensor<3x5xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):  %t = arith.mulf %a, %b : f32  linalg.yield %t : f32
  } -> tensor<3x5xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%p : tensor<3x5xf32>) outs(%o : tensor<3xf32>) {
  ^bb0(%a: f32, %b: f32):  %s = arith.addf %a, %b : f32  linalg.yield %s : f32
  } -> tensor<3xf32>
  func.return %y : tensor<3xf32>
}

// CHECK: #map = affine_map<(d0, d1) -> (d0, d1)>
// CHECK: #map1 = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func.func @reduction(
// CHECK-NEXT: %y = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<3x5xf32>) outs(%o : tensor<3xf32>) {
// CHECK-NEXT: ^bb0(%[[VALUE:.*]]: f32, %b: f32):
// CHECK-NEXT: %t = arith.mulf %[[VALUE]], %[[VALUE]] : f32
// CHECK-NEXT: %s = arith.addf %t, %b : f32
// CHECK-NEXT: linalg.yield %s : f32
// CHECK: func.return %y : tensor<3xf32>

// -----

// Read through a broadcast, which would compute each entry several times: stays.
#each = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]
#spread = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>]
func.func @broadcast(%x: tensor<3xf32>) -> tensor<3x5xf32> {
  %e = tensor.empty() : tensor<3xf32>  %f = tensor.empty() : tensor<3x5xf32>
  %p = linalg.generic {indexing_maps = #each, iterator_types = ["parallel"]} ins(%x : tensor<3xf32>) outs(%e : tensor<3xf32>) {
  ^bb0(%a: f32, %b: f32):  %t = math.exp %a : f32  linalg.yield %t : f32 } -> tensor<3xf32>
  %q = linalg.generic {indexing_maps = #spread, iterator_types = ["parallel", "parallel"]} ins(%p : tensor<3xf32>)
    outs(%f : tensor<3x5xf32>) { ^bb0(%a: f32, %c: f32):  %t = arith.negf %a : f32  linalg.yield %t : f32 } -> tensor<3x5xf32>
  func.return %q : tensor<3x5xf32>
}

// CHECK-LABEL: @broadcast(
// CHECK: %p = linalg.generic
// CHECK: %q = linalg.generic {{.*}} ins(%p :

// -----

// Read by two users: stays.
#each = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]
!T = tensor<3xf32>
func.func @two_users(%x: !T) -> (!T, !T) {
  %e = tensor.empty() : !T
  %p = linalg.generic {indexing_maps = #each, iterator_types = ["parallel"]} ins(%x : !T) outs(%e : !T) {
  ^bb0(%a: f32, %b: f32):  %t = math.exp %a : f32  linalg.yield %t : f32 } -> !T
  %q = linalg.generic {indexing_maps = #each, iterator_types = ["parallel"]} ins(%p : !T) outs(%e : !T) {
  ^bb0(%a: f32, %b: f32):  %t = arith.negf %a : f32  linalg.yield %t : f32 } -> !T
  func.return %p, %q : !T, !T
}

// CHECK-LABEL: @two_users(
// CHECK: %p = linalg.generic
// CHECK: %q = linalg.generic {{.*}} ins(%p :

// -----

// What makes integers wider is wires: into a contraction too, of a parameter too; what is cut of an extension is one.
#x = affine_map<(d0, d1, d2) -> (d0, d2)>
#w = affine_map<(d0, d1, d2) -> (d1, d2)>
#y = affine_map<(d0, d1, d2) -> (d0, d1)>
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @extensions(%x: tensor<3x5xi8>, %w: tensor<7x5xi4> {stc.parameter}, %o: tensor<3x7xi32>) -> (tensor<3x7xi32>, tensor<3x5xi32>) {
  %e = tensor.empty() : tensor<3x5xi32>
  %xw = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<3x5xi8>) outs(%e : tensor<3x5xi32>) {
  ^bb0(%a: i8, %b: i32):  %s = arith.extsi %a : i8 to i64  %t = arith.trunci %s : i64 to i32  linalg.yield %t : i32
  } -> tensor<3x5xi32>
  %f = tensor.empty() : tensor<7x5xi32>
  %ww = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%w : tensor<7x5xi4>) outs(%f : tensor<7x5xi32>) {
  ^bb0(%a: i4, %b: i32):  %s = arith.extui %a : i4 to i32  linalg.yield %s : i32
  } -> tensor<7x5xi32>
  %y = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]} ins(%xw, %ww : tensor<3x5xi32>, tensor<7x5xi32>) outs(%o : tensor<3x7xi32>) {
  ^bb0(%a: i32, %b: i32, %c: i32):  %m = arith.muli %a, %b : i32  %s = arith.addi %m, %c : i32  linalg.yield %s : i32
  } -> tensor<3x7xi32>
  %z = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%xw : tensor<3x5xi32>) outs(%e : tensor<3x5xi32>) {
  ^bb0(%a: i32, %b: i32):  %s = arith.addi %a, %a : i32  linalg.yield %s : i32
  } -> tensor<3x5xi32>
  func.return %y, %z : tensor<3x7xi32>, tensor<3x5xi32>
}

// CHECK: #map = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK: #map1 = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK: #map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK: #map3 = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @extensions(
// CHECK-NEXT: %e = tensor.empty() : tensor<3x5xi32>
// CHECK-NEXT: %y = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<3x5xi8>, tensor<7x5xi4>) outs(%o : tensor<3x7xi32>) {
// CHECK-NEXT: ^bb0(%[[VALUE:.*]]: i8, %[[VALUE1:.*]]: i4, %c: i32):
// CHECK-NEXT: %s = arith.extui %[[VALUE1]] : i4 to i32
// CHECK-NEXT: %t = arith.extsi %[[VALUE]] : i8 to i32
// CHECK-NEXT: %m = arith.muli %t, %s : i32
// CHECK-NEXT: %[[S:.*]] = arith.addi %m, %c : i32
// CHECK-NEXT: linalg.yield %[[S]] : i32
// CHECK: %z = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<3x5xi8>) outs(%e : tensor<3x5xi32>) {
// CHECK-NEXT: ^bb0(%[[VALUE2:.*]]: i8, %b: i32):
// CHECK-NEXT: %[[T:.*]] = arith.extsi %[[VALUE2]] : i8 to i32
// CHECK-NEXT: %[[S1:.*]] = arith.addi %[[T]], %[[T]] : i32
// CHECK-NEXT: linalg.yield %[[S1]] : i32
// CHECK: func.return %y, %z : tensor<3x7xi32>, tensor<3x5xi32>

// -----

// What is computed for a contraction alone stays narrow: the contraction extends it.
// SHOW: arith.(ext|fpto)|linalg.generic .*ins\(.*? : ...|return
#x = affine_map<(d0, d1, d2) -> (d0, d2)>
#w = affine_map<(d0, d1, d2) -> (d1, d2)>
#y = affine_map<(d0, d1, d2) -> (d0, d1)>
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @computed(%x: tensor<3x5xf32>, %w: tensor<7x5xi8>, %o: tensor<3x7xi32>) -> tensor<3x7xi32> {
  %e = tensor.empty() : tensor<3x5xi8>
  %q = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<3x5xf32>) outs(%e : tensor<3x5xi8>) {
  ^bb0(%a: f32, %b: i8):  %s = arith.fptosi %a : f32 to i8  linalg.yield %s : i8
  } -> tensor<3x5xi8>
  %e1 = tensor.empty() : tensor<3x5xi64>
  %l = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%q : tensor<3x5xi8>) outs(%e1 : tensor<3x5xi64>) {
  ^bb0(%a: i8, %b: i64):  %s = arith.extsi %a : i8 to i64  linalg.yield %s : i64
  } -> tensor<3x5xi64>
  %e2 = tensor.empty() : tensor<3x5xi32>
  %i = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%l : tensor<3x5xi64>) outs(%e2 : tensor<3x5xi32>) {
  ^bb0(%a: i64, %b: i32):  %s = arith.trunci %a : i64 to i32  linalg.yield %s : i32
  } -> tensor<3x5xi32>
  %y = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]} ins(%i, %w : tensor<3x5xi32>, tensor<7x5xi8>) outs(%o : tensor<3x7xi32>) {
  ^bb0(%a: i32, %b: i8, %c: i32):  %n = arith.extsi %b : i8 to i32  %m = arith.muli %a, %n : i32  %s = arith.addi %m, %c : i32  linalg.yield %s : i32
  } -> tensor<3x7xi32>
  func.return %y : tensor<3x7xi32>
}

// CHECK: #map = affine_map<(d0, d1) -> (d0, d1)>
// CHECK: #map1 = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK: #map2 = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK: #map3 = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func.func @computed(
// CHECK: %q = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%x :
// CHECK: arith.fptosi %a : f32 to i8
// CHECK: %y = linalg.generic {indexing_maps = [#map1, #map2, #map3], iterator_types = ["parallel", "parallel", "reduction"]} ins(%q, %w :
// CHECK: arith.extsi %{{.*}} : i8 to i32
// CHECK-NEXT: arith.extsi %b_{{.*}} : i8 to i32
// CHECK: func.return %y : tensor<3x7xi32>
