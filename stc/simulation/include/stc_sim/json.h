// Writing JSON.
#ifndef STC_SIM_JSON_H
#define STC_SIM_JSON_H

#include <cmath>
#include <cstdio>
#include <string>

namespace stc_sim {

inline std::string json_text(const std::string &text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(c));
      out += escaped;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

inline std::string json_number(double value) {
  if (!std::isfinite(value)) return "null";
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

inline std::string json_field(const char *name, const std::string &json) {
  return std::string("\"") + name + "\": " + json;
}

template <class Items, class Print>
std::string json_list(Items &&items, Print print) {
  std::string out = "[";
  for (auto &&item : items) out += (out.size() == 1 ? "\n    " : ",\n    ") + print(item);
  return out + (out.size() == 1 ? "]" : "\n  ]");
}

}  // namespace stc_sim
#endif
