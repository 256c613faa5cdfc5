// hls::vector<T, N>: N values of T, element-wise arithmetic, alignment as the vendor documents it.
#ifndef STC_HLS_VECTOR_H
#define STC_HLS_VECTOR_H

#include <array>
#include <cstddef>
#include <initializer_list>

namespace hls {

namespace details {

// The greatest power of two that divides `n`: what the vendor aligns a vector of n bytes to.
constexpr std::size_t gp2(std::size_t n) { return n == 0 ? 0 : n & (~n + 1); }

}  // namespace details

template <typename T, std::size_t N>
class alignas(details::gp2(sizeof(T) * N)) vector {
  static_assert(N > 0, "vector must have at least one element");

 public:
  using value_type = T;
  using iterator = T *;
  using const_iterator = const T *;

  vector() = default;
  vector(const T &value) {
    for (std::size_t i = 0; i < N; ++i) values_[i] = value;
  }
  // Missing elements are value-initialised, as in an array.
  vector(std::initializer_list<T> values) : values_{} {
    std::size_t i = 0;
    for (const T &value : values) {
      if (i < N) values_[i++] = value;
    }
  }
  vector(const std::array<T, N> &values) {
    for (std::size_t i = 0; i < N; ++i) values_[i] = values[i];
  }

  T &operator[](std::size_t i) { return values_[i]; }
  const T &operator[](std::size_t i) const { return values_[i]; }
  static constexpr std::size_t size() { return N; }
  T *data() { return values_; }
  const T *data() const { return values_; }
  T *begin() { return values_; }
  T *end() { return values_ + N; }
  const T *begin() const { return values_; }
  const T *end() const { return values_ + N; }

#define STC_HLS_VECTOR_BINARY(OP)                                                             \
  vector &operator OP##=(const vector &other) {                                               \
    for (std::size_t i = 0; i < N; ++i) values_[i] OP##= other.values_[i];                   \
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

#define STC_HLS_VECTOR_COMPARE(OP)                                                            \
  friend vector<bool, N> operator OP(const vector &a, const vector &b) {                      \
    vector<bool, N> result;                                                                   \
    for (std::size_t i = 0; i < N; ++i) result[i] = a.values_[i] OP b.values_[i];             \
    return result;                                                                            \
  }
  STC_HLS_VECTOR_COMPARE(<)
  STC_HLS_VECTOR_COMPARE(<=)
  STC_HLS_VECTOR_COMPARE(>)
  STC_HLS_VECTOR_COMPARE(>=)
  STC_HLS_VECTOR_COMPARE(==)
  STC_HLS_VECTOR_COMPARE(!=)
#undef STC_HLS_VECTOR_COMPARE

  vector operator-() const {
    vector result;
    for (std::size_t i = 0; i < N; ++i) result.values_[i] = -values_[i];
    return result;
  }
  vector operator~() const {
    vector result;
    for (std::size_t i = 0; i < N; ++i) result.values_[i] = ~values_[i];
    return result;
  }
  vector &operator++() { return *this += T(1); }
  vector &operator--() { return *this -= T(1); }

  T reduce_add() const {
    T sum = values_[0];
    for (std::size_t i = 1; i < N; ++i) sum += values_[i];
    return sum;
  }
  T reduce_mult() const {
    T product = values_[0];
    for (std::size_t i = 1; i < N; ++i) product *= values_[i];
    return product;
  }

 private:
  T values_[N];
};

}  // namespace hls
#endif
