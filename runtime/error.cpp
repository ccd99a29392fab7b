#include "runtime/error.hpp"

namespace troupe {

std::string to_string(const failure& f) {
  std::string out{to_string(f.what.code)};
  out += ": ";
  out += f.message.empty() ? std::string{explain(f.what.code)} : f.message;
  return out;
}

}  // namespace troupe
