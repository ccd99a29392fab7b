#include "net/verbs/detail/request_queue.hpp"

#include <endian.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/assert.hpp"

namespace troupe::net::detail {

request_queue::request_queue(adapter& where, const buffer_table& buffers, slot_memory& memory,
                             region_directory& regions, std::uint32_t peer_receives)
    : where_(where),
      buffers_(buffers),
      memory_(memory),
      regions_(regions),
      queue_(where.sizes().depth + where.sizes().messages),
      peer_receives_(peer_receives),
      credits_(peer_receives),
      issued_(where.sizes().requests),
      completed_(where.sizes().depth) {}

// -- what waits -----------------------------------------------------------------------------------

request_queue::waiting& request_queue::push() {
  TROUPE_ASSERT(count_ < queue_.size());
  return queue_[(first_ + count_++) % queue_.size()];
}

void request_queue::pop_front() {
  first_ = (first_ + 1) % queue_.size();
  --count_;
}

bool request_queue::misses_completions() const {
  std::uint32_t uncompleted = 0;
  for (std::uint32_t i = 0; i < issued_count_; ++i)
    if (issued_[(first_issued_ + i) % issued_.size()].what != request_kind::piece) ++uncompleted;
  const auto not_taken_in = peer_receives_ - credits_;
  // A few may be on their way to the completion queue.
  return uncompleted >= not_taken_in + messages_ / 2 && messages_ != 0;
}

void request_queue::push_write(const lane_write& write) {
  ++writes_open_;
  push() = {.is_write = true, .write = write};
}

void request_queue::push_message(std::span<const std::byte> message) {
  ++messages_;
  const auto slot = memory_.take_send_slot();
  if (!message.empty())
    std::memcpy(memory_.send_slot(slot).data() + verbs_message_header_bytes, message.data(),
                message.size());
  push() = {.slot = slot, .message_bytes = static_cast<std::uint32_t>(message.size())};
}

void request_queue::answer(std::uint64_t key, const std::optional<verbs_remote_memory>& memory) {
  answer_due_ = true;
  answer_out_ = {.what = verbs_frame::kind::answer, .key = key, .alive = memory.has_value()};
  if (memory) answer_out_.memory = *memory;
}

bool request_queue::on_answer(const verbs_frame& frame) {
  if (!asked_ || frame.key != asked_key_) return false;
  asked_ = false;
  answered_ = true;
  answer_generation_ = regions_.generation();
  answer_in_.reset();
  if (!frame.alive) return true;
  answer_in_ = frame.memory;
  regions_.put(frame.key, frame.memory);
  return true;
}

// -- requests -------------------------------------------------------------------------------------

ibv_send_wr& request_queue::next_request(const issued& record) {
  TROUPE_DASSERT(has_request_room());
  issued_[(first_issued_ + issued_count_++) % issued_.size()] = record;
  auto& request = chain_[chained_];
  request = {};
  request.wr_id = next_number_;
  next_number_ = (next_number_ + 1) & number_mask;
  if (chained_ != 0) chain_[chained_ - 1].next = &request;
  ++chained_;
  return request;
}

void request_queue::add_piece(ibv_send_wr& request, const std::byte* from, std::uint32_t bytes,
                              std::uint32_t local_key) {
  if (bytes == 0) return;
  auto& piece = pieces_[chained_ - 1];
  piece = {.addr = reinterpret_cast<std::uintptr_t>(from), .length = bytes, .lkey = local_key};
  request.sg_list = &piece;
  request.num_sge = 1;
  if (bytes <= where_.sizes().inline_bytes) request.send_flags |= IBV_SEND_INLINE;
}

void request_queue::send_service(const verbs_frame& frame, issued record) {
  record.is_service = true;
  record.slot = memory_.take_send_slot();
  ++services_;
  --credits_;
  const auto slot = memory_.send_slot(record.slot);
  const auto bytes = encode(frame, slot);
  auto& request = next_request(record);
  request.opcode = IBV_WR_SEND;
  add_piece(request, slot.data(), static_cast<std::uint32_t>(bytes), memory_.local_key());
}

void request_queue::send_message(std::uint32_t owed) {
  const auto& frame = front();
  const auto slot = memory_.send_slot(frame.slot);
  const auto head = encode({.what = verbs_frame::kind::message, .credits = owed}, slot);
  --credits_;
  auto& request = next_request(
      {.what = request_kind::message, .slot = frame.slot, .message_bytes = frame.message_bytes});
  request.opcode = IBV_WR_SEND;
  add_piece(request, slot.data(), static_cast<std::uint32_t>(head) + frame.message_bytes,
            memory_.local_key());
  pop_front();
}

result<request_queue::progress> request_queue::send_write() {
  const auto& write = front().write;
  const auto& target = write.target;
  const verbs_remote_memory* memory = regions_.find(target.key);
  const bool was_answered =
      answered_ && asked_key_ == target.key && answer_generation_ == regions_.generation();
  if (memory == nullptr && was_answered && answer_in_) memory = &*answer_in_;
  if (memory == nullptr && !was_answered && target.key != 0) {
    if (asked_ || !has_service_room()) return progress::blocked;
    asked_ = true;
    answered_ = false;
    asked_key_ = target.key;
    send_service({.what = verbs_frame::kind::ask, .key = target.key},
                 {.what = request_kind::service});
    return progress::blocked;
  }
  const bool fits = memory != nullptr && target.offset <= memory->bytes &&
                    write.source.bytes <= memory->bytes - target.offset;
  if (fits) return send_into(*memory);
  if (!has_service_room()) return progress::blocked;
  send_service({.what = verbs_frame::kind::refused,
                .immediate = write.immediate,
                .bytes = write.source.bytes},
               {.what = request_kind::write_end, .context = write.context});
  pop_front();
  return progress::issued;
}

result<request_queue::progress> request_queue::send_into(const verbs_remote_memory& memory) {
  auto& frame = front();
  const auto& write = frame.write;
  const auto bytes = write.source.bytes;
  const bool is_whole = bytes <= where_.sizes().piece_bytes;
  if (frame.placed == bytes && !is_whole) {
    if (!has_service_room()) return progress::blocked;
    send_service({.what = verbs_frame::kind::landed, .immediate = write.immediate, .bytes = bytes},
                 {.what = request_kind::write_end, .context = write.context});
    pop_front();
    return progress::issued;
  }
  const auto piece = std::min<std::uint64_t>(bytes - frame.placed, where_.sizes().piece_bytes);
  const auto part = write.source.part(frame.placed, piece);
  std::uint32_t local_key = 0;
  if (piece > where_.sizes().inline_bytes) {
    const auto key = where_.memory().source_key(part);
    if (!key) return tl::unexpected<error>(key.error());
    local_key = *key;
  }
  const auto* source = buffers_.resolve(part);
  TROUPE_ASSERT(source != nullptr || piece == 0);
  auto& request = next_request(
      {.what = is_whole ? request_kind::write_end : request_kind::piece, .context = write.context});
  request.opcode = is_whole ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_RDMA_WRITE;
  request.imm_data = htobe32(write.immediate);
  request.wr.rdma.remote_addr = memory.address + write.target.offset + frame.placed;
  request.wr.rdma.rkey = memory.remote_key;
  add_piece(request, source, static_cast<std::uint32_t>(piece), local_key);
  frame.placed += piece;
  if (is_whole) {
    --credits_;
    pop_front();
  }
  return progress::issued;
}

// -- doorbells ------------------------------------------------------------------------------------

result<void> request_queue::post_chain(queue_pair& pair, std::uint64_t id) {
  if (chained_ == 0) return {};
  for (std::size_t i = 0; i < chained_; ++i)
    chain_[i].wr_id |= id;
  chain_[chained_ - 1].send_flags |= IBV_SEND_SIGNALED;
  chained_ = 0;
  if (const int code = pair.post(chain_[0]); code != 0) return fail(errc::system_failure, code);
  return {};
}

result<void> request_queue::flush(queue_pair& pair, std::uint64_t id, receive_queue& received) {
  for (;;) {
    if (answer_due_ && credits_ > credits_for_credits && has_service_room()) {
      answer_due_ = false;
      answer_out_.credits = received.take_owed();
      send_service(answer_out_, {.what = request_kind::service});
    }
    while (count_ != 0 && credits_ > credits_for_services && has_request_room()) {
      if (!front().is_write) {
        send_message(received.take_owed());
        continue;
      }
      const auto sent = send_write();
      if (!sent) return tl::unexpected<error>(sent.error());
      if (*sent == progress::blocked) break;
    }
    if (received.owes_much() && credits_ != 0 && has_service_room())
      send_service({.what = verbs_frame::kind::credit, .credits = received.take_owed()},
                   {.what = request_kind::service});
    const bool was_full = chained_ == chain_max;
    if (auto posted = post_chain(pair, id); !posted || !was_full) return posted;
  }
}

void request_queue::on_completed(std::uint32_t number) {
  const auto oldest = (next_number_ - issued_count_) & number_mask;
  const auto count = ((number - oldest) & number_mask) + 1;
  TROUPE_ASSERT(count <= issued_count_);
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto& request = issued_[first_issued_];
    first_issued_ = (first_issued_ + 1) % issued_.size();
    if (request.what == request_kind::write_end)
      completed_[(first_completed_ + completed_count_++) % completed_.size()] = request.context;
    if (request.what == request_kind::message) {
      ++messages_delivered_;
      --messages_;
    }
    if (request.is_service) --services_;
    if (request.is_service || request.what == request_kind::message)
      memory_.give_send_slot(request.slot);
  }
  issued_count_ -= count;
}

std::uint64_t request_queue::pop_completed() {
  const auto context = completed_[first_completed_];
  first_completed_ = (first_completed_ + 1) % completed_.size();
  --completed_count_;
  --writes_open_;
  return context;
}

}  // namespace troupe::net::detail
