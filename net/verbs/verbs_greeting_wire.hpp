#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/result.hpp"

namespace troupe::net {

// What two ends say over a TCP lane beside a pair of queue pairs (docs/protocols/verbs.md): how the
// queue pairs find each other, and how a lane ends.

inline constexpr std::uint32_t verbs_greeting_magic = 0x4252'5654;  ///< "TVRB"
inline constexpr std::uint8_t verbs_greeting_version = 1;
inline constexpr std::size_t verbs_greeting_bytes = 64;

/// What a port speaks.
enum class verbs_link_layer : std::uint8_t { infiniband = 1, ethernet = 2 };

/// A queue pair as its peer has to know it.
struct verbs_queue_pair_name {
  verbs_link_layer link_layer = verbs_link_layer::ethernet;
  std::uint16_t device_index = 0;   ///< among the devices that its endpoint uses
  std::uint16_t device_count = 1;   ///< how many those are
  std::uint16_t local_id = 0;       ///< LID; 0 on Ethernet
  std::uint16_t mtu_bytes = 1024;   ///< 256, 512, 1024, 2048 or 4096
  std::uint32_t number = 0;         ///< 24 bits
  std::uint32_t first_packet = 0;   ///< 24 bits: the first packet sequence number it sends
  std::uint32_t receive_count = 0;  ///< messages and immediates it takes before it gives credits
  std::array<std::byte, 16> gid{};

  friend bool operator==(const verbs_queue_pair_name&, const verbs_queue_pair_name&) = default;
};

/// Why an endpoint refuses a hello.
enum class verbs_refusal : std::uint8_t {
  none = 0,
  link_layer = 1,  ///< one end is on Ethernet, the other on InfiniBand
  resources = 2,   ///< no queue pair could be made
};

/// One message beside the queue pairs.
struct verbs_greeting {
  enum class kind : std::uint8_t {
    hello = 1,    ///< dialler: my queue pair
    answer = 2,   ///< acceptor: mine; it can receive
    ready = 3,    ///< dialler: so can mine
    refusal = 4,  ///< acceptor: `reason`
    bye = 5,      ///< either: of my messages, the first `message_count` are in your queue pair; the
                  ///< others follow here
    plain = 6,  ///< dialler, instead of hello: there is no queue pair, this connection is the lane
  };
  kind what = kind::hello;
  std::uint64_t instance = 0;  ///< hello, answer: number of the sender's endpoint, drawn at start
  verbs_queue_pair_name queue_pair{};  ///< hello, answer
  verbs_refusal reason = verbs_refusal::none;
  std::uint64_t message_count = 0;

  friend bool operator==(const verbs_greeting&, const verbs_greeting&) = default;
};

std::array<std::byte, verbs_greeting_bytes> encode(const verbs_greeting& greeting);

/// Errors: malformed; version_mismatch with the other side's version in `native`.
result<verbs_greeting> decode_verbs_greeting(std::span<const std::byte> bytes);

}  // namespace troupe::net
