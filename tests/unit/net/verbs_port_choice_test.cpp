#define BOOST_TEST_MODULE net_verbs_port_choice
#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

#include "net/verbs/port_choice.hpp"
#include "net/verbs/region_directory.hpp"

namespace {

using namespace troupe;
using namespace troupe::net;

constexpr auto ethernet = verbs_link_layer::ethernet;
constexpr auto infiniband = verbs_link_layer::infiniband;

const std::vector<verbs_port> two_cards{{"mlx5_0", 1, true, "active", ethernet},
                                        {"mlx5_1", 1, true, "active", ethernet},
                                        {"mlx5_1", 2, false, "down", ethernet}};

std::string names_of(const outcome<std::vector<verbs_port>>& chosen) {
  if (!chosen) return to_string(chosen.error());
  std::string out;
  for (const auto& port : *chosen)
    out += port.device + ":" + std::to_string(port.number) + " ";
  return out;
}

bool says(const std::string& text, const std::vector<std::string>& parts) {
  for (const auto& part : parts)
    if (text.find(part) == std::string::npos) {
      BOOST_TEST_MESSAGE(text + " has no '" + part + "'");
      return false;
    }
  return true;
}

verbs_gid row(std::uint32_t index, bool is_v2, std::vector<int> first, std::vector<int> last) {
  verbs_gid out{.index = index, .is_roce_v2 = is_v2};
  for (std::size_t i = 0; i < first.size(); ++i)
    out.bytes[i] = static_cast<std::byte>(first[i]);
  for (std::size_t i = 0; i < last.size(); ++i)
    out.bytes[16 - last.size() + i] = static_cast<std::byte>(last[i]);
  return out;
}

const auto link_local = row(0, true, {0xfe, 0x80}, {1});
const auto ipv4_v1 = row(1, false, {}, {0xff, 0xff, 10, 0, 0, 1});
const auto ipv6 = row(2, true, {0x20, 0x01}, {1});
const auto ipv4 = row(3, true, {}, {0xff, 0xff, 10, 0, 0, 1});

}  // namespace

BOOST_AUTO_TEST_CASE(without_a_wish_every_active_port_is_taken) {
  BOOST_TEST(names_of(choose_ports("", two_cards)) == "mlx5_0:1 mlx5_1:1 ");
}

BOOST_AUTO_TEST_CASE(what_auto_leaves_unused_is_named_with_the_way_to_use_it) {
  BOOST_TEST(describe_unused({}) == "");
  BOOST_TEST(says(describe_unused(two_cards),
                  {"transport.lanes = auto", "set it to verbs", "mlx5_0:1 (active, Ethernet)"}));
  const std::vector<verbs_port> down{{"mlx5_1", 2, false, "down", ethernet}};
  BOOST_TEST(says(describe_unused(down), {"none of them is active", "mlx5_1:2 (down, Ethernet)"}));
}

BOOST_AUTO_TEST_CASE(named_ports_come_in_the_order_of_their_names) {
  BOOST_TEST(names_of(choose_ports("mlx5_1,mlx5_0:1", two_cards)) == "mlx5_1:1 mlx5_0:1 ");
  BOOST_TEST(names_of(choose_ports("mlx5_0", two_cards)) == "mlx5_0:1 ");
}

BOOST_AUTO_TEST_CASE(excluded_ports_are_left_out) {
  BOOST_TEST(names_of(choose_ports("^mlx5_0", two_cards)) == "mlx5_1:1 ");
  BOOST_TEST(names_of(choose_ports("^mlx5_7", two_cards)) == "mlx5_0:1 mlx5_1:1 ");
}

BOOST_AUTO_TEST_CASE(a_name_that_is_not_there_lists_what_is) {
  const auto text = names_of(choose_ports("mlx5_9", two_cards));
  BOOST_TEST(says(text, {"bad_configuration", "no mlx5_9", "mlx5_0:1 (active, Ethernet)",
                         "mlx5_1:2 (down, Ethernet)"}));
  // A prefix is not a name.
  BOOST_TEST(says(names_of(choose_ports("mlx5", two_cards)), {"no mlx5"}));
}

BOOST_AUTO_TEST_CASE(a_named_port_that_is_down_is_an_error) {
  BOOST_TEST(says(names_of(choose_ports("mlx5_1:2", two_cards)),
                  {"bad_configuration", "port mlx5_1:2 is down"}));
}

BOOST_AUTO_TEST_CASE(no_device_and_no_active_port_say_so) {
  BOOST_TEST(says(names_of(choose_ports("", {})), {"not_available", "no RDMA device"}));
  const std::vector<verbs_port> down{{"rxe0", 1, false, "down", ethernet}};
  BOOST_TEST(says(names_of(choose_ports("", down)), {"not_available", "rxe0:1 (down, Ethernet)"}));
  BOOST_TEST(says(names_of(choose_ports("^mlx5_0,mlx5_1", two_cards)), {"not excluded"}));
}

BOOST_AUTO_TEST_CASE(a_list_that_cannot_be_read_is_named) {
  for (const std::string wish : {"mlx5_0,", ",", "mlx5_0:", "mlx5_0:x", "mlx5_0:0", "mlx5_0:300"})
    BOOST_TEST(says(names_of(choose_ports(wish, two_cards)), {"is not a device name"}), wish);
}

BOOST_AUTO_TEST_CASE(ports_of_two_link_layers_do_not_go_together) {
  const std::vector<verbs_port> mixed{{"mlx5_0", 1, true, "active", ethernet},
                                      {"mlx5_1", 1, true, "active", infiniband}};
  BOOST_TEST(says(names_of(choose_ports("", mixed)), {"bad_configuration", "InfiniBand"}));
  BOOST_TEST(names_of(choose_ports("mlx5_1", mixed)) == "mlx5_1:1 ");
}

BOOST_AUTO_TEST_CASE(the_best_gid_of_a_roce_port_is_chosen) {
  const verbs_port port{"rxe0", 1, true, "active", ethernet};
  const auto chosen = [&](std::vector<verbs_gid> rows) {
    const auto gid = choose_gid(port, any_gid_index, rows);
    return gid ? static_cast<int>(gid->index) : -1;
  };
  BOOST_TEST(chosen({link_local, ipv4_v1, ipv6, ipv4}) == 3);
  BOOST_TEST(chosen({link_local, ipv4_v1, ipv6}) == 2);
  BOOST_TEST(chosen({link_local, ipv4_v1}) == 0);
  BOOST_TEST(chosen({ipv4_v1}) == -1);
}

BOOST_AUTO_TEST_CASE(a_port_without_a_usable_gid_lists_its_rows) {
  const verbs_port port{"rxe0", 1, true, "active", ethernet};
  const std::vector rows{ipv4_v1};
  const auto none = choose_gid(port, any_gid_index, rows);
  BOOST_REQUIRE(!none.has_value());
  BOOST_TEST(says(to_string(none.error()), {"not_available", "rxe0:1", "RoCE v2", "0a00:0001"}));
  const auto missing = choose_gid(port, 9, rows);
  BOOST_REQUIRE(!missing.has_value());
  BOOST_TEST(says(to_string(missing.error()), {"bad_configuration", "verbs.gid_index = 9"}));
}

BOOST_AUTO_TEST_CASE(infiniband_takes_the_first_row) {
  const verbs_port port{"mlx5_0", 1, true, "active", infiniband};
  const std::vector rows{row(0, false, {0xfe, 0x80}, {7})};
  const auto gid = choose_gid(port, any_gid_index, rows);
  BOOST_REQUIRE(gid.has_value());
  BOOST_TEST(gid->index == 0u);
}

BOOST_AUTO_TEST_CASE(a_directory_knows_a_key_until_another_takes_its_place) {
  region_directory known;
  BOOST_TEST(known.find(0) == nullptr);
  BOOST_TEST(known.find(5) == nullptr);
  known.put(5, {.address = 1, .bytes = 2, .remote_key = 3});
  BOOST_REQUIRE(known.find(5) != nullptr);
  BOOST_TEST(known.find(5)->address == 1u);
  const auto later = (1ull << 32) + 5;  // the same slot, exposed again
  BOOST_TEST(known.find(later) == nullptr);
  known.put(later, {.address = 9, .bytes = 2, .remote_key = 4});
  BOOST_TEST(known.find(5) == nullptr);
  BOOST_TEST(known.find(later)->address == 9u);
  known.clear();
  BOOST_TEST(known.find(later) == nullptr);
}
