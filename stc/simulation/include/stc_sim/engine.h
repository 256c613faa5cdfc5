// Everything an instrumented design needs: channels, iteration guards, dataflow regions, and the names they carry.
#ifndef STC_SIM_ENGINE_H
#define STC_SIM_ENGINE_H

#include "bounds.h"
#include "region.h"

namespace stc_sim {

// Whether a FIFO pragma on a variable of this type can be followed. An array turned into a FIFO keeps its values, but when its
// elements get across is not known here.
template <class Value_>
constexpr bool has_depth =
    !timed || !std::is_array<Value_>::value || std::is_base_of<Channel, std::remove_all_extents_t<Value_>>::value;

// `#pragma HLS stream variable=v depth=n`: on streams and arrays of them.
template <class Value_>
void set_depth(Value_ &variable, std::uint64_t depth) {
  if constexpr (std::is_array<Value_>::value) {
    for (auto &element : variable) set_depth(element, depth);
  } else if constexpr (std::is_base_of<Channel, Value_>::value) {
    channel_of(variable).set_depth(depth);
  }
}

// A channel that its constructor did not name is called like its variable.
template <class Value_>
void name_channel(Value_ &variable, const std::string &name) {
  if constexpr (std::is_array<Value_>::value) {
    std::size_t index = 0;
    for (auto &element : variable) name_channel(element, name + "[" + std::to_string(index++) + "]");
  } else if constexpr (std::is_base_of<Channel, Value_>::value) {
    if (!channel_of(variable).is_named()) channel_of(variable).set_name(name.c_str());
  }
}

}  // namespace stc_sim
#endif
