#pragma once

#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "net/tcp/tcp_frame_wire.hpp"
#include "runtime/buffer_table.hpp"
#include "runtime/lane.hpp"

namespace troupe::net::detail {

/// Turns the bytes of a socket into frames: asks for bytes where they are to go (`want`), is told
/// how many came (`got`), and shows what they amount to (`next`). The payload of a large write goes
/// from the socket into its target; small frames come many at a time through a buffer.
class receive_stream {
 public:
  receive_stream(const buffer_table& buffers, std::span<std::byte> scratch);

  enum class step : std::uint8_t {
    event,       ///< `out` is filled
    needs_more,  ///< nothing is whole; receive first
    malformed,   ///< the stream is not what the format allows
  };

  /// What the bytes received so far say next. A message stays valid until the next `want`.
  step next(lane_event& out);

  /// Whether bytes wait that `next` has not looked at.
  bool has_bytes() const { return begin_ != end_; }

  /// Where the next bytes go, at most `bytes_max`; returns the number of pieces. Only after
  /// `needs_more`.
  std::size_t want(std::span<iovec, 2> pieces, std::uint64_t bytes_max);

  /// `bytes` were received into the pieces of the last `want`.
  void got(std::uint64_t bytes);

  std::uint64_t held_bytes() const { return buffer_.size(); }

 private:
  std::span<const std::byte> unread() const { return {buffer_.data() + begin_, end_ - begin_}; }
  std::byte* target() const;
  void take_buffered();
  step next_frame(lane_event& out);
  step finish_write(lane_event& out);

  const buffer_table& buffers_;
  std::span<std::byte> scratch_;  ///< where the payload of refused writes goes
  std::vector<std::byte> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::size_t read_ahead_;  ///< bytes wanted behind the current frame

  bool in_write_ = false;
  bool refused_ = false;
  tcp_frame write_{};
  std::uint64_t placed_ = 0;  ///< bytes of the write that came
  std::uint64_t payload_wanted_ = 0;
};

}  // namespace troupe::net::detail
