#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/instant.hpp"
#include "runtime/lane.hpp"
#include "runtime/place.hpp"
#include "runtime/strong_types.hpp"

namespace troupe::net {

/// Version of everything that follows the handshake. The handshake itself has a format of its own
/// (`bootstrap_wire.hpp`), so that ranks of different versions can still prove themselves and be
/// told why they do not fit.
inline constexpr std::uint16_t bootstrap_protocol_version = 2;

/// An option that has to be equal on all ranks, as text.
struct must_agree_option {
  std::string name;
  std::string value;

  friend bool operator==(const must_agree_option&, const must_agree_option&) = default;
};

/// How connections prove themselves: `hmac_sha256` and `constant_time_equal` of `net/crypto`. By
/// pointer, so that the core is free of the library that computes them.
struct bootstrap_crypto {
  void (*mac)(std::span<const std::byte> key, std::span<const std::byte> data,
              std::span<std::byte, 32> out) = nullptr;
  bool (*equal)(std::span<const std::byte> left, std::span<const std::byte> right) = nullptr;
};

/// Whom a newcomer asks to come in.
struct newcomer_contact {
  rank member{};
  lane_address address{};
};

/// What one rank knows before it joins. Filled from the configuration by whoever drives the
/// machine. Rank 0 serves the rendezvous: it must be reachable at `rendezvous`.
struct bootstrap_options {
  rank self{0};
  std::uint32_t world_size = 1;
  lane_address rendezvous{};
  std::optional<newcomer_contact> contact{};  ///< the job has begun: ask this member instead
  std::uint64_t job = 0;                      ///< hash of the job's id; 0 if the launcher gave none
  std::vector<std::byte> secret;  ///< empty: any process that can reach the port may join
  bootstrap_crypto crypto;
  std::vector<must_agree_option> must_agree;  ///< at most 65,535, names up to 128 bytes
  std::uint32_t data_lane_count = 1;          ///< at most 254
  place_code place{};                         ///< where this rank stands; goes into the book
  duration timeout = std::chrono::seconds(60);
  duration step_timeout = std::chrono::seconds(10);
  duration connect_timeout = std::chrono::seconds(10);
  std::uint32_t rendezvous_fan_out = 1024;  ///< at least 2
  std::uint32_t pending_connection_count = 256;
  std::uint16_t protocol_version = bootstrap_protocol_version;
};

/// 64-bit FNV-1a over names and values: equal lists have equal digests, so that the lists
/// themselves travel only where they differ.
std::uint64_t digest_of(std::span<const must_agree_option> options);

}  // namespace troupe::net
