#include "net/tcp/detail/tcp_lane.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "net/tcp/detail/socket.hpp"
#include "net/tcp/detail/tcp_world.hpp"
#include "runtime/assert.hpp"

namespace troupe::net::detail {

namespace {

// Bytes that one call moves in each direction before other lanes have their turn. Derived: two
// segments of the default size, about 100 us of copying at 5 GB/s.
constexpr std::uint64_t call_bytes_max = 512 * 1024;

// Frames that wait no longer for others: a call a frame costs 5.7 us here, a call for 32 small ones
// 0.6 us each (lane_bench, CPU time of both ends); from 8 KiB on the bytes cost more than the call.
constexpr std::uint32_t prompt_frame_count = 32;
constexpr std::uint64_t prompt_bytes = 8 * 1024;

// Pieces of one sendmsg: 32 frames. Chosen: beyond that the call is dominated by its bytes.
constexpr std::size_t piece_count_max = 64;

}  // namespace

tcp_lane::tcp_lane(tcp_world& world, descriptor socket, std::uint32_t depth)
    : epoll_target(epoll_target::kind::lane),
      world_(world),
      socket_(std::move(socket)),
      depth_(depth),
      local_(local_address(socket_.number())),
      peer_(peer_address(socket_.number())),
      queue_(depth),
      completed_(depth),
      stream_(world.buffers(), world.scratch()),
      held_(world.ledger(), memory_purpose::lanes,
            sizeof *this + queue_.held_bytes() + completed_.held_bytes() + stream_.held_bytes()) {}

tcp_lane::~tcp_lane() {
  close();
}

std::string tcp_lane::describe() const {
  return "tcp " + to_string(local_) + " -> " + to_string(peer_);
}

// -- sending --------------------------------------------------------------------------------------

post_status tcp_lane::post_write(const lane_write& write) {
  if (closed_ || lost_ || send_dead_) return post_status::lost;
  if (writes_open_ == depth_) return post_status::full;
  ++writes_open_;
  queue_.push_write(write);
  flush_after_post(write.source.bytes);
  return post_status::accepted;
}

post_status tcp_lane::post_message(std::span<const std::byte> message) {
  TROUPE_ASSERT(message.size() <= lane_message_bytes_max);
  if (closed_ || lost_ || send_dead_) return post_status::lost;
  if (!queue_.has_room_for_message()) return post_status::full;
  queue_.push_message(message);
  flush_after_post(message.size());
  return post_status::accepted;
}

// The first frame after a poll of the network leaves at once; small ones behind it wait for the
// next poll, or for company, and share a system call.
void tcp_lane::flush_after_post(std::uint64_t payload_bytes) {
  const bool is_first = std::exchange(posted_turn_, world_.turn()) != world_.turn();
  const bool is_many = queue_.size() >= std::min(prompt_frame_count, depth_);
  if (is_first || is_many || payload_bytes >= prompt_bytes)
    flush();
  else if (wants_poll())
    world_.ready().insert(*this);
}

void tcp_lane::flush() {
  std::uint64_t budget = call_bytes_max;
  while (!send_blocked_ && !send_dead_ && !queue_.empty() && budget != 0) {
    std::array<iovec, piece_count_max> pieces;
    std::uint64_t gathered = 0;
    msghdr message{};
    message.msg_iov = pieces.data();
    message.msg_iovlen = queue_.gather(world_.buffers(), pieces, budget, gathered);
    const auto sent = ::sendmsg(socket_.number(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno != EAGAIN) {
      send_failed(errno);
      break;
    }
    const auto taken = sent < 0 ? 0 : static_cast<std::uint64_t>(sent);
    // A short send asks the system for the next writable event, as EAGAIN does.
    send_blocked_ = taken < gathered;
    queue_.advance(taken, completed_);
    budget -= taken;
  }
  if (wants_poll()) world_.ready().insert(*this);
}

// What the peer sent before it ended may wait in the socket; the lane is lost when that is read.
void tcp_lane::send_failed(int code) {
  send_dead_ = true;
  hung_up_ = true;
  readable_ = true;
  cause_ = lane_error(code);
  queue_.clear();
}

// -- polling --------------------------------------------------------------------------------------

void tcp_lane::on_events(std::uint32_t events) {
  if ((events & EPOLLOUT) != 0) send_blocked_ = false;
  if ((events & EPOLLIN) != 0) readable_ = true;
  if ((events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) {
    readable_ = true;
    hung_up_ = true;
  }
  if (wants_poll()) world_.ready().insert(*this);
}

bool tcp_lane::wants_poll() const {
  if (closed_) return false;
  if (!completed_.empty() || parsable_) return true;
  if (lost_) return !reported_;
  return readable_ || (!send_blocked_ && !queue_.empty());
}

std::size_t tcp_lane::poll(std::span<lane_event> out) {
  if (closed_ || out.empty()) return 0;
  flush();
  auto count = show_completed(out);
  count += show_received(out.subspan(count));
  const bool message_last = count != 0 && out[count - 1].what == lane_event::kind::message_arrived;
  if (lost_ && !reported_ && count < out.size() && !message_last) {
    reported_ = true;
    out[count++] = {.what = lane_event::kind::lane_lost, .cause = cause_};
  }
  if (wants_poll())
    world_.ready().insert(*this);
  else
    world_.ready().remove(*this);
  return count;
}

std::size_t tcp_lane::show_completed(std::span<lane_event> out) {
  std::size_t count = 0;
  for (; count < out.size() && !completed_.empty(); ++count)
    out[count] = {.what = lane_event::kind::write_completed, .context = completed_.pop()};
  writes_open_ -= static_cast<std::uint32_t>(count);
  return count;
}

std::size_t tcp_lane::show_received(std::span<lane_event> out) {
  std::uint64_t budget = call_bytes_max;
  std::size_t count = 0;
  while (count < out.size()) {
    const auto step = stream_.next(out[count]);
    parsable_ = step == receive_stream::step::event && stream_.has_bytes();
    if (step == receive_stream::step::event) {
      if (out[count++].what == lane_event::kind::message_arrived) break;
    } else if (step == receive_stream::step::malformed) {
      lose({errc::malformed});
      break;
    } else {
      if (!readable_ || budget == 0) break;
      receive(budget);
    }
  }
  return count;
}

void tcp_lane::receive(std::uint64_t& budget) {
  std::array<iovec, 2> pieces;
  msghdr message{};
  message.msg_iov = pieces.data();
  message.msg_iovlen = stream_.want(pieces, budget);
  std::uint64_t wanted = 0;
  for (std::size_t i = 0; i < message.msg_iovlen; ++i)
    wanted += pieces[i].iov_len;
  const auto received = ::recvmsg(socket_.number(), &message, MSG_DONTWAIT);
  if (received < 0 && errno == EINTR) return;
  if (received < 0 && errno == EAGAIN && !send_dead_) {
    readable_ = false;
    return;
  }
  if (received < 0) return lose(send_dead_ ? cause_ : lane_error(errno));
  if (received == 0) return lose(send_dead_ ? cause_ : error{errc::peer_lost});
  const auto got = static_cast<std::uint64_t>(received);
  stream_.got(got);
  // A short read emptied the socket, and what comes later raises a new edge. After a hang-up
  // there is no edge to come, so the end itself has to be read.
  if (got < wanted) readable_ = hung_up_;
  budget -= std::min(budget, got);
}

// -- the end --------------------------------------------------------------------------------------

void tcp_lane::lose(error cause) {
  lost_ = true;
  cause_ = cause;
  readable_ = false;
  parsable_ = false;
  queue_.clear();
  world_.drop(socket_);
}

void tcp_lane::close() {
  if (closed_) return;
  if (!lost_) flush();
  closed_ = true;
  world_.ready().remove(*this);
  if (!lost_ && !send_dead_) world_.say_farewell(std::move(socket_), queue_.take_messages());
  world_.drop(socket_);
  queue_.clear();
}

}  // namespace troupe::net::detail
