// What a testbench uses: run the top function, compare its outputs, write `csim.json`. See ../stc_sim.h for an
// example.
#ifndef STC_SIM_REPORT_H
#define STC_SIM_REPORT_H

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>

#include "engine.h"
#include "json.h"
#include "timing_report.h"

namespace stc_sim {

// How often the top function is called: once, or what STC_SIM_INVOCATIONS says where time is kept.
inline int invocations() {
  const char *wanted = timed ? std::getenv("STC_SIM_INVOCATIONS") : nullptr;
  return wanted == nullptr ? 1 : std::max(1, std::atoi(wanted));
}

// A scalar argument of the top function: `value`, or what STC_SIM_AT says in its place ("pos=5,rows=3"). Then the outputs are not
// compared: the reference is that of another value.
inline const char *replaced_scalars() { return std::getenv("STC_SIM_AT"); }

inline int scalar(const char *name, int value) {
  const std::string all = replaced_scalars() == nullptr ? "" : std::string(",") + replaced_scalars();
  const std::string wanted = std::string(",") + name + "=";
  const std::size_t found = all.find(wanted);
  return found == std::string::npos ? value : std::atoi(all.c_str() + found + wanted.size());
}

// Runs `top()` to its end, or until no task can go on.
template <class Top>
Outcome run(const char *name, Top top) {
  struct TopBody : Body {
    Top top;
    explicit TopBody(Top t) : top(std::move(t)) {}
    void execute() override { top(); }
  };
  for (int left = invocations(); left > 0; --left) {
    written_buffers.clear();
    scheduler.run_top(name, std::make_unique<TopBody>(top));
  }
  return scheduler.failed() ? scheduler.outcome : check_leftovers();
}

// The numbers of bf16 of which these are the bits: the upper halves of f32.
template <class Bits_>
std::vector<float> of_bf16(const std::vector<Bits_> &bits) {
  std::vector<float> numbers(bits.size());
  for (std::size_t i = 0; i < bits.size(); ++i) {
    const std::uint32_t wide = std::uint32_t(static_cast<std::uint16_t>(bits[i])) << 16;
    std::memcpy(&numbers[i], &wide, sizeof wide);
  }
  return numbers;
}

// By how much the numbers of an output may differ. `allowed`: absolute, for each entry; negative where the reference is itself
// uncertain by as much as its entry, so that a comparison with any other value says nothing, infinite where any value will do.
// `must_decide`: an undecided entry makes `finish` return 1, for an output that no other run decides either. Without `allowed`
// an entry's error is at most `relative` times its magnitude + the rms of its row, and also times the output's largest magnitude
// and, if there is an input of the same shape, its largest change: the rule by which `stc compile` fills `allowed`. `row`:
// entries along the last dimension; 0: one row.
struct Tolerance {
  double relative = 0;
  const double *allowed = nullptr;
  std::size_t row = 0;
  bool must_decide = false;

  Tolerance(double relative_, const double *allowed_ = nullptr, std::size_t row_ = 0, bool must_decide_ = false)
      : relative(relative_), allowed(allowed_), row(row_), must_decide(must_decide_) {}
};

// The entry of an output that is furthest off: its error over what is allowed. `got` and `expected` as text, so that all bits of
// an integer are there.
struct Worst {
  std::uint64_t index = 0;
  double error = 0, allowed = 0, share = -1;
  std::string got, expected;
};

// The result of comparing one output. Integers must be equal, and what is not finite the same in the same place.
struct Output {
  std::string name;
  std::uint64_t elements = 0;
  double max_abs_error = 0, max_abs_reference = 0, max_abs_reference_minus_input = 0;
  std::uint64_t nan_mismatches = 0;   // NaN or infinity where the reference has another value, or the reverse
  std::uint64_t wrong = 0;            // entries beyond what is allowed, these included
  std::uint64_t undecided = 0;        // entries of which the reference says nothing
  double tolerance = 0;
  bool has_input = false, must_decide = false;
  Worst worst;

  bool passed() const { return wrong == 0; }
  bool decided() const { return undecided == 0 || !must_decide; }
  const char *verdict() const { return !passed() ? "MISMATCH" : undecided > 0 ? "UNDECIDED" : "ok"; }
};

template <class Value_>
std::string value_text(const Value_ &value) {
  if constexpr (std::is_integral_v<Value_>) return std::to_string(value);
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", static_cast<double>(value));
  return text;
}

// The distance of two numbers; of integers without a rounding that makes it 0.
template <class Value_>
double difference(const Value_ &a, const Value_ &b) {
  if constexpr (std::is_integral_v<Value_>) {
    return static_cast<double>(a > b ? std::uint64_t(a) - std::uint64_t(b) : std::uint64_t(b) - std::uint64_t(a));
  }
  return std::fabs(static_cast<double>(a) - static_cast<double>(b));
}

// Whether values of this type have no fraction.
template <class Value_>
bool is_whole() {
  return static_cast<Value_>(0.5) == static_cast<Value_>(0);
}

// The root mean square of `count` numbers, those that are not finite taken as 0. Numbers near 1 are squared, whatever their scale.
template <class Value_>
double root_mean_square(const Value_ *values, std::size_t count) {
  double scale = 0, squares = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double value = std::fabs(static_cast<double>(values[i]));
    if (std::isfinite(value)) scale = std::max(scale, value);
  }
  if (scale == 0) return 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double value = static_cast<double>(values[i]) / scale;
    if (std::isfinite(value)) squares += value * value;
  }
  return scale * std::sqrt(squares / static_cast<double>(count));
}

template <class Value_>
Output compare(const std::string &name, const Value_ *got, const Value_ *reference, std::size_t elements,
               Tolerance tolerance = 0.0, const Value_ *input = nullptr) {
  Output o;
  o.name = name;
  o.elements = elements;
  o.tolerance = tolerance.relative;
  o.has_input = input != nullptr;
  o.must_decide = tolerance.must_decide;
  for (std::size_t i = 0; i < elements; ++i) {
    const double r = static_cast<double>(reference[i]);
    if (!std::isfinite(r)) continue;
    o.max_abs_reference = std::max(o.max_abs_reference, std::fabs(r));
    if (input == nullptr) continue;
    const double x = static_cast<double>(input[i]), change = std::isfinite(x) ? r - x : r;
    o.max_abs_reference_minus_input = std::max(o.max_abs_reference_minus_input, std::fabs(change));
  }
  const std::size_t row = tolerance.row == 0 ? elements : tolerance.row;
  double rms = 0;
  const double most = input == nullptr ? o.max_abs_reference : std::min(o.max_abs_reference, o.max_abs_reference_minus_input);
  for (std::size_t i = 0; i < elements; ++i) {
    const double g = static_cast<double>(got[i]), r = static_cast<double>(reference[i]);
    const bool finite = std::isfinite(g) && std::isfinite(r);
    const bool same = finite ? got[i] == reference[i] : g == r || (std::isnan(g) && std::isnan(r));
    double error = 0, allowed = 0;
    if (i % row == 0 && tolerance.allowed == nullptr) rms = root_mean_square(reference + i, std::min(row, elements - i));
    if (tolerance.allowed != nullptr && tolerance.allowed[i] < 0 && !same) ++o.undecided;
    if (tolerance.allowed != nullptr) allowed = std::fabs(tolerance.allowed[i]);
    else if (!is_whole<Value_>()) allowed = tolerance.relative * std::min(std::fabs(r) + rms, most);
    const bool any_value = std::isinf(allowed);
    if (finite) {
      error = difference(got[i], reference[i]);
      o.max_abs_error = std::max(o.max_abs_error, error);
    } else if (!same) {
      error = INFINITY;
      o.nan_mismatches += !any_value;
    }
    o.wrong += !same && !any_value && !(error <= allowed);
    const double share = same || any_value ? 0 : allowed > 0 ? error / allowed : INFINITY;
    if (share > o.worst.share || (share == o.worst.share && error > o.worst.error)) {
      o.worst = {i, error, allowed, share, value_text(got[i]), value_text(reference[i])};
    }
  }
  return o;
}

class Report {
 public:
  // `path` of the JSON report; its folder is made if need be. A report of an earlier run is removed at once.
  // STC_SIM_REPORT names another file.
  explicit Report(std::string path) : path_(std::move(path)) {
    if (const char *wanted = std::getenv("STC_SIM_REPORT")) path_ = wanted;
    const std::filesystem::path folder = std::filesystem::path(path_).parent_path();
    std::error_code ignored;
    if (!folder.empty()) std::filesystem::create_directories(folder, ignored);
    std::filesystem::remove(path_, ignored);
  }

  template <class Top>
  bool run(const char *name, Top top) {
    top_ = name;
    const auto begin = std::chrono::steady_clock::now();
    const std::clock_t cpu_begin = std::clock();
    outcome_ = stc_sim::run(name, std::move(top));
    seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    cpu_seconds_ += double(std::clock() - cpu_begin) / CLOCKS_PER_SEC;
    ++runs_;
    return outcome_.ok;
  }

  // How often the top function was run.
  int runs() const { return runs_; }

  // The run ended, but its result is not what it should be.
  void refuse(const std::string &why) {
    if (!outcome_.ok) return;
    outcome_.ok = false;
    outcome_.text = why;
  }

  // The program ends here, and not as it should: what it printed says why.
  void abort(const char *kind, const std::string &how) {
    if (!outcome_.ok) return;
    outcome_.ok = false;
    outcome_.kind = kind;
    outcome_.text = how;
    aborted_ = true;
  }

  void add(Output output) {
    if (!scheduler.failed()) outputs_.push_back(std::move(output));
  }

  template <class Value_>
  void compare(const std::string &name, const Value_ *got, const Value_ *reference, std::size_t elements,
               Tolerance tolerance = 0.0, const Value_ *input = nullptr) {
    if (!scheduler.failed() && replaced_scalars() == nullptr) {
      add(stc_sim::compare(name, got, reference, elements, tolerance, input));
    }
  }

  bool passed() const {
    for (const Output &o : outputs_) {
      if (!o.passed()) return false;
    }
    return outcome_.ok;
  }

  const char *verdict() const {
    if (!passed()) return "FAILED";
    for (const Output &o : outputs_) {
      if (o.undecided > 0) return "UNDECIDED";
    }
    return "ok";
  }

  bool decided() const {
    for (const Output &o : outputs_) {
      if (!o.decided()) return false;
    }
    return true;
  }

  // Writes the report, prints it readably, and returns the exit code: 0 ok, 1 a check failed or decides nothing, 2 not writable.
  int finish() const {
    print();
    const std::string unfinished = path_ + ".part";   // a reader sees a whole report or none
    std::ofstream file(unfinished);
    file << json();
    file.close();
    std::error_code error;
    if (file) std::filesystem::rename(unfinished, path_, error);
    if (!file || error) {
      std::filesystem::remove(unfinished, error);
      std::fprintf(stderr, "stc_sim: cannot write %s\n", path_.c_str());
      return 2;
    }
    return passed() && decided() ? 0 : 1;
  }

  std::string json() const {
    std::string out = "{\n  \"schema\": 1,\n  \"top\": " + json_text(top_) + ",\n  \"outcome\": " + json_text(outcome_.kind);
    out += std::string(",\n  \"passed\": ") + (passed() ? "true" : "false") + ",\n  \"runs\": " + std::to_string(runs_);
    out += ",\n  \"seconds\": " + json_number(seconds_) + ",\n  \"cpu_seconds\": " + json_number(cpu_seconds_);
    out += ",\n  \"explanation\": " + (outcome_.ok ? std::string("null") : json_text(outcome_.text));
    out += std::string(",\n  \"aborted\": ") + (aborted_ ? "true" : "false");
    out += ",\n  \"blocked\": " + json_list(outcome_.blocked, blocked_json);
    out += ",\n  \"outputs\": " + json_list(outputs_, output_json);
    out += ",\n  \"channels\": " + json_list(channel_records(), channel_json);
#ifdef STC_SIM_TIMED
    out += ",\n  \"timing\": " + timing_json();
#endif
    return out + "\n}\n";
  }

 private:
  static std::string blocked_json(const Blocked &b) {
    return "{" + json_field("task", json_text(b.task)) + ", " + json_field("waits_to", json_text(b.waits_to)) + ", " +
           json_field("channel", json_text(b.channel)) + ", " + json_field("kind", json_text(b.kind)) + ", " +
           json_field("peer", json_text(b.peer)) + ", " + json_field("occupancy", std::to_string(b.occupancy)) + ", " +
           json_field("depth", b.bounded ? std::to_string(b.depth) : "null") + ", " +
           json_field("tokens_written", std::to_string(b.written)) + ", " +
           json_field("tokens_read", std::to_string(b.read)) + ", " +
           json_field("uncommitted_reads", std::to_string(b.uncommitted_reads)) + ", " +
           json_field("held_back", std::to_string(b.held_back)) + ", " + json_field("loop", json_text(b.loop)) +
           ", " + json_field("line", std::to_string(b.line)) + "}";
  }

  static std::string output_json(const Output &o) {
    return "{" + json_field("name", json_text(o.name)) + ", " + json_field("elements", std::to_string(o.elements)) + ", " +
           json_field("max_abs_error", json_number(o.max_abs_error)) + ", " +
           json_field("max_abs_reference", json_number(o.max_abs_reference)) + ", " +
           json_field("max_abs_reference_minus_input",
                 o.has_input ? json_number(o.max_abs_reference_minus_input) : std::string("null")) + ", " +
           json_field("nan_mismatches", std::to_string(o.nan_mismatches)) + ", " +
           json_field("wrong", std::to_string(o.wrong)) + ", " + json_field("undecided", std::to_string(o.undecided)) + ", " +
           json_field("worst", worst_json(o.worst)) + ", " +
           json_field("tolerance", json_number(o.tolerance)) + ", " + json_field("passed", o.passed() ? "true" : "false") + "}";
  }

  static std::string worst_json(const Worst &w) {
    return "{" + json_field("index", std::to_string(w.index)) + ", " + json_field("error", json_number(w.error)) + ", " +
           json_field("allowed", json_number(w.allowed)) + ", " + json_field("share", json_number(w.share)) + ", " +
           json_field("got", json_text(w.got)) + ", " + json_field("expected", json_text(w.expected)) + "}";
  }

  static std::string channel_json(const ChannelRecord &c) {
    return "{" + json_field("name", json_text(c.name)) + ", " + json_field("kind", json_text(c.kind)) + ", " +
           json_field("depth", c.bounded ? std::to_string(c.depth) : "null") + ", " +
           json_field("tokens", std::to_string(c.tokens)) +
           ", " + json_field("bits", std::to_string(c.bits)) + ", " +
           json_field("highest_occupancy", std::to_string(c.highest_occupancy)) + ", " +
           json_field("left_over", std::to_string(c.left_over)) + ", " + json_field("external", c.external ? "true" : "false") +
           ", " + json_field("producer", json_text(c.producer)) + ", " + json_field("consumer", json_text(c.consumer)) + "}";
  }

  void print() const {
    if (!outcome_.ok) std::printf("%s\n", outcome_.text.c_str());
    for (const Output &o : outputs_) {
      std::printf("%s: %s, %llu elements, largest error %.3g, largest reference %.3g", o.name.c_str(),
                  o.verdict(), static_cast<unsigned long long>(o.elements), o.max_abs_error,
                  o.max_abs_reference);
      if (o.has_input) std::printf(", largest change %.3g", o.max_abs_reference_minus_input);
      if (o.nan_mismatches > 0) {
        std::printf(", %llu NaN or infinite where they should not be or the reverse",
                    static_cast<unsigned long long>(o.nan_mismatches));
      }
      if (!o.passed()) {
        std::printf(", %llu entries wrong, the worst at %llu: %s, not %s (allowed error %.3g)",
                    static_cast<unsigned long long>(o.wrong), static_cast<unsigned long long>(o.worst.index), o.worst.got.c_str(),
                    o.worst.expected.c_str(), o.worst.allowed);
      }
      if (o.undecided > 0) {
        std::printf(", rounding errors alone move the reference of %llu entries by as much as their size",
                    static_cast<unsigned long long>(o.undecided));
      }
      std::printf("\n");
    }
    std::printf("%s: %s after %.3f s, %s\n", top_.c_str(), outcome_.kind.c_str(), seconds_, verdict());
    std::fflush(stdout);
  }

  std::string path_, top_;
  Outcome outcome_;
  bool aborted_ = false;
  std::vector<Output> outputs_;
  int runs_ = 0;
  double seconds_ = 0, cpu_seconds_ = 0;   // inside the top function: elapsed, and spent by this program
};

[[noreturn]] inline void unusable_input(const std::string &message) {
  std::fprintf(stderr, "stc_sim: %s\n", message.c_str());
  std::exit(2);
}

// `count` values of type T from a raw little-endian file of exactly that size. Exits with code 2 otherwise.
template <class Value_>
std::vector<Value_> load(const std::string &path, std::size_t count) {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(path, error);
  if (error) unusable_input("cannot read " + path);
  if (bytes != count * sizeof(Value_)) {
    unusable_input(path + " has " + std::to_string(bytes) + " bytes; accepted: " + std::to_string(count * sizeof(Value_)));
  }
  std::vector<Value_> values(count);
  std::ifstream file(path, std::ios::binary);
  if (count > 0 && !file.read(reinterpret_cast<char *>(values.data()), std::streamsize(bytes))) {
    unusable_input("cannot read " + path);
  }
  return values;
}

template <class Value_>
void save(const std::string &path, const std::vector<Value_> &values) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char *>(values.data()), std::streamsize(values.size() * sizeof(Value_)));
  file.close();
  if (!file) unusable_input("cannot write " + path);
}

}  // namespace stc_sim
#endif
