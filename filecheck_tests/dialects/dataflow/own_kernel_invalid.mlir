// RUN: stc-opt %s --split-input-file --verify-diagnostics

!V = !itensor.itensor<4xf32, iter_space: [6] * [4], iter_map: (d0) -> (d0)>
func.func @f(%x: tensor<24xf32>) -> tensor<24xf32> {
  %y = dataflow.kernel @k(%a = %x : tensor<24xf32> as !V) -> (tensor<24xf32> as !V) {
    %e = itensor.empty : !V
    %r = dataflow.task @t ins(%p = %a : !V) outs(%o = %e : !V) -> !V {
      // expected-error @below {{declares 5 tokens of port %p, expected the 6 of its type}}
      %s = dataflow.own_kernel @twice ins(%p : !V) outs(%o : !V) -> !V {file = "twice.cpp", source = "...", loops = [#dataflow.own_loop<"tokens", trips = [6], ii = 1, depth = 7, ports = [[0 to 5], [0 to 6]]>], resources = {dsp = 12 : i64}}
      dataflow.yield %s : !V
    }
    dataflow.yield %r : !V
  }
  func.return %y : tensor<24xf32>
}

// -----

!V = !itensor.itensor<4xf32, iter_space: [6] * [4], iter_map: (d0) -> (d0)>
func.func @f(%x: tensor<24xf32>) -> tensor<24xf32> {
  %y = dataflow.kernel @k(%a = %x : tensor<24xf32> as !V) -> (tensor<24xf32> as !V) {
    %e = itensor.empty : !V
    %r = dataflow.task @t ins(%p = %a : !V) outs(%o = %e : !V) -> !V {
      // expected-error @below {{loop tokens of an own kernel has ii 0, expected at least 1}}
      %s = dataflow.own_kernel @twice ins(%p : !V) outs(%o : !V) -> !V {file = "twice.cpp", source = "...", loops = [#dataflow.own_loop<"tokens", trips = [6], ii = 0, depth = 7, ports = [[0 to 6], [0 to 6]]>], resources = {dsp = 12 : i64}}
      dataflow.yield %s : !V
    }
    dataflow.yield %r : !V
  }
  func.return %y : tensor<24xf32>
}

// -----

!V = !itensor.itensor<4xf32, iter_space: [6] * [4], iter_map: (d0) -> (d0)>
func.func @f(%x: tensor<24xf32>) -> tensor<24xf32> {
  %y = dataflow.kernel @k(%a = %x : tensor<24xf32> as !V) -> (tensor<24xf32> as !V) {
    %e = itensor.empty : !V
    %r = dataflow.task @t ins(%p = %a : !V) outs(%o = %e : !V) -> !V {
      // expected-error @below {{loop tokens of an own kernel has depth 0, expected at least 1}}
      %s = dataflow.own_kernel @twice ins(%p : !V) outs(%o : !V) -> !V {file = "twice.cpp", source = "...", loops = [#dataflow.own_loop<"tokens", trips = [6], ii = 1, depth = 0, ports = [[0 to 6], [0 to 6]]>], resources = {dsp = 12 : i64}}
      dataflow.yield %s : !V
    }
    dataflow.yield %r : !V
  }
  func.return %y : tensor<24xf32>
}

// -----

!V = !itensor.itensor<4xf32, iter_space: [6] * [4], iter_map: (d0) -> (d0)>
func.func @f(%x: tensor<24xf32>) -> tensor<24xf32> {
  %y = dataflow.kernel @k(%a = %x : tensor<24xf32> as !V) -> (tensor<24xf32> as !V) {
    %e = itensor.empty : !V
    %r = dataflow.task @t ins(%p = %a : !V) outs(%o = %e : !V) -> !V {
      // expected-error @below {{loop tokens of an own kernel has trips [0], expected one of at least 1 for each loop}}
      %s = dataflow.own_kernel @twice ins(%p : !V) outs(%o : !V) -> !V {file = "twice.cpp", source = "...", loops = [#dataflow.own_loop<"tokens", trips = [0], ii = 1, depth = 7, ports = [[0 to 6], [0 to 6]]>], resources = {dsp = 12 : i64}}
      dataflow.yield %s : !V
    }
    dataflow.yield %r : !V
  }
  func.return %y : tensor<24xf32>
}

// -----

!V = !itensor.itensor<4xf32, iter_space: [6] * [4], iter_map: (d0) -> (d0)>
func.func @f(%x: tensor<24xf32>) -> tensor<24xf32> {
  %y = dataflow.kernel @k(%a = %x : tensor<24xf32> as !V) -> (tensor<24xf32> as !V) {
    %e = itensor.empty : !V
    %r = dataflow.task @t ins(%p = %a : !V) outs(%o = %e : !V) -> !V {
      // expected-error @below {{accesses port 0 in iterations [0 to 7], expected a range within each of its trips [6]}}
      %s = dataflow.own_kernel @twice ins(%p : !V) outs(%o : !V) -> !V {file = "twice.cpp", source = "...", loops = [#dataflow.own_loop<"tokens", trips = [6], ii = 1, depth = 7, ports = [[0 to 7], [0 to 6]]>], resources = {dsp = 12 : i64}}
      dataflow.yield %s : !V
    }
    dataflow.yield %r : !V
  }
  func.return %y : tensor<24xf32>
}

// -----

!V = !itensor.itensor<4xf32, iter_space: [6] * [4], iter_map: (d0) -> (d0)>
func.func @f(%x: tensor<24xf32>) -> tensor<24xf32> {
  %y = dataflow.kernel @k(%a = %x : tensor<24xf32> as !V) -> (tensor<24xf32> as !V) {
    %e = itensor.empty : !V
    %r = dataflow.task @t ins(%p = %a : !V) outs(%o = %e : !V) -> !V {
      // expected-error @below {{loop tokens says for 1 ports when they are accessed, expected 2: ins, then outs}}
      %s = dataflow.own_kernel @twice ins(%p : !V) outs(%o : !V) -> !V {file = "twice.cpp", source = "...", loops = [#dataflow.own_loop<"tokens", trips = [6], ii = 1, depth = 7, ports = [[0 to 6]]>], resources = {dsp = 12 : i64}}
      dataflow.yield %s : !V
    }
    dataflow.yield %r : !V
  }
  func.return %y : tensor<24xf32>
}

// -----

!V = !itensor.itensor<4xf32, iter_space: [6] * [4], iter_map: (d0) -> (d0)>
func.func @f(%x: tensor<24xf32>) -> tensor<24xf32> {
  %y = dataflow.kernel @k(%a = %x : tensor<24xf32> as !V) -> (tensor<24xf32> as !V) {
    %e = itensor.empty : !V
    %r = dataflow.task @t ins(%p = %a : !V) outs(%o = %e : !V) -> !V {
      // expected-error @below {{loop TOKENS of an own kernel has a label that emitted code may not use (as macros look, say), expected another}}
      %s = dataflow.own_kernel @twice ins(%p : !V) outs(%o : !V) -> !V {file = "twice.cpp", source = "...", loops = [#dataflow.own_loop<"TOKENS", trips = [6], ii = 1, depth = 7, ports = [[0 to 6], [0 to 6]]>], resources = {dsp = 12 : i64}}
      dataflow.yield %s : !V
    }
    dataflow.yield %r : !V
  }
  func.return %y : tensor<24xf32>
}

// -----

!V = !itensor.itensor<4xf32, iter_space: [6] * [4], iter_map: (d0) -> (d0)>
func.func @f(%x: tensor<24xf32>) -> tensor<24xf32> {
  %y = dataflow.kernel @k(%a = %x : tensor<24xf32> as !V) -> (tensor<24xf32> as !V) {
    %e = itensor.empty : !V
    %r = dataflow.task @t ins(%p = %a : !V) outs(%o = %e : !V) -> !V {
      // expected-error @below {{function 'double' is no C++ identifier that a file may define, expected one}}
      %s = dataflow.own_kernel @double ins(%p : !V) outs(%o : !V) -> !V {file = "twice.cpp", source = "...", loops = [#dataflow.own_loop<"tokens", trips = [6], ii = 1, depth = 7, ports = [[0 to 6], [0 to 6]]>], resources = {dsp = 12 : i64}}
      dataflow.yield %s : !V
    }
    dataflow.yield %r : !V
  }
  func.return %y : tensor<24xf32>
}

// -----

!V = !itensor.itensor<4xf32, iter_space: [6] * [4], iter_map: (d0) -> (d0)>
func.func @f(%x: tensor<24xf32>) -> tensor<24xf32> {
  %y = dataflow.kernel @k(%a = %x : tensor<24xf32> as !V) -> (tensor<24xf32> as !V) {
    %e = itensor.empty : !V
    %r = dataflow.task @t ins(%p = %a : !V) outs(%o = %e : !V) -> !V {
      // expected-error @below {{resources have dsp = -1 : i64, expected dsp, lut, ff, bram18, uram of at least 0}}
      %s = dataflow.own_kernel @twice ins(%p : !V) outs(%o : !V) -> !V {file = "twice.cpp", source = "...", loops = [#dataflow.own_loop<"tokens", trips = [6], ii = 1, depth = 7, ports = [[0 to 6], [0 to 6]]>], resources = {dsp = -1 : i64}}
      dataflow.yield %s : !V
    }
    dataflow.yield %r : !V
  }
  func.return %y : tensor<24xf32>
}

// -----

!V = !itensor.itensor<4xf32, iter_space: [6] * [4], iter_map: (d0) -> (d0)>
func.func @f(%x: tensor<24xf32>) -> tensor<24xf32> {
  %y = dataflow.kernel @k(%a = %x : tensor<24xf32> as !V) -> (tensor<24xf32> as !V) {
    %e = itensor.empty : !V
    %r = dataflow.task @t ins(%p = %a : !V) outs(%o = %e : !V) -> !V {
      // expected-error @below {{resources have bram = 1 : i64, expected dsp, lut, ff, bram18, uram of at least 0}}
      %s = dataflow.own_kernel @twice ins(%p : !V) outs(%o : !V) -> !V {file = "twice.cpp", source = "...", loops = [#dataflow.own_loop<"tokens", trips = [6], ii = 1, depth = 7, ports = [[0 to 6], [0 to 6]]>], resources = {bram = 1 : i64}}
      dataflow.yield %s : !V
    }
    dataflow.yield %r : !V
  }
  func.return %y : tensor<24xf32>
}

// -----

!V = !itensor.itensor<4xf32, iter_space: [6] * [4], iter_map: (d0) -> (d0)>
func.func @f(%x: tensor<24xf32>) -> tensor<24xf32> {
  %y = dataflow.kernel @k(%a = %x : tensor<24xf32> as !V) -> (tensor<24xf32> as !V) {
    %e = itensor.empty : !V
    %r = dataflow.task @t ins(%p = %a : !V) outs(%o = %e : !V) -> !V {
      // expected-error @below {{reads %o, an outs port, expected an ins port}}
      %s = dataflow.own_kernel @twice ins(%o : !V) outs(%p : !V) -> !V {file = "twice.cpp", source = "...", loops = [#dataflow.own_loop<"tokens", trips = [6], ii = 1, depth = 7, ports = [[0 to 6], [0 to 6]]>], resources = {dsp = 12 : i64}}
      dataflow.yield %s : !V
    }
    dataflow.yield %r : !V
  }
  func.return %y : tensor<24xf32>
}

// -----

!V = !itensor.itensor<2x4xf32, iter_space: [6] * [4], iter_map: (d0) -> (0, d0)>
func.func @f(%x: tensor<2x24xf32>) -> tensor<2x24xf32> {
  %y = dataflow.kernel @k(%a = %x : tensor<2x24xf32> as !V) -> (tensor<2x24xf32> as !V) {
    %e = itensor.empty : !V
    %r = dataflow.task @t ins(%p = %a : !V) outs(%o = %e : !V) -> !V {
      // expected-error @below {{expected elements that are one vector, and a static order}}
      %s = dataflow.own_kernel @twice ins(%p : !V) outs(%o : !V) -> !V {file = "twice.cpp", source = "...", loops = [#dataflow.own_loop<"tokens", trips = [6], ii = 1, depth = 7, ports = [[0 to 6], [0 to 6]]>], resources = {dsp = 12 : i64}}
      dataflow.yield %s : !V
    }
    dataflow.yield %r : !V
  }
  func.return %y : tensor<2x24xf32>
}

// -----

!V = !itensor.itensor<4xi4, iter_space: [6] * [4], iter_map: (d0) -> (d0)>
func.func @f(%x: tensor<24xi4>) -> tensor<24xi4> {
  %y = dataflow.kernel @k(%a = %x : tensor<24xi4> as !V) -> (tensor<24xi4> as !V) {
    %e = itensor.empty : !V
    %r = dataflow.task @t ins(%p = %a : !V) outs(%o = %e : !V) -> !V {
      // expected-error @below {{expected floats, or integers of 1, 8, 16, 32, 64 bits: others are packed in streams}}
      %s = dataflow.own_kernel @twice ins(%p : !V) outs(%o : !V) -> !V {file = "twice.cpp", source = "...", loops = [#dataflow.own_loop<"tokens", trips = [6], ii = 1, depth = 7, ports = [[0 to 6], [0 to 6]]>], resources = {dsp = 12 : i64}}
      dataflow.yield %s : !V
    }
    dataflow.yield %r : !V
  }
  func.return %y : tensor<24xi4>
}
