#pragma once

#include <tl/expected.hpp>

#include "runtime/error.hpp"

namespace troupe {

/// A value or an `error`: what cores and adapters return. `std::expected` once the compiler has it.
template <class T>
using result = tl::expected<T, error>;

/// A value or a `failure` with its text: what the public API returns.
template <class T>
using outcome = tl::expected<T, failure>;

inline tl::unexpected<error> fail(errc code, std::int32_t native = 0, rank peer = no_rank) {
  return tl::unexpected<error>(error{code, native, peer});
}

inline tl::unexpected<failure> fail(errc code, std::string message) {
  return tl::unexpected<failure>(failure{code, std::move(message)});
}

inline tl::unexpected<failure> fail(failure f) {
  return tl::unexpected<failure>(std::move(f));
}

}  // namespace troupe
