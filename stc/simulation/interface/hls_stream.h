// hls::stream as the vendor declares it. UG1399 2023.2, "HLS Stream Library" and "Using HLS Streams"; hls_stream_39.h.
#ifndef STC_INTERFACE_HLS_STREAM_H
#define STC_INTERFACE_HLS_STREAM_H

#include <cstddef>

namespace hls {

template <typename T, int DEPTH = 0>
class stream;

template <typename T>
class stream<T, 0> {
 public:
  using value_type = T;

  stream();                   // "Using HLS Streams": hls::stream<type> name
  stream(const char *name);   // "Stream Naming"

  void operator>>(T &value);         // "Blocking API"
  void operator<<(const T &value);
  void read(T &value);
  T read();
  void write(const T &value);

  bool read_nb(T &value);            // "Non-blocking API"
  bool write_nb(const T &value);

  bool empty();                      // "hls::stream.empty() Method" and the pages after it
  bool full() const;
  std::size_t size();
  std::size_t capacity();

 private:
  stream(const stream &);            // streams are passed by reference
  stream &operator=(const stream &);
};

template <typename T, int DEPTH>
class stream : public stream<T, 0> {
 public:
  stream();
  stream(const char *name);
};

}  // namespace hls
#endif
