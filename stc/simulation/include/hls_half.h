// half: IEEE binary16 as it is stored, with conversions from and to float. Arithmetic in half precision is not simulated: an
// operator on halves does not compile.
#ifndef STC_HLS_HALF_H
#define STC_HLS_HALF_H

#include <cstdint>
#include <cstring>

class half {
 public:
  half() = default;
  explicit half(float value) : bits_(rounded(value)) {}
  explicit operator float() const { return widened(bits_); }

 private:
  // To the nearest, ties to even; a NaN stays one.
  static std::uint16_t rounded(float value) {
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    const std::uint32_t sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return static_cast<std::uint16_t>(sign | 0x7e00u);
    if (magnitude >= 0x477ff000u) return static_cast<std::uint16_t>(sign | 0x7c00u);
    if (magnitude >= 0x38800000u) return static_cast<std::uint16_t>(sign | cut(magnitude - 0x38000000u, 13));
    if (magnitude < 0x33000000u) return static_cast<std::uint16_t>(sign);
    return static_cast<std::uint16_t>(sign | cut((magnitude & 0x7fffffu) | 0x800000u, 126 - (magnitude >> 23)));
  }

  // `value` without its last `count` bits, rounded; what is carried moves into the exponent.
  static std::uint32_t cut(std::uint32_t value, std::uint32_t count) {
    const std::uint32_t rest = value & ((1u << count) - 1), tie = 1u << (count - 1), kept = value >> count;
    return kept + (rest > tie || (rest == tie && (kept & 1u)));
  }

  static float widened(std::uint16_t half) {
    const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000u) << 16, exponent = half >> 10 & 31u, rest = half & 0x3ffu;
    std::uint32_t bits = sign | (exponent + 112) << 23 | rest << 13;
    if (exponent == 31) bits = sign | 0x7f800000u | rest << 13;
    float value;
    if (exponent == 0) {
      value = static_cast<float>(rest) * 0x1p-24f;
      return sign ? -value : value;
    }
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }

  std::uint16_t bits_;
};

#endif
