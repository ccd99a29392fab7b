#define BOOST_TEST_MODULE crypto_hmac
#include "net/crypto/hmac.hpp"

#include <boost/test/unit_test.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "net/crypto/system_entropy.hpp"

using namespace troupe::net;

namespace {

using bytes = std::vector<std::byte>;

bytes text(std::string_view words) {
  bytes out;
  for (const char c : words)
    out.push_back(static_cast<std::byte>(c));
  return out;
}

bytes repeated(int value, std::size_t count) {
  return bytes(count, static_cast<std::byte>(value));
}

bytes counted(int first, int last) {
  bytes out;
  for (int i = first; i <= last; ++i)
    out.push_back(static_cast<std::byte>(i));
  return out;
}

std::string mac_hex(const bytes& key, const bytes& data) {
  std::array<std::byte, hmac_bytes> mac{};
  hmac_sha256(key, data, mac);
  std::string out;
  for (const std::byte b : mac) {
    out += "0123456789abcdef"[std::to_integer<int>(b >> 4)];
    out += "0123456789abcdef"[std::to_integer<int>(b & std::byte{15})];
  }
  return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_vectors_of_rfc_4231_come_out) {
  BOOST_TEST(mac_hex(repeated(0x0b, 20), text("Hi There")) ==
             "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  BOOST_TEST(mac_hex(text("Jefe"), text("what do ya want for nothing?")) ==
             "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  BOOST_TEST(mac_hex(repeated(0xaa, 20), repeated(0xdd, 50)) ==
             "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
  BOOST_TEST(mac_hex(counted(0x01, 0x19), repeated(0xcd, 50)) ==
             "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b");
  BOOST_TEST(mac_hex(repeated(0xaa, 131),
                     text("Test Using Larger Than Block-Size Key - Hash Key First")) ==
             "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
  BOOST_TEST(mac_hex(repeated(0xaa, 131),
                     text("This is a test using a larger than block-size key and a larger than "
                          "block-size data. The key needs to be hashed before being used by the "
                          "HMAC algorithm.")) ==
             "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2");
}

BOOST_AUTO_TEST_CASE(an_empty_key_is_a_key_and_not_the_key_of_the_call_before) {
  const auto with_empty = mac_hex({}, {});
  BOOST_TEST(with_empty == "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
  mac_hex(text("another key"), text("data"));
  BOOST_TEST(mac_hex({}, {}) == with_empty);
}

BOOST_AUTO_TEST_CASE(equality_sees_every_bit_and_the_length) {
  const bytes left = counted(0, 31);
  BOOST_TEST(constant_time_equal(left, counted(0, 31)));
  BOOST_TEST(constant_time_equal({}, {}));
  BOOST_TEST(!constant_time_equal(left, counted(0, 30)));
  for (std::size_t i = 0; i < left.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      bytes right = left;
      right[i] ^= static_cast<std::byte>(1 << bit);
      BOOST_TEST(!constant_time_equal(left, right));
    }
  }
}

BOOST_AUTO_TEST_CASE(entropy_differs_from_call_to_call) {
  const auto first = system_entropy();
  const auto second = system_entropy();
  BOOST_REQUIRE(first.has_value());
  BOOST_REQUIRE(second.has_value());
  BOOST_TEST((*first != *second));
}
