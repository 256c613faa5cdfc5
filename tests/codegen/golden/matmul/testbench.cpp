// C simulation of matmul: runs on one draw of golden inputs and compares with the reference outputs. See `make csim`.
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
  const std::vector<float> x_tensor = stc_sim::load<float>(golden_folder + "x.bin", 24);
  std::vector<float> y_tensor(32);
  const std::vector<float> y_reference = stc_sim::load<float>(golden_folder + "y.bin", 32);
  const std::vector<double> y_allowed = stc_sim::load<double>(golden_folder + "y.allowed.bin", 32);

  // Buffers of the memory ports, padded to 64 bytes.
  std::vector<float_x2> x_buffer(16);
  std::vector<float_x8> fc_weight_buffer = stc_sim::load<float_x8>(dir + "/parameters/fc_weight.bin", 6);
  std::vector<float_x4> y_buffer(8);

  ::pack_x((const float *)x_tensor.data(), (float *)x_buffer.data());
  report.run("fc_kernel", [&] {
    ::fc_kernel(
        x_buffer.data(),
        fc_weight_buffer.data(),
        y_buffer.data());
  });
  ::unpack_y((const float *)y_buffer.data(), (float *)y_tensor.data());

  report.compare("y", y_tensor.data(), y_reference.data(), 32,
                 stc_sim::Tolerance{0.0001, y_allowed.data(), 0, false});
  return report.finish();
}
