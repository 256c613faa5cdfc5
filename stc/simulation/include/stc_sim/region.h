// A dataflow region: the task calls of one `#pragma HLS dataflow` body, started together and joined at its end.
//
// Variables declared in the body that are not channels are handed over when their writer returns, as in hardware: a task
// that uses one waits for the earlier calls that write it.
#ifndef STC_SIM_REGION_H
#define STC_SIM_REGION_H

#include <map>
#include <tuple>
#include <type_traits>
#include <utility>

#include "diagnosis.h"

namespace stc_sim {

// The task whose return another awaits, and the variable handed over.
struct Dependence {
  Task *on;
  const char *name;
};

// An argument that names a variable of the region's own body.
template <class T>
struct Local {
  const char *name;
  T &&value;
};

template <class T>
Local<T> local(const char *name, T &&value) {
  return {name, std::forward<T>(value)};
}

namespace detail {

template <class T>
constexpr bool is_scalar_value = std::is_scalar<std::remove_reference_t<T>>::value;

template <class T>
constexpr bool is_mutable_lvalue =
    std::is_lvalue_reference<T>::value && !std::is_const<std::remove_all_extents_t<std::remove_reference_t<T>>>::value;

// Streams and whatever contains them cannot be copied: they are shared by their own rules.
template <class T>
constexpr bool is_plain_data = std::is_copy_constructible<std::remove_all_extents_t<std::remove_reference_t<T>>>::value;

// Argument `I` as the callee would see it if it could only read it.
template <class T>
using ReadOnly = std::conditional_t<is_scalar_value<T>, std::remove_cv_t<std::remove_reference_t<T>>,
                                    const std::remove_reference_t<T> &>;

template <class Call, std::size_t I, class Types, class Indices>
struct accepts_read_only;
template <class Call, std::size_t I, class... A, std::size_t... K>
struct accepts_read_only<Call, I, std::tuple<A...>, std::index_sequence<K...>>
    : std::is_invocable<Call &, std::conditional_t<K == I, ReadOnly<A>, A>...> {};

// How a value reaches the task: by reference, or as a copy made at the call (scalars that the callee only reads, and
// temporaries). A copy of a variable that an earlier task writes is renewed when the task starts.
template <class T, bool copied>
struct Captured {
  T &reference;
  explicit Captured(T &value) : reference(value) {}
  void refresh() {}
  T &get() { return reference; }
};
template <class T>
struct Captured<T, true> {
  std::remove_cv_t<T> value;
  T *source;
  explicit Captured(T &&temporary) : value(std::move(temporary)), source(nullptr) {}
  explicit Captured(T &variable) : value(variable), source(&variable) {}
  void refresh() { value = *source; }
  std::remove_cv_t<T> &&get() { return std::move(value); }
};

template <class T>
struct unwrapped {
  using type = T;
  static constexpr bool is_local = false;
};
template <class T>
struct unwrapped<Local<T>> {
  using type = T &&;
  static constexpr bool is_local = true;
};
template <class A>
using argument_t =
    std::conditional_t<unwrapped<std::decay_t<A>>::is_local, typename unwrapped<std::decay_t<A>>::type, A &&>;

template <class A>
auto &value_of(A &argument) {
  if constexpr (unwrapped<std::decay_t<A>>::is_local) {
    return argument.value;
  } else {
    return argument;
  }
}

template <class Call, class Types, class Indices>
struct TaskBody;
template <class Call, class... T, std::size_t... I>
struct TaskBody<Call, std::tuple<T...>, std::index_sequence<I...>> : Body {
  using Types = std::tuple<T...>;

  template <std::size_t K>
  static constexpr bool copied = !std::is_lvalue_reference<std::tuple_element_t<K, Types>>::value ||
                                 (is_scalar_value<std::tuple_element_t<K, Types>> &&
                                  accepts_read_only<Call, K, Types, std::index_sequence<I...>>::value);

  Call call;
  std::vector<Dependence> dependences;
  bool stale[sizeof...(T) + 1];
  std::tuple<Captured<std::remove_reference_t<T>, copied<I>>...> captured;

  TaskBody(Call c, std::vector<Dependence> d, const bool *is_stale,
           Captured<std::remove_reference_t<T>, copied<I>>... values)
      : call(std::move(c)), dependences(std::move(d)), captured(std::move(values)...) {
    for (std::size_t k = 0; k <= sizeof...(T); ++k) stale[k] = is_stale[k];
  }

  void execute() override {
    for (const Dependence &d : dependences) scheduler.wait_for_return(d.on, d.name);
    ((stale[I] ? std::get<I>(captured).refresh() : void()), ...);
    call(std::get<I>(captured).get()...);
  }
};

}  // namespace detail

class Region {
 public:
  explicit Region(const char *function) : function_(function) { ++scheduler.open_regions; }
  Region(const Region &) = delete;
  Region &operator=(const Region &) = delete;
  ~Region() { join(); }

  // Starts task `name`; `call` forwards to the function. Arguments are captured as in detail::Captured.
  template <class Call, class... A>
  void spawn(const char *name, Call call, A &&...arguments);

  // Waits until every task has ended.
  void join() {
    if (joined_) return;
    while (running_ > 0) {
      joiner_ = scheduler.current;
      scheduler.block(Wait::join, nullptr);
    }
    joiner_ = nullptr;
    for (Task *task : tasks_) scheduler.release(task);
    tasks_.clear();
    joined_ = true;
    --scheduler.open_regions;
  }

  void task_ended() {
    if (--running_ == 0 && joiner_ != nullptr) scheduler.make_ready(joiner_);
  }

 private:
  struct Use {
    const char *begin, *end;
    bool writes;
    Task *task;
  };

  // Notes that the task about to start uses [begin, begin + size), and finds whom it must wait for.
  bool depend(const void *address, std::size_t size, bool writes, const char *name, std::vector<Dependence> &found) {
    const char *begin = static_cast<const char *>(address), *end = begin + size;
    bool written_before = false;
    for (const Use &use : uses_) {
      if (use.task == nullptr || end <= use.begin || use.end <= begin || !(writes || use.writes)) continue;
      found.push_back({use.task, name});
      written_before = written_before || use.writes;
    }
    uses_.push_back({begin, end, writes, nullptr});
    return written_before;
  }

  bool is_first_use(const void *address) const {
    for (const Use &use : uses_) {
      if (use.begin <= address && address < use.end) return false;
    }
    return true;
  }

  // Dependences of one argument; true if a copied scalar must be read again when the task starts.
  template <class Call, class Types, std::size_t I, class A>
  bool depend_on_argument(A &argument, std::vector<Dependence> &found) {
    using namespace detail;
    if constexpr (!unwrapped<std::decay_t<A>>::is_local) {
      return false;
    } else {
      using T = std::tuple_element_t<I, Types>;
      using Indices = std::make_index_sequence<std::tuple_size<Types>::value>;
      if constexpr (is_mutable_lvalue<T> && is_plain_data<T>) {
        // The first user of an array must be its writer, whatever its signature says.
        const bool writes = !accepts_read_only<Call, I, Types, Indices>::value ||
                            (std::is_array<std::remove_reference_t<T>>::value && is_first_use(&argument.value));
        return depend(&argument.value, sizeof(argument.value), writes, argument.name, found);
      } else if constexpr (std::is_pointer<std::decay_t<T>>::value && !std::is_lvalue_reference<T>::value) {
        using Pointee = std::remove_pointer_t<std::decay_t<T>>;   // `&variable`
        depend(argument.value, sizeof(Pointee), !std::is_const<Pointee>::value, argument.name, found);
        return false;
      } else {
        return false;
      }
    }
  }

  template <class Call, class Types, std::size_t... I, class... A>
  void start(const char *name, Call call, std::index_sequence<I...>, A &...arguments);

  std::string unique_name(const char *name) {
    const int count = ++names_[name];
    return count == 1 ? std::string(name) : std::string(name) + "#" + std::to_string(count);
  }

  const char *function_;
  bool joined_ = false;
  int running_ = 0;
  Task *joiner_ = nullptr;
  std::vector<Task *> tasks_;
  std::vector<Use> uses_;
  std::map<std::string, int> names_;
};

template <class Call, class... A>
void Region::spawn(const char *name, Call call, A &&...arguments) {
  using Types = std::tuple<detail::argument_t<A>...>;
  start<Call, Types>(name, std::move(call), std::index_sequence_for<A...>{}, arguments...);
}

template <class Call, class Types, std::size_t... I, class... A>
void Region::start(const char *name, Call call, std::index_sequence<I...> indices, A &...arguments) {
  using Body = detail::TaskBody<Call, Types, decltype(indices)>;
  std::vector<Dependence> found;
  const bool stale[] = {depend_on_argument<Call, Types, I>(arguments, found)..., false};
  auto body = std::make_unique<Body>(
      std::move(call), std::move(found), stale,
      detail::Captured<std::remove_reference_t<std::tuple_element_t<I, Types>>, Body::template copied<I>>(
          static_cast<std::tuple_element_t<I, Types>>(detail::value_of(arguments)))...);
  Task *task = scheduler.start(scheduler.path_below_top(unique_name(name).c_str()), this, std::move(body));
  for (Use &use : uses_) {
    if (use.task == nullptr) use.task = task;
  }
  tasks_.push_back(task);
  ++running_;
}

inline void Scheduler::enter() {
  Task *self = scheduler.current;
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
