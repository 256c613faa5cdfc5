// What the tool chain says about time: text files named by the environment variables STC_SIM_TIMING and STC_SIM_LINKED, one
// fact per line.
//
//     loop FUNCTION LABEL II DEPTH STYLE [reads=PORT] [writes=PORT]     a pipelined loop; LABEL "-" for none, II 0 and STYLE "-"
//                                                                       for what its pragma says
//     port NAME LATENCY CYCLES_PER_WORD BURST OUTSTANDING [CHANNEL BYTES]   external memory behind a port; CHANNEL: one that its
//                                                                       ports share as they need it, in words of BYTES
//     channel NAME BYTES_PER_CYCLE                                      before its ports
//     linked PORT CHANNEL BYTES                                         (STC_SIM_LINKED) the channel whose traffic the port's words
//                                                                       of BYTES are
//     fifo NAME DEPTH LATENCY [CROSSING]                                0 keeps what the source says; CROSSING: cycles to the
//                                                                       reader's die, and back
//     unbounded                                                         FIFOs have as many slots as needed
//     limit CYCLES                                                      a task that gets there ends the run
//
// Loops that are not named get II and style of their pragma (else 1 and stp) and depth 1.
#ifndef STC_SIM_TIMING_TABLE_H
#define STC_SIM_TIMING_TABLE_H

#ifdef STC_SIM_TIMED

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "loop_clock.h"

namespace stc_sim {

struct FifoTiming {
  std::uint64_t depth = 0;
  Cycle latency = 0;
  Cycle crossing = 0;
};

class TimingTable {
 public:
  bool unbounded = false;
  std::map<std::string, MemoryPort> ports;
  std::map<std::string, MemoryTraffic> traffic;   // by channel

  TimingTable() {
    for (const char *name : {"STC_SIM_TIMING", "STC_SIM_LINKED"}) read_file(std::getenv(name));
  }

  // At the first run of a loop; LoopSite::timing keeps it. `function`: that of the site, or the task that runs it.
  const LoopTiming &find(const LoopSite &site, const std::string &function) {
    const auto known = sites_.find({&site, function});
    if (known != sites_.end()) return known->second;
    const auto found = loops_.find(key(function, site.label));
    LoopTiming timing;
    if (found != loops_.end()) timing = found->second;
    if (timing.ii == 0) timing.ii = site.ii > 0 ? Cycle(site.ii) : 1;
    if (timing.style == Style::unspecified) timing.style = site.style;
    if (timing.style == Style::unspecified) timing.style = Style::stp;   // the vendor's default
    return sites_[{&site, function}] = timing;
  }

  const FifoTiming *fifo(const std::string &name) const {
    const auto found = fifos_.find(name);
    return found == fifos_.end() ? nullptr : &found->second;
  }

  // The loops that ran.
  using Sites = std::map<std::pair<const LoopSite *, std::string>, LoopTiming>;
  const Sites &sites() const { return sites_; }

 private:
  static std::string key(const std::string &function, const std::string &label) { return function + "/" + label; }

  [[noreturn]] static void refuse(const std::string &path, const std::string &what) {
    std::fprintf(stderr, "stc_sim: %s: %s\n", path.c_str(), what.c_str());
    std::_Exit(2);
  }

  void read_file(const char *path) {
    if (path == nullptr || *path == 0) return;
    std::ifstream file(path);
    std::string line;
    if (!file) refuse(path, "cannot be read");
    while (std::getline(file, line)) read(path, line);
  }

  void read(const std::string &path, const std::string &line) {
    std::istringstream words(line);
    std::string what, name;
    if (!(words >> what)) return;
    if (what == "unbounded") {
      unbounded = true;
    } else if (what == "limit") {
      words >> timeline.limit;
    } else if (what == "fifo") {
      FifoTiming fifo;
      words >> name >> fifo.depth >> fifo.latency;
      if (!words.fail() && !(words >> fifo.crossing) && words.eof()) words.clear();   // read as 0
      fifos_[name] = fifo;
    } else if (what == "port") {
      MemoryPort port;
      words >> port.name >> port.latency >> port.cycles_per_word >> port.burst >> port.outstanding;
      if (std::string channel; !words.fail() && words >> channel >> port.bytes_per_word) {
        const auto known = channels_.find(channel);
        if (known == channels_.end()) refuse(path, "unknown channel in '" + line + "'");
        port.channel = &known->second;
      } else if (words.eof() && channel.empty()) {
        words.clear();
      }
      ports[port.name] = port;
    } else if (what == "channel") {
      words >> name >> channels_[name].bytes_per_cycle;
    } else if (what == "linked") {
      std::string channel;
      words >> name >> channel;
      const auto port = ports.find(name);
      if (port == ports.end()) refuse(path, "unknown port in '" + line + "'");
      port->second.traffic = &traffic[channel];
      words >> port->second.payload;
    } else if (what == "loop") {
      read_loop(path, words);
    } else {
      refuse(path, "unknown line '" + line + "'");
    }
    if (words.fail()) refuse(path, "unreadable line '" + line + "'");
  }

  void read_loop(const std::string &path, std::istringstream &words) {
    std::string function, label, style, more;
    LoopTiming timing;
    if (!(words >> function >> label >> timing.ii >> timing.depth >> style)) return;
    timing.style = style == "stp" ? Style::stp : style == "flp" ? Style::flp : style == "frp" ? Style::frp : Style::unspecified;
    while (words >> more) {
      const std::size_t equals = more.find('=');
      const auto port = equals == std::string::npos ? ports.end() : ports.find(more.substr(equals + 1));
      if (port == ports.end()) refuse(path, "unknown port in '" + more + "'");
      (more.compare(0, equals, "reads") == 0 ? timing.reads : timing.writes) = &port->second;
    }
    words.clear();
    loops_[key(function, label == "-" ? "" : label)] = timing;
  }

  std::map<std::string, MemoryChannel> channels_;
  std::map<std::string, LoopTiming> loops_;
  std::map<std::string, FifoTiming> fifos_;
  Sites sites_;
};

inline TimingTable &timing_table() {
  static TimingTable table;
  return table;
}

// A site without a function is in an own kernel: its loop is that of each task that runs it.
inline const LoopTiming &timing_of(const LoopSite &site, const std::string &task) {
  if (*site.function == 0) return timing_table().find(site, task);
  if (site.timing == nullptr) site.timing = &timing_table().find(site, site.function);
  return *site.timing;
}

}  // namespace stc_sim
#endif
#endif
