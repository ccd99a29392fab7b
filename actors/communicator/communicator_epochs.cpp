#include <algorithm>
#include <string>
#include <utility>

#include "actors/communicator/communicator_handle.hpp"

// What the trainer sees of the epochs of a communicator.
namespace troupe::actors {

namespace {

// Answered by an actor of this process. The bound only guards against a worker that is stopped by
// a debugger or starved.
constexpr duration worker_patience = std::chrono::seconds(1);

epoch_members report_on(const seated_epoch& in) {
  epoch_members out{in.epoch, in.self, in.names, in.first_operation};
  for (std::uint32_t r = 0; out.names.size() < in.members->size(); ++r)
    out.names.push_back(r);
  return out;
}

}  // namespace

epoch_members communicator_handle::members() const {
  return report_on(*seat_.board->newest());
}

outcome<void> communicator_handle::check_tolerant() const {
  if (auto usable = check_usable(); !usable) return usable;
  if (!seat_.tolerant)
    return fail(
        errc::not_available,
        "the communicator is not fault-tolerant: it has one epoch and fails as a whole; set "
        "fault_tolerance.world = \"continue\", or split with fault_tolerant");
  if (const auto why = seat_.board->over(); why != errc::ok)
    return fail(failure{error{why, 0, rank()}, std::string(explain(why))});
  return {};
}

outcome<epoch_members> communicator_handle::wait_epoch(troupe::epoch after, duration limit) {
  if (auto usable = check_tolerant(); !usable) return fail(usable.error());
  const auto is_there = [&] {
    return seat_.board->newest()->epoch > after || seat_.board->over() != errc::ok;
  };
  door_->drive_until(is_there, limit);
  if (!seat_.board->wait(after, is_there() ? duration::zero() : limit))
    return fail(errc::timed_out, "no epoch above " + std::to_string(after.value) + " after " +
                                     std::to_string(limit.count() / 1'000'000) + " ms");
  if (auto usable = check_tolerant(); !usable) return fail(usable.error());
  return members();
}

outcome<epoch_members> communicator_handle::adopt_epoch() {
  if (auto usable = check_tolerant(); !usable) return fail(usable.error());
  const auto newest = seat_.board->newest();
  const std::lock_guard lock(adopted_guard_);
  adopted_ = newest;
  return report_on(*newest);
}

outcome<void> communicator_handle::reconfigure(const std::vector<std::uint32_t>& without) {
  if (auto usable = check_tolerant(); !usable) return usable;
  const auto in = seat_.board->newest();
  for (const auto name : without) {
    if (!std::binary_search(in->names.begin(), in->names.end(), name))
      return fail(errc::bad_argument, "reconfigure: no member of epoch " +
                                          std::to_string(in->epoch.value) + " has the name " +
                                          std::to_string(name));
    if (name == in->names[to_index(in->self)])
      return fail(errc::bad_argument,
                  "reconfigure: " + std::to_string(name) +
                      " is the caller; a member leaves by finalize, or by abort for all");
  }
  auto answer = std::make_shared<ticket<done_value>>();
  post(nullptr, seat_.member,
       reconfigure_requested{std::make_shared<const std::vector<std::uint32_t>>(without), answer});
  door_->drive_until([&] { return answer->answered(); }, worker_patience);
  const auto* answered = answer->wait(worker_patience);
  if (answered == nullptr)
    return fail(errc::timed_out, "reconfigure: this process's worker did not answer within 1 s");
  if (!*answered) return fail(answered->error());
  return {};
}

outcome<std::string> communicator_handle::invite() {
  if (auto usable = check_tolerant(); !usable) return fail(usable.error());
  auto answer = std::make_shared<ticket<std::string>>();
  post(nullptr, seat_.member, invitation_requested{answer});
  door_->drive_until([&] { return answer->answered(); }, worker_patience);
  const auto* answered = answer->wait(worker_patience);
  if (answered == nullptr)
    return fail(errc::timed_out, "invite: this process's worker did not answer within 1 s");
  return *answered;
}

outcome<void> communicator_handle::set_timeout(duration timeout) {
  if (timeout <= duration::zero())
    return fail(errc::bad_argument, "set_timeout: the time-out is " +
                                        std::to_string(timeout.count()) +
                                        " ns; it must be above 0");
  timeout_.store(timeout.count());
  return {};
}

}  // namespace troupe::actors
