#pragma once

#include <string>

#include "net/link/link_state.hpp"
#include "runtime/instant.hpp"
#include "runtime/rank_dump.hpp"

namespace troupe::actors {

/// The link as dumps show it.
link_report report_on(const net::link_state& state, instant now);

/// "nothing was heard of rank 3 (...) for 10 s"; empty if the peer was heard of within the link's
/// silence timeout, or silence is no sign. That a peer is lost for silence is no proof that it
/// died.
std::string silence_of(const net::link_state& state, const std::string& peer, instant now);

}  // namespace troupe::actors
