#pragma once

#include "config/detail/option_units.hpp"
#include "config/option_description.hpp"

#include <string_view>

namespace troupe::config::detail {

// A size above which another algorithm is taken.
constexpr option_description threshold(std::string_view name, field_access access,
                                       std::string_view sentence) {
  return {.name = name,
          .kind = value_kind::bytes,
          .field = access,
          .unit = "bytes",
          .low = 0,
          .high = 1 * tib,
          .agrees = agreement::must_agree,
          .sentence = sentence};
}

/// The options of section [collective].
inline constexpr option_description collective_table[] = {
    threshold(
        "collective.all_reduce_halving_above_bytes",
        field<&options::collective, &collective_options::all_reduce_halving_above_bytes>,
        "An all-reduce above this size takes recursive halving instead of recursive doubling, "
        "up to where the ring begins."),
    threshold("collective.all_reduce_ring_above_bytes",
              field<&options::collective, &collective_options::all_reduce_ring_above_bytes>,
              "An all-reduce above this size takes the ring."),
    threshold("collective.all_gather_ring_above_bytes",
              field<&options::collective, &collective_options::all_gather_ring_above_bytes>,
              "An all-gather above this size takes the ring instead of the direct algorithm."),
    {.name = "collective.all_gather_bruck_above_ranks",
     .kind = value_kind::count,
     .field = field<&options::collective, &collective_options::all_gather_bruck_above_ranks>,
     .unit = "ranks",
     .low = 1,
     .high = 1 << 24,
     .agrees = agreement::must_agree,
     .sentence = "An all-gather below the ring among more ranks than this takes Bruck's algorithm "
                 "instead of the direct one."},
    threshold("collective.reduce_scatter_ring_above_bytes",
              field<&options::collective, &collective_options::reduce_scatter_ring_above_bytes>,
              "A reduce-scatter above this size takes the ring instead of the direct algorithm."),
    threshold("collective.broadcast_chain_above_bytes",
              field<&options::collective, &collective_options::broadcast_chain_above_bytes>,
              "A broadcast above this size takes a chain instead of a binomial tree, unless the "
              "ranks are so many that it would be slower."),
    threshold("collective.reduce_chain_above_bytes",
              field<&options::collective, &collective_options::reduce_chain_above_bytes>,
              "A reduce above this size takes a chain instead of a binomial tree, unless the ranks "
              "are so many that it would be slower."),
    // A multiple of 64: no element of any type straddles two chunks, and chunks start on a line.
    {.name = "collective.chunk_bytes",
     .kind = value_kind::bytes,
     .field = field<&options::collective, &collective_options::chunk_bytes>,
     .unit = "bytes",
     .low = 64,
     .high = 1 * gib,
     .shape = number_shape::multiple_of_64,
     .agrees = agreement::must_agree,
     .sentence = "Largest piece of a pipelined transfer: while one is reduced the next travels."},
    {.name = "collective.pipeline_chunk_count",
     .kind = value_kind::count,
     .field = field<&options::collective, &collective_options::pipeline_chunk_count>,
     .unit = "chunks",
     .low = 1,
     .high = 16,
     .agrees = agreement::must_agree,
     .sentence = "Chunks of one operation in flight in each direction."},
    {.name = "collective.outstanding_operation_count",
     .kind = value_kind::count,
     .field = field<&options::collective, &collective_options::outstanding_operation_count>,
     .unit = "operations",
     .low = 1,
     .high = 65536,
     .sentence = "Operations of one communicator that may run or wait; one more is queue_full."},
    {.name = "collective.timeout",
     .kind = value_kind::time_length,
     .field = field<&options::collective, &collective_options::timeout>,
     .unit = "time",
     .low = in_ns(1ms),
     .high = in_ns(24h * 7),
     .sentence = "Longest life of one operation, unless the call says otherwise."},
};

}  // namespace troupe::config::detail
