#include "net/shm/detail/shm_lane.hpp"

#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "net/shm/detail/memory_reader.hpp"
#include "net/shm/detail/shm_world.hpp"
#include "net/shm/detail/unix_socket.hpp"
#include "runtime/assert.hpp"

namespace troupe::net::detail {

namespace {

// Bytes of source writes that one lane copies in one turn of its network. Derived: two segments of
// the default size, 50 to 100 us at the 5 to 10 GB/s of one core here.
constexpr std::uint64_t turn_bytes_max = 512 * 1024;

// A copy within one process is done in pieces of this size: `close` of the peer waits for one.
constexpr std::uint64_t direct_slice_bytes = 256 * 1024;

// Packets taken from the socket at once; the socket stays readable if there are more.
constexpr int bells_max = 16;

}  // namespace

const char* to_string(source_path path) {
  switch (path) {
    case source_path::direct: return "copied directly";
    case source_path::pulled: return "pulled";
    case source_path::ring: return "through the ring";
  }
  return "";
}

shm_lane::shm_lane(shm_world& world, shm_connection from)
    : socket_target(socket_target::kind::lane),
      world_(world),
      socket_(std::move(from.socket)),
      memory_(std::move(from.memory)),
      side_(from.side),
      peer_(from.peer),
      path_(from.path),
      depth_(memory_.sizes().depth),
      completed_(depth_),
      sources_(depth_) {
  const auto& sizes = memory_.sizes();
  const int other = 1 - side_;
  frames_out_ = {memory_.ring(side_), sizes.ring_bytes, mine().frames_written,
                 theirs().frames_read};
  frames_in_ = {memory_.ring(other), sizes.ring_bytes, mine().frames_read, theirs().frames_written};
  bulk_out_ = {memory_.bulk(side_), sizes.bulk_bytes, mine().bulk_written, theirs().bulk_read};
  bulk_in_ = {memory_.bulk(other), sizes.bulk_bytes, mine().bulk_read, theirs().bulk_written};
  memory_.forget_file();
  world_.enrol(*this);
  held_ = {world_.ledger(), memory_purpose::lanes,
           sizeof *this + completed_.size() * sizeof completed_[0] +
               sources_.size() * sizeof sources_[0]};
  segment_held_ = {world_.ledger(), memory_purpose::segments, memory_.bytes() / 2};
}

shm_lane::~shm_lane() {
  close();
}

std::string shm_lane::describe() const {
  return "shm process " + std::to_string(::getpid()) + " -> " + std::to_string(peer_) +
         ", large writes " + to_string(path_);
}

// -- sending --------------------------------------------------------------------------------------

post_status shm_lane::post_write(const lane_write& write) {
  if (is_dead()) return post_status::lost;
  if (writes_open_ == depth_) return post_status::full;
  ++writes_open_;
  const auto whole = ring_bytes_of(shm_frame::kind::inline_write, write.source.bytes);
  const bool fits = write.source.bytes <= world_.inline_bytes() &&
                    frames_out_.has_room(whole + inline_reserve(depth_));
  if (fits)
    write_inline(write);
  else
    write_source(write);
  frames_out_.publish();
  ring_bell(shm_wake_for_frames);
  return post_status::accepted;
}

void shm_lane::put_header(const shm_frame& frame, std::uint64_t ring_bytes) {
  std::array<std::byte, shm_source_header_bytes> header;
  const auto length = encode(frame, header);
  std::memcpy(frames_out_.place(), header.data(), length);
  frames_out_.advance(ring_bytes);
}

void shm_lane::write_inline(const lane_write& write) {
  const auto bytes = write.source.bytes;
  if (bytes != 0) {
    const auto* source = world_.buffers().resolve(write.source);
    TROUPE_ASSERT(source != nullptr);
    std::memcpy(frames_out_.place() + shm_inline_header_bytes, source, bytes);
  }
  put_header({.what = shm_frame::kind::inline_write,
              .immediate = write.immediate,
              .bytes = bytes,
              .target = write.target},
             ring_bytes_of(shm_frame::kind::inline_write, bytes));
  completed_[(first_completed_ + completed_count_++) % depth_] = write.context;
}

// The reserve holds room for as many headers as there can be open writes.
void shm_lane::write_source(const lane_write& write) {
  const auto* source = write.source.bytes == 0 ? nullptr : world_.buffers().resolve(write.source);
  TROUPE_ASSERT(source != nullptr || write.source.bytes == 0);
  source_at(source_count_++) = {.context = write.context, .view = write.source};
  const auto whole = ring_bytes_of(shm_frame::kind::source_write, 0);
  if (!frames_out_.has_room(whole)) return lose({errc::malformed});
  put_header({.what = shm_frame::kind::source_write,
              .immediate = write.immediate,
              .bytes = write.source.bytes,
              .target = write.target,
              .source = path_ == source_path::ring ? 0 : reinterpret_cast<std::uintptr_t>(source)},
             whole);
  if (path_ == source_path::ring) push_bulk();
}

post_status shm_lane::post_message(std::span<const std::byte> message) {
  TROUPE_ASSERT(message.size() <= lane_message_bytes_max);
  if (is_dead()) return post_status::lost;
  const auto whole = ring_bytes_of(shm_frame::kind::message, message.size());
  full_said_ = !frames_out_.has_room(whole + source_reserve(depth_));
  if (full_said_) return post_status::full;
  if (!message.empty())
    std::memcpy(frames_out_.place() + shm_message_header_bytes, message.data(), message.size());
  put_header({.what = shm_frame::kind::message, .bytes = message.size(), .target = {}}, whole);
  frames_out_.publish();
  ring_bell(shm_wake_for_frames);
  return post_status::accepted;
}

void shm_lane::push_bulk() {
  while (pushed_count_ < source_count_) {
    auto& source = source_at(pushed_count_);
    const auto left = source.view.bytes - source.pushed;
    const auto taken = left == 0 ? 0 : std::min(left, bulk_out_.room());
    if (taken != 0) {
      const auto* from = world_.buffers().resolve(source.view);
      TROUPE_ASSERT(from != nullptr);
      std::memcpy(bulk_out_.place(), from + source.pushed, taken);
      bulk_out_.advance(taken);
      bulk_out_.publish();
      source.pushed += taken;
      ring_bell(shm_wake_for_frames);
    }
    if (source.pushed != source.view.bytes) return;
    ++pushed_count_;
  }
}

// The peer has the bytes of its oldest source writes.
void shm_lane::take_done() {
  const auto said = theirs().sources_done.load(std::memory_order_acquire);
  if (said == done_) return;
  const auto count = said - done_;
  const auto possible = path_ == source_path::ring ? pushed_count_ : source_count_;
  if (count > possible) return lose({errc::malformed});
  for (std::uint64_t i = 0; i < count; ++i) {
    completed_[(first_completed_ + completed_count_++) % depth_] = source_at(0).context;
    first_source_ = (first_source_ + 1) % depth_;
    --source_count_;
  }
  if (path_ == source_path::ring) pushed_count_ -= static_cast<std::uint32_t>(count);
  done_ = said;
}

// Either the peer's check of the rings, after it said that it parks, sees what was published, or
// this load sees that it parked: all four are sequentially consistent.
void shm_lane::ring_bell(std::uint32_t reason) {
  auto& parked = theirs().parked;
  if ((parked.load(std::memory_order_seq_cst) & reason) == 0) return;
  if (parked.exchange(0, std::memory_order_acq_rel) == 0) return;
  // A full socket holds bells enough; a dead one is noticed when it is polled.
  const std::byte bell{1};
  send_packet(socket_, {&bell, 1}, -1);
}

std::size_t shm_lane::show_completed(std::span<lane_event> out) {
  std::size_t count = 0;
  for (; count < out.size() && completed_count_ != 0; ++count, --completed_count_) {
    out[count] = {.what = lane_event::kind::write_completed,
                  .context = completed_[first_completed_]};
    first_completed_ = (first_completed_ + 1) % depth_;
  }
  writes_open_ -= static_cast<std::uint32_t>(count);
  return count;
}

// -- polling --------------------------------------------------------------------------------------

bool shm_lane::wants_poll() {
  if (closed_) return false;
  if (completed_count_ != 0) return true;
  if (lost_) return !reported_;
  if (peer_gone_) return true;
  if (in_write_ ? path_ != source_path::ring || refused_ || bulk_in_.has_news()
                : frames_in_.has_news())
    return true;
  if (source_count_ != 0 && theirs().sources_done.load(std::memory_order_seq_cst) != done_)
    return true;
  if (pushed_count_ < source_count_ && path_ == source_path::ring && bulk_out_.room() != 0)
    return true;
  return full_said_ && frames_out_.has_room(inline_reserve(depth_));
}

std::size_t shm_lane::poll(std::span<lane_event> out) {
  if (closed_ || out.empty()) return 0;
  announced_ = false;
  full_said_ = false;
  if (!lost_ && source_count_ != 0) {
    take_done();
    if (path_ == source_path::ring) push_bulk();
  }
  if (!lost_ && (frames_out_.broken() || bulk_out_.broken())) lose({errc::malformed});
  auto count = show_completed(out);
  if (!lost_) count += show_received(out.subspan(count));
  const bool message_last = count != 0 && out[count - 1].what == lane_event::kind::message_arrived;
  if (lost_ && !reported_ && count < out.size() && !message_last) {
    reported_ = true;
    out[count++] = {.what = lane_event::kind::lane_lost, .cause = cause_};
  }
  return count;
}

std::size_t shm_lane::show_received(std::span<lane_event> out) {
  if (budget_turn_ != world_.turn()) {
    budget_turn_ = world_.turn();
    budget_ = turn_bytes_max;
  }
  std::size_t count = 0;
  while (count < out.size()) {
    const auto taken = in_write_ ? go_on_writing(out[count]) : next_frame(out[count]);
    if (taken == step::broken) break;
    if (taken == step::nothing) {
      if (peer_gone_ && !in_write_ && frames_in_.available() == 0) lose({errc::peer_lost});
      break;
    }
    if (out[count++].what == lane_event::kind::message_arrived) break;
  }
  if (!lost_ && frames_in_.publish()) ring_bell(shm_wake_for_progress);
  return count;
}

shm_lane::step shm_lane::next_frame(lane_event& out) {
  const auto available = frames_in_.available();
  if (available == 0 && !frames_in_.broken()) return step::nothing;
  // A copy: the peer could change what lies in the ring after it was checked.
  std::array<std::byte, shm_source_header_bytes> header;
  const auto length = std::min<std::uint64_t>(available, header.size());
  std::memcpy(header.data(), frames_in_.place(), length);
  const auto frame = decode_shm_frame(std::span(header).first(length));
  if (!frame || ring_bytes_of(frame->what, frame->bytes) > available) {
    lose({errc::malformed});
    return step::broken;
  }
  return begin_frame(*frame, out);
}

shm_lane::step shm_lane::begin_frame(const shm_frame& frame, lane_event& out) {
  const auto* payload = frames_in_.place() + header_bytes(frame.what);
  const auto whole = ring_bytes_of(frame.what, frame.bytes);
  switch (frame.what) {
    case shm_frame::kind::message:
      std::memcpy(message_.data(), payload, frame.bytes);
      out = {.what = lane_event::kind::message_arrived,
             .bytes = frame.bytes,
             .message = std::span(message_).first(frame.bytes)};
      break;
    case shm_frame::kind::inline_write: {
      auto* const to = world_.buffers().resolve(frame.target, frame.bytes);
      if (to != nullptr && frame.bytes != 0) std::memcpy(to, payload, frame.bytes);
      out = {
          .what = to == nullptr ? lane_event::kind::write_refused : lane_event::kind::write_arrived,
          .immediate = frame.immediate,
          .bytes = frame.bytes};
      break;
    }
    case shm_frame::kind::source_write:
      frames_in_.advance(whole);
      write_ = frame;
      in_write_ = true;
      refused_ = false;
      placed_ = 0;
      return go_on_writing(out);
  }
  frames_in_.advance(whole);
  return step::event;
}

shm_lane::step shm_lane::go_on_writing(lane_event& out) {
  // Asked anew before every piece: the owner may have withdrawn the key meanwhile. Asked also for
  // a write of no bytes.
  do {
    auto* const to = refused_ ? nullptr : world_.buffers().resolve(write_.target, write_.bytes);
    refused_ = to == nullptr;
    const auto left = write_.bytes - placed_;
    if (left == 0) break;
    if (refused_ && path_ != source_path::ring) {
      placed_ = write_.bytes;
      break;
    }
    const auto wanted = std::min(left, budget_);
    if (wanted == 0) return step::nothing;
    const auto got = fetch(refused_ ? nullptr : to + placed_, wanted);
    if (lost_) return step::broken;
    if (got == 0) return step::nothing;
    placed_ += got;
    budget_ -= got;
  } while (placed_ < write_.bytes);
  return finish_write(out);
}

shm_lane::step shm_lane::finish_write(lane_event& out) {
  if (!refused_ && !source_was_alive()) {
    lose({errc::peer_lost});
    return step::broken;
  }
  in_write_ = false;
  mine().sources_done.store(++taken_, std::memory_order_seq_cst);
  ring_bell(shm_wake_for_progress);
  out = {.what = refused_ ? lane_event::kind::write_refused : lane_event::kind::write_arrived,
         .immediate = write_.immediate,
         .bytes = write_.bytes};
  return step::event;
}

// Copies the next bytes of the write to `to` (null: nowhere). 0: none are there yet, or the lane is
// lost.
std::uint64_t shm_lane::fetch(std::byte* to, std::uint64_t bytes) {
  switch (path_) {
    case source_path::ring: return fetch_bulk(to, bytes);
    case source_path::direct: {
      const auto slice = std::min(bytes, direct_slice_bytes);
      if (copy_direct(to, slice)) return slice;
      lose({errc::peer_lost});
      return 0;
    }
    case source_path::pulled: break;
  }
  const auto got = pull(peer_, to, write_.source + placed_, bytes);
  if (got) return *got;
  lose(got.error());
  return 0;
}

std::uint64_t shm_lane::fetch_bulk(std::byte* to, std::uint64_t bytes) {
  const auto taken = std::min(bytes, bulk_in_.available());
  if (bulk_in_.broken()) lose({errc::malformed});
  if (taken == 0 && peer_gone_ && !lost_) lose({errc::peer_lost});
  if (lost_ || taken == 0) return 0;
  if (to != nullptr) std::memcpy(to, bulk_in_.place(), taken);
  bulk_in_.advance(taken);
  if (bulk_in_.publish()) ring_bell(shm_wake_for_progress);
  return taken;
}

// `close` of the other end waits while `copying` is set, and we copy only while it is not closed.
bool shm_lane::copy_direct(std::byte* to, std::uint64_t bytes) {
  mine().copying.store(1, std::memory_order_seq_cst);
  const bool alive = theirs().closed.load(std::memory_order_seq_cst) == 0;
  if (alive) copy_within(to, reinterpret_cast<const std::byte*>(write_.source) + placed_, bytes);
  mine().copying.store(0, std::memory_order_release);
  return alive;
}

// Asked after the last byte was read: an owner says that it closed before it reuses its memory,
// and the number of a process that ended is not given away before its sockets are closed.
bool shm_lane::source_was_alive() {
  if (path_ == source_path::ring || write_.bytes == 0) return true;
  // Keeps the reads of the source before the load: it is release for them and acquire for it.
  mine().copying.exchange(0, std::memory_order_acq_rel);
  if (theirs().closed.load(std::memory_order_acquire) != 0) return false;
  return path_ == source_path::direct || !has_hung_up(socket_);
}

// -- the bell and the end -------------------------------------------------------------------------

void shm_lane::arm_bell() {
  const bool waits = source_count_ != 0 || full_said_;
  mine().parked.store(shm_wake_for_frames | (waits ? shm_wake_for_progress : 0),
                      std::memory_order_seq_cst);
}

void shm_lane::disarm_bell() {
  mine().parked.store(0, std::memory_order_relaxed);
}

void shm_lane::on_socket() {
  std::array<std::byte, 16> ignored;
  for (int i = 0; i < bells_max; ++i) {
    const auto packet = receive_packet(socket_, ignored);
    if (packet.what == unix_packet::kind::none) return;
    if (packet.what == unix_packet::kind::arrived) continue;
    peer_gone_ = true;
    world_.unwatch(socket_);
    return;
  }
}

void shm_lane::lose(error cause) {
  if (lost_) return;
  lost_ = true;
  cause_ = cause;
  in_write_ = false;
  withdraw_sources();
  source_count_ = 0;
  pushed_count_ = 0;
  world_.drop(socket_);
}

// From here on the peer believes nothing that it reads from our sources; a peer in this process has
// stopped reading.
void shm_lane::withdraw_sources() {
  mine().closed.store(1, std::memory_order_seq_cst);
  if (path_ != source_path::direct || source_count_ == 0) return;
  while (theirs().copying.load(std::memory_order_seq_cst) != 0)
    ::sched_yield();
}

void shm_lane::close() {
  if (closed_) return;
  closed_ = true;
  if (!lost_) withdraw_sources();
  world_.expel(*this);
  world_.drop(socket_);
  memory_.reset();
}

}  // namespace troupe::net::detail
