#define BOOST_TEST_MODULE metrics
#include <boost/test/unit_test.hpp>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "tests/actors/local_job.hpp"

namespace troupe::test {
namespace {

std::string talk(std::uint16_t port, const std::string& request) {
  const int s = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  BOOST_REQUIRE(::connect(s, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  BOOST_REQUIRE(::send(s, request.data(), request.size(), MSG_NOSIGNAL) ==
                static_cast<ssize_t>(request.size()));
  ::shutdown(s, SHUT_WR);
  std::string answer;
  char part[4096];
  for (ssize_t got = 0; (got = ::recv(s, part, sizeof part, 0)) > 0;)
    answer.append(part, static_cast<std::size_t>(got));
  ::close(s);
  return answer;
}

std::string scrape(std::uint16_t port) {
  return talk(port, "GET /metrics HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n");
}

double value_of(const std::string& page, const std::string& series) {
  const auto at = page.find("\n" + series + " ");
  return at == std::string::npos ? -1.0 : std::stod(page.substr(at + series.size() + 2));
}

BOOST_AUTO_TEST_CASE(a_scrape_shows_actors_and_operations_by_kind) {
  const auto port = free_port();
  auto job = join_locally(1, {{"metrics.listen", "127.0.0.1:" + std::to_string(port)}});
  BOOST_REQUIRE_MESSAGE(job.ranks[0], to_string(job.failures[0]));
  std::vector<float> data(16, 1.0f);
  for (int i = 0; i < 5; ++i) {
    const auto work = job[0].all_reduce({.send = data.data(), .receive = data.data(), .count = 16});
    BOOST_REQUIRE(work.has_value());
    BOOST_REQUIRE((*work)->wait().has_value());
  }
  const auto page = scrape(port);
  BOOST_TEST(value_of(page, "troupe_operations_started_total{operation=\"all_reduce\"}") == 5.0);
  BOOST_TEST(value_of(page, "troupe_operations_finished_total{operation=\"all_reduce\"}") == 5.0);
  BOOST_TEST(value_of(page, "troupe_operations_failed_total{operation=\"all_reduce\"}") == 0.0);
  BOOST_TEST(value_of(page, "troupe_actor_messages_handled_total{kind=\"rank\"}") >= 10.0);
  BOOST_TEST(value_of(page, "troupe_actor_messages_handled_total{kind=\"collective\"}") == 5.0);
  BOOST_TEST(value_of(page, "troupe_actor_mailbox_depth{kind=\"rank\"}") >= 0.0);
  BOOST_TEST(value_of(page, "troupe_actor_restarts_total{kind=\"rank\"}") == 0.0);
  BOOST_TEST(value_of(page, "troupe_operations_running") == 0.0);
  BOOST_TEST(value_of(page, "troupe_memory_bytes{purpose=\"actors\"}") > 1000.0);
  BOOST_TEST(value_of(page, "troupe_memory_bytes{purpose=\"works\"}") > 0.0);
  BOOST_TEST(value_of(page, "troupe_memory_bytes{purpose=\"address_book\"}") == 36.0);
  BOOST_TEST(value_of(page, "troupe_control_bytes_peak") >= 0.0);
  BOOST_TEST(value_of(page, "troupe_actor_messages_handled_total{kind=\"collector\"}") >= 1.0);
  // One rank moves nothing in place: no algorithm, no lanes.
  const std::string path =
      "{operation=\"all_reduce\",algorithm=\"none\",lanes=\"none\",size=\"le_256B\"}";
  BOOST_TEST(value_of(page, "troupe_operation_seconds_count" + path) == 5.0);
  BOOST_TEST(value_of(page, "troupe_operation_bytes_total" + path) == 5.0 * 16 * 4);
  BOOST_TEST(value_of(page, "troupe_operation_failures_total" + path) == 0.0);
  BOOST_TEST(value_of(page, "troupe_rank_info{rank=\"0\",world_size=\"1\",version=\"0.1.0\"}") ==
             1.0);
  BOOST_TEST(value_of(page, "troupe_endpoint_phase{phase=\"joined\"}") == 1.0);
  BOOST_TEST(value_of(page, "troupe_oldest_operation_timestamp_seconds") == 0.0);
  BOOST_TEST(value_of(page, "troupe_communicators_failed") == 0.0);
  BOOST_TEST(value_of(page, "troupe_last_progress_timestamp_seconds") > 1.7e9);
  BOOST_TEST(value_of(page, "troupe_worker_last_round_timestamp_seconds") > 1.7e9);
  BOOST_TEST(value_of(page, "troupe_worker_round_gap_seconds_count") > 0.0);
  BOOST_TEST(value_of(page, "troupe_process_threads") >= 3.0);
  BOOST_TEST(value_of(page, "process_open_fds") > 3.0);
  BOOST_TEST(value_of(page, "troupe_scrape_seconds") > 0.0);
}

BOOST_AUTO_TEST_CASE(garbage_on_the_port_harms_nothing) {
  const auto port = free_port();
  auto job = join_locally(1, {{"metrics.listen", "127.0.0.1:" + std::to_string(port)}});
  BOOST_REQUIRE_MESSAGE(job.ranks[0], to_string(job.failures[0]));
  talk(port, "GET /met");
  talk(port, std::string(512, '\x80') + "\r\n\r\n");
  BOOST_TEST(value_of(scrape(port), "troupe_actor_restarts_total{kind=\"endpoint\"}") == 0.0);
  const auto work = job[0].barrier();
  BOOST_REQUIRE(work.has_value());
  BOOST_TEST((*work)->wait().has_value());
}

BOOST_AUTO_TEST_CASE(a_port_in_use_is_named) {
  const auto port = free_port();
  const std::vector<std::pair<std::string, std::string>> settings{
      {"metrics.listen", "127.0.0.1:" + std::to_string(port)}};
  auto first = join_locally(1, settings);
  BOOST_REQUIRE(first.ranks[0]);
  auto second = join_locally(1, settings);
  BOOST_TEST(!second.ranks[0]);
  BOOST_TEST((second.failures[0].code() == errc::bad_configuration));
  BOOST_TEST(second.failures[0].message.find(std::to_string(port)) != std::string::npos);
}

}  // namespace
}  // namespace troupe::test
