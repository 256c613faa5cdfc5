// hls::stream_of_blocks as the vendor declares it. UG1399 2023.2, "HLS Stream of Blocks Library"; hls_streamofblocks.h.
//
// A name can be given to streams of depth 2 alone, after the depth, and is no constant; others have a default constructor only.
#ifndef STC_INTERFACE_HLS_STREAMOFBLOCKS_H
#define STC_INTERFACE_HLS_STREAMOFBLOCKS_H

#include "hls_stream.h"

namespace hls {

template <typename T, int DEPTH = 2>
class stream_of_blocks;

template <typename T>
class stream_of_blocks<T, 2> {
 public:
  stream_of_blocks(int depth = 2, char *name = 0);
  bool full();    // "Checking for Full and Empty Blocks"
  bool empty();
};

template <typename T, int DEPTH>
class stream_of_blocks : public stream_of_blocks<T, 2> {
 public:
  stream_of_blocks();
};

template <typename T>
class read_lock {
 public:
  read_lock(stream_of_blocks<T> &stream);
  ~read_lock();
  operator T &();
  T &operator=(const T &block);
};

template <typename T>
class write_lock {
 public:
  write_lock(stream_of_blocks<T> &stream);
  ~write_lock();
  operator T &();
  T &operator=(const T &block);
};

}  // namespace hls
#endif
