#pragma once

#include <cstdint>
#include <span>

#include "actors/work/operation_request.hpp"
#include "runtime/communicator.hpp"
#include "runtime/result.hpp"

namespace troupe::actors {

/// What a check needs to know of the communicator.
struct check_context {
  rank self;
  std::uint32_t size = 1;
  duration default_timeout{};
  troupe::epoch epoch{};
  bool tolerant = false;  ///< the communicator goes on without members that end
};

// Each checks the arguments of one call and says, before anything starts, what is wrong with them:
// the argument, its value and the limit.
// Errors: bad_argument.

outcome<operation_request> check(const all_reduce_arguments& a, const check_context& c);
outcome<operation_request> check(const all_gather_arguments& a, const check_context& c);
outcome<operation_request> check(const reduce_scatter_arguments& a, const check_context& c);
outcome<operation_request> check(const broadcast_arguments& a, const check_context& c);
outcome<operation_request> check(const send_arguments& a, const check_context& c);
outcome<operation_request> check(const receive_arguments& a, const check_context& c);
outcome<operation_request> check(const reduce_arguments& a, const check_context& c);
outcome<operation_request> check(const gather_arguments& a, const check_context& c);
outcome<operation_request> check(const scatter_arguments& a, const check_context& c);
outcome<operation_request> check(const all_to_all_arguments& a, const check_context& c);
outcome<operation_request> check(const all_to_all_v_arguments& a, const check_context& c);

/// A window as its calls see it: which it is, and what each member opened.
struct window_view {
  std::uint32_t number = 0;
  struct part {
    std::uint64_t key = 0;
    std::uint64_t bytes = 0;
  };
  std::span<const part> parts{};  ///< by rank
};
outcome<operation_request> check(const window_put_arguments& a, const check_context& c,
                                 const window_view& w);
outcome<operation_request> check(const window_get_arguments& a, const check_context& c,
                                 const window_view& w);
outcome<operation_request> check(const notification_arguments& a, const check_context& c,
                                 const window_view& w);

/// A barrier has options alone.
outcome<operation_request> check(const operation_options& options, const check_context& c);

}  // namespace troupe::actors
