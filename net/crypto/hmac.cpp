#include "net/crypto/hmac.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "runtime/assert.hpp"

namespace troupe::net {

namespace {

const unsigned char* as_unsigned(const std::byte* bytes) {
  return reinterpret_cast<const unsigned char*>(bytes);
}

}  // namespace

void hmac_sha256(std::span<const std::byte> key, std::span<const std::byte> data,
                 std::span<std::byte, hmac_bytes> out) {
  // HMAC() takes a null key to mean "the key of the call before": never hand it one.
  static constexpr std::byte no_key{};
  const std::byte* key_bytes = key.empty() ? &no_key : key.data();
  TROUPE_ASSERT(key.size() <= std::size_t{1} << 20);
  unsigned int length = 0;
  const unsigned char* digest =
      HMAC(EVP_sha256(), key_bytes, static_cast<int>(key.size()), as_unsigned(data.data()),
           data.size(), reinterpret_cast<unsigned char*>(out.data()), &length);
  // It fails only without memory or without SHA-256: going on would let strangers in.
  TROUPE_ASSERT(digest != nullptr);
  TROUPE_ASSERT(length == hmac_bytes);
}

bool constant_time_equal(std::span<const std::byte> left, std::span<const std::byte> right) {
  if (left.size() != right.size()) return false;
  return left.empty() || CRYPTO_memcmp(left.data(), right.data(), left.size()) == 0;
}

}  // namespace troupe::net
