// Indices that leave their array end the run with a sentence: the line, the index, what it is of, and the task.
//
// Three kinds of array are checked, where STC_SIM_UNCHECKED is not defined: arrays of the source and blocks, by the calls that
// -fsanitize=bounds makes (answered here: no sanitizer is linked); lanes of hls::vector; and bus words of ports, whose extents
// the instrumentation takes from the manifest. Checks are by extent, so that an index is also wrong where memory happens to be.
#ifndef STC_SIM_BOUNDS_H
#define STC_SIM_BOUNDS_H

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "loop_run.h"
#include "scheduler.h"

#define STC_SIM_INLINE __attribute__((always_inline)) inline

namespace stc_sim {

namespace detail {

// Line `number` of a source file, without the space around it; empty where it cannot be read.
inline std::string source_line(const char *file, int number) {
  std::ifstream source(file);
  std::string line;
  while (number-- > 0 && std::getline(source, line)) {}
  const std::size_t begin = line.find_first_not_of(" \t"), end = line.find_last_not_of(" \t\r");
  return number >= 0 || begin == std::string::npos ? std::string() : line.substr(begin, end - begin + 1);
}

// Ends the run: `what` happened in this line.
[[noreturn]] __attribute__((cold, noinline)) inline void end_run(const char *file, int line, const std::string &what) {
  Outcome reason;
  reason.kind = "error";
  reason.text = std::string(file) + ":" + std::to_string(line) + ": " + what;
  if (!scheduler.is_host(scheduler.current)) reason.text += ", in task " + scheduler.current->path;
  const std::string text = source_line(file, line);
  if (!text.empty()) reason.text += ": " + text;
  scheduler.fail(std::move(reason));
}

[[noreturn]] __attribute__((cold, noinline)) inline void index_outside(
    const char *file, int line, std::int64_t index, const std::string &of, std::uint64_t extent) {
  const std::string what = "index " + std::to_string(index) + " of " + of;
  end_run(file, line, what + (extent > 0 ? " is outside 0 to " + std::to_string(extent - 1) : " is outside it"));
}

}  // namespace detail

// Whatever an array may be indexed by, with the line that does so.
class Index {
 public:
  template <class Value_, class = std::enable_if_t<std::is_convertible<const Value_ &, std::size_t>::value>>
  STC_SIM_INLINE Index(const Value_ &value, const char *file = __builtin_FILE(), int line = __builtin_LINE())
      : value_(std::int64_t(std::size_t(value))), file_(file), line_(line) {}

  STC_SIM_INLINE std::int64_t value() const { return value_; }
  STC_SIM_INLINE bool is_below(std::uint64_t extent) const {
#ifdef STC_SIM_UNCHECKED
    return true;
#else
    return __builtin_expect(std::uint64_t(value_) < extent, 1);
#endif
  }
  // A word of memory port `read` that `writer` wrote in the same launch.
  [[noreturn]] void unacknowledged(const std::string &read, const std::string &writer) const {
    detail::end_run(file_, line_, "word " + std::to_string(value_) + " of memory port " + read + " is read, which port " + writer +
                                      " wrote in this launch: the write may not be acknowledged");
  }
  [[noreturn]] void outside(const std::string &of, std::uint64_t extent) const {
    detail::index_outside(file_, line_, value_, of, extent);
  }

 private:
  std::int64_t value_;
  const char *file_;
  int line_;
};

// Whether launches compute several steps, of which one may read what another wrote.
inline bool several_steps = false;

// The words of one buffer that a launch has written, by one task. Of several steps, a write is acknowledged before the task begins
// another loop: the tool puts the response behind the loop that writes, and another loop behind that. Nothing else tells a reader.
struct Written {
  const char *port = nullptr;   // none: nobody writes the buffer
  std::vector<std::uint32_t> words;   // the loop that wrote it, by number from 1; 0: nobody did
  std::shared_ptr<std::uint64_t> loops;   // that the task which writes has begun

  void write(std::int64_t at) {
    if (loops != scheduler.current->loops) loops = scheduler.current->loops;
    words[at] = std::uint32_t(*loops) + 1;
  }
  bool is_under_way(std::int64_t at) const { return words[at] != 0 && (!several_steps || words[at] == std::uint32_t(*loops) + 1); }
};

// By buffer, of the launch under way.
inline std::map<const void *, Written> written_buffers;

#ifdef STC_SIM_TIMED
// How many words of a port were read or written, through pointers that know their port: several lanes of a word in one
// iteration are one access.
class PortAccesses {
 public:
  void note(std::int64_t word) {
    const std::uint64_t iteration = scheduler.loop == nullptr ? 0 : scheduler.loop->iteration();
    if (word == word_ && scheduler.loop == loop_ && iteration == iteration_) return;
    word_ = word;
    loop_ = scheduler.loop;
    iteration_ = iteration;
    ++count_;
  }
  void begin() { word_ = -1; }
  std::uint64_t count() const { return count_; }

 private:
  std::uint64_t count_ = 0, iteration_ = 0;
  std::int64_t word_ = -1;
  const LoopRun *loop_ = nullptr;
};
inline std::map<std::string, PortAccesses> port_accesses;
#endif

// What a task gets for a memory port: a pointer that knows the port's name and how many words it has. Arithmetic keeps them;
// a plain pointer made of it is not checked.
template <class Value_>
class Words {
 public:
  Words(Value_ *first) : first_(first) {}
  Words(const char *port, Value_ *first, std::uint64_t count, std::int64_t offset = 0)
      : port_(port), first_(first), count_(count), offset_(offset), written_(&written_buffers[first]) {
#ifdef STC_SIM_TIMED
    accesses_ = &port_accesses[port];
#endif
    if (std::is_const<Value_>::value) return;
    written_->port = port;
    written_->words.resize(count);
  }

  Value_ &operator[](Index index) const {
    const std::int64_t at = offset_ + index.value();
    if (port_ != nullptr && !Index(at).is_below(count_)) {
      index.outside("memory port " + std::string(port_) + (offset_ == 0 ? "" : " from word " + std::to_string(offset_)), count_);
    }
#ifdef STC_SIM_TIMED
    if (accesses_ != nullptr) accesses_->note(at);
#endif
#ifndef STC_SIM_UNCHECKED
    if (written_ != nullptr && written_->port != nullptr) note(at, index);
#endif
    return first_[at];
  }
  Value_ &operator*() const { return (*this)[0]; }
  Value_ *operator->() const { return &(*this)[0]; }
  Words operator+(std::ptrdiff_t words) const { return Words(port_, first_, count_, offset_ + words); }
  Words operator-(std::ptrdiff_t words) const { return *this + -words; }
  Words &operator+=(std::ptrdiff_t words) { return *this = *this + words; }
  Words &operator++() { return *this += 1; }
  Words operator++(int) { return std::exchange(*this, *this + 1); }

  // A template, so that `words[i]` is never the built-in operator on the pointer.
  template <class Pointer_,
            class = std::enable_if_t<std::is_convertible<Value_ *, Pointer_>::value && std::is_pointer<Pointer_>::value>>
  operator Pointer_() const {
    return first_ + offset_;
  }

 private:
  // A word is written, or read: then it may not be on its way there.
  void note(std::int64_t at, Index index) const {
    if (!std::is_const<Value_>::value) written_->write(at);
    else if (written_->is_under_way(at)) index.unacknowledged(port_, written_->port);
  }

  const char *port_ = nullptr;   // none: a pointer to anything
  Value_ *first_;
  std::uint64_t count_ = 0;
  std::int64_t offset_ = 0;
  Written *written_ = nullptr;
#ifdef STC_SIM_TIMED
  PortAccesses *accesses_ = nullptr;
#endif
};

template <class Value_>
Words<Value_> words(const char *port, Value_ *first, std::uint64_t count) {
#ifdef STC_SIM_TIMED
  port_accesses[port].begin();   // another call reads a word anew
#endif
  return Words<Value_>(port, first, count);
}

// What -fsanitize=bounds hands to its handlers, as GCC and Clang lay it out.
namespace sanitizer {

struct SourceLocation {
  const char *file;
  std::uint32_t line, column;
};
struct TypeDescriptor {
  std::uint16_t kind, info;   // of integers, info: bit 0 whether signed, above it the logarithm of the width
  char name[1];
};
struct OutOfBounds {
  SourceLocation location;
  const TypeDescriptor *array, *index;
};

[[noreturn]] inline void out_of_bounds(const OutOfBounds *found, std::uintptr_t handle) {
  const int width = 1 << (found->index->info >> 1);
  const std::int64_t index = (found->index->info & 1) != 0 && width < 64 ? std::int64_t(handle << (64 - width)) >> (64 - width)
                                                                         : std::int64_t(handle);
  const std::string type = found->array->name;   // 'float [4][16]': the first extent is the one that was left
  const std::size_t bracket = type.find('[');
  const std::uint64_t extent = bracket == std::string::npos ? 0 : std::strtoull(type.c_str() + bracket + 1, nullptr, 10);
  detail::index_outside(found->location.file, int(found->location.line), index, "an array " + type, extent);
}

}  // namespace sanitizer

}  // namespace stc_sim

extern "C" {
[[noreturn]] __attribute__((used)) inline void __ubsan_handle_out_of_bounds(
    stc_sim::sanitizer::OutOfBounds *found, std::uintptr_t index) {
  stc_sim::sanitizer::out_of_bounds(found, index);
}
[[noreturn]] __attribute__((used)) inline void __ubsan_handle_out_of_bounds_abort(
    stc_sim::sanitizer::OutOfBounds *found, std::uintptr_t index) {
  stc_sim::sanitizer::out_of_bounds(found, index);
}
}

#endif
