#define BOOST_TEST_MODULE pickle_writer
#include "runtime/cli/pickle_writer.hpp"

#include <boost/test/unit_test.hpp>

namespace troupe::cli {
namespace {

// What Python loads is tested with Python (processes.job.diagnosis); these are the bytes.

BOOST_AUTO_TEST_CASE(golden_bytes) {
  using namespace std::string_literals;
  pickle_writer w;
  w.begin_dict();
  w.member("a", std::int64_t{-2});
  w.value("b");
  w.begin_list();
  w.value(true);
  w.none();
  w.value(1.5);
  w.end_list();
  w.value("c");
  w.value("x");
  w.value("y");
  w.end_pair();
  w.end_dict();
  const std::string expected =
      "\x80\x02}("
      "X\x01\0\0\0a\x8a\x08\xfe\xff\xff\xff\xff\xff\xff\xff"
      "X\x01\0\0\0b](\x88NG\x3f\xf8\0\0\0\0\0\0e"
      "X\x01\0\0\0cX\x01\0\0\0xX\x01\0\0\0y\x86"
      "u."s;
  BOOST_TEST(w.take() == expected);
}

}  // namespace
}  // namespace troupe::cli
