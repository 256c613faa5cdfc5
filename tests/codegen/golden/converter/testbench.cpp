// C simulation of converter: runs on one draw of golden inputs and compares with the reference outputs. See `make csim`.
//
//     csim [PROJECT_FOLDER [DRAW]]     draws: example
#include <string>
#include <vector>

#include "kernel.h"
#include "layout.h"
#include "stc_sim.h"

int main(int argc, char **argv) {
  const std::string dir = argc > 1 ? argv[1] : ".";
  const std::string golden_folder = dir + "/golden/" + (argc > 2 ? argv[2] : "example") + "/";
  stc_sim::Report report(dir + "/build/csim.json");

  // Tensors of the host, row-major.
  const std::vector<int32_t> x_tensor = stc_sim::load<int32_t>(golden_folder + "x.bin", 24);
  std::vector<int32_t> out_0_tensor(24);
  const std::vector<int32_t> out_0_reference = stc_sim::load<int32_t>(golden_folder + "out_0.bin", 24);

  // Buffers of the memory ports, padded to 64 bytes.
  std::vector<int32_x4> x_buffer(8);
  std::vector<int32_x1> out_0_buffer(32);

  ::pack_x((const int32_t *)x_tensor.data(), (int32_t *)x_buffer.data());
  report.run("turn", [&] {
    ::turn(
        x_buffer.data(),
        out_0_buffer.data());
  });
  ::unpack_out_0((const int32_t *)out_0_buffer.data(), (int32_t *)out_0_tensor.data());

  report.compare("out_0", out_0_tensor.data(), out_0_reference.data(), 24);
  return report.finish();
}
