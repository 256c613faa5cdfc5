// FIFO depths to run with instead of those of the source: a text file named by the environment variable STC_SIM_DEPTHS, a name and
// a depth per line. Simulation without time; with time the timing table says it.
#ifndef STC_SIM_DEPTHS_H
#define STC_SIM_DEPTHS_H

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <unordered_map>

namespace stc_sim {

class DepthTable {
 public:
  DepthTable() {
    const char *path = std::getenv("STC_SIM_DEPTHS");
    if (path == nullptr || *path == 0) return;
    std::ifstream file(path);
    std::string name;
    std::uint64_t depth = 0;
    while (file >> name >> depth) depths_[name] = depth;
    if (file.eof() && !depths_.empty()) return;
    std::fprintf(stderr, "stc_sim: %s: not a list of FIFO names and depths\n", path);
    std::_Exit(2);
  }

  // The depth of FIFO `name`: `usual` where the file does not name it.
  std::uint64_t of(const std::string &name, std::uint64_t usual) const {
    const auto found = depths_.find(name);
    return found == depths_.end() || found->second == 0 ? usual : found->second;
  }

 private:
  std::unordered_map<std::string, std::uint64_t> depths_;
};

inline const DepthTable &depth_table() {
  static const DepthTable table;
  return table;
}

}  // namespace stc_sim
#endif
