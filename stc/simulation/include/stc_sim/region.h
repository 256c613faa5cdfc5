// A dataflow region: the task calls of one `#pragma HLS dataflow` body, started together and joined at its end.
//
// Variables declared in the body that are not channels are released when their writer returns, as in hardware: a task that uses
// one waits for the earlier calls that write it.
#ifndef STC_SIM_REGION_H
#define STC_SIM_REGION_H

#include <map>
#include <type_traits>
#include <utility>

#include "diagnosis.h"

namespace stc_sim {

// The task whose return another awaits, and the variable released.
struct Dependence {
  Task *on;
  const char *name;
};

// An argument that names a variable of the region's own body.
template <class Value_>
struct Local {
  const char *name;
  Value_ &&value;
};

template <class Value_>
Local<Value_> local(const char *name, Value_ &&value) {
  return {name, std::forward<Value_>(value)};
}

namespace detail {

template <class Value_>
constexpr bool is_scalar_value = std::is_scalar<std::remove_reference_t<Value_>>::value;

template <class Value_>
constexpr bool is_mutable_lvalue =
    std::is_lvalue_reference<Value_>::value && !std::is_const<std::remove_all_extents_t<std::remove_reference_t<Value_>>>::value;

// Streams and whatever contains them cannot be copied: they are shared by their own rules.
template <class Value_>
constexpr bool is_plain_data = std::is_copy_constructible<std::remove_all_extents_t<std::remove_reference_t<Value_>>>::value;

// Argument `I` as the callee would see it if it could only read it.
template <class Value_>
using ReadOnly = std::conditional_t<is_scalar_value<Value_>, std::remove_cv_t<std::remove_reference_t<Value_>>,
                                    const std::remove_reference_t<Value_> &>;

template <class... Value_>
struct List {};

template <class Call, std::size_t Index_, class Types, class Indices>
struct accepts_read_only;
template <class Call, std::size_t Index_, class... Value_, std::size_t... At_>
struct accepts_read_only<Call, Index_, List<Value_...>, std::index_sequence<At_...>>
    : std::is_invocable<Call &, std::conditional_t<At_ == Index_, ReadOnly<Value_>, Value_>...> {};

// How a value reaches the task: by reference, or as a copy made at the call (scalars that the callee only reads, and
// temporaries). A copy of a variable that an earlier task writes is renewed when the task starts.
template <class Value_, bool copied>
struct Captured {
  Value_ &reference;
  explicit Captured(Value_ &value) : reference(value) {}
  void expire() {}
  void refresh() {}
  Value_ &get() { return reference; }
};
template <class Value_>
struct Captured<Value_, true> {
  std::remove_cv_t<Value_> value;
  Value_ *source;
  bool stale = false;
  explicit Captured(Value_ &&temporary) : value(std::move(temporary)), source(nullptr) {}
  explicit Captured(Value_ &variable) : value(variable), source(&variable) {}
  void expire() { stale = true; }
  void refresh() {
    if (stale) value = *source;
  }
  std::remove_cv_t<Value_> &&get() { return std::move(value); }
};

template <class Value_>
struct unwrapped {
  using type = Value_;
  static constexpr bool is_local = false;
};
template <class Value_>
struct unwrapped<Local<Value_>> {
  using type = Value_ &&;
  static constexpr bool is_local = true;
};
template <class Args_>
using argument_t =
    std::conditional_t<unwrapped<std::decay_t<Args_>>::is_local, typename unwrapped<std::decay_t<Args_>>::type, Args_ &&>;

template <class Args_>
auto &value_of(Args_ &argument) {
  if constexpr (unwrapped<std::decay_t<Args_>>::is_local) {
    return argument.value;
  } else {
    return argument;
  }
}

template <class Value_>
void note_user(Value_ &argument, const std::string &task) {
  if constexpr (std::is_array<Value_>::value) {
    if constexpr (std::is_base_of<Channel, std::remove_all_extents_t<Value_>>::value) {
      for (auto &element : argument) note_user(element, task);
    }
  } else if constexpr (std::is_base_of<Channel, Value_>::value) {
    channel_of(argument).add_user(task);
  }
}

// What is called as a task, whatever its function: it begins when the earlier calls have returned that write what it uses.
struct TaskCall : Body {
  std::vector<Dependence> dependences;

  void execute() final {
    for (const Dependence &d : dependences) scheduler.wait_for_return(d.on, d.name);
    call_function();
  }
  virtual void call_function() = 0;
};

// Argument `Index_` of a task. Each is a base class of the task's call: the compiler takes several times as long for a std::tuple.
template <std::size_t Index_, class Captured_>
struct Argument : Captured_ {
  using Captured_::Captured_;
};

// Whether the callee can only read argument `Index_`, a `Value_`. The answer takes the compiler long: it is asked about scalars and
// about variables of the region's body that a callee could write.
template <class Call, std::size_t Index_, class Value_, bool is_local, class Types, class Indices>
constexpr bool is_only_read() {
  if constexpr (std::is_lvalue_reference<Value_>::value &&
                (is_scalar_value<Value_> || (is_local && is_mutable_lvalue<Value_> && is_plain_data<Value_>))) {
    return accepts_read_only<Call, Index_, Types, Indices>::value;
  } else {
    return true;
  }
}

// How argument `Index_`, given to spawn() as an `Args_`, is captured: a scalar that is only read as a copy.
template <class Call, std::size_t Index_, class Args_, class Types, class Indices>
struct Passed {
  using Value_ = argument_t<Args_>;
  static constexpr bool is_local = unwrapped<std::decay_t<Args_>>::is_local;
  static constexpr bool only_read = is_only_read<Call, Index_, Value_, is_local, Types, Indices>();
  static constexpr bool copied = !std::is_lvalue_reference<Value_>::value || (is_scalar_value<Value_> && only_read);
  using type = Argument<Index_, Captured<std::remove_reference_t<Value_>, copied>>;
};

template <class Call, class Indices, class... Args_>
struct TaskBody;
template <class Call, std::size_t... Index_, class... Args_>
struct TaskBody<Call, std::index_sequence<Index_...>, Args_...> final
    : TaskCall,
      Passed<Call, Index_, Args_, List<argument_t<Args_>...>, std::index_sequence<Index_...>>::type... {
  template <std::size_t At_, class Arg_>
  using At = Passed<Call, At_, Arg_, List<argument_t<Args_>...>, std::index_sequence<Index_...>>;

  Call call;

  TaskBody(Region &region, Call &function, std::remove_reference_t<Args_> &...arguments);

  void call_function() override {
    (At<Index_, Args_>::type::refresh(), ...);
    call(At<Index_, Args_>::type::get()...);
  }
};

}  // namespace detail

// A loop around a dataflow body: its iterations overlap, as invocations do, and what follows it waits for all of them.
class RegionLoop {
 public:
  RegionLoop() = default;
  RegionLoop(const RegionLoop &) = delete;
  RegionLoop &operator=(const RegionLoop &) = delete;
#ifdef STC_SIM_TIMED
  ~RegionLoop() { scheduler.current->clock.now = std::max(scheduler.current->clock.now, until_); }
  void ended(const Task &task) { until_ = std::max(until_, task.clock.now); }

 private:
  Cycle until_ = 0;
#else
  void ended(const Task &) {}
#endif
};

class Region {
 public:
  explicit Region(const char *function, RegionLoop *loop = nullptr) : function_(function), loop_(loop) {
    ++scheduler.open_regions;
#ifdef STC_SIM_TIMED
    // A task that is a region itself can be called again before its tasks have ended: each of them waits for its own earlier call.
    TaskClock &clock = scheduler.current->clock;
    if (loop == nullptr && clock.now == clock.start && clock.called < clock.start) clock.now = clock.start = clock.called;
#endif
  }
  Region(const Region &) = delete;
  Region &operator=(const Region &) = delete;
  ~Region() { join(); }

  // Starts task `name`; `call` forwards to the function. Arguments are captured as in detail::Captured.
  template <class Call, class... Args_>
  void spawn(const char *name, Call call, Args_ &&...arguments);

  // The same for a compute unit, whose own tasks have the names that they have in it, and the ends of channels.
  template <class Call, class... Args_>
  void spawn_unit(const char *name, Call call, Args_ &&...arguments);

  // Waits until every task has ended.
  void join() {
    if (joined_) return;
    while (running_ > 0) {
      joiner_ = scheduler.current;
      scheduler.block(Wait::join, nullptr);
    }
    joiner_ = nullptr;
    keep_blocks();
    for (Task *task : tasks_) {
      if (loop_ == nullptr) scheduler.not_before(*task);
      if (loop_ != nullptr) loop_->ended(*task);
      scheduler.release(task);
    }
    tasks_.clear();
    joined_ = true;
    --scheduler.open_regions;
  }

  // `#pragma HLS stream variable=v type=pipo depth=n`: an array between tasks that has n blocks instead of two.
  void set_blocks(const char *variable, std::uint64_t count) { blocks_[variable] = std::max<std::uint64_t>(count, 1); }

  void task_ended() {
    if (--running_ == 0 && joiner_ != nullptr) scheduler.make_ready(joiner_);
  }

 private:
  template <class Call, class Indices, class... Args_>
  friend struct detail::TaskBody;

  struct Use {
    const char *begin, *end;
    bool writes;
    Task *task;
    std::string name;
    bool first;   // of its variable
  };

#ifdef STC_SIM_TIMED
  std::string block_name(const std::string &variable) const { return scheduler.path_below_top(function_) + "/" + variable; }

  // All users of a variable of this body have ended: its block can be filled anew.
  void keep_blocks() {
    std::map<std::string, Cycle> done;
    for (const Use &use : uses_) done[use.name] = std::max(done[use.name], use.task->clock.now);
    for (const auto &entry : done) timeline.blocks_done[block_name(entry.first)].push_back(entry.second);
  }

  // The first user of a variable fills a block of it, once there is a free one.
  Cycle block_free(const Use &use) const {
    const auto count = blocks_.find(use.name);
    return timeline.block_free(block_name(use.name), count == blocks_.end() ? 2 : count->second);
  }
  void wait_for_blocks(Task &task) const {
    for (const Use &use : uses_) {
      if (use.task != &task || !use.first) continue;
      task.clock.called = std::max(task.clock.called, block_free(use));
      task.clock.now = task.clock.start = std::max(task.clock.now, task.clock.called);
    }
  }
#else
  void keep_blocks() {}
  void wait_for_blocks(Task &) const {}
#endif

  // Notes that the task about to start uses [begin, begin + size), and finds whom it must wait for.
  bool depend(const void *address, std::size_t size, bool writes, const char *name, std::vector<Dependence> &found) {
    const char *begin = static_cast<const char *>(address), *end = begin + size;
    bool written_before = false;
    for (const Use &use : uses_) {
      if (use.task == nullptr || end <= use.begin || use.end <= begin || !(writes || use.writes)) continue;
      found.push_back({use.task, name});
      written_before = written_before || use.writes;
    }
    uses_.push_back({begin, end, writes, nullptr, name, is_first_use(address)});
    return written_before;
  }

  bool is_first_use(const void *address) const {
    for (const Use &use : uses_) {
      if (use.begin <= address && address < use.end) return false;
    }
    return true;
  }

  // Dependences of one argument of a body about to start; true if a copied scalar must be read again when it starts.
  template <class Args_>
  bool depend_on_argument(Args_ &, bool, std::vector<Dependence> &) {
    return false;
  }
  template <class Value_>
  bool depend_on_argument(Local<Value_> &argument, bool is_only_read, std::vector<Dependence> &found) {
    using namespace detail;
    if constexpr (is_mutable_lvalue<Value_ &&> && is_plain_data<Value_>) {
      // The first user of an array must be its writer, whatever its signature says.
      const bool writes = !is_only_read || (std::is_array<std::remove_reference_t<Value_>>::value && is_first_use(&argument.value));
      return depend(&argument.value, sizeof(argument.value), writes, argument.name, found);
    } else if constexpr (std::is_pointer<std::decay_t<Value_>>::value && !std::is_lvalue_reference<Value_>::value) {
      using Pointee = std::remove_pointer_t<std::decay_t<Value_>>;   // `&variable`
      depend(argument.value, sizeof(Pointee), !std::is_const<Pointee>::value, argument.name, found);
    }
    return false;
  }

  Task *start(const char *name, std::unique_ptr<Body> body) {
    Task *task = scheduler.start(scheduler.path_below_top(unique_name(name).c_str()), this, std::move(body));
    for (Use &use : uses_) {
      if (use.task == nullptr) use.task = task;
    }
    wait_for_blocks(*task);
    tasks_.push_back(task);
    ++running_;
    return task;
  }

  std::string unique_name(const char *name) {
    const int count = ++names_[name];
    return count == 1 ? std::string(name) : std::string(name) + "#" + std::to_string(count);
  }

  const char *function_;
  RegionLoop *loop_;
  std::map<std::string, std::uint64_t> blocks_;
  bool joined_ = false;
  int running_ = 0;
  Task *joiner_ = nullptr;
  std::vector<Task *> tasks_;
  std::vector<Use> uses_;
  std::map<std::string, int> names_;
};

template <class Call, std::size_t... Index_, class... Args_>
detail::TaskBody<Call, std::index_sequence<Index_...>, Args_...>::TaskBody(Region &region, Call &function,
                                                                           std::remove_reference_t<Args_> &...arguments)
    : At<Index_, Args_>::type(static_cast<argument_t<Args_>>(value_of(arguments)))..., call(std::move(function)) {
  ((region.depend_on_argument(arguments, At<Index_, Args_>::only_read, dependences) ? At<Index_, Args_>::type::expire() : void()),
   ...);
}

template <class Call, class... Args_>
void Region::spawn(const char *name, Call call, Args_ &&...arguments) {
  using Called = detail::TaskBody<Call, std::index_sequence_for<Args_...>, Args_...>;
  Task *task = start(name, std::unique_ptr<Body>(new Called(*this, call, arguments...)));
  (detail::note_user(detail::value_of(arguments), task->path), ...);
}

template <class Call, class... Args_>
void Region::spawn_unit(const char *name, Call call, Args_ &&...arguments) {
  using Called = detail::TaskBody<Call, std::index_sequence_for<Args_...>, Args_...>;
  start(name, std::unique_ptr<Body>(new Called(*this, call, arguments...)))->is_unit = true;
}

inline void Scheduler::enter() {
  Task *self = scheduler.current;
  self->context.arrive();
  Outcome reason;
  try {
    self->body->execute();
  } catch (const std::exception &error) {
    reason.text = error.what();
    reason.ok = false;
  } catch (...) {
    reason.text = "an exception";
    reason.ok = false;
  }
  if (!reason.ok) {
    reason.kind = "error";
    reason.text = "task " + self->path + " threw: " + reason.text;
    scheduler.fail(std::move(reason));
  }
  scheduler.finish_current();
}

inline void Scheduler::finish_current() {
  Task *self = current;
  self->body.reset();
  self->done = true;
  ++*self->loops;
  end_time(*self);
  for (Task *waiter = self->waiting_for_return; waiter != nullptr;) {
    Task *following = waiter->next_in_queue;
    make_ready(waiter);
    waiter = following;
  }
  if (self->region != nullptr) {
    self->region->task_ended();
  } else {
    make_ready(&host_);
  }
  switch_to(next());
  std::abort();  // a finished task is never resumed
}

}  // namespace stc_sim
#endif
