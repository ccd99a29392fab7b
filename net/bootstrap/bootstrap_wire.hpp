#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

#include "net/bootstrap/address_book.hpp"
#include "net/bootstrap/bootstrap_options.hpp"
#include "runtime/result.hpp"

namespace troupe::net {

// Layout of every message: docs/protocols/bootstrap.md. All integers are little-endian. The eight
// bytes in front are the same in every version of the protocol:
//   0  4  magic "TRPB"
//   4  1  format of the handshake
//   5  1  type
//   6  2  length of the whole message

inline constexpr std::array<std::byte, 4> bootstrap_magic{std::byte{'T'}, std::byte{'R'},
                                                          std::byte{'P'}, std::byte{'B'}};
inline constexpr std::uint8_t bootstrap_format = 1;
inline constexpr std::size_t bootstrap_header_bytes = 8;

inline constexpr std::size_t nonce_bytes = 32;
using handshake_nonce = std::array<std::byte, nonce_bytes>;
using proof_mac = std::array<std::byte, 32>;

/// What a connection is for.
enum class connection_purpose : std::uint8_t {
  rendezvous = 1,
  ring = 2,
  link = 3,
  lane = 4,  ///< one lane of a link that stands, in place of one that died
};

/// Answer to a dialer that proved itself (0 to 31), or to one that could not (32 and up).
enum class handshake_status : std::uint8_t {
  welcome = 0,
  wrong_version = 1,  ///< detail: the acceptor's protocol version
  wrong_job = 2,
  wrong_rank = 3,     ///< the dialer wanted another rank; detail: the acceptor's rank
  wrong_purpose = 4,  ///< the acceptor has no such connection to give
  not_a_member = 5,   ///< no rank of this job, or one that the others believe dead
  superseded = 6,     ///< the acceptor's own dial of the same link goes on
  stale_link = 7,     ///< detail: the acceptor's latest link generation
  wrong_lanes = 8,    ///< another number of lanes; detail: the acceptor's
  unknown_format = 32,
  bad_proof = 33,
};

/// Dialer to acceptor, first message.
struct hello_frame {
  std::uint16_t protocol_version = 0;
  connection_purpose purpose = connection_purpose::rendezvous;
  std::uint8_t lane = 0;
  std::uint8_t lane_count = 0;
  rank dialer{};
  rank acceptor{};
  std::uint64_t job = 0;
  std::uint32_t link_generation = 0;
  std::uint64_t link_instance = 0;
  handshake_nonce dialer_nonce{};
};

/// Acceptor to dialer: prove it for this nonce.
struct challenge_frame {
  rank acceptor{};
  handshake_nonce acceptor_nonce{};
};

/// Dialer to acceptor.
struct proof_frame {
  proof_mac mac{};
};

/// Acceptor to a dialer that proved itself; proves the acceptor.
struct verdict_frame {
  handshake_status status = handshake_status::welcome;
  std::uint64_t detail = 0;
  proof_mac mac{};
};

/// Acceptor to a dialer that could not prove itself. Says nothing else.
struct refusal_frame {
  handshake_status status = handshake_status::bad_proof;
};

enum class rendezvous_role : std::uint8_t { member = 0, leader = 1 };

/// Rank to rendezvous: the one exchange.
struct register_frame {
  rank self{};
  std::uint32_t world_size = 0;
  rendezvous_role role = rendezvous_role::member;
  std::uint32_t host_id = 0;
  std::uint64_t instance = 0;               ///< tells two processes from one that asks again
  std::uint64_t digest = 0;                 ///< of the must-agree options
  std::uint64_t patience_microseconds = 0;  ///< until this rank gives up
  lane_address address{};
};

/// Rendezvous to rank: register with this leader.
struct redirect_frame {
  rank leader{};
  lane_address address{};
};

/// Rendezvous to rank: the leader is not here yet, ask again.
struct retry_frame {};

/// Rendezvous to rank: the digests differ, send the must-agree options from `first` on.
struct options_wanted_frame {
  std::uint16_t first = 0;
};

/// Rank to rendezvous: options `first`, `first` + 1, ... of `total`; `text` holds `count` pairs,
/// each text preceded by its length (one byte).
struct options_page_frame {
  std::uint16_t first = 0;
  std::uint16_t total = 0;
  std::uint16_t count = 0;
  std::span<const std::byte> text{};
};

/// Rendezvous to rank: your successor in the ring. To a leader: the successor of its group's last.
struct assigned_frame {
  rank successor{};
  lane_address address{};
};

/// Leader to rendezvous: every rank of the group is registered.
struct group_complete_frame {};

/// Leader to rendezvous, shortly before time is up: these ranks of the group are missing.
struct group_missing_frame {
  std::string_view text{};
};

/// Anybody to anybody who waits: the job cannot form.
struct failed_frame {
  errc code = errc::ok;
  std::int32_t native = 0;
  rank peer = no_rank;
  std::string_view text{};
};

/// Dialer of a ring connection, after the welcome: this connection is the ring now.
struct ring_open_frame {};

/// Entries of ranks block * page_entry_count, + 1, ...; `entries` holds `count` of them.
struct book_page_frame {
  std::uint32_t block = 0;
  std::uint16_t count = 0;
  std::span<const std::byte> entries{};
};

/// So many pages and death notices came over this connection so far.
struct ring_ack_frame {
  std::uint32_t received_count = 0;
};

/// World ranks that ended without leaving; `ranks` holds `count` of them, four bytes each.
struct deaths_frame {
  std::uint16_t count = 0;
  std::span<const std::byte> ranks{};
};

/// This process ends in good order.
struct leaving_frame {};

using bootstrap_frame =
    std::variant<hello_frame, challenge_frame, proof_frame, verdict_frame, refusal_frame,
                 register_frame, redirect_frame, retry_frame, options_wanted_frame,
                 options_page_frame, assigned_frame, group_complete_frame, group_missing_frame,
                 failed_frame, ring_open_frame, book_page_frame, ring_ack_frame, deaths_frame,
                 leaving_frame>;

inline constexpr std::size_t book_entry_wire_bytes = 34;
inline constexpr std::size_t page_entry_count =
    (lane_message_bytes_max - bootstrap_header_bytes - 6) / book_entry_wire_bytes;
static_assert(page_entry_count == 29);
inline constexpr std::size_t deaths_per_frame = 250;
inline constexpr std::size_t failure_text_bytes_max = 900;
inline constexpr std::size_t option_name_bytes_max = 128;
inline constexpr std::size_t option_value_bytes_max = 200;

using bootstrap_frame_span = std::span<std::byte, lane_message_bytes_max>;

/// Writes `frame` and returns its length. Texts over their limit are cut.
std::uint16_t encode_bootstrap_frame(const bootstrap_frame& frame, bootstrap_frame_span out);

/// What the first bytes of a message say about its sender.
enum class frame_origin : std::uint8_t { ours, other_format, stranger };
frame_origin origin_of(std::span<const std::byte> bytes);

/// Errors: malformed if a byte is not what the layout says. Spans and texts of the result point
/// into `bytes`.
result<bootstrap_frame> decode_bootstrap_frame(std::span<const std::byte> bytes);

/// Entry `index` of a page, which the caller keeps below the page's count; and its writing.
book_entry entry_at(const book_page_frame& page, std::size_t index);
void write_entry(const book_entry& entry, std::span<std::byte, book_entry_wire_bytes> out);

/// Rank `index` of a notice, which the caller keeps below its count; and its writing.
rank rank_at(const deaths_frame& frame, std::size_t index);
void write_rank(rank r, std::span<std::byte, 4> out);

/// Writes options from `first` on into `out` as far as they fit and returns the page. Texts over
/// their limit are cut.
options_page_frame options_page_of(std::span<const must_agree_option> options, std::uint16_t first,
                                   bootstrap_frame_span out);

/// The options of a page, one after the other.
class options_reader {
 public:
  explicit options_reader(const options_page_frame& page) : rest_(page.text), left_(page.count) {}

  /// The next pair; false at the end or if the page is malformed.
  bool next(std::string_view& name, std::string_view& value);

  /// Whether every option of the page was read and nothing was left.
  bool complete() const { return left_ == 0 && rest_.empty(); }

 private:
  bool next_text(std::string_view& out);

  std::span<const std::byte> rest_;
  std::uint16_t left_;
};

}  // namespace troupe::net
