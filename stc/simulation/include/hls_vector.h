// hls::vector<T, N>: N values of T, element-wise arithmetic, alignment as the vendor documents it.
#ifndef STC_HLS_VECTOR_H
#define STC_HLS_VECTOR_H

#include <array>
#include <cassert>
#include <cstddef>
#include <initializer_list>

#include "stc_sim/bounds.h"

namespace hls {

namespace details {

// The greatest power of two that divides `n`: what the vendor aligns a vector of n bytes to.
constexpr std::size_t gp2(std::size_t n) { return n == 0 ? 0 : n & (~n + 1); }

}  // namespace details

template <typename Value_, std::size_t Size_>
class alignas(details::gp2(sizeof(Value_) * Size_)) vector {
  static_assert(Size_ > 0, "vector must have at least one element");

 public:
  using value_type = Value_;
  using iterator = Value_ *;
  using const_iterator = const Value_ *;

  vector() = default;
  vector(const Value_ &value) {
    for (std::size_t i = 0; i < Size_; ++i) values_[i] = value;
  }
  vector(std::initializer_list<Value_> values) {
    assert(values.size() == Size_ && "an initializer list is as long as the vector");
    std::size_t i = 0;
    for (const Value_ &value : values) values_[i++] = value;
  }
  vector(const std::array<Value_, Size_> &values) {
    for (std::size_t i = 0; i < Size_; ++i) values_[i] = values[i];
  }

  // The index is a std::size_t that knows its line.
  STC_SIM_INLINE Value_ &operator[](stc_sim::Index i) { return values_[lane(i)]; }
  STC_SIM_INLINE const Value_ &operator[](stc_sim::Index i) const { return values_[lane(i)]; }
  std::size_t size() const { return Size_; }
  Value_ *begin() { return values_; }
  Value_ *end() { return values_ + Size_; }
  const Value_ *begin() const { return values_; }
  const Value_ *end() const { return values_ + Size_; }

#define STC_HLS_VECTOR_BINARY(OP)                                                             \
  vector &operator OP##=(const vector &other) {                                               \
    for (std::size_t i = 0; i < Size_; ++i) values_[i] OP##= other.values_[i];                   \
    return *this;                                                                             \
  }                                                                                           \
  friend vector operator OP(vector a, const vector &b) { return a OP##= b; }
  STC_HLS_VECTOR_BINARY(+)
  STC_HLS_VECTOR_BINARY(-)
  STC_HLS_VECTOR_BINARY(*)
  STC_HLS_VECTOR_BINARY(/)
  STC_HLS_VECTOR_BINARY(%)
  STC_HLS_VECTOR_BINARY(&)
  STC_HLS_VECTOR_BINARY(|)
  STC_HLS_VECTOR_BINARY(^)
  STC_HLS_VECTOR_BINARY(<<)
  STC_HLS_VECTOR_BINARY(>>)
#undef STC_HLS_VECTOR_BINARY

// Lexicographic, as the vendor's.
#define STC_HLS_VECTOR_COMPARE(OP)                                                            \
  friend bool operator OP(const vector &a, const vector &b) {                                 \
    for (std::size_t i = 0; i < Size_; ++i) {                                                 \
      if (!(a.values_[i] == b.values_[i])) return a.values_[i] OP b.values_[i];               \
    }                                                                                         \
    return Value_() OP Value_();                                                              \
  }
  STC_HLS_VECTOR_COMPARE(<)
  STC_HLS_VECTOR_COMPARE(<=)
  STC_HLS_VECTOR_COMPARE(>)
  STC_HLS_VECTOR_COMPARE(>=)
  STC_HLS_VECTOR_COMPARE(==)
  STC_HLS_VECTOR_COMPARE(!=)
#undef STC_HLS_VECTOR_COMPARE

  vector &operator++() { return *this += Value_(1); }
  vector &operator--() { return *this -= Value_(1); }
  vector operator++(int) {
    const vector before = *this;
    ++*this;
    return before;
  }
  vector operator--(int) {
    const vector before = *this;
    --*this;
    return before;
  }

#define STC_HLS_VECTOR_REDUCE(NAME, OP)                                    \
  Value_ reduce_##NAME() const {                                          \
    Value_ result = values_[0];                                           \
    for (std::size_t i = 1; i < Size_; ++i) result OP values_[i];         \
    return result;                                                        \
  }
  STC_HLS_VECTOR_REDUCE(add, +=)
  STC_HLS_VECTOR_REDUCE(mult, *=)
  STC_HLS_VECTOR_REDUCE(and, &=)
  STC_HLS_VECTOR_REDUCE(or, |=)
  STC_HLS_VECTOR_REDUCE(xor, ^=)
#undef STC_HLS_VECTOR_REDUCE

 private:
  STC_SIM_INLINE static std::size_t lane(stc_sim::Index i) {
    if (!i.is_below(Size_)) i.outside("an hls::vector of " + std::to_string(Size_) + " lanes", Size_);
    return std::size_t(i.value());
  }

  Value_ values_[Size_];
};

}  // namespace hls
#endif
