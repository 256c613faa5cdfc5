// How the accesses of one iteration of a pipelined loop take effect together.
#ifndef STC_SIM_ITERATION_H
#define STC_SIM_ITERATION_H

#include "channel.h"

namespace stc_sim {

#ifdef STC_SIM_TIMED

inline void LoopRun::commit_accesses() {
  for (Channel *c = std::exchange(written_, nullptr); c != nullptr; c = c->next_written()) c->commit_write();
  release_committed();
  for (Channel *c = std::exchange(read_, nullptr); c != nullptr; c = c->next_read()) c->free_slots();
}

inline LoopRun::LoopRun(const LoopSite &loop)
    : site(loop), clock(timing_of(loop, scheduler.current->path), scheduler.current->clock), outer_(scheduler.loop) {
  if (outer_ != nullptr) outer_->split_iteration();
  scheduler.loop = this;
  ++*scheduler.current->loops;
}

inline LoopRun::~LoopRun() {
  if (scheduler.failed()) return;
  if (written_ != nullptr || read_ != nullptr) end_iteration();   // of the loop's header
  settle_earlier(0);
  release_before(~Cycle(0));
  clock.end(last_due_);
  if (!outputs_.empty()) {
    const Outputs all = wait_for_outputs(outputs_.size());
    clock.end_outputs(all.left, all.last->number(), all.last->stalled_writer());
  }
  scheduler.loop = outer_;
  scheduler.require_within_limit(scheduler.current->clock.now);
}

// Before the first access of an iteration, all that left the pipeline earlier.
inline void LoopRun::begin_accesses() {
  ++cycle_;
  writes_ = false;
  if (clock.buffers_writes()) wait_for_room();
  release_before(clock.reading());
  clock.fetch();
}

inline void LoopRun::end_iteration() {
  touch();
  for (Channel *c = std::exchange(written_, nullptr); c != nullptr; c = c->next_written()) c->commit_write();
  end_accesses();
  commit_accesses();
  clock.end_iteration();
  scheduler.require_within_limit(clock.read_time());
}

inline void LoopRun::end_accesses() {
  clock.end_accesses();
  for (const Held &write : open_) hold({write.channel, clock.due(write.due), write.cycle, write.iteration});
  open_.clear();
  if (clock.writes_memory()) hold({nullptr, clock.last_due(), last_cycle_, 0});
}

inline void LoopRun::split_iteration() {
  if (written_ == nullptr && read_ == nullptr) return;
  touch();
  commit_accesses();
}

// Iterations, all but the last `left`, that accessed nothing but external memory.
inline void LoopRun::settle_earlier(std::uint64_t left) {
  while (one_by_one() > left) {
    clock.settle_next();
    begin_accesses();
    end_accesses();
    release_committed();
    clock.end_iteration();
  }
}

inline void LoopRun::hold(Channel *channel) {
  clock.begin_writes();
  const std::uint64_t iteration = clock.buffers_writes() ? count_output(channel) : 0;
  if (clock.knows_stages()) {
    hold({channel, clock.due(), cycle_, iteration});
  } else {
    open_.push_back({channel, clock.writes_passed(), cycle_, iteration});
  }
}
// Where iterations follow each other faster than their accesses can, the writes of each cycle still have one of their own.
inline void LoopRun::hold(Held write) {
  const Cycle earliest = last_due_ + (last_cycle_ != write.cycle && last_cycle_ != 0);
  write.due = last_due_ = std::max(earliest, write.due);
  last_cycle_ = write.cycle;
  held_.push(write);
}

// A pipeline that stops as a whole is pushed on by what it reads; another one lets out what was written.
inline void LoopRun::release_committed() { release_before(clock.holds_writes() ? clock.reading() + 1 : ~Cycle(0)); }

// What leaves before that pipeline time. The writes of one cycle leave together: the first of them waits for the slots of all.
inline void LoopRun::release_before(Cycle pipeline_time) {
  while (!held_.empty() && held_.front().due < pipeline_time) {
    const Cycle due = held_.front().due;
    if (clock.buffers_writes() && held_.front().channel != nullptr) {
      held_.front().channel->buffer(*this, due, held_.front().iteration);
      held_.pop();
      continue;
    }
    std::uint64_t end = held_.begin();
    for (; end != held_.end() && held_[end].due == due; ++end) {
      held_[end].channel == nullptr ? clock.store(due) : held_[end].channel->wait_to_publish(clock, due);
    }
    for (; held_.begin() != end; held_.pop()) {
      if (held_.front().channel != nullptr) held_.front().channel->publish_held(clock, due);
    }
  }
  clock.thaw();
}

inline std::uint64_t LoopRun::count_output(Channel *channel) {
  if (!writes_) outputs_.push_back({0, 0, channel});
  writes_ = true;
  ++outputs_.back().waiting;
  if (std::find(outputs_to_.begin(), outputs_to_.end(), channel) == outputs_to_.end()) outputs_to_.push_back(channel);
  return outputs_gone_ + outputs_.size() - 1;
}

inline void LoopRun::output_left(std::uint64_t number, Channel *channel, Cycle at) {
  Outputs &outputs = outputs_[std::size_t(number - outputs_gone_)];
  --outputs.waiting;
  if (at >= outputs.left) outputs.last = channel;
  outputs.left = std::max(outputs.left, at);
}

// Until the first `count` have left all their buffers; the latest of them.
inline LoopRun::Outputs LoopRun::wait_for_outputs(std::uint64_t count) {
  Outputs latest = outputs_.front();
  for (std::size_t i = 0; i < count; ++i) {
    while (outputs_[i].waiting > 0) {
      for (Channel *channel : outputs_to_) {
        if (channel->buffers_output_before(outputs_gone_ + i + 1)) channel->wait_for_reader();
      }
    }
    if (outputs_[i].left >= latest.left) latest = outputs_[i];
  }
  return latest;
}

// An iteration comes in when enough of those before it have left their buffers, and all before them.
inline void LoopRun::wait_for_room() {
  const auto forget = [&] {
    for (; !outputs_.empty() && outputs_.front().waiting == 0 && outputs_.front().left <= clock.entered(); ++outputs_gone_) {
      outputs_.pop_front();
    }
  };
  forget();
  if (outputs_.size() < clock.room()) return;
  const Outputs latest = wait_for_outputs(outputs_.size() - clock.room() + 1);
  clock.enter(latest.left, latest.last->number(), latest.last->stalled_writer());
  forget();
}

// The cycle that a task has come to, also in the midst of a pipelined loop.
inline Cycle reached(const Task &task) {
  const LoopRun *loop = &task == scheduler.current ? scheduler.loop : task.loop;
  return loop == nullptr ? task.clock.now : std::max(task.clock.now, loop->clock.reached());
}

#else

inline void LoopRun::commit_accesses() {
  for (Channel *c = std::exchange(written_, nullptr); c != nullptr; c = c->next_written()) c->commit_write();
  for (Channel *c = std::exchange(read_, nullptr); c != nullptr; c = c->next_read()) c->free_slots();
}

inline LoopRun::LoopRun(const LoopSite &loop) : site(loop), outer_(scheduler.loop) {
  if (outer_ != nullptr) outer_->split_iteration();
  scheduler.loop = this;
  ++*scheduler.current->loops;
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
