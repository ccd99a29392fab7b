#pragma once

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "tests/sim/net/bootstrap_world.hpp"

namespace troupe::sim {

/// The shape of one seed's job, before anything goes wrong.
struct job {
  std::uint64_t seed = 0;
  std::uint32_t world_size = 1;
  std::uint32_t fan_out = 1024;
  std::uint32_t lanes = 1;
  duration timeout = std::chrono::seconds(5);
  instant last_start{};
  random_stream random;

  std::string about() const {
    return "seed " + std::to_string(seed) + ", " + std::to_string(world_size) + " ranks, fan-out " +
           std::to_string(fan_out);
  }
};

#define REQUIRE_IN(job, condition) \
  BOOST_REQUIRE_MESSAGE(condition, #condition << ": " << (job).about())
#define REQUIRE_TEXT(job, condition, text) \
  BOOST_REQUIRE_MESSAGE(condition, #condition << ": " << (job).about() << "; text: " << (text))

job job_of(std::uint64_t seed);
std::vector<std::byte> secret_of(std::uint64_t word);
net::bootstrap_options options_of(const job& j, std::uint32_t r);
weather weather_of(job& j);

/// Ranks start up to `spread` apart.
instant start_of(job& j, duration spread);
void add_ranks(bootstrap_world& world, job& j, duration spread);
void add_strangers(bootstrap_world& world, job& j);

/// Pages that all ranks together send: each goes once around, and its ranks make it on the way.
std::uint64_t page_sum_of(const job& j);

void require_books(bootstrap_world& world, const job& j);
void require_bounds(bootstrap_world& world, const job& j);
void require_all_joined(bootstrap_world& world, const job& j);

/// Every process that is still there failed in time, with what `precise` wants.
using text_check = std::function<bool(const failure&)>;
void require_all_failed(bootstrap_world& world, const job& j, const text_check& precise);
bool says(const failure& f, std::string_view words);

/// Both ends have the same lanes of the same link, each lane on the same connection.
void require_one_link(bootstrap_world& world, const job& j, std::uint32_t a, std::uint32_t b);

/// Nothing may be left to happen long after every deadline.
void run_to_end(bootstrap_world& world, const job& j);

}  // namespace troupe::sim
