#define BOOST_TEST_MODULE report_source
#include "runtime/cli/report_source.hpp"

#include <unistd.h>
#include <boost/test/unit_test.hpp>

#include <filesystem>
#include <fstream>

#include "runtime/rank_dump_json.hpp"

namespace troupe::cli {
namespace {

constexpr const char* sockets =
    "Num       RefCount Protocol Flags    Type St Inode Path\n"
    "0000000000000000: 00000002 00000000 00010000 0001 01 901 @troupe.report.1000.20.1.0\n"
    "0000000000000000: 00000002 00000000 00010000 0001 01 902 @troupe.report.1000.7.12.0\n"
    "0000000000000000: 00000003 00000000 00000000 0001 03 903 @troupe.report.1000.7.12.0\n"
    "0000000000000000: 00000002 00000000 00010000 0001 01 904 @troupe.report.100.8.1.0\n"
    "0000000000000000: 00000002 00000000 00010000 0001 01 905 @troupe.report.1000.x.1.0\n"
    "0000000000000000: 00000002 00000000 00010000 0001 01 906 @troupe.report.1000.9.1.0.more\n"
    "0000000000000000: 00000002 00000000 00010000 0001 01 907 /run/troupe.report.1000.9.1.0\n"
    "0000000000000000: 00000002 00000000 00010000 0001 01 908 @troupe.report.1000.9";

BOOST_AUTO_TEST_CASE(ranks_of_the_user_are_found_once_and_in_order) {
  const auto found = find_rank_doors(sockets, 1000);
  BOOST_REQUIRE(found.size() == 2u);
  BOOST_TEST((found[0] == rank_door{7, 12, "troupe.report.1000.7.12.0"}));
  BOOST_TEST((found[1] == rank_door{20, 1, "troupe.report.1000.20.1.0"}));
  BOOST_TEST(find_rank_doors("", 1000).empty());
  BOOST_TEST(find_rank_doors(sockets, 1).empty());
}

BOOST_AUTO_TEST_CASE(who_is_not_there_costs_a_note) {
  const auto asked = ask_ranks({{1, 3, "troupe.report.nobody.1.3.0"}}, std::chrono::seconds(1));
  BOOST_TEST(asked.dumps.empty());
  BOOST_REQUIRE(asked.notes.size() == 1u);
  BOOST_TEST(asked.notes[0].find("rank 3 (process 1)") != std::string::npos, asked.notes[0]);
}

class scratch_directory {
 public:
  scratch_directory()
      : path_(std::filesystem::temp_directory_path() /
              ("troupe_report_source." + std::to_string(::getpid()))) {
    std::filesystem::create_directory(path_);
  }
  ~scratch_directory() { std::filesystem::remove_all(path_); }

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name) << text;
    return (path_ / name).string();
  }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

std::string line_of(std::uint32_t rank, std::uint64_t job) {
  rank_dump d;
  d.self = {rank};
  d.world_size = 4;
  d.job = job;
  return to_json(d) + "\n";
}

BOOST_AUTO_TEST_CASE(files_and_directories_of_dumps_are_read) {
  const scratch_directory where;
  const auto file = where.write("a.json", line_of(0, 1) + line_of(1, 1));
  where.write("b.json", line_of(2, 1));
  where.write("notes.txt", "no dump");
  BOOST_TEST(gather_dumps({.targets = {file}, .job = {}})->dumps.size() == 2u);
  BOOST_TEST(gather_dumps({.targets = {where.path()}, .job = {}})->dumps.size() == 3u);
}

BOOST_AUTO_TEST_CASE(dumps_of_several_jobs_need_a_choice) {
  const scratch_directory where;
  const auto file = where.write("a.json", line_of(0, 1) + line_of(0, 0xabc));
  const auto both = gather_dumps({.targets = {file}, .job = {}});
  BOOST_REQUIRE(!both.has_value());
  BOOST_TEST((both.error().code() == errc::bad_argument));
  BOOST_TEST(both.error().message.find("0000000000000abc") != std::string::npos);
  const auto one = gather_dumps({.targets = {file}, .job = "0000000000000abc"});
  BOOST_REQUIRE(one.has_value());
  BOOST_TEST(one->dumps.size() == 1u);
  BOOST_TEST(!gather_dumps({.targets = {file}, .job = "other"}).has_value());
}

BOOST_AUTO_TEST_CASE(what_is_no_dump_is_named_with_its_place) {
  const scratch_directory where;
  const auto file = where.write("a.json", line_of(0, 1) + "nonsense\n");
  const auto read = gather_dumps({.targets = {file}, .job = {}});
  BOOST_REQUIRE(!read.has_value());
  BOOST_TEST(read.error().message.find("a.json:2") != std::string::npos, read.error().message);
  std::filesystem::create_directory(where.path() + "/empty");
  BOOST_TEST(!gather_dumps({.targets = {where.path() + "/empty"}, .job = {}}).has_value());
  BOOST_TEST(!gather_dumps({.targets = {"no-such-thing"}, .job = {}}).has_value());
}

}  // namespace
}  // namespace troupe::cli
