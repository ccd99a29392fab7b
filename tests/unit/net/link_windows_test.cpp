#define BOOST_TEST_MODULE link_windows
#include <boost/test/unit_test.hpp>
#include <vector>

#include "net/link/receive_window.hpp"
#include "net/link/send_window.hpp"

using namespace troupe;
using namespace troupe::net;

namespace {

immediate arrival(std::uint32_t number, bool notify = false, std::uint8_t channel = 0) {
  return {notify, false, channel, sequence{number & sequence_mask}};
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_notification_waits_for_every_earlier_write) {
  receive_window window(8, sequence{0});
  window.note(arrival(1));
  window.note(arrival(2, true, 5));
  BOOST_TEST(!window.release().has_value());
  BOOST_TEST((window.base() == sequence{0}));
  window.note(arrival(0));
  BOOST_TEST(window.release().value() == 5);
  BOOST_TEST((window.base() == sequence{3}));
  BOOST_TEST(!window.release().has_value());
}

BOOST_AUTO_TEST_CASE(notifications_come_one_by_one_in_the_order_of_their_numbers) {
  receive_window window(8, sequence{0});
  window.note(arrival(2, true, 3));
  window.note(arrival(1, true, 2));
  window.note(arrival(0, true, 1));
  for (const int channel : {1, 2, 3})
    BOOST_TEST(window.release().value() == channel);
  BOOST_TEST(!window.release().has_value());
}

BOOST_AUTO_TEST_CASE(a_number_is_fresh_once) {
  using verdict = receive_window::verdict;
  receive_window window(4, sequence{0});
  BOOST_TEST((window.classify(sequence{3}) == verdict::fresh));
  window.note(arrival(3));
  BOOST_TEST((window.classify(sequence{3}) == verdict::duplicate));
  BOOST_TEST((window.classify(sequence{4}) == verdict::beyond));
  window.note(arrival(0));
  window.release();
  BOOST_TEST((window.classify(sequence{0}) == verdict::duplicate));
  BOOST_TEST((window.classify(sequence{4}) == verdict::fresh));
  BOOST_TEST(window.has_arrived(sequence{0}));
  BOOST_TEST(!window.has_arrived(sequence{1}));
  BOOST_TEST(window.has_arrived(sequence{3}));
}

BOOST_AUTO_TEST_CASE(the_window_goes_on_across_the_wrap_of_the_numbers) {
  using verdict = receive_window::verdict;
  const std::uint32_t first = sequence_mask - 2;
  receive_window window(8, sequence{first});
  for (std::uint32_t i = 5; i > 0; --i)
    window.note(arrival(first + i, i == 5, 9));
  BOOST_TEST((window.classify(sequence{(first + 3) & sequence_mask}) == verdict::duplicate));
  BOOST_TEST(!window.release().has_value());
  BOOST_TEST(window.span_count() == 6u);
  window.note(arrival(first));
  BOOST_TEST(window.release().value() == 9);
  BOOST_TEST((window.base() == sequence{3}));
  BOOST_TEST((window.classify(sequence{first}) == verdict::duplicate));
  BOOST_TEST((window.classify(sequence{3}) == verdict::fresh));
}

BOOST_AUTO_TEST_CASE(a_window_of_the_largest_size_tells_old_from_new) {
  using verdict = receive_window::verdict;
  receive_window window(sequence_window_max, sequence{0});
  BOOST_TEST((window.classify(sequence{sequence_window_max - 1}) == verdict::fresh));
  BOOST_TEST((window.classify(sequence{sequence_window_max}) == verdict::beyond));
  BOOST_TEST((window.classify(sequence{sequence_mask}) == verdict::duplicate));
}

BOOST_AUTO_TEST_CASE(writes_retire_in_order_once_acknowledged_and_finished) {
  send_window window(4, sequence{sequence_mask});
  for (int i = 0; i < 4; ++i)
    window.push();
  BOOST_TEST(window.in_use() == 4u);
  BOOST_TEST(window.retirable() == nullptr);
  window.at(sequence{0}).finished = true;
  BOOST_TEST(window.acknowledge(sequence{2}));
  BOOST_TEST(window.retirable() == nullptr);
  window.at(sequence{sequence_mask}).finished = true;
  BOOST_TEST((window.retirable()->number == sequence{sequence_mask}));
  window.retire_one();
  BOOST_TEST((window.retirable()->number == sequence{0}));
  window.retire_one();
  BOOST_TEST(window.retirable() == nullptr);
  BOOST_TEST(window.in_use() == 2u);
}

BOOST_AUTO_TEST_CASE(an_acknowledgement_of_what_was_never_sent_is_refused) {
  send_window window(8, sequence{sequence_mask - 1});
  window.push();
  window.push();
  window.push();
  BOOST_TEST(!window.acknowledge(sequence{2}));
  BOOST_TEST(window.acknowledge(sequence{0}));
  BOOST_TEST(window.acknowledge(sequence{sequence_mask}));  // old news
  BOOST_TEST((window.acknowledged() == sequence{0}));
}

BOOST_AUTO_TEST_CASE(writes_leave_a_chain_from_any_place) {
  send_window window(8, sequence{0});
  segment_chain chain;
  for (int i = 0; i < 4; ++i)
    window.append(chain, window.push());
  window.unlink(chain, window.at(sequence{1}));
  window.unlink(chain, window.at(sequence{0}));
  window.unlink(chain, window.at(sequence{3}));
  BOOST_TEST(chain.first == 2u);
  BOOST_TEST(chain.last == 2u);
  window.unlink(chain, window.at(sequence{2}));
  BOOST_TEST(chain.empty());
}
