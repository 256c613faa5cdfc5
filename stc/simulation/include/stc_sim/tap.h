// What crosses chosen streams and what chosen tasks round, written to files as it happens. Compiled only where STC_SIM_TAPPED is
// defined: any other program has nothing of this.
//
// The file that the environment variable STC_SIM_TAPS names has a line per tap: `stream` or `task`, a name, and a path, with
// tabs between. At the path stand raw entries, token after token, lane after lane; PATH.type says an entry's type and the lanes of
// a token, with a space between. f4: f32, i1: int8, u2: uint16, b1: bool; a5: 5 bits of an ap_ type without sign, s5: with one, in
// as few bytes as hold them; V12: 12 bytes of another type. Of a task: the number of each rounding, and what it became.
#ifndef STC_SIM_TAP_H
#define STC_SIM_TAP_H

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <type_traits>
#include <utility>

#include "scheduler.h"

class half;

namespace hls {
template <typename Value_, std::size_t Size_>
class vector;
}

namespace stc_sim {

namespace detail {

template <class Value_, class = void>
constexpr bool has_width = false;
template <class Value_>
constexpr bool has_width<Value_, std::void_t<decltype(Value_::width), decltype(std::declval<const Value_ &>().range(0, 0))>> = true;

template <class Value_>
constexpr std::size_t lanes = 1;
template <class Value_, std::size_t Size_>
constexpr std::size_t lanes<hls::vector<Value_, Size_>> = Size_ * lanes<Value_>;
template <class Value_, std::size_t Size_>
constexpr std::size_t lanes<Value_[Size_]> = Size_ * lanes<Value_>;

template <class Value_>
struct Entry {
  using type = Value_;
};
template <class Value_, std::size_t Size_>
struct Entry<hls::vector<Value_, Size_>> : Entry<Value_> {};
template <class Value_, std::size_t Size_>
struct Entry<Value_[Size_]> : Entry<Value_> {};

template <class Value_>
std::string entry_type() {
  const std::string bytes = std::to_string(sizeof(Value_));
  if constexpr (has_width<Value_>) return (Value_(-1) < Value_(0) ? "s" : "a") + std::to_string(int(Value_::width));
  if constexpr (std::is_same_v<Value_, bool>) return "b1";
  if constexpr (std::is_same_v<Value_, half> || std::is_floating_point_v<Value_>) return "f" + bytes;
  if constexpr (std::is_integral_v<Value_>) return (std::is_signed_v<Value_> ? "i" : "u") + bytes;
  return "V" + bytes;
}

}  // namespace detail

class Tap {
 public:
  explicit Tap(std::string path) : path_(std::move(path)) {}

  template <class Value_>
  __attribute__((noinline, cold)) void add(const Value_ &value) {
    if (file_ == nullptr) open(detail::entry_type<typename detail::Entry<Value_>::type>(), detail::lanes<Value_>);
    put(value);
  }

 private:
  void open(const std::string &type, std::size_t lanes) {
    std::ofstream(path_ + ".type") << type << " " << lanes << "\n";
    file_ = std::fopen(path_.c_str(), "wb");   // never closed: what exits in the end, or of a deadlock, writes what is left
    if (file_ == nullptr) unwritable();
  }

  template <class Value_>
  void put(const Value_ &value) {
    if constexpr (std::is_array_v<Value_>) {
      for (const auto &element : value) put(element);
    } else if constexpr (detail::lanes<Value_> > 1) {
      for (const auto &lane : value) put(lane);
    } else if constexpr (!std::is_same_v<typename detail::Entry<Value_>::type, Value_>) {
      put(*value.begin());
    } else if constexpr (detail::has_width<Value_>) {
      constexpr int width = Value_::width;
      for (int low = 0; low < width; low += 8) {
        const unsigned char byte = static_cast<unsigned char>(value.range(low + 7 < width ? low + 7 : width - 1, low).to_uint());
        raw(&byte, 1);
      }
    } else {
      raw(&value, sizeof value);
    }
  }

  void raw(const void *bytes, std::size_t count) {
    if (std::fwrite(bytes, 1, count, file_) != count) unwritable();
  }

  [[noreturn]] void unwritable() const {
    std::fprintf(stderr, "stc_sim: cannot write %s\n", path_.c_str());
    std::_Exit(2);
  }

  std::string path_;
  std::FILE *file_ = nullptr;
};

class Taps {
 public:
  Taps() {
    const char *path = std::getenv("STC_SIM_TAPS");
    if (path == nullptr) return;
    std::ifstream file(path);
    std::string kind, name, target;
    while (std::getline(file, kind, '\t') && std::getline(file, name, '\t') && std::getline(file, target)) {
      (kind == "task" ? tasks_ : streams_).emplace(name, Tap(target));
    }
  }

  Tap *stream(const std::string &name) { return found(streams_, name); }
  Tap *task(const std::string &path) { return tasks_.empty() ? nullptr : found(tasks_, path); }

 private:
  using ByName = std::map<std::string, Tap>;
  static Tap *found(ByName &taps, const std::string &name) {
    const auto at = taps.find(name);
    return at == taps.end() ? nullptr : &at->second;
  }

  ByName streams_, tasks_;
};

inline Taps &taps() {
  static Taps *all = new Taps;   // never destroyed: streams of the testbench may be written after it would be
  return *all;
}

// `whole`, which the running task has rounded `number` to.
template <class Value_>
__attribute__((noinline)) Value_ rounded(Value_ number, Value_ whole) {
  if (Tap *tap = taps().task(scheduler.current->path)) {
    tap->add(double(number));   // a task may round numbers of both types
    tap->add(double(whole));
  }
  return whole;
}

}  // namespace stc_sim
#endif
