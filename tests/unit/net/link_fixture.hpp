#pragma once

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "net/link/link_machine.hpp"

namespace troupe::net::test {

inline constexpr buffer_id staging_id{7, 0};
inline constexpr std::uint64_t eager_key = 99;

/// One link, its effects of the last event, and a peer played by hand through the wire formats.
struct fixture {
  std::vector<std::byte> ring;
  std::unique_ptr<link_state> state;
  std::vector<link_effect> effects;
  instant now{std::chrono::seconds(1)};
  std::uint32_t peer_number = 0;

  explicit fixture(link_options o = {}) {
    o.peer = rank{3};
    o.eager_key = eager_key;
    ring.resize(eager_ring_bytes(o));
    o.receive_ring = ring;
    o.staging_ring = {staging_id, 0, ring.size()};
    state = std::make_unique<link_state>(o);
  }

  void drive(const link_event& event) {
    effects.clear();
    link_effects out;
    step(*state, event, now, out);
    bool again = false;
    do {
      again = false;
      for (const auto& e : out) {
        effects.push_back(e);
        again = again || std::holds_alternative<resume_soon>(e);
      }
      out.clear();
      if (again) step(*state, link_resumed{}, now, out);
    } while (again);
  }

  template <class Effect>
  std::vector<Effect> all() const {
    std::vector<Effect> out;
    for (const auto& e : effects) {
      if (const auto* found = std::get_if<Effect>(&e)) out.push_back(*found);
    }
    return out;
  }

  template <class Effect>
  Effect one() const {
    const auto found = all<Effect>();
    BOOST_REQUIRE(found.size() == 1u);
    return found.front();
  }

  // The bodies that were posted, by kind.
  template <class Body>
  std::vector<Body> said() const {
    std::vector<Body> out;
    for (const auto& message : all<post_control>()) {
      const auto decoded = decode_control(message.bytes());
      BOOST_REQUIRE(decoded.has_value());
      if (const auto* body = std::get_if<Body>(&decoded->body)) out.push_back(*body);
    }
    return out;
  }

  void hear(std::uint8_t lane, const control_body& body) {
    control_header header;
    header.control_acknowledged = state->control.unposted_number();
    header.data_acknowledged = state->sending.acknowledged();
    hear(lane, body, header);
  }

  void hear(std::uint8_t lane, const control_body& body, control_header header) {
    if (in_stream(kind_of(body))) header.number = peer_number++;
    std::array<std::byte, control_bytes_max> frame{};
    const auto length = encode(body, std::span(frame).last<control_body_bytes_max>());
    encode(kind_of(body), header, std::span(frame).first<control_header_bytes>());
    drive(message_received{lane, std::span(frame).first(control_header_bytes + length)});
  }

  hello_body hello(std::uint8_t lane, std::uint32_t generation = 1) const {
    const auto& o = state->options;
    return {lane,
            generation,
            eager_key,
            o.eager_slot_count,
            o.eager_bytes_max,
            o.segment_bytes,
            o.window_segment_count,
            o.transfer_count_max,
            o.data_lane_count,
            o.first_sequence};
  }

  void connect() {
    for (std::uint8_t lane = 0; lane <= state->options.data_lane_count; ++lane) {
      drive(lane_opened{lane, 64});
      hear(lane, hello(lane));
    }
  }

  // An eager message of the peer lies in `slot` and is told.
  void receive_eager(std::uint32_t number, std::uint8_t slot, const eager_header& header) {
    auto* at = ring.data() + slot * eager_slot_bytes(state->options);
    encode(header, std::span<std::byte, eager_header_bytes>(at, eager_header_bytes));
    drive(write_received{0, encode(immediate{true, true, slot, sequence{number}}),
                         eager_header_bytes + header.payload_bytes, false});
  }
};

inline constexpr operation_signature signature{operation_kind::all_reduce, data_type::float32,
                                               reduction::sum, 0, 100};

inline transfer_id id_of(std::uint32_t step) {
  return {communicator_id{1}, epoch{0}, operation_number{1}, step};
}

inline buffer_view memory(std::uint64_t bytes) {
  return {{1, 0}, 0, bytes};
}

inline constexpr std::uint64_t large = 1 << 20;

}  // namespace troupe::net::test
