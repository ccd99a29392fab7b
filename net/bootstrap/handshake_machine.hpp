#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "net/bootstrap/bootstrap_options.hpp"
#include "net/bootstrap/bootstrap_wire.hpp"

namespace troupe::net {

/// The nonces of one endpoint: mac(entropy, counter). Nobody without the entropy can tell the next
/// one, and none comes twice.
struct nonce_source {
  std::array<std::byte, 32> entropy{};
  std::uint64_t counter = 0;

  handshake_nonce next(const bootstrap_crypto& crypto);
  /// The first eight bytes of the next nonce, never 0: names for things that must be new.
  std::uint64_t next_number(const bootstrap_crypto& crypto);
};

/// Who speaks in a handshake of this process.
struct handshake_identity {
  rank self{};
  std::uint64_t job = 0;
  std::uint16_t protocol_version = 0;
  std::span<const std::byte> secret{};
  bootstrap_crypto crypto;
};

/// A handshake message.
struct handshake_message {
  std::uint16_t length = 0;
  std::array<std::byte, 128> frame{};

  std::span<const std::byte> bytes() const { return {frame.data(), length}; }
};

enum class handshake_phase : std::uint8_t {
  awaiting_hello,      ///< acceptor
  awaiting_proof,      ///< acceptor
  proved,              ///< acceptor: the dialer knows the secret; `decide` is next
  awaiting_challenge,  ///< dialer
  awaiting_verdict,    ///< dialer
  done,
};

/// One end of one handshake: hello, challenge, proof, verdict. Each side proves the secret over
/// everything both said before; neither sends it.
struct handshake {
  handshake_phase phase = handshake_phase::awaiting_hello;
  hello_frame hello;
  handshake_message hello_bytes;
  handshake_message challenge_bytes;
};

/// What a message did to a handshake.
struct handshake_outcome {
  enum class kind : std::uint8_t {
    went_on,   ///< send `reply`
    proved,    ///< acceptor: the dialer proved itself; answer with `decide`
    welcomed,  ///< dialer: both sides proved themselves
    refused,   ///< dialer: `status` and `detail` say why; `authentic`: the acceptor proved itself
    stranger,  ///< acceptor: send `reply` if it has bytes, close, count `reason`
    impostor,  ///< dialer: the other side does not know the secret or the format; `reason`
  };
  kind what = kind::went_on;
  handshake_message reply;
  handshake_status status = handshake_status::welcome;
  std::uint64_t detail = 0;
  bool authentic = false;
  const char* reason = "";  ///< a literal
};

/// Starts as dialer. `hello` has purpose, acceptor, lanes and link; the rest is filled in.
handshake_message dial(handshake& state, const hello_frame& hello,
                       const handshake_identity& identity, nonce_source& nonces);

/// Total: any bytes in any phase.
handshake_outcome receive(handshake& state, std::span<const std::byte> bytes,
                          const handshake_identity& identity, nonce_source& nonces);

/// Why the proved dialer does not fit this process at all; `welcome` if it does.
handshake_status misfit_of(const handshake& state, const handshake_identity& identity,
                           std::uint64_t& detail);

/// The acceptor's answer to a proved dialer; the handshake is done.
handshake_message decide(handshake& state, handshake_status status, std::uint64_t detail,
                         const handshake_identity& identity);

/// "wrong_version", ... as it stands in errors.
const char* to_string(handshake_status status);

}  // namespace troupe::net
