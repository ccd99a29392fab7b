#pragma once

#include <list>
#include <optional>

#include "actors/byte_mover/byte_mover.hpp"
#include "actors/qp_group/qp_group_messages.hpp"

namespace troupe::actors {

struct endpoint_context;

/// Transfers of this endpoint's rank to itself: the put and the accept of one id meet here and the
/// bytes are copied, in slices if they are many. No link, no lane, no message to another actor but
/// the `transfer_ended` of either side.
///
/// Bound:  at most one entry for each running operation.
/// Thread: the worker only.
class self_transfers {
 public:
  explicit self_transfers(endpoint_context& context) : context_(context) {}

  void put(const put_request& message);
  void accept(const accept_request& message);

  /// Forgets an operation's transfers; its buffers are not touched after this call.
  void cancel(communicator_id communicator, troupe::epoch epoch, operation_number operation);

  std::size_t size() const { return open_.size(); }

 private:
  struct meeting : byte_job_owner {
    explicit meeting(self_transfers& all) : home(all) {}
    void on_bytes_moved(std::uint32_t) override { home.finish(*this, {}); }

    self_transfers& home;
    transfer_id id;
    std::optional<put_request> put;
    std::optional<accept_request> accept;
  };

  meeting& meeting_of(const transfer_id& id);
  void move_if_met(meeting& one);
  void finish(meeting& one, error failed);

  endpoint_context& context_;
  std::list<meeting> open_;
};

}  // namespace troupe::actors
