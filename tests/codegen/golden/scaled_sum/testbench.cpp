// C simulation of scaled-sum: runs on one draw of golden inputs and compares with the reference outputs. See `make csim`.
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
  const std::vector<float> x_tensor = stc_sim::load<float>(golden_folder + "x.bin", 48);
  std::vector<float> out_tensor(48);
  const std::vector<float> out_reference = stc_sim::load<float>(golden_folder + "out.bin", 48);
  const std::vector<double> out_allowed = stc_sim::load<double>(golden_folder + "out.allowed.bin", 48);

  // Buffers of the memory ports, padded to 64 bytes.
  std::vector<float_x8> x_buffer(6);
  std::vector<float_x8> norm_gain_buffer = stc_sim::load<float_x8>(dir + "/parameters/norm_gain.bin", 2);
  std::vector<float_x8> out_buffer(6);

  ::pack_x((const float *)x_tensor.data(), (float *)x_buffer.data());
  report.run("scaled_sum", [&] {
    ::scaled_sum(
        x_buffer.data(),
        norm_gain_buffer.data(),
        out_buffer.data());
  });
  ::unpack_out((const float *)out_buffer.data(), (float *)out_tensor.data());

  report.compare("out", out_tensor.data(), out_reference.data(), 48,
                 stc_sim::Tolerance{0.0001, out_allowed.data(), 0, false}, x_tensor.data());
  return report.finish();
}
