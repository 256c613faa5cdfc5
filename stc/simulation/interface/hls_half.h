// half as the manual describes it: a type of its own with the arithmetic of float. UG1399 2023.2, "Half-Precision Floating-Point
// Data Types". Not read: the header itself.
#ifndef STC_INTERFACE_HLS_HALF_H
#define STC_INTERFACE_HLS_HALF_H

class half {
 public:
  half();
  half(float value);
  operator float() const;
  half operator-() const;
  half &operator+=(half other);
  half &operator-=(half other);
  half &operator*=(half other);
  half &operator/=(half other);

 private:
  unsigned short bits;
};
half operator+(half a, half b);
half operator-(half a, half b);
half operator*(half a, half b);
half operator/(half a, half b);
bool operator==(half a, half b);
bool operator!=(half a, half b);
bool operator<(half a, half b);
bool operator<=(half a, half b);
bool operator>(half a, half b);
bool operator>=(half a, half b);

#endif
