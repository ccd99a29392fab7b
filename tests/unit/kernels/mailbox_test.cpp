#define BOOST_TEST_MODULE mailbox
#include <boost/test/unit_test.hpp>

#include <memory>
#include <thread>

#include "kernels/mailbox/host_mailbox.hpp"

namespace troupe::kernels {

namespace {

/// Both ends on the host: the kernel's ends follow the same rules.
struct loop {
  std::unique_ptr<mailbox_layout> ring = std::make_unique<mailbox_layout>();
  host_mailbox_writer writer{*ring};
  host_mailbox_reader reader{*ring};
};

}  // namespace

BOOST_AUTO_TEST_CASE(memory_of_zeros_holds_no_record) {
  loop l;
  BOOST_TEST(!l.reader.take().has_value());
}

BOOST_AUTO_TEST_CASE(a_record_comes_out_as_it_went_in) {
  loop l;
  BOOST_TEST(l.writer.post(7, 9, 0xfedc'ba98'7654'3210u));
  const auto record = l.reader.take();
  BOOST_REQUIRE(record.has_value());
  BOOST_TEST(record->kind == 7);
  BOOST_TEST(record->index == 9);
  BOOST_TEST(record->argument == 0xfedc'ba98'7654'3210u);
  BOOST_TEST(!l.reader.take().has_value());
}

BOOST_AUTO_TEST_CASE(a_full_mailbox_refuses_and_loses_nothing) {
  loop l;
  std::uint64_t posted = 0;
  while (l.writer.post(1, 0, posted))
    ++posted;
  BOOST_TEST(posted == mailbox_depth);
  for (std::uint64_t i = 0; i < posted; ++i)
    BOOST_TEST(l.reader.take()->argument == i);
  // The reader has said by now that there is room.
  BOOST_TEST(l.writer.post(1, 0, posted));
  BOOST_TEST(l.reader.take()->argument == posted);
}

BOOST_AUTO_TEST_CASE(no_record_of_an_earlier_round_is_taken_again) {
  loop l;
  for (std::uint64_t i = 0; i < 10 * mailbox_depth; ++i) {
    BOOST_REQUIRE(l.writer.post(1, 0, i));
    BOOST_REQUIRE(l.reader.take()->argument == i);
    BOOST_REQUIRE(!l.reader.take().has_value());
  }
}

BOOST_AUTO_TEST_CASE(sequences_never_are_zero) {
  BOOST_TEST(mailbox_sequence(0) == 1u);
  BOOST_TEST(mailbox_sequence(0xffff'fffeull) == 0xffff'ffffu);
  BOOST_TEST(mailbox_sequence(0xffff'ffffull) == 1u);
}

BOOST_AUTO_TEST_CASE(records_of_another_thread_arrive_in_order) {
  loop l;
  constexpr std::uint64_t count = 200'000;
  std::jthread writing([&] {
    for (std::uint64_t i = 0; i < count;)
      if (l.writer.post(3, static_cast<std::uint16_t>(i), ~i))
        ++i;
      else
        std::this_thread::yield();
  });
  std::uint64_t wrong = 0;
  for (std::uint64_t i = 0; i < count;) {
    const auto record = l.reader.take();
    if (!record) {
      std::this_thread::yield();
      continue;
    }
    wrong += record->argument != ~i || record->index != static_cast<std::uint16_t>(i);
    ++i;
  }
  BOOST_TEST(wrong == 0u);
}

}  // namespace troupe::kernels
