#include "actors/endpoint/stranger_log.hpp"

#include <cstdio>

namespace troupe::actors {

namespace {

constexpr duration interval = std::chrono::seconds(1);

}  // namespace

void stranger_log::refused(rank self, const std::string& where, const char* reason, instant now) {
  if (!enabled_) return;
  if (written_ && now - last_ < interval) {
    ++left_out_;
    return;
  }
  std::string line = "troupe: rank " + std::to_string(self.value) + " refused a connection (" +
                     where + "): " + reason;
  if (left_out_ != 0) line += "; " + std::to_string(left_out_) + " more since the last line";
  std::fprintf(stderr, "%s\n", line.c_str());
  written_ = true;
  last_ = now;
  left_out_ = 0;
}

void stranger_log::note(rank self, const std::string& text) const {
  if (enabled_)
    std::fprintf(stderr, "troupe: rank %u: %s\n", static_cast<unsigned>(self.value), text.c_str());
}

}  // namespace troupe::actors
