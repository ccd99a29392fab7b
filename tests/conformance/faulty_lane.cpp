#include "tests/conformance/faulty_lane.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace troupe::conformance {

namespace {

using kind = lane_event::kind;

// Marks what the wrapper itself posted, so that it can hide what comes of it.
constexpr std::uint64_t ghost_context = 0x6057'0000'0000'6057ull;
constexpr std::uint32_t ghost_immediate = 0x6057'6057u;

}  // namespace

faulty_lane::faulty_lane(std::unique_ptr<lane> inner, bug_state& state, int side)
    : inner_(std::move(inner)), state_(state), side_(side) {
  inner_->set_tag(reinterpret_cast<std::uintptr_t>(this));
  state_.lanes[side].push_back(this);
}

faulty_lane::~faulty_lane() {
  close();
  std::erase(state_.lanes[side_], this);
}

// -- posting
// ---------------------------------------------------------------------------------------

void faulty_lane::remember_target(const lane_write& write) {
  auto* const memory = state_.world->buffers(1 - side_).resolve(write.target, write.source.bytes);
  if (memory != nullptr) state_.target_memory = memory;
}

void faulty_lane::complete(std::uint64_t context) {
  extra_.push_back({.what = kind::write_completed, .context = context});
}

post_status faulty_lane::post_write(const lane_write& given) {
  auto write = given;
  remember_target(write);
  const bool is_empty = write.source.bytes == 0;
  if (state_.is(lane_bug::allocates)) {
    // Through a volatile, or the compiler leaves the pair out.
    void* volatile taken = ::operator new(1);
    ::operator delete(taken);
  }
  if (state_.strikes(lane_bug::is_full_too_early)) return post_status::full;
  if (state_.strikes(lane_bug::drops_write) ||
      (is_empty && state_.is(lane_bug::drops_empty_frames))) {
    complete(write.context);
    return post_status::accepted;
  }
  if (state_.strikes(lane_bug::swaps_two_frames)) {
    held_write_ = write;
    return post_status::accepted;
  }
  if (state_.is(lane_bug::completes_before_reading)) {
    complete(write.context);
    delayed_.push_back(write);
    return post_status::accepted;
  }
  if (state_.strikes(lane_bug::corrupts_write) && !is_empty)
    state_.world->buffers(side_).resolve(write.source)[write.source.bytes - 1] ^= std::byte{1};
  if (state_.is(lane_bug::clears_top_bit_of_immediates)) write.immediate &= 0x7fff'ffffu;
  if (state_.strikes(lane_bug::tells_before_bytes_are_there)) {
    auto early = write;
    early.source.bytes = 0;
    early.context = ghost_context;
    inner_->post_write(early);
    write.immediate = ghost_immediate;
  }
  const auto status = inner_->post_write(write);
  if (status == post_status::full) return when_full(given);
  if (status == post_status::lost && state_.is(lane_bug::takes_after_its_end))
    return post_status::accepted;
  if (state_.strikes(lane_bug::repeats_write)) {
    write.context = ghost_context;
    inner_->post_write(write);
  }
  post_held();
  return status;
}

post_status faulty_lane::when_full(const lane_write& write) {
  if (state_.is(lane_bug::takes_more_than_depth) || state_.is(lane_bug::takes_what_it_refuses))
    delayed_.push_back(write);
  if (state_.is(lane_bug::forgets_what_it_takes_when_full)) complete(write.context);
  const bool takes = state_.is(lane_bug::takes_more_than_depth) ||
                     state_.is(lane_bug::forgets_what_it_takes_when_full);
  return takes ? post_status::accepted : post_status::full;
}

post_status faulty_lane::post_message(std::span<const std::byte> message) {
  if (state_.strikes(lane_bug::drops_message)) return post_status::accepted;
  if (message.empty() && state_.is(lane_bug::drops_empty_frames)) return post_status::accepted;
  if (message.size() > lane_message_bytes_max && state_.is(lane_bug::truncates_long_messages))
    message = message.first(lane_message_bytes_max);
  if (state_.is(lane_bug::drops_the_last_message_on_close)) {
    post_held();
    held_message_ = kept_message{{message.begin(), message.end()}};
    return post_status::accepted;
  }
  std::vector<std::byte> copy;
  const auto chances_before = state_.chances;
  if (!message.empty() && state_.strikes(lane_bug::corrupts_message)) {
    copy.assign(message.begin(), message.end());
    copy.back() ^= std::byte{1};
    message = copy;
  }
  const bool was_full = state_.is(lane_bug::stays_full) && state_.chances != 0;
  const auto status = was_full ? post_status::full : inner_->post_message(message);
  if (status == post_status::full) state_.chances = chances_before;
  if (status == post_status::full && state_.is(lane_bug::stays_full)) state_.chances = 1;
  if (status == post_status::full && state_.is(lane_bug::forgets_what_it_takes_when_full))
    return post_status::accepted;
  if (status == post_status::lost && state_.is(lane_bug::takes_after_its_end))
    return post_status::accepted;
  if (status == post_status::accepted && state_.strikes(lane_bug::repeats_message))
    inner_->post_message(message);
  post_held();
  return status;
}

void faulty_lane::post_held() {
  if (held_write_) inner_->post_write(*std::exchange(held_write_, std::nullopt));
  if (held_message_) inner_->post_message(std::exchange(held_message_, std::nullopt)->bytes);
}

void faulty_lane::post_delayed() {
  while (!delayed_.empty()) {
    auto write = delayed_.front();
    if (state_.is(lane_bug::completes_before_reading)) write.context = ghost_context;
    if (inner_->post_write(write) != post_status::accepted) return;
    delayed_.pop_front();
  }
}

// -- polling
// ---------------------------------------------------------------------------------------

// Shows what another lane of the endpoint has to say, once.
std::size_t faulty_lane::poll_neighbour(std::span<lane_event> out) {
  const auto& lanes = state_.lanes[side_];
  if (!state_.is(lane_bug::mixes_two_lanes) || state_.chances != 0 || lanes.size() < 2) return 0;
  const auto polled = (lanes[0] == this ? lanes[1] : lanes[0])->inner_->poll(out);
  if (polled != 0) ++state_.chances;
  return polled;
}

std::size_t faulty_lane::poll(std::span<lane_event> out) {
  if (closed_) {
    if (!state_.is(lane_bug::speaks_after_close) || spoke_after_close_) return 0;
    spoke_after_close_ = true;
    out[0] = {.what = kind::write_arrived};
    return 1;
  }
  if (!extra_.empty()) {
    out[0] = extra_.front();
    extra_.pop_front();
    return 1;
  }
  post_delayed();
  auto polled = poll_neighbour(out);
  if (polled == 0) polled = inner_->poll(out);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < polled; ++i)
    if (keep(out[i])) out[kept++] = out[i];
  return kept;
}

// May change the event, ask for more after it, or hide it.
bool faulty_lane::keep(lane_event& event) {
  switch (event.what) {
    case kind::write_completed:
      if (event.context == ghost_context || state_.strikes(lane_bug::loses_completion))
        return false;
      if (state_.strikes(lane_bug::repeats_completion)) extra_.push_back(event);
      if (state_.strikes(lane_bug::changes_context)) event.context ^= 1ull << 40;
      return true;
    case kind::write_arrived: return event.immediate != ghost_immediate;
    case kind::write_refused:
      if (state_.is(lane_bug::forgets_refusals)) return false;
      if (state_.strikes(lane_bug::shows_refused_as_arrived)) event.what = kind::write_arrived;
      if (state_.strikes(lane_bug::writes_though_refused))
        state_.target_memory[150] ^= std::byte{1};
      if (state_.strikes(lane_bug::dies_of_a_refusal)) {
        inner_->close();
        event = {.what = kind::lane_lost, .cause = {errc::malformed}};
      }
      return true;
    case kind::message_arrived: return true;
    case kind::lane_lost: return keep_ending(event);
  }
  return true;
}

bool faulty_lane::keep_ending(lane_event& event) {
  if (state_.is(lane_bug::hides_its_end)) return false;
  if (state_.is(lane_bug::ends_without_cause)) event.cause = {};
  if (state_.strikes(lane_bug::ends_twice)) extra_.push_back(event);
  if (state_.strikes(lane_bug::speaks_after_its_end))
    extra_.push_back({.what = kind::write_arrived});
  return true;
}

void faulty_lane::close() {
  if (closed_) return;
  closed_ = true;
  extra_.clear();
  delayed_.clear();
  held_message_.reset();
  if (!state_.is(lane_bug::writes_after_close)) inner_->close();
}

void faulty_lane::drain() {
  std::array<lane_event, 8> events;
  while (inner_->poll(events) != 0) {
  }
}

}  // namespace troupe::conformance
