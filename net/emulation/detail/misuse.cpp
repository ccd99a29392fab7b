#include "net/emulation/detail/misuse.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace troupe::net::emulation {

namespace {

void say(const char* call, const char* kind, const std::string& text) {
  std::fprintf(stderr, "emulated NIC [%d]: %s: %s%s\n", static_cast<int>(::getpid()), call, kind,
               text.c_str());
}

}  // namespace

void misuse(const char* call, const std::string& what) {
  say(call, "wrong use of verbs: ", what);
  std::abort();
}

void complain(const char* call, const std::string& why) {
  say(call, "", why);
}

std::string hexadecimal(unsigned long long number) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", number);
  return text;
}

}  // namespace troupe::net::emulation
