// What a testbench uses: run the top function, compare its outputs, write `csim.json`. See ../stc_sim.h for an
// example.
#ifndef STC_SIM_REPORT_H
#define STC_SIM_REPORT_H

#include <chrono>
#include <cmath>
#include <cstdio>
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

// Runs `top()` to its end, or until no task can go on.
template <class Top>
Outcome run(const char *name, Top top) {
  struct TopBody : Body {
    Top top;
    explicit TopBody(Top t) : top(std::move(t)) {}
    void execute() override { top(); }
  };
  for (int left = invocations(); left > 0; --left) scheduler.run_top(name, std::make_unique<TopBody>(top));
  return scheduler.failed() ? scheduler.outcome : check_leftovers();
}

// The result of comparing one output. `tolerance` is relative to max_abs_reference and, if there is an input of the
// same shape (has_input), also to max_abs_reference_minus_input.
struct Output {
  std::string name;
  std::uint64_t elements = 0;
  double max_abs_error = 0, max_abs_reference = 0, max_abs_reference_minus_input = 0;
  std::uint64_t nan_mismatches = 0;   // NaN or infinity where the reference has another value, or the reverse
  double tolerance = 0;
  bool has_input = false;

  bool passed() const {
    return nan_mismatches == 0 && max_abs_error <= tolerance * max_abs_reference &&
           (!has_input || max_abs_error <= tolerance * max_abs_reference_minus_input);
  }
};

template <class Value_>
Output compare(const std::string &name, const Value_ *got, const Value_ *reference, std::size_t elements, double tolerance,
               const Value_ *input = nullptr) {
  Output o;
  o.name = name;
  o.elements = elements;
  o.tolerance = tolerance;
  o.has_input = input != nullptr;
  for (std::size_t i = 0; i < elements; ++i) {
    const double g = static_cast<double>(got[i]), r = static_cast<double>(reference[i]);
    if (!std::isfinite(g) || !std::isfinite(r)) {
      o.nan_mismatches += !(g == r || (std::isnan(g) && std::isnan(r)));
      continue;
    }
    o.max_abs_error = std::max(o.max_abs_error, std::fabs(g - r));
    o.max_abs_reference = std::max(o.max_abs_reference, std::fabs(r));
    if (input == nullptr) continue;
    const double x = static_cast<double>(input[i]);
    if (std::isfinite(x)) o.max_abs_reference_minus_input = std::max(o.max_abs_reference_minus_input, std::fabs(r - x));
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

  void add(Output output) {
    if (!scheduler.failed()) outputs_.push_back(std::move(output));
  }

  template <class Value_>
  void compare(const std::string &name, const Value_ *got, const Value_ *reference, std::size_t elements, double tolerance,
               const Value_ *input = nullptr) {
    if (!scheduler.failed()) add(stc_sim::compare(name, got, reference, elements, tolerance, input));
  }

  bool passed() const {
    for (const Output &o : outputs_) {
      if (!o.passed()) return false;
    }
    return outcome_.ok;
  }

  // Writes the report, prints it readably, and returns the exit code: 0 ok, 1 a check failed, 2 not writable.
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
    return passed() ? 0 : 1;
  }

  std::string json() const {
    std::string out = "{\n  \"schema\": 1,\n  \"top\": " + json_text(top_) + ",\n  \"outcome\": " + json_text(outcome_.kind);
    out += std::string(",\n  \"passed\": ") + (passed() ? "true" : "false") + ",\n  \"runs\": " + std::to_string(runs_);
    out += ",\n  \"seconds\": " + json_number(seconds_) + ",\n  \"cpu_seconds\": " + json_number(cpu_seconds_);
    out += ",\n  \"explanation\": " + (outcome_.ok ? std::string("null") : json_text(outcome_.text));
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
           json_field("tokens_written", std::to_string(b.written)) + ", " + json_field("tokens_read", std::to_string(b.read)) + ", " +
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
           json_field("tolerance", json_number(o.tolerance)) + ", " + json_field("passed", o.passed() ? "true" : "false") + "}";
  }

  static std::string channel_json(const ChannelRecord &c) {
    return "{" + json_field("name", json_text(c.name)) + ", " + json_field("kind", json_text(c.kind)) + ", " +
           json_field("depth", c.bounded ? std::to_string(c.depth) : "null") + ", " + json_field("tokens", std::to_string(c.tokens)) +
           ", " + json_field("highest_occupancy", std::to_string(c.highest_occupancy)) + ", " +
           json_field("left_over", std::to_string(c.left_over)) + ", " + json_field("external", c.external ? "true" : "false") +
           ", " + json_field("producer", json_text(c.producer)) + ", " + json_field("consumer", json_text(c.consumer)) + "}";
  }

  void print() const {
    if (!outcome_.ok) std::printf("%s\n", outcome_.text.c_str());
    for (const Output &o : outputs_) {
      std::printf("%s: %s, %llu elements, largest error %.3g, largest reference %.3g", o.name.c_str(),
                  o.passed() ? "ok" : "MISMATCH", static_cast<unsigned long long>(o.elements), o.max_abs_error,
                  o.max_abs_reference);
      if (o.has_input) std::printf(", largest change %.3g", o.max_abs_reference_minus_input);
      if (o.nan_mismatches > 0) {
        std::printf(", %llu NaN or infinite where they should not be or the reverse",
                    static_cast<unsigned long long>(o.nan_mismatches));
      }
      std::printf("\n");
    }
    std::printf("%s: %s after %.3f s, %s\n", top_.c_str(), outcome_.kind.c_str(), seconds_, passed() ? "ok" : "FAILED");
    std::fflush(stdout);
  }

  std::string path_, top_;
  Outcome outcome_;
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
