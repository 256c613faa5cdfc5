// hls::stream for the executor: each access of a port is a request on a pipe (stc/simulation/own_kernels.py). A stream that is
// declared inside an own kernel would need tasks: it has none.
#ifndef STC_OWN_KERNEL_HLS_STREAM_H
#define STC_OWN_KERNEL_HLS_STREAM_H

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

namespace stc_own {

// Requests go to what was standard output; what the kernel prints goes to standard error.
inline int requests() {
  static const int descriptor = [] {
    const int own = dup(1);
    dup2(2, 1);
    return own;
  }();
  return descriptor;
}

inline void send(const void *data, std::size_t size) {
  const char *next = static_cast<const char *>(data);
  while (size > 0) {
    const ssize_t done = ::write(requests(), next, size);
    if (done <= 0) std::exit(1);
    next += done;
    size -= std::size_t(done);
  }
}

inline void receive(void *data, std::size_t size) {
  char *next = static_cast<char *>(data);
  while (size > 0) {
    const ssize_t done = ::read(0, next, size);
    if (done <= 0) std::exit(1);
    next += done;
    size -= std::size_t(done);
  }
}

inline void request(char kind, int port) {
  const char head[2] = {kind, char(port)};
  send(head, 2);
}

inline void end() { request('E', 0); }

}  // namespace stc_own

namespace hls {

template <typename Value_, int Depth_ = 0>
class stream;

template <typename Value_>
class stream<Value_, 0> {
 public:
  explicit stream(int port) : port_(port) { stc_own::requests(); }
  stream(const stream &) = delete;

  Value_ read() {
    Value_ value;
    stc_own::request('R', port_);
    stc_own::receive(&value, sizeof(Value_));
    return value;
  }
  void read(Value_ &value) { value = read(); }
  void write(const Value_ &value) {
    stc_own::request('W', port_);
    stc_own::send(&value, sizeof(Value_));
  }
  void operator<<(const Value_ &value) { write(value); }
  void operator>>(Value_ &value) { read(value); }

 private:
  int port_;
};

}  // namespace hls
#endif
