#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "net/membership/epoch_record.hpp"
#include "runtime/result.hpp"

namespace troupe::net {

// Layout of every frame: docs/protocols/membership.md. All integers are little-endian.

inline constexpr std::uint8_t membership_version = 2;
inline constexpr std::size_t membership_header_bytes = 32;

/// Longest list in a frame. Derived from nothing but sanity: 2^16 members are 256 KiB a list, and
/// a view change in which one leader hears from all is no longer the right protocol there.
inline constexpr std::uint32_t membership_list_count_max = 1u << 16;

/// Leader to member: close the epoch, promise this ballot, and report.
struct prepare_frame {
  friend bool operator==(const prepare_frame&, const prepare_frame&) = default;
};

/// Member to leader: the epoch is closed here.
struct report_frame {
  operation_progress progress{};
  ballot accepted_in{};                  ///< round 0: nothing accepted
  std::optional<epoch_record> accepted;  ///< what was accepted in `accepted_in`
  bool entered = false;                  ///< `accepted` is decided: the sender is in it

  friend bool operator==(const report_frame&, const report_frame&) = default;
};

/// Leader to member: accept this as the next epoch.
struct propose_frame {
  epoch_record next;

  friend bool operator==(const propose_frame&, const propose_frame&) = default;
};

/// Member to leader: accepted.
struct accept_frame {
  friend bool operator==(const accept_frame&, const accept_frame&) = default;
};

/// To everybody concerned: this epoch is decided.
struct commit_frame {
  epoch_record next;

  friend bool operator==(const commit_frame&, const commit_frame&) = default;
};

/// Member to the one who should lead: a view change is needed.
struct alarm_frame {
  std::vector<accusation> accusations;  ///< ascending, each once
  member_list dead;
  std::vector<std::uint64_t> tokens;  ///< ranks that want to come in
  bool decision_wanted = false;       ///< an operation failed or is stuck

  friend bool operator==(const alarm_frame&, const alarm_frame&) = default;
};

/// Member to all: I have left this communicator and shall never decide anything in it again.
struct left_frame {
  errc why = errc::ok;

  friend bool operator==(const left_frame&, const left_frame&) = default;
};

/// A rank from outside to the member that gave it the token.
struct join_frame {
  std::uint64_t token = 0;

  friend bool operator==(const join_frame&, const join_frame&) = default;
};

using membership_body = std::variant<prepare_frame, report_frame, propose_frame, accept_frame,
                                     commit_frame, alarm_frame, left_frame, join_frame>;

/// One message of the view change.
struct membership_frame {
  communicator_id communicator{};
  troupe::epoch epoch{};         ///< the one that is to be left; of a commit: the one entered
  member_id sender = no_member;  ///< `no_member`: a rank from outside
  ballot in{};                   ///< the ballot it belongs to, or answers
  membership_body body{};

  friend bool operator==(const membership_frame&, const membership_frame&) = default;
};

/// Appends nothing but the frame; `out` is replaced.
void encode(const membership_frame& frame, std::vector<std::byte>& out);

/// Which communicator a frame is of, without reading the rest. Errors: malformed, version_mismatch.
result<communicator_id> communicator_of(std::span<const std::byte> bytes);

/// Errors: malformed (short, long, unknown type or code, a list that is too long or not ascending,
///         a guest that is no member), version_mismatch.
result<membership_frame> decode_membership(std::span<const std::byte> bytes);

}  // namespace troupe::net
