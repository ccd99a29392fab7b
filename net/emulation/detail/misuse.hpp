#pragma once

#include <string>

namespace troupe::net::emulation {

/// Says on standard error what the program did wrong with verbs, and aborts it. For what a real
/// card answers with corruption, a hang or a crash.
[[noreturn]] void misuse(const char* call, const std::string& what);

/// Says on standard error why a call fails, as the error code that the program gets cannot.
void complain(const char* call, const std::string& why);

/// "0x1a2b".
std::string hexadecimal(unsigned long long number);

}  // namespace troupe::net::emulation
