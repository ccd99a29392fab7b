#define BOOST_TEST_MODULE bootstrap_handshake
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <set>
#include <string>
#include <vector>

#include "net/bootstrap/handshake_machine.hpp"
#include "net/crypto/hmac.hpp"

using namespace troupe;
using namespace troupe::net;
using kind = handshake_outcome::kind;

namespace {

const std::vector<std::byte> secret(24, std::byte{0x5a});
const std::vector<std::byte> other_secret(24, std::byte{0x5b});

handshake_identity identity(std::uint32_t self, std::span<const std::byte> key = secret) {
  return {.self = rank{self},
          .job = 11,
          .protocol_version = 1,
          .secret = key,
          .crypto = {hmac_sha256, constant_time_equal}};
}

hello_frame hello_to(std::uint32_t acceptor) {
  return {.purpose = connection_purpose::ring, .acceptor = rank{acceptor}};
}

std::vector<std::byte> copy(std::span<const std::byte> bytes) {
  return {bytes.begin(), bytes.end()};
}

// A dialer and an acceptor with a wire in between that a test can tamper with.
struct pair_of_ranks {
  handshake_identity dialer = identity(1);
  handshake_identity acceptor = identity(2);
  nonce_source dialer_nonces{.entropy = {std::byte{1}}};
  nonce_source acceptor_nonces{.entropy = {std::byte{2}}};
  handshake ours;
  handshake theirs;

  handshake_outcome to_acceptor(std::span<const std::byte> bytes) {
    return receive(theirs, bytes, acceptor, acceptor_nonces);
  }
  handshake_outcome to_dialer(std::span<const std::byte> bytes) {
    return receive(ours, bytes, dialer, dialer_nonces);
  }
  /// Up to the proof, which is returned.
  handshake_message prove() {
    const auto hello = dial(ours, hello_to(2), dialer, dialer_nonces);
    const auto challenge = to_acceptor(hello.bytes());
    BOOST_REQUIRE((challenge.what == kind::went_on));
    const auto proof = to_dialer(challenge.reply.bytes());
    BOOST_REQUIRE((proof.what == kind::went_on));
    return proof.reply;
  }
};

}  // namespace

BOOST_AUTO_TEST_CASE(two_ranks_with_one_secret_welcome_each_other) {
  pair_of_ranks pair;
  const auto proof = pair.prove();
  BOOST_TEST((pair.to_acceptor(proof.bytes()).what == kind::proved));
  std::uint64_t detail = 0;
  BOOST_TEST((misfit_of(pair.theirs, pair.acceptor, detail) == handshake_status::welcome));
  const auto verdict = decide(pair.theirs, handshake_status::welcome, 0, pair.acceptor);
  const auto outcome = pair.to_dialer(verdict.bytes());
  BOOST_TEST((outcome.what == kind::welcomed));
  BOOST_TEST(outcome.authentic);
}

BOOST_AUTO_TEST_CASE(the_secret_is_in_no_message) {
  pair_of_ranks pair;
  const auto hello = dial(pair.ours, hello_to(2), pair.dialer, pair.dialer_nonces);
  const auto challenge = pair.to_acceptor(hello.bytes()).reply;
  const auto proof = pair.to_dialer(challenge.bytes()).reply;
  pair.to_acceptor(proof.bytes());
  const auto verdict = decide(pair.theirs, handshake_status::welcome, 0, pair.acceptor);
  for (const auto& message : {hello, challenge, proof, verdict}) {
    const auto bytes = message.bytes();
    const auto piece = std::span(secret).first(4);
    BOOST_TEST(
        (std::search(bytes.begin(), bytes.end(), piece.begin(), piece.end()) == bytes.end()));
  }
}

BOOST_AUTO_TEST_CASE(a_dialer_without_the_secret_is_told_no_more_than_that) {
  pair_of_ranks pair;
  pair.dialer = identity(1, other_secret);
  const auto outcome = pair.to_acceptor(pair.prove().bytes());
  BOOST_TEST((outcome.what == kind::stranger));
  BOOST_TEST(outcome.reason == std::string("does not know the job's secret"));
  BOOST_TEST(outcome.reply.bytes().size() == bootstrap_header_bytes + 1);
  const auto heard = pair.to_dialer(outcome.reply.bytes());
  BOOST_TEST((heard.what == kind::refused));
  BOOST_TEST((heard.status == handshake_status::bad_proof));
  BOOST_TEST(!heard.authentic);
}

BOOST_AUTO_TEST_CASE(an_acceptor_without_the_secret_is_an_impostor) {
  pair_of_ranks pair;
  pair.prove();
  pair.acceptor = identity(2, other_secret);
  const auto verdict = decide(pair.theirs, handshake_status::welcome, 0, pair.acceptor);
  const auto outcome = pair.to_dialer(verdict.bytes());
  BOOST_TEST((outcome.what == kind::impostor));
  BOOST_TEST(outcome.reason == std::string("does not know the job's secret"));
}

BOOST_AUTO_TEST_CASE(no_refusal_can_be_turned_into_a_welcome_on_the_way) {
  pair_of_ranks pair;
  pair.to_acceptor(pair.prove().bytes());
  const auto verdict = decide(pair.theirs, handshake_status::superseded, 5, pair.acceptor);
  for (std::size_t i = bootstrap_header_bytes; i < verdict.length; ++i) {
    auto forged = copy(verdict.bytes());
    forged[i] ^= std::byte{1};
    auto ours = pair.ours;
    const auto outcome = receive(ours, forged, pair.dialer, pair.dialer_nonces);
    BOOST_TEST((outcome.what == kind::impostor));
  }
  const auto outcome = pair.to_dialer(verdict.bytes());
  BOOST_TEST((outcome.what == kind::refused));
  BOOST_TEST((outcome.status == handshake_status::superseded));
  BOOST_TEST(outcome.detail == 5u);
  BOOST_TEST(outcome.authentic);
}

BOOST_AUTO_TEST_CASE(every_byte_of_the_hello_is_proved) {
  pair_of_ranks first;
  const auto hello = dial(first.ours, hello_to(2), first.dialer, first.dialer_nonces);
  for (std::size_t i = bootstrap_header_bytes; i < hello.length; ++i) {
    auto pair = first;
    auto forged = copy(hello.bytes());
    forged[i] ^= std::byte{1};
    const auto challenge = pair.to_acceptor(forged);
    if (challenge.what == kind::stranger) continue;  // no longer a hello
    const auto proof = pair.to_dialer(challenge.reply.bytes());
    BOOST_TEST((pair.to_acceptor(proof.reply.bytes()).what == kind::stranger), "byte " << i);
  }
}

BOOST_AUTO_TEST_CASE(an_old_proof_does_not_serve_again) {
  pair_of_ranks pair;
  const auto hello = dial(pair.ours, hello_to(2), pair.dialer, pair.dialer_nonces);
  const auto proof = pair.to_dialer(pair.to_acceptor(hello.bytes()).reply.bytes()).reply;
  BOOST_TEST((pair.to_acceptor(proof.bytes()).what == kind::proved));
  pair.theirs = {};
  BOOST_TEST((pair.to_acceptor(hello.bytes()).what == kind::went_on));
  BOOST_TEST((pair.to_acceptor(proof.bytes()).what == kind::stranger));
}

BOOST_AUTO_TEST_CASE(a_proof_reflected_to_its_maker_does_not_serve) {
  // A stranger dials rank 1 with what rank 1 says when it dials, hoping for the answers.
  pair_of_ranks pair;
  const auto hello = dial(pair.ours, hello_to(2), pair.dialer, pair.dialer_nonces);
  handshake mirror;
  const auto challenge = receive(mirror, hello.bytes(), pair.dialer, pair.dialer_nonces);
  BOOST_REQUIRE((challenge.what == kind::went_on));
  const auto proof = pair.to_dialer(challenge.reply.bytes());
  BOOST_REQUIRE((proof.what == kind::went_on));
  const auto outcome = receive(mirror, proof.reply.bytes(), pair.dialer, pair.dialer_nonces);
  // Its own proof is a good one; but it is for rank 2, and it is no answer to rank 1's own dial.
  BOOST_REQUIRE((outcome.what == kind::proved));
  std::uint64_t detail = 0;
  BOOST_TEST((misfit_of(mirror, pair.dialer, detail) == handshake_status::wrong_rank));
  const auto verdict = decide(mirror, handshake_status::wrong_rank, detail, pair.dialer);
  BOOST_TEST((pair.to_dialer(verdict.bytes()).what == kind::refused));
}

BOOST_AUTO_TEST_CASE(proofs_of_the_two_roles_differ) {
  pair_of_ranks pair;
  const auto proof = pair.prove();
  // The dialer's proof, sent back as the acceptor's.
  verdict_frame forged;
  std::copy_n(proof.bytes().begin() + bootstrap_header_bytes, forged.mac.size(),
              forged.mac.begin());
  std::array<std::byte, lane_message_bytes_max> bytes{};
  const auto length = encode_bootstrap_frame(forged, bytes);
  BOOST_TEST((pair.to_dialer(std::span(bytes).first(length)).what == kind::impostor));
}

BOOST_AUTO_TEST_CASE(each_misfit_has_its_own_refusal) {
  pair_of_ranks pair;
  pair.to_acceptor(pair.prove().bytes());
  std::uint64_t detail = 0;
  auto acceptor = pair.acceptor;
  acceptor.protocol_version = 3;
  BOOST_TEST((misfit_of(pair.theirs, acceptor, detail) == handshake_status::wrong_version));
  BOOST_TEST(detail == 3u);
  acceptor = pair.acceptor;
  acceptor.job = 12;
  BOOST_TEST((misfit_of(pair.theirs, acceptor, detail) == handshake_status::wrong_job));
  acceptor = pair.acceptor;
  acceptor.self = rank{9};
  BOOST_TEST((misfit_of(pair.theirs, acceptor, detail) == handshake_status::wrong_rank));
  BOOST_TEST(detail == 9u);
  std::set<std::string> texts;
  for (const auto status :
       {handshake_status::welcome, handshake_status::wrong_version, handshake_status::wrong_job,
        handshake_status::wrong_rank, handshake_status::wrong_purpose,
        handshake_status::not_a_member, handshake_status::superseded, handshake_status::stale_link,
        handshake_status::wrong_lanes, handshake_status::unknown_format,
        handshake_status::bad_proof})
    texts.insert(to_string(status));
  BOOST_TEST(texts.size() == 11u);
}

BOOST_AUTO_TEST_CASE(strangers_learn_nothing_and_formats_are_told_apart) {
  const auto outcome_of = [](std::vector<std::byte> bytes) {
    pair_of_ranks pair;
    return pair.to_acceptor(bytes);
  };
  pair_of_ranks pair;
  const auto hello = copy(dial(pair.ours, hello_to(2), pair.dialer, pair.dialer_nonces).bytes());
  auto wrong_magic = hello;
  wrong_magic[0] = std::byte{'X'};
  auto other_format = hello;
  other_format[4] = std::byte{2};
  auto cut = hello;
  cut.pop_back();
  for (const auto& bytes : {std::vector<std::byte>{}, wrong_magic, cut}) {
    const auto outcome = outcome_of(bytes);
    BOOST_TEST((outcome.what == kind::stranger));
    BOOST_TEST(outcome.reply.bytes().empty());
  }
  const auto outcome = outcome_of(other_format);
  BOOST_TEST((outcome.what == kind::stranger));
  const auto heard = pair.to_dialer(outcome.reply.bytes());
  BOOST_TEST((heard.what == kind::refused));
  BOOST_TEST((heard.status == handshake_status::unknown_format));
}

BOOST_AUTO_TEST_CASE(messages_out_of_turn_end_the_handshake_in_every_phase) {
  pair_of_ranks pair;
  const auto hello = copy(dial(pair.ours, hello_to(2), pair.dialer, pair.dialer_nonces).bytes());
  const auto challenge = copy(pair.to_acceptor(hello).reply.bytes());
  const auto proof = copy(pair.to_dialer(challenge).reply.bytes());
  const std::vector<std::byte> noise(40, std::byte{7});
  const auto is_end = [](const handshake_outcome& o) {
    return o.what == kind::stranger || o.what == kind::impostor || o.what == kind::refused;
  };
  for (const auto phase : {handshake_phase::awaiting_hello, handshake_phase::awaiting_proof,
                           handshake_phase::proved, handshake_phase::awaiting_challenge,
                           handshake_phase::awaiting_verdict, handshake_phase::done}) {
    for (const auto& bytes : {hello, challenge, proof, noise, std::vector<std::byte>{}}) {
      const bool in_turn = (phase == handshake_phase::awaiting_hello && bytes == hello) ||
                           (phase == handshake_phase::awaiting_challenge && bytes == challenge) ||
                           (phase == handshake_phase::awaiting_proof && bytes == proof);
      auto state = pair.theirs;
      state.phase = phase;
      BOOST_TEST(is_end(receive(state, bytes, pair.acceptor, pair.acceptor_nonces)) != in_turn);
    }
  }
}

BOOST_AUTO_TEST_CASE(nonces_never_come_twice_and_depend_on_the_entropy) {
  nonce_source left{.entropy = {std::byte{1}}};
  nonce_source right{.entropy = {std::byte{2}}};
  const bootstrap_crypto crypto{hmac_sha256, constant_time_equal};
  std::set<handshake_nonce> seen;
  for (int i = 0; i < 1000; ++i) {
    seen.insert(left.next(crypto));
    seen.insert(right.next(crypto));
  }
  BOOST_TEST(seen.size() == 2000u);
  BOOST_TEST(left.next_number(crypto) != 0u);
}
