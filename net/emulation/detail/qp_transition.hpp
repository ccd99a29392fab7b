#pragma once

#include <infiniband/verbs.h>

#include <string>

namespace troupe::net::emulation {

/// What is wrong with taking a reliable connected queue pair from `from` to `to` with these
/// attributes (InfiniBand 1.2.1, table 91); empty if nothing is.
std::string transition_problem(ibv_qp_state from, ibv_qp_state to, int mask);

const char* name_of(ibv_qp_state state);

}  // namespace troupe::net::emulation
