#pragma once

#include <cstdint>
#include <string_view>

/// The one list of error codes: number, name, what it means and what the caller can do.
/// Numbers are stable and never reused. A code exists only if a caller reacts to it differently;
/// everything else that is known goes into the message beside it.
#define TROUPE_ERROR_CODES(X)                                                               \
  X(0, ok, "no error")                                                                      \
  X(1, bad_argument, "an argument of the call is invalid; nothing was started")             \
  X(2, bad_configuration, "an option is unknown, out of range or contradicts another")      \
  X(3, not_available, "this build or this slice does not have what was asked for")          \
  X(4, queue_full, "too many operations are outstanding; wait for one and call again")      \
  X(5, timed_out, "a deadline passed; the message says what was waited for")                \
  X(6, aborted, "the communicator was aborted")                                             \
  X(7, finalized, "the communicator was finalized")                                         \
  X(8, peer_lost, "a peer process ended or cannot be reached any more")                     \
  X(9, mismatch, "ranks called different operations; the message has both signatures")      \
  X(10, authentication_failed, "the other side does not know the job's secret")             \
  X(11, version_mismatch, "the other side speaks another version of the protocol")          \
  X(12, membership_conflict, "ranks disagree about who is in the job")                      \
  X(13, resource_exhausted, "the machine ran out of descriptors, memory or the like")       \
  X(14, system_failure, "the operating system refused a call; `native` has its code")       \
  X(15, malformed, "bytes from outside are not what the format says")                       \
  X(16, forked, "the process forked after the runtime was created")                         \
  X(17, internal_failure, "an actor of the runtime failed; this is a bug of Troupe")        \
  X(18, no_quorum, "too few members of the last epoch are left to decide; input is intact") \
  X(19, evicted, "the other members decided an epoch without this rank")                    \
  X(20, unreachable, "no connection could be made before the deadline")                     \
  X(21, epoch_changed, "the communicator went on to another epoch; adopt it and call again")

namespace troupe {

enum class errc : std::uint16_t {
#define TROUPE_ERRC_ENTRY(number, name, sentence) name = number,
  TROUPE_ERROR_CODES(TROUPE_ERRC_ENTRY)
#undef TROUPE_ERRC_ENTRY
};

/// The name of a code as it stands in the list ("peer_lost").
constexpr std::string_view to_string(errc code) {
  switch (code) {
#define TROUPE_ERRC_CASE(number, name, sentence) \
  case errc::name: return #name;
    TROUPE_ERROR_CODES(TROUPE_ERRC_CASE)
#undef TROUPE_ERRC_CASE
  }
  return "unknown";
}

/// One sentence: what the code means and what the caller can do.
constexpr std::string_view explain(errc code) {
  switch (code) {
#define TROUPE_ERRC_CASE(number, name, sentence) \
  case errc::name: return sentence;
    TROUPE_ERROR_CODES(TROUPE_ERRC_CASE)
#undef TROUPE_ERRC_CASE
  }
  return "unknown";
}

}  // namespace troupe
