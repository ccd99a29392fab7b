#define BOOST_TEST_MODULE invitation
#include "actors/communicator/invitation.hpp"

#include <boost/test/unit_test.hpp>

using namespace troupe;
using namespace troupe::actors;

namespace {

invitation some_invitation() {
  invitation out{.token = 0x8000'0123'dead'beefull,
                 .contact = rank{12},
                 .communicator = {3},
                 .world_size = 64,
                 .job = 0xabc,
                 .agreed = ~0ull};
  out.address.host[10] = out.address.host[11] = std::byte{0xff};
  out.address.host[12] = std::byte{127};
  out.address.host[15] = std::byte{1};
  out.address.port = 4711;
  return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_text_says_all_of_an_invitation) {
  const auto one = some_invitation();
  const auto again = parse_invitation(to_text(one));
  BOOST_REQUIRE_MESSAGE(again.has_value(), (again ? "" : again.error().message));
  BOOST_TEST((*again == one));
  BOOST_TEST((again->newcomer() == rank{0x8000'0123u}));
}

BOOST_AUTO_TEST_CASE(a_text_that_is_no_invitation_is_refused_with_a_reason) {
  const auto text = to_text(some_invitation());
  const auto refused = [](const std::string& wrong) {
    const auto parsed = parse_invitation(wrong);
    return !parsed && parsed.error().code() == errc::bad_configuration &&
           parsed.error().message.find("communicator::invite") != std::string::npos;
  };
  BOOST_TEST(refused(""));
  BOOST_TEST(refused("troupe-2" + text.substr(8)));
  BOOST_TEST(refused(text.substr(0, text.find('@'))));
  BOOST_TEST(refused(text.substr(0, text.find('@') + 1)));
  BOOST_TEST(refused("troupe-1:8000012300000001:1:1:40:0@127.0.0.1:4711"));
  BOOST_TEST(refused("troupe-1:12300000001:1:1:40:0:0@127.0.0.1:4711"));
  BOOST_TEST(refused("troupe-1:8000012300000001:1:1:1:0:0@127.0.0.1:4711"));
  BOOST_TEST(refused("troupe-1:8000012300000001:1:1:40:0:0:0@127.0.0.1:4711"));
  BOOST_TEST(refused("troupe-1:8000012300000001:1:1:zz:0:0@127.0.0.1:4711"));
}
