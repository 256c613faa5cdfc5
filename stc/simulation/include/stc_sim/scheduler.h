// Tasks and who runs next: a ready queue and a list of pollers; whoever waits is in neither, so nothing is ever
// polled.
#ifndef STC_SIM_SCHEDULER_H
#define STC_SIM_SCHEDULER_H

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "clock.h"
#include "fiber.h"

namespace stc_sim {

class Channel;
class LoopRun;
class Region;

enum class Wait { none, read, write, join, acquire };

// What a fiber executes. Regions derive from it to keep the arguments of a task call.
struct Body {
  virtual ~Body() = default;
  virtual void execute() = 0;
};

// One task call (or the top function, or the program that called it).
struct Task {
  std::string path;                   // "inner.producer": enclosing tasks below the top, then the task's function
  Task *parent = nullptr;
  Region *region = nullptr;           // that spawned it
  std::unique_ptr<Body> body;
  Context context;
  Stack stack;
  LoopRun *loop = nullptr;            // while suspended; that of the running task is Scheduler::loop
  TaskClock clock;
  bool done = false;
  bool is_unit = false;               // a compute unit: only its own tasks do anything
  // How many pipelined loops it has begun, and whether it has ended: one more. Outlives it.
  std::shared_ptr<std::uint64_t> loops = std::make_shared<std::uint64_t>(0);
  Cycle asked_at = 0;                 // of the question it waits for an answer to
  Task **asks = nullptr;              // where the channel keeps who waits

  Wait wait = Wait::none;
  const Channel *channel = nullptr;   // for Wait::read and Wait::write
  const Task *acquires_from = nullptr;
  const char *acquires = "";

  Task *next_in_queue = nullptr;
  Task *waiting_for_return = nullptr; // tasks blocked until this one is done, linked through next_in_queue
  Task *next_alive = nullptr, *previous_alive = nullptr;
};

class TaskQueue {
 public:
  bool empty() const { return first_ == nullptr; }

  void push(Task *task) {
    task->next_in_queue = nullptr;
    if (first_ == nullptr) {
      first_ = task;
    } else {
      last_->next_in_queue = task;
    }
    last_ = task;
  }

  Task *pop() {
    Task *task = first_;
    first_ = task->next_in_queue;
    return task;
  }

 private:
  Task *first_ = nullptr, *last_ = nullptr;
};

// One task that cannot go on, as reported.
struct Blocked {
  std::string task, waits_to, channel, kind, peer, loop;
  int line = 0;
  bool bounded = false, peer_started = false;
  std::uint64_t occupancy = 0, depth = 0, written = 0, read = 0, uncommitted_reads = 0, held_back = 0;
};

// What is known of a channel at its end.
struct ChannelRecord {
  std::string name, kind, producer, consumer;
  bool bounded = true, external = false;
  std::uint64_t depth = 0, tokens = 0, highest_occupancy = 0, left_over = 0, bits = 0;   // bits of a token, where that is known
};

// How a run ended. `kind` is "finished", "deadlock", "livelock", "leftover" (tokens never read) or "error".
struct Outcome {
  bool ok = true;
  std::string kind = "finished";
  std::string text;
  std::vector<Blocked> blocked;
};

class Scheduler {
 public:
  Task *current = &host_;
  LoopRun *loop = nullptr;       // the pipelined loop `current` is in: kept here because every stream access looks at it
  int open_regions = 0;
  Outcome outcome;
  Channel *channels = nullptr;   // alive, doubly linked

  Scheduler() { host_.path = "(testbench)"; }
  Scheduler(const Scheduler &) = delete;

  // True where hardware is being executed: there, FIFOs are bounded.
  bool in_design() const { return current != &host_ || open_regions > 0; }
  bool is_host(const Task *task) const { return task == &host_; }

  Task *start(std::string path, Region *region, std::unique_ptr<Body> body) {
    Task *task = new Task;
    task->path = std::move(path);
    task->parent = current;
    task->region = region;
    task->body = std::move(body);
    begin_time(*task);
    task->stack = stacks_.take();
    task->context.prepare(task->stack, &Scheduler::enter);
    task->next_alive = alive_;
    if (alive_ != nullptr) alive_->previous_alive = task;
    alive_ = task;
    ready_.push(task);
    return task;
  }

  void make_ready(Task *task) { ready_.push(task); }

  // Suspends the running task until make_ready() is called for it.
  void block(Wait wait, const Channel *channel) {
    Task *self = current;
    self->wait = wait;
    self->channel = channel;
    switch_to(next());
    self->wait = Wait::none;
    self->channel = nullptr;
  }

  void wait_for_return(Task *other, const char *what) {
    while (!other->done) {
      current->acquires_from = other;
      current->acquires = what;
      current->next_in_queue = other->waiting_for_return;
      other->waiting_for_return = current;
      block(Wait::acquire, nullptr);
    }
    acquired(*other, what);
  }

#ifdef STC_SIM_TIMED
  // The running task cannot go on before `other` ended.
  void not_before(const Task &other) { current->clock.now = std::max(current->clock.now, other.clock.now); }
  void acquired(const Task &other, const char *what) {
    TaskClock &clock = current->clock;
    if (other.clock.now <= clock.now) return;
    clock.stalled(timeline.number_of_release(what, other.path), true, clock.now, other.clock.now);
    not_before(other);
  }
  void require_within_limit(Cycle at) const {
    if (__builtin_expect(at > timeline.limit, 0)) beyond_limit(at);
  }
  static void begin_time(Task &task) {
    // The inputs of every invocation of the top function are there from the beginning: its tasks begin when they are free.
    task.clock.called = task.region == nullptr ? 0 : task.parent->clock.now;
    task.clock.now = task.clock.start = task.region == nullptr ? 0 : timeline.begin(task.path, task.clock.called);
  }
  static void end_time(const Task &task) {
    timeline.end(task.path, task.clock, task.clock.now);
    if (task.region == nullptr) timeline.invocations.push_back({task.path, task.clock.now});
  }
#else
  void not_before(const Task &) {}
  void acquired(const Task &, const char *) {}
  static void begin_time(Task &) {}
  static void end_time(const Task &) {}
#endif

  // The running task asks a channel, at cycle `at`, what only the other end can tell, which will wake whoever is in `slot`.
  // False if nobody can go on before that cycle: then the answer is no.
  bool ask(Cycle at, Task *&slot) {
    Task *self = current;
    self->asked_at = at;
    self->asks = &slot;
    slot = self;
    asking_.push_back(self);
    block(Wait::none, nullptr);
    const auto found = std::find(asking_.begin(), asking_.end(), self);
    if (found == asking_.end()) return false;
    asking_.erase(found);
    idle_rounds_ = 0;
    return true;
  }

  // A test such as `empty()` failed: let the others run first, or a loop around it would never end.
  void poll_failed() {
    if (!in_design()) return;
    pollers_.push(current);
    block(Wait::none, nullptr);
  }

  void release(Task *task) {
    if (task->next_alive != nullptr) task->next_alive->previous_alive = task->previous_alive;
    (task->previous_alive != nullptr ? task->previous_alive->next_alive : alive_) = task->next_alive;
    stacks_.give_back(task->stack);
    delete task;
  }

  // Runs `body` as the top function. After a failure no further run is possible: its tasks are abandoned half-way.
  void run_top(const char *name, std::unique_ptr<Body> body) {
    if (failed_) return;
    install_overflow_handler();
    session_ = true;
    Task *top = start(name, nullptr, std::move(body));
    top_ = top;
    while (!top->done && !failed_) block(Wait::join, nullptr);
    if (!failed_) release(top);
    top_ = nullptr;
    session_ = false;
  }

  // Ends the run from within any task: back to the testbench, or out of the program if nobody called run().
  [[noreturn]] void fail(Outcome reason) {
    outcome = std::move(reason);
    outcome.ok = false;
    failed_ = true;
    if (!session_) {
      std::fprintf(stderr, "%s\n", outcome.text.c_str());
      std::fflush(stdout);
      std::_Exit(1);
    }
    switch_to(&host_);
    std::abort();  // abandoned tasks are never resumed
  }

  bool failed() const { return failed_; }
  const Task *alive() const { return alive_; }
  const Task *host() const { return &host_; }

  // Channels that have ended, those of one name taken together (a region entered again makes its channels again).
  const std::vector<ChannelRecord> &finished_channels() const { return finished_channels_; }

  void keep(ChannelRecord record) {
    const auto found = finished_index_.emplace(record.name, finished_channels_.size());
    if (found.second) {
      finished_channels_.push_back(std::move(record));
      return;
    }
    ChannelRecord &known = finished_channels_[found.first->second];
    known.tokens += record.tokens;
    known.left_over += record.left_over;
    known.highest_occupancy = std::max(known.highest_occupancy, record.highest_occupancy);
  }

  std::string path_below_top(const char *name) const {
    return current == &host_ || current == top_ || current->is_unit ? std::string(name) : current->path + "." + name;
  }

 private:
  // Rounds in which only pollers ran and nothing moved before it is called a livelock.
  static constexpr int poll_limit = 10000;
  // Questions in a row that nobody could answer, before it is called a livelock.
  static constexpr int question_limit = 1000000;

  [[noreturn]] void stalled(const char *kind);   // diagnosis.h
#ifdef STC_SIM_TIMED
  [[noreturn]] void beyond_limit(Cycle at) const;   // diagnosis.h
#endif
  std::uint64_t transfers() const;               // diagnosis.h

  Task *next() {
    if (ready_.empty() && !asking_.empty()) return earliest_question();
    if (ready_.empty()) {
      if (pollers_.empty()) stalled("deadlock");
      const std::uint64_t moved = transfers();
      idle_rounds_ = moved == moved_before_ ? idle_rounds_ + 1 : 0;
      moved_before_ = moved;
      if (idle_rounds_ > poll_limit) stalled("livelock");
      ready_ = pollers_;
      pollers_ = TaskQueue();
    }
    return ready_.pop();
  }

  // Nobody can go on: the earliest question is answered with no.
  Task *earliest_question() {
    const auto before = [](const Task *a, const Task *b) { return a->asked_at < b->asked_at; };
    const auto earliest = std::min_element(asking_.begin(), asking_.end(), before);
    Task *task = *earliest;
    asking_.erase(earliest);
    *task->asks = nullptr;
    if (++idle_rounds_ > question_limit) stalled("livelock");
    return task;
  }

  void switch_to(Task *task) {
    Task *self = current;
    if (task == self) return;
    self->loop = loop;
    loop = task->loop;
    current = task;
    Context::switch_between(self->context, task->context, self->done);
  }

  void finish_current();                          // region.h

  static void enter();                            // region.h

  static void on_fault(int signal_number, siginfo_t *info, void *);

  void install_overflow_handler() {
#if !defined(STC_SIM_ASAN)   // which says it itself
    if (handler_installed_) return;
    handler_installed_ = true;
    stack_t alternate = {};
    alternate.ss_size = 64 * 1024;
    alternate.ss_sp = std::malloc(alternate.ss_size);
    struct sigaction action = {};
    action.sa_sigaction = &Scheduler::on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    if (alternate.ss_sp != nullptr && sigaltstack(&alternate, nullptr) == 0) sigaction(SIGSEGV, &action, nullptr);
#endif
  }

  Task host_;
  std::vector<ChannelRecord> finished_channels_;
  std::unordered_map<std::string, std::size_t> finished_index_;
  Task *top_ = nullptr;
  Task *alive_ = nullptr;
  TaskQueue ready_, pollers_;
  std::vector<Task *> asking_;
  StackPool stacks_;
  std::uint64_t moved_before_ = 0;
  int idle_rounds_ = 0;
  bool session_ = false, failed_ = false, handler_installed_ = false;
};

inline Scheduler scheduler;

inline void Scheduler::on_fault(int signal_number, siginfo_t *info, void *) {
  if (scheduler.current->stack.overflowed_at(info->si_addr)) {
    std::fprintf(stderr, "task %s: stack overflow in the C simulation; compile with a larger -DSTC_SIM_STACK_BYTES\n",
                 scheduler.current->path.c_str());
    std::_Exit(3);
  }
  std::signal(signal_number, SIG_DFL);  // an ordinary fault: returning repeats it with the default action
}

}  // namespace stc_sim
#endif
