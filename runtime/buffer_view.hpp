#pragma once

#include <cstdint>

namespace troupe {

/// Where bytes live.
enum class memory_space : std::uint8_t { host = 0, device = 1 };

/// Names a buffer of this endpoint's `buffer_table`: slot and generation. A view of a buffer that
/// was released since is detected, not followed.
struct buffer_id {
  std::uint32_t slot = 0xffff'ffffu;
  std::uint32_t generation = 0;

  friend constexpr bool operator==(const buffer_id&, const buffer_id&) = default;
};

/// A piece of a registered buffer. Messages and effects carry views; the bytes belong to the pool
/// or the user until the completion event.
struct buffer_view {
  buffer_id id;
  std::uint64_t offset = 0;  ///< in bytes from the start of the buffer
  std::uint64_t bytes = 0;
  memory_space space = memory_space::host;

  /// The piece [at, at + length) of this view. The caller keeps at + length <= bytes.
  constexpr buffer_view part(std::uint64_t at, std::uint64_t length) const {
    return {id, offset + at, length, space};
  }

  friend constexpr bool operator==(const buffer_view&, const buffer_view&) = default;
};

/// Memory of a peer that it exposed for writing: its key, and where in it to write. A key names
/// one exposure; after the owner withdraws it, writes to it are refused and nothing is written.
struct remote_region {
  std::uint64_t key = 0;
  std::uint64_t offset = 0;  ///< in bytes from the start of the exposed view

  friend constexpr bool operator==(const remote_region&, const remote_region&) = default;
};

}  // namespace troupe
