// hls::vector as the vendor declares it. UG1399 2023.2, "HLS Vector Library"; hls_vector.h.
#ifndef STC_INTERFACE_HLS_VECTOR_H
#define STC_INTERFACE_HLS_VECTOR_H

#include <array>
#include <cstddef>
#include <initializer_list>

namespace hls {

namespace details {
constexpr std::size_t gp2(std::size_t n) { return n == 0 ? 0 : n & (~n + 1); }   // "Memory Layout"
}  // namespace details

template <typename T, std::size_t N>
class alignas(details::gp2(sizeof(T) * N)) vector {
  static_assert(N > 0, "an integer greater than zero");   // "Vector Data Type Usage"

 public:
  using value_type = typename std::array<T, N>::value_type;
  using size_type = typename std::array<T, N>::size_type;
  using difference_type = typename std::array<T, N>::difference_type;
  using reference = typename std::array<T, N>::reference;
  using const_reference = typename std::array<T, N>::const_reference;
  using pointer = typename std::array<T, N>::pointer;
  using const_pointer = typename std::array<T, N>::const_pointer;
  using iterator = typename std::array<T, N>::iterator;
  using const_iterator = typename std::array<T, N>::const_iterator;

  vector() = default;   // "Requirements and Dependencies": trivial, so that values are not initialised
  vector(const vector &) = default;
  vector(vector &&) = default;
  vector &operator=(const vector &) = default;
  vector &operator=(vector &&) = default;
  ~vector() = default;

  vector(const T &value);                          // one value in all lanes
  vector(const std::array<T, N> &values);
  vector(std::initializer_list<T> values);         // exactly N values

  T &operator[](std::size_t lane);
  const T &operator[](std::size_t lane) const;

  iterator begin();
  iterator end();
  const_iterator begin() const;
  const_iterator end() const;
  const_iterator cbegin() const;
  const_iterator cend() const;
  bool empty() const;
  size_type size() const;
  size_type max_size() const;

  vector &operator++();                            // "Supported Operations"
  vector &operator--();
  vector operator++(int);
  vector operator--(int);
  vector &operator+=(const vector &other);
  vector &operator-=(const vector &other);
  vector &operator*=(const vector &other);
  vector &operator/=(const vector &other);
  vector &operator%=(const vector &other);
  vector &operator&=(const vector &other);
  vector &operator|=(const vector &other);
  vector &operator^=(const vector &other);
  vector &operator<<=(const vector &other);
  vector &operator>>=(const vector &other);

  T reduce_add() const;
  T reduce_mult() const;
  T reduce_and() const;
  T reduce_or() const;
  T reduce_xor() const;

  friend vector operator+(vector a, const vector &b);
  friend vector operator-(vector a, const vector &b);
  friend vector operator*(vector a, const vector &b);
  friend vector operator/(vector a, const vector &b);
  friend vector operator%(vector a, const vector &b);
  friend vector operator&(vector a, const vector &b);
  friend vector operator|(vector a, const vector &b);
  friend vector operator^(vector a, const vector &b);
  friend vector operator<<(vector a, const vector &b);
  friend vector operator>>(vector a, const vector &b);

  friend bool operator<(const vector &a, const vector &b);   // lexicographic
  friend bool operator<=(const vector &a, const vector &b);
  friend bool operator==(const vector &a, const vector &b);
  friend bool operator!=(const vector &a, const vector &b);
  friend bool operator>=(const vector &a, const vector &b);
  friend bool operator>(const vector &a, const vector &b);

 private:
  std::array<T, N> data;
};

}  // namespace hls
#endif
