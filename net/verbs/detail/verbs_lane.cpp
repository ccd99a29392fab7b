#include "net/verbs/detail/verbs_lane.hpp"

#include <endian.h>

#include <algorithm>
#include <utility>

#include "net/verbs/detail/request_id.hpp"
#include "net/verbs/detail/verbs_world.hpp"
#include "runtime/assert.hpp"

namespace troupe::net::detail {

namespace {

// Small frames behind the first of a turn wait for its end, or for so many, and share a doorbell.
constexpr std::uint32_t prompt_frame_count = 16;
constexpr std::uint64_t prompt_bytes = 4096;

// How long a broken queue pair waits for the peer's last words, which say why. Chosen: some round
// trips of TCP.
constexpr duration last_words_time = std::chrono::milliseconds(20);

// How long messages that the peer's device acknowledged may take to show up here.
constexpr duration arrival_time = std::chrono::seconds(1);

}  // namespace

result<std::unique_ptr<verbs_lane>> verbs_lane::make(verbs_world& world, adapter& where) {
  auto memory = slot_memory::make(where.domain(), where.sizes().slots());
  if (!memory) return tl::unexpected<error>(memory.error());
  auto pair = queue_pair::make(where);
  if (!pair) return tl::unexpected<error>(pair.error());
  std::unique_ptr<verbs_lane> made(
      new verbs_lane(world, where, std::move(*memory), std::move(*pair)));
  for (std::uint32_t slot = 0; slot < where.sizes().receives; ++slot)
    made->received_.give_back(slot);
  const int code =
      made->received_.post_again(made->pair_, made->memory_, made->id_ | request_id::receive_bit);
  if (code != 0) return fail(errc::system_failure, code);
  // The peer learns of the first ones by their count.
  made->received_.take_owed();
  return made;
}

verbs_lane::verbs_lane(verbs_world& world, adapter& where, slot_memory memory, queue_pair pair)
    : world_(world),
      where_(where),
      memory_(std::move(memory)),
      pair_(std::move(pair)),
      id_(world.enrol(*this)),
      received_(where.sizes().receives) {}

verbs_lane::~verbs_lane() {
  close();
}

result<void> verbs_lane::connect(const verbs_greeting& said,
                                 std::shared_ptr<region_directory> regions) {
  peer_instance_ = said.instance;
  peer_ = said.queue_pair;
  regions_ = std::move(regions);
  sends_.emplace(where_, world_.buffers(), memory_, *regions_, peer_.receive_count);
  return pair_.connect(peer_);
}

void verbs_lane::adopt_side(std::unique_ptr<lane> side) {
  side_ = std::move(side);
  side_name_ = side_->describe();
  own(*side_, this);
  update_ready();
}

std::string verbs_lane::describe() const {
  return "verbs " + where_.port().device + ":" + std::to_string(where_.port().number) +
         " -> queue pair " + std::to_string(peer_.number) + ", beside " + side_name_;
}

// -- sending --------------------------------------------------------------------------------------

post_status verbs_lane::post_write(const lane_write& write) {
  if (cannot_send()) return post_status::lost;
  if (!sends_->has_room_for_write()) return post_status::full;
  sends_->push_write(write);
  flush_after_post(write.source.bytes);
  return post_status::accepted;
}

post_status verbs_lane::post_message(std::span<const std::byte> message) {
  TROUPE_ASSERT(message.size() <= lane_message_bytes_max);
  if (cannot_send()) return post_status::lost;
  if (!sends_->has_room_for_message()) {
    if (!sends_->misses_completions()) return post_status::full;
    give_way();
    return post_status::lost;
  }
  sends_->push_message(message);
  flush_after_post(message.size());
  return post_status::accepted;
}

// The first frame after a poll of the network leaves at once; small ones behind it share the next
// doorbell.
void verbs_lane::flush_after_post(std::uint64_t payload_bytes) {
  const bool is_first = std::exchange(posted_turn_, world_.turn()) != world_.turn();
  if (is_first || ++posted_count_ >= prompt_frame_count || payload_bytes >= prompt_bytes) {
    flush();
  } else {
    flush_due_ = true;
    update_ready();
  }
}

void verbs_lane::flush() {
  flush_due_ = false;
  posted_count_ = 0;
  if (cannot_send()) return;
  if (const int code = received_.post_again(pair_, memory_, id_ | request_id::receive_bit);
      code != 0)
    return lose({errc::system_failure, code});
  const auto sent = sends_->flush(pair_, id_, received_);
  if (sent) return;
  if (sent.error().code == errc::resource_exhausted)
    world_.note_registration_failure(sent.error(), where_.memory().failed_bytes());
  lose(sent.error());
}

// -- completions ----------------------------------------------------------------------------------

void verbs_lane::on_completion(const ibv_wc& done) {
  if (is_over()) return;
  if (done.status != IBV_WC_SUCCESS) {
    // The first failure says why; the others are flushed.
    if (done.status == IBV_WC_REM_ACCESS_ERR) regions_->clear();
    return on_event({errc::peer_lost, static_cast<std::int32_t>(done.status)});
  }
  if ((done.wr_id & request_id::receive_bit) != 0)
    on_received(request_id::number_of(done.wr_id), done);
  else
    sends_->on_completed(request_id::number_of(done.wr_id));
  flush_due_ = true;
  update_ready();
}

void verbs_lane::on_received(std::uint32_t slot, const ibv_wc& done) {
  if (done.opcode == IBV_WC_RECV_RDMA_WITH_IMM)
    return received_.push({.what = lane_event::kind::write_arrived,
                           .slot = slot,
                           .immediate = be32toh(done.imm_data),
                           .bytes = done.byte_len});
  on_frame(slot,
           memory_.receive_slot(slot).first(std::min<std::size_t>(done.byte_len, send_bytes_max)));
}

void verbs_lane::on_frame(std::uint32_t slot, std::span<const std::byte> bytes) {
  const auto frame = decode_verbs_frame(bytes);
  if (!frame) return lose(frame.error());
  sends_->add_credits(frame->credits);
  switch (frame->what) {
    case verbs_frame::kind::message: return on_message(slot, bytes.size());
    case verbs_frame::kind::refused:
    case verbs_frame::kind::landed:
      return received_.push({.what = frame->what == verbs_frame::kind::refused
                                         ? lane_event::kind::write_refused
                                         : lane_event::kind::write_arrived,
                             .slot = slot,
                             .immediate = frame->immediate,
                             .bytes = frame->bytes});
    case verbs_frame::kind::ask: answer(frame->key); break;
    case verbs_frame::kind::answer:
      if (!sends_->on_answer(*frame)) return lose({errc::malformed});
      break;
    case verbs_frame::kind::credit: break;
  }
  if (!lost_) received_.give_back(slot);
}

void verbs_lane::on_message(std::uint32_t slot, std::size_t bytes) {
  // It may have come beside the queue pair before.
  if (messages_received_++ < messages_repeated_) return received_.give_back(slot);
  received_.push({.what = lane_event::kind::message_arrived, .slot = slot, .bytes = bytes});
}

void verbs_lane::answer(std::uint64_t key) {
  const auto memory = where_.memory().target_of(key);
  if (!memory) {
    world_.note_registration_failure(memory.error(), where_.memory().failed_bytes());
    return lose(memory.error());
  }
  sends_->answer(key, *memory);
}

// -- polling --------------------------------------------------------------------------------------

std::size_t verbs_lane::poll(std::span<lane_event> out) {
  if (closed_ || out.empty()) return 0;
  if (held_slot_) received_.give_back(*std::exchange(held_slot_, std::nullopt));
  auto count = show_completed(out);
  count += show_arrived(out.subspan(count));
  const bool message_last = count != 0 && out[count - 1].what == lane_event::kind::message_arrived;
  if (!message_last && received_.empty()) count += show_end(out.subspan(count));
  flush();
  update_ready();
  return count;
}

std::size_t verbs_lane::show_completed(std::span<lane_event> out) {
  std::size_t count = 0;
  for (; count < out.size() && sends_->has_completed(); ++count)
    out[count] = {.what = lane_event::kind::write_completed, .context = sends_->pop_completed()};
  return count;
}

std::size_t verbs_lane::show_arrived(std::span<lane_event> out) {
  std::size_t count = 0;
  while (count < out.size() && !received_.empty()) {
    const auto arrived = received_.pop();
    auto& event = out[count++];
    event = {.what = arrived.what, .immediate = arrived.immediate, .bytes = arrived.bytes};
    if (arrived.what != lane_event::kind::message_arrived) {
      received_.give_back(arrived.slot);
      continue;
    }
    event.message =
        memory_.receive_slot(arrived.slot)
            .subspan(verbs_message_header_bytes, arrived.bytes - verbs_message_header_bytes);
    event.bytes = event.message.size();
    held_slot_ = arrived.slot;
    break;
  }
  return count;
}

std::size_t verbs_lane::show_end(std::span<lane_event> out) {
  if (out.empty()) return 0;
  while (!lost_ && can_end() && side_readable_) {
    if (side_->poll(out.first(1)) == 0) {
      side_readable_ = false;
    } else if (out[0].what == lane_event::kind::lane_lost) {
      lose({errc::peer_lost, out[0].cause.native});
    } else if (messages_repeated_++ >= messages_received_) {
      return 1;
    }
  }
  if (!lost_ || reported_) return 0;
  reported_ = true;
  out[0] = {.what = lane_event::kind::lane_lost, .cause = cause_};
  return 1;
}

bool verbs_lane::wants_poll() const {
  // The peer may send before its last word of the greeting is read: until then nobody has the lane,
  // and who has none would miss its only announcement.
  if (closed_ || !side_) return false;
  if (sends_->has_completed() || !received_.empty()) return true;
  if (lost_) return !reported_;
  return (flush_due_ && !cannot_send()) || (side_readable_ && can_end());
}

void verbs_lane::update_ready() {
  if (wants_poll())
    world_.ready().insert(*this);
  else
    world_.ready().remove(*this);
}

// -- the end --------------------------------------------------------------------------------------

void verbs_lane::on_side_ready() {
  side_readable_ = true;
  lane_event event;
  while (!ending_ && !is_over()) {
    if (side_->poll(std::span(&event, 1)) == 0) {
      side_readable_ = false;
      break;
    }
    if (event.what == lane_event::kind::lane_lost) {
      // No last words: the process ended. What it sent before may lie in the completion queue.
      ending_ = true;
      world_.poll_completions();
      lose({errc::peer_lost, event.cause.native});
      break;
    }
    const auto said = decode_verbs_greeting(event.message);
    if (!said || said->what != verbs_greeting::kind::bye) {
      lose({errc::malformed});
      break;
    }
    ending_ = true;
    messages_announced_ = said->message_count;
    messages_repeated_ = said->message_count;
    set_deadline(arrival_time);
    world_.poll_completions();
  }
  update_ready();
}

void verbs_lane::on_event(error cause) {
  if (is_over() || broken_) return;
  broken_ = true;
  if (!ending_) {
    cause_ = cause;
    set_deadline(last_words_time);
  }
  update_ready();
}

std::uint64_t verbs_lane::mutual_number() const {
  const auto [low, high] = std::minmax(pair_.handle()->qp_num, peer_.number);
  return std::uint64_t{high} << 32 | low;
}

void verbs_lane::give_way() {
  lose({errc::peer_lost});
  update_ready();
}

void verbs_lane::set_deadline(duration from_now) {
  deadline_ = saturating_add(world_.now(), from_now);
  world_.watch(*this);
}

void verbs_lane::on_deadline() {
  deadline_ = never;
  if (is_over() || (ending_ && can_end())) return;
  lose(cause_.code == errc::ok ? error{errc::peer_lost} : cause_);
  update_ready();
}

void verbs_lane::lose(error cause) {
  if (lost_) return;
  lost_ = true;
  cause_ = cause;
  deadline_ = never;
  pair_.reset();
  if (side_) side_->close();
}

void verbs_lane::close() {
  if (closed_) return;
  closed_ = true;
  // From here on the device touches neither sources nor targets; what it may not have delivered of
  // our messages goes beside it.
  pair_.reset();
  world_.expel(*this, id_);
  if (!side_ || lost_) return;
  if (!ending_ && !broken_) {
    const auto bye = encode(verbs_greeting{.what = verbs_greeting::kind::bye,
                                           .message_count = sends_->messages_delivered()});
    side_->post_message(bye);
    sends_->each_undelivered([&](std::span<const std::byte> message) {
      const auto status = side_->post_message(message);
      TROUPE_ASSERT(status != post_status::full);
    });
  }
  side_->close();
}

}  // namespace troupe::net::detail
