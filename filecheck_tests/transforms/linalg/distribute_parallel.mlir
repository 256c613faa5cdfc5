// RUN: stc-opt %s -p 'distribute-parallel' --split-input-file | filecheck %s

// Two computations divided alike meet copy by copy; the bias is shared by all, the weights are not divided.
#product = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>]
#each = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>]
!T = tensor<6x5xf32>
func.func @rows(%x: tensor<6x4xf32>, %w: tensor<4x5xf32>, %b: tensor<5xf32>) -> !T {
  %zero = arith.constant 0.0 : f32  %e = tensor.empty() : !T
  %f = linalg.fill ins(%zero : f32) outs(%e : !T) -> !T
  %y = linalg.generic {indexing_maps = #product, iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%x, %w : tensor<6x4xf32>, tensor<4x5xf32>) outs(%f : !T) attrs = {stc.name = "fc", stc.copies = array<i64: 3, 1, 1>} {
  ^bb0(%a: f32, %c: f32, %s: f32):  %p = arith.mulf %a, %c : f32  %t = arith.addf %s, %p : f32  linalg.yield %t : f32 } -> !T
  %z = linalg.generic {indexing_maps = #each, iterator_types = ["parallel", "parallel"]} ins(%y, %b : !T, tensor<5xf32>)
    outs(%e : !T) attrs = {stc.name = "bias", stc.copies = array<i64: 3, 1>} {
  ^bb0(%a: f32, %c: f32, %s: f32):  %t = arith.addf %a, %c : f32  linalg.yield %t : f32 } -> !T
  return %z : !T
}

// CHECK-LABEL: @rows(
// CHECK-NEXT: [[X2:%.*]] = tensor.extract_slice %x[4, 0] [2, 4] [1, 1] {stc.stripe, stc.name = "x_2"}
// CHECK-NEXT: [[X1:%.*]] = tensor.extract_slice %x[2, 0] [2, 4] [1, 1] {stc.stripe, stc.name = "x_1"}
// CHECK-NEXT: [[X0:%.*]] = tensor.extract_slice %x[0, 0] [2, 4] [1, 1] {stc.stripe, stc.name = "x_0"}
// CHECK: [[Y0:%.*]] = linalg.generic{{.*}} ins([[X0]], %w :
// CHECK: [[Y1:%.*]] = linalg.generic{{.*}} ins([[X1]], %w :
// CHECK: [[Y2:%.*]] = linalg.generic{{.*}} ins([[X2]], %w :
// CHECK: [[Z0:%.*]] = linalg.generic{{.*}} ins([[Y0]], %b :
// CHECK: [[Z1:%.*]] = linalg.generic{{.*}} ins([[Y1]], %b :
// CHECK: [[Z2:%.*]] = linalg.generic{{.*}} ins([[Y2]], %b :
// CHECK: tensor.concat dim(0) [[Z0]], [[Z1]], [[Z2]] {stc.stripe, stc.name = "bias_whole"}

// -----

// Two loops of one computation: a grid of copies, whose parts come together again. Nothing is said about the other, which reads the
// whole.
#each = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>]
!T = tensor<4x6xf32>
func.func @grid(%x: !T) -> !T {
  %e = tensor.empty() : !T
  %y = linalg.generic {indexing_maps = #each, iterator_types = ["parallel", "parallel"]} ins(%x : !T) outs(%e : !T)
    attrs = {stc.name = "square", stc.copies = array<i64: 2, 2>} {
  ^bb0(%a: f32, %s: f32):  %t = arith.mulf %a, %a : f32  linalg.yield %t : f32 } -> !T
  %z = linalg.generic {indexing_maps = #each, iterator_types = ["parallel", "parallel"]} ins(%y : !T) outs(%e : !T)
    attrs = {stc.name = "negate"} { ^bb0(%a: f32, %s: f32):  %t = arith.negf %a : f32  linalg.yield %t : f32 } -> !T
  return %z : !T
}

// CHECK-LABEL: @grid(
// CHECK-NEXT: [[BELOW:%.*]] = tensor.extract_slice %x[2, 0] [2, 6] [1, 1] {stc.stripe, stc.name = "x_1"}
// CHECK-NEXT: [[X3:%.*]] = tensor.extract_slice [[BELOW]][0, 3] [2, 3] [1, 1] {stc.stripe, stc.name = "x_1"}
// CHECK-NEXT: [[X2:%.*]] = tensor.extract_slice [[BELOW]][0, 0] [2, 3] [1, 1] {stc.stripe, stc.name = "x_0"}
// CHECK-NEXT: [[ABOVE:%.*]] = tensor.extract_slice %x[0, 0] [2, 6] [1, 1] {stc.stripe, stc.name = "x_0"}
// CHECK-NEXT: [[X1:%.*]] = tensor.extract_slice [[ABOVE]][0, 3] [2, 3]
// CHECK-NEXT: [[X0:%.*]] = tensor.extract_slice [[ABOVE]][0, 0] [2, 3]
// CHECK: [[Y0:%.*]] = linalg.generic{{.*}} ins([[X0]] :
// CHECK: [[Y1:%.*]] = linalg.generic{{.*}} ins([[X1]] :
// CHECK: [[ROW:%.*]] = tensor.concat dim(1) [[Y0]], [[Y1]] {stc.stripe, stc.name = "square_0_whole"}
// CHECK: [[Y2:%.*]] = linalg.generic{{.*}} ins([[X2]] :
// CHECK: [[Y3:%.*]] = linalg.generic{{.*}} ins([[X3]] :
// CHECK: [[ROW1:%.*]] = tensor.concat dim(1) [[Y2]], [[Y3]] {stc.stripe, stc.name = "square_1_whole"}
// CHECK-NEXT: [[WHOLE:%.*]] = tensor.concat dim(0) [[ROW]], [[ROW1]] {stc.stripe, stc.name = "square_whole"}
// CHECK-NEXT: linalg.generic{{.*}} ins([[WHOLE]] :

// -----

// Pairs of rows are taken apart copy by copy: a part of the rows is a part of the planes.
#each = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>]
#plane = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>]
func.func @reshaped(%x: tensor<8x5xf32>) -> tensor<4x2x5xf32> {
  %e = tensor.empty() : tensor<8x5xf32>  %f = tensor.empty() : tensor<4x2x5xf32>
  %y = linalg.generic {indexing_maps = #each, iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x5xf32>)
    outs(%e : tensor<8x5xf32>) attrs = {stc.name = "square", stc.copies = array<i64: 2, 1>} {
  ^bb0(%a: f32, %s: f32):  %t = arith.mulf %a, %a : f32  linalg.yield %t : f32 } -> tensor<8x5xf32>
  %p = tensor.expand_shape %y [[0, 1], [2]] output_shape [4, 2, 5] {stc.name = "planes"} : tensor<8x5xf32> into tensor<4x2x5xf32>
  %z = linalg.generic {indexing_maps = #plane, iterator_types = ["parallel", "parallel", "parallel"]} ins(%p : tensor<4x2x5xf32>)
    outs(%f : tensor<4x2x5xf32>) attrs = {stc.name = "negate", stc.copies = array<i64: 2, 1, 1>} {
  ^bb0(%a: f32, %s: f32):  %t = arith.negf %a : f32  linalg.yield %t : f32 } -> tensor<4x2x5xf32>
  return %z : tensor<4x2x5xf32>
}

// CHECK-LABEL: @reshaped(
// CHECK: [[Y0:%.*]] = linalg.generic{{.*}}stc.name = "square_0"
// CHECK: [[P0:%.*]] = tensor.expand_shape [[Y0]] {{.*}} output_shape [2, 2, 5] {stc.name = "planes_0"}
// CHECK: [[Y1:%.*]] = linalg.generic{{.*}}stc.name = "square_1"
// CHECK: [[P1:%.*]] = tensor.expand_shape [[Y1]] {{.*}} output_shape [2, 2, 5] {stc.name = "planes_1"}
// CHECK-NOT: tensor.concat
// CHECK: linalg.generic{{.*}} ins([[P0]] :
// CHECK: linalg.generic{{.*}} ins([[P1]] :

// -----

// And merged so.
#each = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>]
#plane = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>]
func.func @collapsed(%x: tensor<4x2x5xf32>) -> tensor<8x5xf32> {
  %e = tensor.empty() : tensor<8x5xf32>  %f = tensor.empty() : tensor<4x2x5xf32>
  %z = linalg.generic {indexing_maps = #plane, iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : tensor<4x2x5xf32>)
    outs(%f : tensor<4x2x5xf32>) attrs = {stc.name = "negate", stc.copies = array<i64: 2, 1, 1>} {
  ^bb0(%a: f32, %s: f32):  %t = arith.negf %a : f32  linalg.yield %t : f32 } -> tensor<4x2x5xf32>
  %p = tensor.collapse_shape %z [[0, 1], [2]] {stc.name = "rows"} : tensor<4x2x5xf32> into tensor<8x5xf32>
  %y = linalg.generic {indexing_maps = #each, iterator_types = ["parallel", "parallel"]} ins(%p : tensor<8x5xf32>)
    outs(%e : tensor<8x5xf32>) attrs = {stc.name = "square", stc.copies = array<i64: 2, 1>} {
  ^bb0(%a: f32, %s: f32):  %t = arith.mulf %a, %a : f32  linalg.yield %t : f32 } -> tensor<8x5xf32>
  return %y : tensor<8x5xf32>
}

// CHECK-LABEL: @collapsed(
// CHECK: [[R0:%.*]] = tensor.collapse_shape {{.*}} {stc.name = "rows_0"} : tensor<2x2x5xf32> into tensor<4x5xf32>
// CHECK: [[R1:%.*]] = tensor.collapse_shape {{.*}} {stc.name = "rows_1"} : tensor<2x2x5xf32> into tensor<4x5xf32>
// CHECK-NOT: tensor.concat
// CHECK: linalg.generic{{.*}} ins([[R0]] :
// CHECK: linalg.generic{{.*}} ins([[R1]] :

// -----

// Not where the divided dimension is an inner one: the four copies along columns are no parts of a dimension of the result.
#each = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>]
#flat = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]
func.func @inner(%x: tensor<2x4xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<2x4xf32>  %f = tensor.empty() : tensor<8xf32>
  %y = linalg.generic {indexing_maps = #each, iterator_types = ["parallel", "parallel"]} ins(%x : tensor<2x4xf32>)
    outs(%e : tensor<2x4xf32>) attrs = {stc.name = "square", stc.copies = array<i64: 1, 4>} {
  ^bb0(%a: f32, %s: f32):  %t = arith.mulf %a, %a : f32  linalg.yield %t : f32 } -> tensor<2x4xf32>
  %p = tensor.collapse_shape %y [[0, 1]] {stc.name = "flat"} : tensor<2x4xf32> into tensor<8xf32>
  %z = linalg.generic {indexing_maps = #flat, iterator_types = ["parallel"]} ins(%p : tensor<8xf32>)
    outs(%f : tensor<8xf32>) attrs = {stc.name = "negate", stc.copies = array<i64: 4>} {
  ^bb0(%a: f32, %s: f32):  %t = arith.negf %a : f32  linalg.yield %t : f32 } -> tensor<8xf32>
  return %z : tensor<8xf32>
}

// CHECK-LABEL: @inner(
// CHECK: tensor.concat dim(1)
// CHECK-NEXT: [[FLAT:%.*]] = tensor.collapse_shape
// CHECK-NEXT: tensor.extract_slice [[FLAT]][6] [2] [1]

// -----

// Two copies behind four: each takes the parts of two, which are put together once for all that read them.
#each = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>]
!T = tensor<8x5xf32>
func.func @coarser(%x: !T) -> (!T, !T) {
  %e = tensor.empty() : !T
  %y = linalg.generic {indexing_maps = #each, iterator_types = ["parallel", "parallel"]} ins(%x : !T) outs(%e : !T)
    attrs = {stc.name = "square", stc.copies = array<i64: 4, 1>} {
  ^bb0(%a: f32, %s: f32):  %t = arith.mulf %a, %a : f32  linalg.yield %t : f32 } -> !T
  %z = linalg.generic {indexing_maps = #each, iterator_types = ["parallel", "parallel"]} ins(%y : !T) outs(%e : !T)
    attrs = {stc.name = "negate", stc.copies = array<i64: 2, 1>} {
  ^bb0(%a: f32, %s: f32):  %t = arith.negf %a : f32  linalg.yield %t : f32 } -> !T
  %v = linalg.generic {indexing_maps = #each, iterator_types = ["parallel", "parallel"]} ins(%y : !T) outs(%e : !T)
    attrs = {stc.name = "root", stc.copies = array<i64: 2, 1>} {
  ^bb0(%a: f32, %s: f32):  %t = math.sqrt %a : f32  linalg.yield %t : f32 } -> !T
  return %z, %v : !T, !T
}

// CHECK-LABEL: @coarser(
// CHECK: [[Y0:%.*]] = linalg.generic{{.*}}stc.name = "square_0"
// CHECK: [[Y1:%.*]] = linalg.generic{{.*}}stc.name = "square_1"
// CHECK: [[C0:%.*]] = tensor.concat dim(0) [[Y0]], [[Y1]] {stc.stripe, stc.name = "y_0"}
// CHECK: [[C1:%.*]] = tensor.concat dim(0) {{.*}} {stc.stripe, stc.name = "y_1"}
// CHECK-NOT: tensor.extract_slice
// CHECK: linalg.generic{{.*}} ins([[C0]] :
// CHECK: linalg.generic{{.*}} ins([[C1]] :
// CHECK: linalg.generic{{.*}} ins([[C0]] :
// CHECK: linalg.generic{{.*}} ins([[C1]] :

// -----

// Four copies behind two: each part is taken apart.
#each = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>]
!T = tensor<8x5xf32>
func.func @finer(%x: !T) -> !T {
  %e = tensor.empty() : !T
  %y = linalg.generic {indexing_maps = #each, iterator_types = ["parallel", "parallel"]} ins(%x : !T) outs(%e : !T)
    attrs = {stc.name = "square", stc.copies = array<i64: 2, 1>} {
  ^bb0(%a: f32, %s: f32):  %t = arith.mulf %a, %a : f32  linalg.yield %t : f32 } -> !T
  %z = linalg.generic {indexing_maps = #each, iterator_types = ["parallel", "parallel"]} ins(%y : !T) outs(%e : !T)
    attrs = {stc.name = "negate", stc.copies = array<i64: 4, 1>} {
  ^bb0(%a: f32, %s: f32):  %t = arith.negf %a : f32  linalg.yield %t : f32 } -> !T
  return %z : !T
}

// CHECK-LABEL: @finer(
// CHECK: [[Y0:%.*]] = linalg.generic{{.*}}stc.name = "square_0"
// CHECK: [[S1:%.*]] = tensor.extract_slice [[Y0]][2, 0] [2, 5] [1, 1]
// CHECK: [[S0:%.*]] = tensor.extract_slice [[Y0]][0, 0] [2, 5] [1, 1]
// CHECK-NOT: tensor.concat
// CHECK: linalg.generic{{.*}} ins([[S0]] :
// CHECK: linalg.generic{{.*}} ins([[S1]] :

// -----

// Two copies of the columns, each in two parts that take groups in turn: whoever reads the sums gets group after group, of one part
// and of the other. Both copies read the same parts of what they have in common.
#sums = [affine_map<(g, n, k) -> (g, k)>, affine_map<(g, n, k) -> (g, k, n)>, affine_map<(g, n, k) -> (g, n)>]
!T = tensor<6x4xi32>
func.func @in_turn(%x: tensor<6x8xi32>, %w: tensor<6x8x4xi32>) -> !T {
  %zero = arith.constant 0 : i32  %e = tensor.empty() : !T
  %f = linalg.fill ins(%zero : i32) outs(%e : !T) -> !T
  %y = linalg.generic {indexing_maps = #sums, iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%x, %w : tensor<6x8xi32>, tensor<6x8x4xi32>) outs(%f : !T)
    attrs = {stc.name = "fc", stc.copies = array<i64: 1, 2, 1>, stc.dealt = array<i64: 2, 1, 1>} {
  ^bb0(%a: i32, %c: i32, %s: i32):  %p = arith.muli %a, %c : i32  %t = arith.addi %s, %p : i32  linalg.yield %t : i32 } -> !T
  return %y : !T
}

// CHECK-LABEL: @in_turn(
// CHECK-NEXT: [[X:%.*]] = tensor.expand_shape %x {{.*}} output_shape [3, 2, 8]
// CHECK-NEXT: [[ODD:%.*]] = tensor.extract_slice [[X]][0, 1, 0] [3, 1, 8]
// CHECK-NEXT: [[EVEN:%.*]] = tensor.extract_slice [[X]][0, 0, 0] [3, 1, 8]
// CHECK-NEXT: tensor.extract_slice %w[0, 0, 2] [6, 8, 2]
// CHECK: linalg.generic{{.*}} ins([[EVEN]], {{.*}}stc.name = "fc_0_0"
// CHECK: linalg.generic{{.*}} ins([[ODD]], {{.*}}stc.name = "fc_0_1"
// CHECK: [[BOTH:%.*]] = tensor.concat dim(1) {{.*}} -> tensor<3x2x2xi32>
// CHECK-NEXT: [[Y0:%.*]] = tensor.collapse_shape [[BOTH]] {{.*}} into tensor<6x2xi32>
// CHECK: linalg.generic{{.*}} ins([[EVEN]], {{.*}}stc.name = "fc_1_0"
// CHECK: linalg.generic{{.*}} ins([[ODD]], {{.*}}stc.name = "fc_1_1"
// CHECK: tensor.concat dim(1) [[Y0]], {{.*}}stc.name = "fc_whole"

// -----

// What is read twice by what is dealt is taken apart once.
#squares = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>]
!X = tensor<4x6xi32>
!S = tensor<4xi32>
func.func @read_twice(%x: !X) -> !S {
  %zero = arith.constant 0 : i32  %e = tensor.empty() : !S
  %f = linalg.fill ins(%zero : i32) outs(%e : !S) -> !S
  %y = linalg.generic {indexing_maps = #squares, iterator_types = ["parallel", "reduction"]}
    ins(%x, %x : !X, !X) outs(%f : !S) attrs = {stc.name = "squares", stc.dealt = array<i64: 2, 1>} {
  ^bb0(%a: i32, %c: i32, %s: i32):  %p = arith.muli %a, %c : i32  %t = arith.addi %s, %p : i32  linalg.yield %t : i32 } -> !S
  return %y : !S
}

// CHECK-LABEL: @read_twice(
// CHECK-NEXT: [[X:%.*]] = tensor.expand_shape %x {{.*}} output_shape [2, 2, 6]
// CHECK-NEXT: [[ODD:%.*]] = tensor.extract_slice [[X]][0, 1, 0]
// CHECK-NEXT: [[EVEN:%.*]] = tensor.extract_slice [[X]][0, 0, 0]
// CHECK: linalg.generic{{.*}} ins([[EVEN]], [[EVEN]] :
// CHECK: linalg.generic{{.*}} ins([[ODD]], [[ODD]] :

// -----

// Copies whose results are read in turn make them in turn: each is read by one part.
#id = affine_map<(i, k) -> (i, k)>
!X = tensor<4x3xf32>
func.func @made_in_turn(%x: !X) -> !X {
  %e = tensor.empty() : !X
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
    ins(%x : !X) outs(%e : !X) attrs = {stc.name = "add", stc.copies = array<i64: 2, 1>} {
  ^bb0(%a: f32, %o: f32):  %s = arith.addf %a, %a : f32  linalg.yield %s : f32 } -> !X
  %z = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
    ins(%y : !X) outs(%e : !X) attrs = {stc.name = "mul", stc.dealt = array<i64: 2, 1>} {
  ^bb0(%a: f32, %o: f32):  %p = arith.mulf %a, %a : f32  linalg.yield %p : f32 } -> !X
  return %z : !X
}

// CHECK-LABEL: @made_in_turn(
// CHECK-DAG: [[EVEN:%.*]] = tensor.extract_slice {{.*}}[0, 0, 0] [2, 1, 3]
// CHECK-DAG: [[ODD:%.*]] = tensor.extract_slice {{.*}}[0, 1, 0] [2, 1, 3]
// CHECK: [[Y0:%.*]] = linalg.generic{{.*}} ins([[EVEN]] : {{.*}}stc.name = "add_0"
// CHECK: [[Y1:%.*]] = linalg.generic{{.*}} ins([[ODD]] : {{.*}}stc.name = "add_1"
// CHECK-NOT: {{tensor.concat|tensor.collapse}}
// CHECK: linalg.generic{{.*}} ins([[Y0]] : {{.*}}stc.name = "mul_0"
// CHECK: linalg.generic{{.*}} ins([[Y1]] : {{.*}}stc.name = "mul_1"

// -----

// What is returned, too, stays on end, and so does what that is made of.
#id = affine_map<(i, k) -> (i, k)>
!X = tensor<4x3xf32>
func.func @returned(%x: !X) -> (!X, !X) {
  %e = tensor.empty() : !X
  %w = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
    ins(%x : !X) outs(%e : !X) attrs = {stc.name = "sub", stc.copies = array<i64: 2, 1>} {
  ^bb0(%a: f32, %o: f32):  %s = arith.subf %a, %a : f32  linalg.yield %s : f32 } -> !X
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
    ins(%w : !X) outs(%e : !X) attrs = {stc.name = "add", stc.copies = array<i64: 2, 1>} {
  ^bb0(%a: f32, %o: f32):  %s = arith.addf %a, %a : f32  linalg.yield %s : f32 } -> !X
  %z = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
    ins(%y : !X) outs(%e : !X) attrs = {stc.name = "mul", stc.dealt = array<i64: 2, 1>} {
  ^bb0(%a: f32, %o: f32):  %p = arith.mulf %a, %a : f32  linalg.yield %p : f32 } -> !X
  return %w, %z : !X, !X
}

// CHECK-LABEL: @returned(
// CHECK: linalg.generic{{.*}}stc.name = "add_1"
// CHECK: tensor.concat dim(0) {{.*}}stc.name = "add_whole"

// -----

// Copies of a loop that are dealt along it themselves: each has every other iteration, of which each part has every other one.
#id = affine_map<(i, k) -> (i, k)>
!X = tensor<8x3xf32>
func.func @both(%x: !X) -> !X {
  %e = tensor.empty() : !X
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
    ins(%x : !X) outs(%e : !X) attrs = {stc.name = "add", stc.copies = array<i64: 2, 1>, stc.dealt = array<i64: 2, 1>} {
  ^bb0(%a: f32, %o: f32):  %s = arith.addf %a, %a : f32  linalg.yield %s : f32 } -> !X
  %z = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
    ins(%y : !X) outs(%e : !X) attrs = {stc.name = "mul", stc.dealt = array<i64: 2, 1>} {
  ^bb0(%a: f32, %o: f32):  %p = arith.mulf %a, %a : f32  linalg.yield %p : f32 } -> !X
  return %z : !X
}

// CHECK-LABEL: @both(
// CHECK-DAG: stc.name = "add_0_0"
// CHECK-DAG: stc.name = "add_1_1"
// CHECK-DAG: stc.name = "mul_1"

// -----

// More copies than parts that read them stay on end: each part would read several of them.
#id = affine_map<(i, k) -> (i, k)>
!X = tensor<8x3xf32>
func.func @more_than_parts(%x: !X) -> !X {
  %e = tensor.empty() : !X
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
    ins(%x : !X) outs(%e : !X) attrs = {stc.name = "add", stc.copies = array<i64: 4, 1>} {
  ^bb0(%a: f32, %o: f32):  %s = arith.addf %a, %a : f32  linalg.yield %s : f32 } -> !X
  %z = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
    ins(%y : !X) outs(%e : !X) attrs = {stc.name = "mul", stc.dealt = array<i64: 2, 1>} {
  ^bb0(%a: f32, %o: f32):  %p = arith.mulf %a, %a : f32  linalg.yield %p : f32 } -> !X
  return %z : !X
}

// CHECK-LABEL: @more_than_parts(
// CHECK: tensor.concat dim(0) {{.*}}stc.name = "add_whole"

// -----

// A copy for each iteration: what they make comes one behind the other, as of the loop; but for parts that take turns, and within a row.
#id = affine_map<(i, k) -> (i, k)>
!X = tensor<2x6xf32>
func.func @each(%x: !X) -> (!X, !X, !X) {
  %e = tensor.empty() : !X
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
    ins(%x : !X) outs(%e : !X) attrs = {stc.name = "add", stc.copies = array<i64: 2, 1>} {
  ^bb0(%a: f32, %o: f32):  %s = arith.addf %a, %a : f32  linalg.yield %s : f32 } -> !X
  %z = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
    ins(%x : !X) outs(%e : !X) attrs = {stc.name = "mul", stc.dealt = array<i64: 2, 1>} {
  ^bb0(%a: f32, %o: f32):  %p = arith.mulf %a, %a : f32  linalg.yield %p : f32 } -> !X
  %w = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
    ins(%x : !X) outs(%e : !X) attrs = {stc.name = "sub", stc.copies = array<i64: 1, 6>} {
  ^bb0(%a: f32, %o: f32):  %d = arith.subf %a, %a : f32  linalg.yield %d : f32 } -> !X
  return %y, %z, %w : !X, !X, !X
}

// CHECK-LABEL: @each(
// CHECK: tensor.concat dim(0) {{.*}}stc.name = "add_whole", stc.successive
// CHECK: tensor.concat dim(1) {{.*}}stc.name = "mul_whole"} :
// CHECK: tensor.concat dim(1) {{.*}}stc.name = "sub_whole"} :

// -----

// Half as many copies read what two of the others made, one behind the other.
#id = affine_map<(i, k) -> (i, k)>
!X = tensor<4x6xf32>
func.func @halves(%x: !X) -> !X {
  %e = tensor.empty() : !X
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
    ins(%x : !X) outs(%e : !X) attrs = {stc.name = "add", stc.copies = array<i64: 4, 1>} {
  ^bb0(%a: f32, %o: f32):  %s = arith.addf %a, %a : f32  linalg.yield %s : f32 } -> !X
  %z = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
    ins(%y : !X) outs(%e : !X) attrs = {stc.name = "mul", stc.copies = array<i64: 2, 1>} {
  ^bb0(%a: f32, %o: f32):  %p = arith.mulf %a, %a : f32  linalg.yield %p : f32 } -> !X
  return %z : !X
}

// CHECK-LABEL: @halves(
// CHECK-COUNT-2: tensor.concat dim(0) {{.*}}stc.successive} : (tensor<1x6xf32>, tensor<1x6xf32>) -> tensor<2x6xf32>
