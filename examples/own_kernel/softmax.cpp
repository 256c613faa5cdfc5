// Softmax over the rows of a matrix that arrives row by row, LANES entries at a time: three rows in one pipeline. While row r
// arrives, its maximum is found; the exponentials of row r - 1 are made and summed; row r - 2 is divided by its sum and leaves.
#include <hls_math.h>
#include <hls_stream.h>
#include <hls_vector.h>

// Eight partial results, one after the other: a float addition takes seven cycles, a comparison less.
static const int PARTS = 8;

// COUNT lanes of a vector from FIRST on, put together pairwise: as many operators in a row as the logarithm of COUNT.
template <int FIRST, int COUNT>
struct Lanes {
  typedef Lanes<FIRST, COUNT / 2> Lower;
  typedef Lanes<FIRST + COUNT / 2, COUNT - COUNT / 2> Upper;

  template <typename Token>
  static float largest(const Token &values) {
    const float lower = Lower::largest(values), upper = Upper::largest(values);
    return lower > upper ? lower : upper;
  }

  template <typename Token>
  static float total(const Token &values) {
    return Lower::total(values) + Upper::total(values);
  }
};

template <int FIRST>
struct Lanes<FIRST, 1> {
  template <typename Token>
  static float largest(const Token &values) {
    return values[FIRST];
  }

  template <typename Token>
  static float total(const Token &values) {
    return values[FIRST];
  }
};

template <int ROWS, int TOKENS, int LANES>
void softmax(hls::stream<hls::vector<float, LANES>> &x, hls::stream<hls::vector<float, LANES>> &out) {
  typedef hls::vector<float, LANES> token;
  token arrived[2][TOKENS];  // the row that arrives, and the one before
  token powers[2][TOKENS];   // exponentials of the row that is summed, and of the one before
  float highest[PARTS] = {0.0f};
  float sums[PARTS] = {0.0f};
  float peak = 0.0f, scale = 0.0f;
#pragma HLS array_partition variable=highest type=complete dim=1
#pragma HLS array_partition variable=sums type=complete dim=1
  for (int row = 0; row < ROWS + 2; ++row) {
    softmax_tokens: for (int t = 0; t < TOKENS; ++t) {
#pragma HLS pipeline II=1 style=stp
      if (t == 0) {
        float top = highest[0], sum = sums[0];
        for (int part = 1; part < PARTS; ++part) {
#pragma HLS unroll
          if (part < TOKENS) {
            top = highest[part] > top ? highest[part] : top;
            sum += sums[part];
          }
        }
        peak = top;
        scale = 1.0f / sum;
      }
      if (row >= 2) {
        token quotient = powers[row % 2][t];
        for (int lane = 0; lane < LANES; ++lane) {
#pragma HLS unroll
          quotient[lane] *= scale;
        }
        out.write(quotient);
      }
      if (row >= 1 && row <= ROWS) {
        token power = arrived[(row + 1) % 2][t];
        for (int lane = 0; lane < LANES; ++lane) {
#pragma HLS unroll
          power[lane] = hls::exp(power[lane] - peak);
        }
        powers[(row + 1) % 2][t] = power;
        const float part = Lanes<0, LANES>::total(power);
        sums[t % PARTS] = t < PARTS ? part : sums[t % PARTS] + part;
      }
      if (row < ROWS) {
        const token value = x.read();
        arrived[row % 2][t] = value;
        const float part = Lanes<0, LANES>::largest(value);
        highest[t % PARTS] = t < PARTS || part > highest[t % PARTS] ? part : highest[t % PARTS];
      }
    }
  }
}
