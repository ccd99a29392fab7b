#pragma once

#include <cstdint>

#include "tests/sim/net/bootstrap_job.hpp"

/// What may happen to a job. Each plays one seed to its end, checks it, and returns the hash of
/// everything that happened.
namespace troupe::sim {

// -- while it joins -------------------------------------------------------------------------------

std::uint64_t healthy(job j);
/// A rank that is started again while the job runs is refused, and the job goes on.
std::uint64_t late_twin(job j);
std::uint64_t wrong_secret(job j);
std::uint64_t duplicate_rank(job j);
/// Out of range, another world size, other options, another version.
std::uint64_t misfit_rank(job j);
std::uint64_t missing_ranks(job j);
std::uint64_t dies_or_hangs_while_joining(job j);
/// Bytes go wrong inside proved connections: nothing is promised but an end in time.
std::uint64_t corrupted(job j);

// -- once it has joined ---------------------------------------------------------------------------

std::uint64_t deaths_after_joining(job j);
/// A ring connection breaks between two live ranks: each is dead for the other, and one of them at
/// least for all.
std::uint64_t split_ring(job j);
std::uint64_t links_on_demand(job j);
/// The first to join dial the last, which have not joined yet.
std::uint64_t early_links(job j);
/// Ranks that cannot have a link are told so, and why.
std::uint64_t impossible_links(job j);
std::uint64_t unreachable_peers(job j);
std::uint64_t leave_in_good_order(job j);
/// Lanes die one by one, links with them now and then; what stands is whole again in the end.
std::uint64_t lanes_rebuilt(job j);

}  // namespace troupe::sim
