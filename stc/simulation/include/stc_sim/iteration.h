// How the accesses of one iteration of a pipelined loop take effect together.
#ifndef STC_SIM_ITERATION_H
#define STC_SIM_ITERATION_H

#include "channel.h"

namespace stc_sim {

inline void LoopRun::commit_accesses() {
  wait_for_slots();
  for (Channel *c = std::exchange(written_, nullptr); c != nullptr; c = c->next_written()) c->commit_write();
  for (Channel *c = std::exchange(read_, nullptr); c != nullptr; c = c->next_read()) c->free_slots();
}

#ifdef STC_SIM_TIMED

// The writes of an iteration leave in one cycle: the first of them waits for the slots of all.
inline void LoopRun::wait_for_slots() {
  if (written_ == nullptr || written_->next_written() == nullptr || clock.holds_writes()) return;
  for (Channel *c = written_; c != nullptr; c = c->next_written()) c->wait_for_slot(clock, clock.due());
}

inline LoopRun::LoopRun(const LoopSite &loop)
    : site(loop), clock(timing_of(loop), scheduler.current->clock), outer_(scheduler.loop) {
  if (outer_ != nullptr) outer_->split_iteration();
  scheduler.loop = this;
}

inline LoopRun::~LoopRun() {
  if (scheduler.failed()) return;
  if (written_ != nullptr || read_ != nullptr) end_iteration();   // of the loop's header
  settle_memory(0);
  release(~Cycle(0));
  clock.end();
  scheduler.loop = outer_;
  scheduler.require_within_limit(scheduler.current->clock.now);
}

inline void LoopRun::end_iteration() {
  touch();
  commit_accesses();
  clock.commit();
  release(clock.issued());
  scheduler.require_within_limit(clock.read_time());
}

inline void LoopRun::split_iteration() {
  if (written_ == nullptr && read_ == nullptr) return;
  touch();
  commit_accesses();
}

// Iterations, all but the last `left`, that touched nothing but external memory.
inline void LoopRun::settle_memory(std::uint64_t left) {
  while (clock.memory_iterations() > left) {
    clock.settle_next();
    clock.commit();
    release(clock.issued());
  }
}

// The cycle that a task has come to, also in the midst of a pipelined loop.
inline Cycle reached(const Task &task) {
  const LoopRun *loop = &task == scheduler.current ? scheduler.loop : task.loop;
  return loop == nullptr ? task.clock.now : std::max(task.clock.now, loop->clock.reached());
}

inline void LoopRun::release(Cycle reached) {
  while (!held_.empty() && held_.front().due <= reached) {
    const Cycle due = held_.front().due;
    std::uint64_t end = held_.begin();
    for (; end != held_.end() && held_[end].due == due; ++end) held_[end].channel->wait_to_publish(clock, due);
    for (; held_.begin() != end; held_.pop()) held_.front().channel->publish_held(clock, due);
  }
}

#else

inline void LoopRun::wait_for_slots() {}

inline LoopRun::LoopRun(const LoopSite &loop) : site(loop), outer_(scheduler.loop) {
  if (outer_ != nullptr) outer_->split_iteration();
  scheduler.loop = this;
}

inline LoopRun::~LoopRun() {
  if (scheduler.failed()) return;
  commit_accesses();
  scheduler.loop = outer_;
}

inline void LoopRun::end_iteration() { commit_accesses(); }
inline void LoopRun::split_iteration() { commit_accesses(); }

#endif

}  // namespace stc_sim
#endif
