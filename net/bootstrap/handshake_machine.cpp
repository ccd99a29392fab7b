#include "net/bootstrap/handshake_machine.hpp"

#include <algorithm>

#include "net/bootstrap/detail/byte_cursor.hpp"
#include "runtime/mark.hpp"

namespace troupe::net {

namespace {

using detail::byte_writer;

handshake_message message_of(const bootstrap_frame& frame) {
  std::array<std::byte, lane_message_bytes_max> whole{};
  handshake_message out;
  out.length = encode_bootstrap_frame(frame, whole);
  TROUPE_ASSERT(out.length <= out.frame.size());
  std::copy_n(whole.begin(), out.length, out.frame.begin());
  return out;
}

handshake_message copy_of(std::span<const std::byte> bytes) {
  handshake_message out;
  out.length = static_cast<std::uint16_t>(bytes.size());
  std::copy(bytes.begin(), bytes.end(), out.frame.begin());
  return out;
}

// The label in front keeps one side's proof from serving as the other's.
enum class prover : std::uint8_t { dialer = 1, acceptor = 2 };

proof_mac proof_of(prover who, const handshake& state, const verdict_frame* verdict,
                   const handshake_identity& identity) {
  constexpr std::array<std::byte, 8> label{std::byte{'t'}, std::byte{'r'}, std::byte{'o'},
                                           std::byte{'u'}, std::byte{'p'}, std::byte{'e'},
                                           std::byte{'/'}, std::byte{'1'}};
  std::array<std::byte, 320> data{};
  byte_writer writer(data);
  writer.bytes(label);
  writer.integer(static_cast<std::uint8_t>(who));
  writer.bytes(state.hello_bytes.bytes());
  writer.bytes(state.challenge_bytes.bytes());
  if (verdict != nullptr) {
    writer.integer(static_cast<std::uint8_t>(verdict->status));
    writer.integer(verdict->detail);
  }
  proof_mac mac{};
  identity.crypto.mac(identity.secret, std::span(data).first(writer.written_bytes()), mac);
  return mac;
}

handshake_outcome stranger(const char* reason) {
  handshake_outcome out;
  out.what = handshake_outcome::kind::stranger;
  out.reason = reason;
  return out;
}

handshake_outcome impostor(const char* reason) {
  handshake_outcome out;
  out.what = handshake_outcome::kind::impostor;
  out.reason = reason;
  return out;
}

handshake_outcome receive_hello(handshake& state, std::span<const std::byte> bytes,
                                const handshake_identity& identity, nonce_source& nonces) {
  if (origin_of(bytes) == frame_origin::other_format) {
    TROUPE_MARK("bootstrap: hello of another format refused");
    auto out = stranger("speaks another format of the handshake");
    out.reply = message_of(refusal_frame{handshake_status::unknown_format});
    return out;
  }
  const auto frame = decode_bootstrap_frame(bytes);
  const auto* hello = frame ? std::get_if<hello_frame>(&*frame) : nullptr;
  if (hello == nullptr) {
    TROUPE_MARK("bootstrap: garbage instead of a hello");
    return stranger("sent something that is no hello");
  }
  state.hello = *hello;
  state.hello_bytes = copy_of(bytes);
  handshake_outcome out;
  out.reply = message_of(
      challenge_frame{.acceptor = identity.self, .acceptor_nonce = nonces.next(identity.crypto)});
  state.challenge_bytes = out.reply;
  state.phase = handshake_phase::awaiting_proof;
  return out;
}

handshake_outcome receive_proof(handshake& state, std::span<const std::byte> bytes,
                                const handshake_identity& identity) {
  const auto frame = decode_bootstrap_frame(bytes);
  const auto* proof = frame ? std::get_if<proof_frame>(&*frame) : nullptr;
  if (proof == nullptr) {
    TROUPE_MARK("bootstrap: garbage instead of a proof");
    return stranger("sent something that is no proof");
  }
  if (!identity.crypto.equal(proof->mac, proof_of(prover::dialer, state, nullptr, identity))) {
    TROUPE_MARK("bootstrap: wrong secret refused");
    auto out = stranger("does not know the job's secret");
    out.reply = message_of(refusal_frame{handshake_status::bad_proof});
    return out;
  }
  state.phase = handshake_phase::proved;
  handshake_outcome out;
  out.what = handshake_outcome::kind::proved;
  return out;
}

// A refusal that is not proved may come from anybody who answers at that address; it is believed
// as far as an error text goes.
handshake_outcome unproved(handshake_status status) {
  TROUPE_MARK("bootstrap: refused without proof");
  handshake_outcome out;
  out.what = handshake_outcome::kind::refused;
  out.status = status;
  return out;
}

handshake_outcome receive_challenge(handshake& state, std::span<const std::byte> bytes,
                                    const handshake_identity& identity) {
  if (origin_of(bytes) == frame_origin::other_format) {
    TROUPE_MARK("bootstrap: answer in another format");
    return unproved(handshake_status::unknown_format);
  }
  const auto frame = decode_bootstrap_frame(bytes);
  if (!frame) {
    TROUPE_MARK("bootstrap: garbage instead of a challenge");
    return impostor("answered with something that is not our protocol");
  }
  if (const auto* refusal = std::get_if<refusal_frame>(&*frame)) return unproved(refusal->status);
  if (std::get_if<challenge_frame>(&*frame) == nullptr)
    return impostor("answered the hello with something that is no challenge");
  state.challenge_bytes = copy_of(bytes);
  handshake_outcome out;
  out.reply = message_of(proof_frame{proof_of(prover::dialer, state, nullptr, identity)});
  state.phase = handshake_phase::awaiting_verdict;
  return out;
}

handshake_outcome receive_verdict(handshake& state, std::span<const std::byte> bytes,
                                  const handshake_identity& identity) {
  const auto frame = decode_bootstrap_frame(bytes);
  if (!frame) return impostor("answered the proof with something that is not our protocol");
  if (const auto* refusal = std::get_if<refusal_frame>(&*frame)) return unproved(refusal->status);
  const auto* verdict = std::get_if<verdict_frame>(&*frame);
  if (verdict == nullptr) return impostor("answered the proof with something that is no verdict");
  if (!identity.crypto.equal(verdict->mac, proof_of(prover::acceptor, state, verdict, identity))) {
    TROUPE_MARK("bootstrap: acceptor without the secret");
    return impostor("does not know the job's secret");
  }
  state.phase = handshake_phase::done;
  handshake_outcome out;
  out.authentic = true;
  out.status = verdict->status;
  out.detail = verdict->detail;
  out.what = verdict->status == handshake_status::welcome ? handshake_outcome::kind::welcomed
                                                          : handshake_outcome::kind::refused;
  return out;
}

}  // namespace

handshake_nonce nonce_source::next(const bootstrap_crypto& crypto) {
  std::array<std::byte, 8> data{};
  byte_writer(data).integer(counter++);
  handshake_nonce out{};
  crypto.mac(entropy, data, out);
  return out;
}

std::uint64_t nonce_source::next_number(const bootstrap_crypto& crypto) {
  const auto bytes = next(crypto);
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < 8; ++i)
    number = number << 8 | std::to_integer<std::uint64_t>(bytes[i]);
  return number == 0 ? 1 : number;
}

handshake_message dial(handshake& state, const hello_frame& hello,
                       const handshake_identity& identity, nonce_source& nonces) {
  state.hello = hello;
  state.hello.protocol_version = identity.protocol_version;
  state.hello.dialer = identity.self;
  state.hello.job = identity.job;
  state.hello.dialer_nonce = nonces.next(identity.crypto);
  state.hello_bytes = message_of(state.hello);
  state.phase = handshake_phase::awaiting_challenge;
  return state.hello_bytes;
}

handshake_outcome receive(handshake& state, std::span<const std::byte> bytes,
                          const handshake_identity& identity, nonce_source& nonces) {
  switch (state.phase) {
    case handshake_phase::awaiting_hello: return receive_hello(state, bytes, identity, nonces);
    case handshake_phase::awaiting_proof: return receive_proof(state, bytes, identity);
    case handshake_phase::awaiting_challenge: return receive_challenge(state, bytes, identity);
    case handshake_phase::awaiting_verdict: return receive_verdict(state, bytes, identity);
    case handshake_phase::proved:
      // The dialer has to wait for the verdict.
      return stranger("spoke before it was answered");
    case handshake_phase::done: break;
  }
  return impostor("spoke after the handshake ended");
}

handshake_status misfit_of(const handshake& state, const handshake_identity& identity,
                           std::uint64_t& detail) {
  detail = 0;
  if (state.hello.protocol_version != identity.protocol_version) {
    detail = identity.protocol_version;
    return handshake_status::wrong_version;
  }
  if (state.hello.job != identity.job) return handshake_status::wrong_job;
  if (state.hello.acceptor != identity.self) {
    detail = identity.self.value;
    return handshake_status::wrong_rank;
  }
  return handshake_status::welcome;
}

handshake_message decide(handshake& state, handshake_status status, std::uint64_t detail,
                         const handshake_identity& identity) {
  verdict_frame verdict{.status = status, .detail = detail};
  verdict.mac = proof_of(prover::acceptor, state, &verdict, identity);
  state.phase = handshake_phase::done;
  return message_of(verdict);
}

const char* to_string(handshake_status status) {
  switch (status) {
    case handshake_status::welcome: return "welcome";
    case handshake_status::wrong_version: return "it speaks another version of the protocol";
    case handshake_status::wrong_job: return "it belongs to another job";
    case handshake_status::wrong_rank: return "another rank answers at this address";
    case handshake_status::wrong_purpose: return "it does not take this kind of connection";
    case handshake_status::not_a_member: return "it does not count this rank as a member";
    case handshake_status::superseded: return "its own dial goes on instead";
    case handshake_status::stale_link: return "it has a newer link";
    case handshake_status::wrong_lanes: return "it has another number of lanes";
    case handshake_status::unknown_format: return "it speaks another format of the handshake";
    case handshake_status::bad_proof: return "the job's secrets differ";
  }
  return "unknown";
}

}  // namespace troupe::net
