#include "net/tcp/detail/receive_stream.hpp"

#include <algorithm>
#include <cstring>

#include "runtime/assert.hpp"

namespace troupe::net::detail {

namespace {

// Chosen: a few dozen small frames a call, and small enough that a lane costs little memory.
constexpr std::size_t buffer_bytes = 32 * 1024;

// Writes of at least this length are followed by a read-ahead of one header only, so that the next
// payload goes straight to its target. Chosen near the cost of one more call: 0.3 us is a copy of
// about 8 KiB.
constexpr std::uint64_t large_write_bytes = 8 * 1024;

}  // namespace

receive_stream::receive_stream(const buffer_table& buffers, std::span<std::byte> scratch)
    : buffers_(buffers), scratch_(scratch), buffer_(buffer_bytes), read_ahead_(buffer_bytes) {}

// Asked anew whenever bytes come: the owner may have withdrawn the key meanwhile.
std::byte* receive_stream::target() const {
  return buffers_.resolve(write_.target, write_.bytes);
}

receive_stream::step receive_stream::next(lane_event& out) {
  if (!in_write_) return next_frame(out);
  take_buffered();
  return placed_ == write_.bytes ? finish_write(out) : step::needs_more;
}

receive_stream::step receive_stream::next_frame(lane_event& out) {
  const auto bytes = unread();
  const auto header = header_bytes_of(bytes);
  if (bytes.size() < header) return step::needs_more;
  const auto frame = decode(bytes);
  if (!frame) return step::malformed;
  if (frame->what == tcp_frame::kind::message) {
    const auto whole = header + static_cast<std::size_t>(frame->bytes);
    if (bytes.size() < whole) return step::needs_more;
    out = {.what = lane_event::kind::message_arrived,
           .bytes = frame->bytes,
           .message = bytes.subspan(header, whole - header)};
    begin_ += whole;
    read_ahead_ = buffer_bytes;
    return step::event;
  }
  begin_ += header;
  write_ = *frame;
  in_write_ = true;
  placed_ = 0;
  refused_ = target() == nullptr;
  read_ahead_ = write_.bytes >= large_write_bytes ? tcp_write_header_bytes : buffer_bytes;
  return next(out);
}

void receive_stream::take_buffered() {
  const auto taken = std::min<std::uint64_t>(write_.bytes - placed_, end_ - begin_);
  if (taken == 0) return;
  auto* to = refused_ ? nullptr : target();
  if (to != nullptr)
    std::memcpy(to + placed_, buffer_.data() + begin_, taken);
  else
    refused_ = true;
  begin_ += static_cast<std::size_t>(taken);
  placed_ += taken;
}

receive_stream::step receive_stream::finish_write(lane_event& out) {
  in_write_ = false;
  out = {.what = refused_ ? lane_event::kind::write_refused : lane_event::kind::write_arrived,
         .immediate = write_.immediate,
         .bytes = write_.bytes};
  return step::event;
}

std::size_t receive_stream::want(std::span<iovec, 2> pieces, std::uint64_t bytes_max) {
  if (begin_ != 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  payload_wanted_ = 0;
  std::size_t count = 0;
  if (in_write_) {
    TROUPE_DASSERT(end_ == 0);
    auto* to = refused_ ? nullptr : target();
    refused_ = to == nullptr;
    payload_wanted_ = std::min(write_.bytes - placed_, bytes_max);
    if (refused_) payload_wanted_ = std::min<std::uint64_t>(payload_wanted_, scratch_.size());
    pieces[count++] = {refused_ ? scratch_.data() : to + placed_, payload_wanted_};
    if (placed_ + payload_wanted_ < write_.bytes) return count;
  }
  // Enough to make progress with the frame in front, whatever the read-ahead says.
  const auto header = header_bytes_of(unread());
  const auto in_front = end_ < header ? header : header + lane_message_bytes_max;
  const auto goal = std::min(std::max(read_ahead_, in_front), buffer_.size());
  pieces[count++] = {buffer_.data() + end_, goal - end_};
  return count;
}

void receive_stream::got(std::uint64_t bytes) {
  const auto payload = std::min(bytes, payload_wanted_);
  placed_ += payload;
  end_ += static_cast<std::size_t>(bytes - payload);
}

}  // namespace troupe::net::detail
