#pragma once

#include <string>
#include <utility>

#include "runtime/errc.hpp"
#include "runtime/strong_types.hpp"

namespace troupe {

/// What went wrong, as a value that a core can carry: trivially copyable, no text.
struct error {
  errc code = errc::ok;
  std::int32_t native = 0;  ///< errno, or the code of the library that failed; 0 if none.
  rank peer = no_rank;      ///< The peer it is about; `no_rank` if none.

  friend constexpr bool operator==(const error&, const error&) = default;
};

/// An error as a person reads it: the code to react to, and one line that names the thing, the
/// limit and the fix. What the public API returns.
struct failure {
  error what;
  std::string message;

  failure() = default;
  failure(error e, std::string text) : what(e), message(std::move(text)) {}
  failure(errc code, std::string text) : what{code}, message(std::move(text)) {}

  errc code() const { return what.code; }
};

/// "peer_lost: rank 3 (127.0.0.1:4711) closed its connection".
std::string to_string(const failure& f);

}  // namespace troupe
