#include "net/fabric/fabric.hpp"

#include "net/fabric/detail/fabric_handles.hpp"
#include "net/fabric/detail/fabric_world.hpp"
#include "runtime/assert.hpp"

#include <utility>

namespace troupe::net {

namespace {

std::uint32_t half_of(const lane& lane) {
  TROUPE_ASSERT(lane.kind() == lane_kind::fabric);
  return static_cast<const detail::fabric_lane&>(lane).half();
}

}  // namespace

fabric::fabric(const fabric_options& options)
    : world_(std::make_unique<detail::fabric_world>(options)) {}

fabric::~fabric() = default;

std::unique_ptr<lane_network> fabric::make_network(std::uint32_t endpoint, buffer_table& buffers) {
  return std::make_unique<detail::fabric_network>(*world_, endpoint, buffers);
}

lane_address fabric::address_of(std::uint32_t endpoint) {
  return detail::fabric_address(endpoint);
}

instant fabric::now() const {
  return world_->now();
}
instant fabric::next_event() const {
  return world_->next_event();
}
bool fabric::run_next() {
  return world_->run_next();
}
void fabric::run_until(instant until) {
  world_->run_until(until);
}
bool fabric::take_ready(std::uint32_t& endpoint) {
  return world_->take_ready(endpoint);
}

void fabric::set_faults(const fabric_faults& faults) {
  world_->set_faults(detail::no_index, detail::no_index, faults);
}

void fabric::set_faults(std::uint32_t from, std::uint32_t to, const fabric_faults& faults) {
  world_->set_faults(from, to, faults);
}

void fabric::set_endpoint_faults(std::uint32_t endpoint, const fabric_faults& faults) {
  world_->set_endpoint_faults(endpoint, faults);
}
void fabric::lose_completions(std::uint32_t endpoint, std::uint32_t count) {
  world_->lose_completions(endpoint, count);
}
void fabric::set_place(std::uint32_t endpoint, const fabric_place& place) {
  world_->set_place(endpoint, place);
}
void fabric::set_wires(fabric_distance how_far, const fabric_wire_kind& wires) {
  world_->set_wires(how_far, wires);
}
void fabric::set_planes(std::uint32_t count) {
  world_->set_planes(count);
}
void fabric::lose_port(std::uint32_t endpoint, std::uint32_t plane) {
  world_->lose_port(endpoint, plane);
}
void fabric::restore_port(std::uint32_t endpoint, std::uint32_t plane) {
  world_->restore_port(endpoint, plane);
}

void fabric::inject(const lane& sender, lane_fault fault) {
  world_->inject(half_of(sender), fault);
}

void fabric::lose_lane(const lane& end) {
  world_->lose(half_of(end), {errc::peer_lost});
}
void fabric::lose_lanes(std::uint32_t a, std::uint32_t b) {
  world_->lose_between(a, b);
}
void fabric::lose_newest_lanes(std::uint32_t a, std::uint32_t b, std::uint32_t count) {
  world_->lose_newest_between(a, b, count);
}
void fabric::crash(std::uint32_t endpoint, crash_kind how) {
  world_->crash(endpoint, how);
}
void fabric::pause(std::uint32_t endpoint) {
  world_->pause(endpoint);
}
void fabric::resume(std::uint32_t endpoint) {
  world_->resume(endpoint);
}

void fabric::set_group(std::uint32_t endpoint, std::uint32_t group) {
  world_->set_group(endpoint, group);
}

void fabric::block(std::uint32_t from, std::uint32_t to) {
  world_->block(from, to);
}
void fabric::unblock(std::uint32_t from, std::uint32_t to) {
  world_->unblock(from, to);
}
void fabric::refuse_dials(std::uint32_t endpoint) {
  world_->set_refusing(endpoint, true);
}
void fabric::admit_dials(std::uint32_t endpoint) {
  world_->set_refusing(endpoint, false);
}

std::uint32_t fabric::add_port(std::uint64_t bytes_per_second) {
  return world_->add_port(bytes_per_second);
}
void fabric::set_routes(route_choice choose) {
  world_->set_routes(std::move(choose));
}
fabric_port_report fabric::report(std::uint32_t port) const {
  return world_->report(port);
}
std::uint64_t fabric::queue_bytes(std::uint32_t port) const {
  return world_->queue_bytes(port);
}
void fabric::watch_ports_anew() {
  world_->watch_ports_anew();
}

fabric_counters fabric::totals() const {
  return world_->totals();
}
fabric_counters fabric::counters(std::uint32_t endpoint) const {
  return world_->counters(endpoint);
}
std::uint32_t fabric::largest_fan_in() const {
  return world_->largest_fan_in();
}
std::uint64_t fabric::event_total() const {
  return world_->event_total();
}
std::uint64_t fabric::trace_hash() const {
  return world_->trace_hash();
}

}  // namespace troupe::net
