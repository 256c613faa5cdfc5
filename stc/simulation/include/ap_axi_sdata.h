// The structures that travel on an AXI4-Stream, with the vendor's names and members (UG1399).
#ifndef STC_AP_AXI_SDATA_H
#define STC_AP_AXI_SDATA_H

#include <cstddef>

#include "ap_int.h"

namespace hls {

// Data of any type, with the side channels of the protocol.
template <typename Data_, std::size_t User_ = 0, std::size_t Id_ = 0, std::size_t Dest_ = 0>
struct axis {
  static constexpr std::size_t bytes = sizeof(Data_);
  Data_ data;
  ap_uint<bytes> keep, strb;
  ap_uint<(User_ > 0 ? User_ : 1)> user;
  ap_uint<1> last;
  ap_uint<(Id_ > 0 ? Id_ : 1)> id;
  ap_uint<(Dest_ > 0 ? Dest_ : 1)> dest;
};

template <typename Word_, std::size_t Width_, std::size_t User_, std::size_t Id_, std::size_t Dest_>
struct axis_word {
  static constexpr std::size_t bytes = (Width_ + 7) / 8;
  Word_ data;
  ap_uint<bytes> keep, strb;
  ap_uint<(User_ > 0 ? User_ : 1)> user;
  ap_uint<1> last;
  ap_uint<(Id_ > 0 ? Id_ : 1)> id;
  ap_uint<(Dest_ > 0 ? Dest_ : 1)> dest;
};

}  // namespace hls

template <std::size_t Width_, std::size_t User_ = 0, std::size_t Id_ = 0, std::size_t Dest_ = 0>
struct ap_axiu : hls::axis_word<ap_uint<Width_>, Width_, User_, Id_, Dest_> {};
template <std::size_t Width_, std::size_t User_ = 0, std::size_t Id_ = 0, std::size_t Dest_ = 0>
struct ap_axis : hls::axis_word<ap_int<Width_>, Width_, User_, Id_, Dest_> {};

#endif
