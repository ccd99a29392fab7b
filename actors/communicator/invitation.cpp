#include "actors/communicator/invitation.hpp"

#include <array>
#include <charconv>
#include <cinttypes>
#include <cstdio>

#include "net/bootstrap/address_book.hpp"
#include "net/tcp/tcp_address.hpp"

namespace troupe::actors {

namespace {

constexpr std::string_view prefix = "troupe-1:";

tl::unexpected<failure> refuse(std::string_view text, const std::string& why) {
  return fail(errc::bad_configuration, "invitation \"" + std::string(text) + "\": " + why +
                                           "; take one from communicator::invite as it is");
}

}  // namespace

std::string to_text(const invitation& one) {
  std::array<char, 160> text{};
  std::snprintf(text.data(), text.size(),
                "troupe-1:%" PRIx64 ":%" PRIx32 ":%" PRIx32 ":%" PRIx32 ":%" PRIx64 ":%" PRIx64 "@",
                one.token, one.contact.value, one.communicator.value, one.world_size, one.job,
                one.agreed);
  return text.data() + to_string(one.address);
}

outcome<invitation> parse_invitation(std::string_view text) {
  if (!text.starts_with(prefix)) return refuse(text, "it does not begin with \"troupe-1:\"");
  const auto at = text.find('@');
  if (at == std::string_view::npos) return refuse(text, "it has no @ before an address");
  auto numbers = text.substr(prefix.size(), at - prefix.size());
  std::array<std::uint64_t, 6> values{};
  for (auto& value : values) {
    const auto [end, problem] =
        std::from_chars(numbers.data(), numbers.data() + numbers.size(), value, 16);
    const bool last = &value == &values.back();
    const auto used = static_cast<std::size_t>(end - numbers.data());
    const bool closed =
        last ? used == numbers.size() : used < numbers.size() && numbers[used] == ':';
    if (problem != std::errc() || !closed) return refuse(text, "it has not six numbers");
    numbers.remove_prefix(last ? used : used + 1);
  }
  const auto address = net::resolve(std::string(text.substr(at + 1)));
  if (!address) return refuse(text, address.error().message);
  invitation out{.token = values[0],
                 .contact = {static_cast<std::uint32_t>(values[1])},
                 .address = *address,
                 .communicator = {static_cast<std::uint32_t>(values[2])},
                 .world_size = static_cast<std::uint32_t>(values[3]),
                 .job = values[4],
                 .agreed = values[5]};
  const bool fits = values[1] <= 0xffff'ffffu && values[2] <= 0xffff'ffffu &&
                    values[3] <= 0xffff'ffffu && out.world_size > 1;
  if (!fits || !net::is_newcomer(out.newcomer())) return refuse(text, "a number is out of range");
  return out;
}

}  // namespace troupe::actors
