// A queue in a ring that grows: items are numbered from 0 since the beginning, old ones are dropped from the front.
#ifndef STC_SIM_QUEUE_H
#define STC_SIM_QUEUE_H

#include <cstdint>
#include <memory>
#include <utility>

namespace stc_sim {

template <class Item_>
class Queue {
 public:
  std::uint64_t begin() const { return begin_; }
  std::uint64_t end() const { return end_; }
  std::uint64_t size() const { return end_ - begin_; }
  bool empty() const { return begin_ == end_; }
  bool full() const { return end_ - begin_ == capacity_; }
  std::uint64_t capacity() const { return capacity_; }

  // Item `index`, from begin() on.
  const Item_ &operator[](std::uint64_t index) const { return ring_[index & (capacity_ - 1)]; }
  const Item_ &front() const { return (*this)[begin_]; }

  void push(const Item_ &item) {
    if (__builtin_expect(full(), 0)) grow();
    ring_[end_++ & (capacity_ - 1)] = item;
  }
  void pop() { ++begin_; }
  void drop_before(std::uint64_t index) {
    if (index > begin_) begin_ = index < end_ ? index : end_;
  }

  __attribute__((noinline)) void grow() {
    const std::uint64_t larger = capacity_ == 0 ? 16 : 2 * capacity_;
    std::unique_ptr<Item_[]> ring(new Item_[larger]);
    for (std::uint64_t i = begin_; i != end_; ++i) ring[i & (larger - 1)] = ring_[i & (capacity_ - 1)];
    ring_ = std::move(ring);
    capacity_ = larger;
  }

 private:
  std::unique_ptr<Item_[]> ring_;
  std::uint64_t begin_ = 0, end_ = 0, capacity_ = 0;   // a power of two, or 0
};

}  // namespace stc_sim
#endif
