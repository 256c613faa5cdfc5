// RUN: stc-opt %s --split-input-file --verify-diagnostics --allow-unregistered-dialect

// expected-error @below {{itensor has elements of type vector<8xf32>, expected a float, integer or index type}}
"test.type"() {type = !itensor.itensor<4xvector<8xf32>, iter_space: [2] * [4], iter_map: (d0) -> (d0)>} : () -> ()

// -----

// expected-error @below {{itensor has a dynamic element extent, expected integers}}
"test.type"() {type = !itensor.itensor<?xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>} : () -> ()

// -----

// expected-error @below {{expected a size: an integer, 'name<=maximum', or one of 'sum(...)', 'mul(...)', 'min(...)', 'max(...)', 'ceildiv(...)'}}
"test.type"() {type = !itensor.itensor<4xf32, iter_space: [?] * [4], iter_map: (d0) -> (d0)>} : () -> ()

// -----

// expected-error @below {{its maximum is written 'seq<=maximum'}}
"test.type"() {type = !itensor.itensor<4xf32, iter_space: [seq] * [4], iter_map: (d0) -> (d0)>} : () -> ()

// -----

// expected-error @below {{symbol 'seq' has maximum 0, expected at least 1}}
"test.type"() {type = !itensor.itensor<4xf32, iter_space: [seq<=0] * [4], iter_map: (d0) -> (d0)>} : () -> ()

// -----

// expected-error @below {{expected 'ceildiv(size, divisor)' with an integer as divisor}}
"test.type"() {type = !itensor.itensor<4xf32, iter_space: [ceildiv(seq<=8, pos<=4)] * [4], iter_map: (d0) -> (d0)>} : () -> ()

// -----

// expected-error @below {{ceildiv of seq<=8 by 0, expected a divisor of at least 1}}
"test.type"() {type = !itensor.itensor<4xf32, iter_space: [ceildiv(seq<=8, 0)] * [4], iter_map: (d0) -> (d0)>} : () -> ()

// -----

// expected-error @below {{iteration space has 2 trip counts and 1 steps, expected as many of each}}
"test.type"() {type = !itensor.itensor<4xf32, iter_space: [2, 2] * [4], iter_map: (d0) -> (d0)>} : () -> ()

// -----

// expected-error @below {{iteration map has 2 loops but the iteration space has 1}}
"test.type"() {type = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0, d1) -> (d0)>} : () -> ()

// -----

// expected-error @below {{iteration map names a loop twice, expected distinct names}}
"test.type"() {type = !itensor.itensor<4xf32, iter_space: [2, 2] * [4, 8], iter_map: (d0, d0) -> (d0)>} : () -> ()

// -----

// expected-error @below {{map results are sums of loops plus a constant, without coefficients}}
"test.type"() {type = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0 * 2)>} : () -> ()

// -----

// expected-error @below {{map results are sums of loops plus a constant, without coefficients}}
"test.type"() {type = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0 floordiv 2)>} : () -> ()

// -----

// expected-error @below {{coordinate has constant sum(pos<=4, -1), which may be -1, expected at least 0}}
"test.type"() {type = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0 + sum(pos<=4, -1))>} : () -> ()

// -----

// expected-error @below {{its maximum is written 'd7<=maximum'}}
"test.type"() {type = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d7)>} : () -> ()

// -----

// expected-error @below {{map has 2 results but the element has rank 1}}
"test.type"() {type = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0, 0)>} : () -> ()

// -----

// expected-error @below {{element dimension 0 has extent 0, expected at least 1}}
"test.type"() {type = !itensor.itensor<0xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0)>} : () -> ()

// -----

// expected-error @below {{map uses d0 2 times, expected at most once}}
"test.type"() {type = !itensor.itensor<4x4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0, d0)>} : () -> ()

// -----

// expected-error @below {{map uses d0 2 times, expected at most once}}
"test.type"() {type = !itensor.itensor<4xf32, iter_space: [2] * [4], iter_map: (d0) -> (d0 + d0)>} : () -> ()

// -----

// expected-error @below {{loop has trip count sum(pos<=4, -1), which may be -1, expected at least 0}}
"test.type"() {type = !itensor.itensor<4xf32, iter_space: [sum(pos<=4, -1)] * [4], iter_map: (d0) -> (d0)>} : () -> ()

// -----

// expected-error @below {{loop has step 0, expected at least 1}}
"test.type"() {type = !itensor.itensor<4xf32, iter_space: [2] * [0], iter_map: (d0) -> (d0)>} : () -> ()
