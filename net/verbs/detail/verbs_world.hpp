#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "net/tcp/tcp_network.hpp"
#include "net/verbs/detail/adapter.hpp"
#include "net/verbs/detail/announced_lane.hpp"
#include "net/verbs/detail/greeting.hpp"
#include "net/verbs/detail/verbs_lane.hpp"
#include "net/verbs/region_directory.hpp"
#include "net/verbs/verbs_network.hpp"
#include "runtime/buffer_table.hpp"
#include "runtime/descriptor.hpp"
#include "runtime/lane.hpp"

namespace troupe::net::detail {

/// The lanes of one endpoint, its devices, and the TCP network beside them.
///
/// A poll looks at the completion queues, which costs no system call; at sockets and device events
/// after a park, while a greeting is under way, and every 100 us.
class verbs_world final : public memory_watcher {
 public:
  verbs_world(std::unique_ptr<tcp_network> beside, std::vector<std::unique_ptr<adapter>> adapters,
              buffer_table& buffers, descriptor epoll, std::uint64_t instance);
  ~verbs_world() override;
  verbs_world(const verbs_world&) = delete;
  verbs_world& operator=(const verbs_world&) = delete;

  /// Errors: system_failure with errno.
  result<void> start();

  // For the network.
  lane_address address() const { return beside_->address(); }
  void dial(const lane_address& to, std::uint64_t context, instant deadline);
  void dial_plain(const lane_address& to, std::uint64_t context, instant deadline);
  void cancel_dial(std::uint64_t context);
  std::size_t poll(instant now, std::span<network_event> out);
  instant next_deadline() const;
  instant prepare_to_wait();
  int wait_descriptor() const { return epoll_.number(); }
  std::uint64_t refused_total() const { return refused_total_ + beside_->refused_total(); }
  std::string take_notice() { return std::exchange(notice_, {}); }

  // For greetings.
  /// Of the devices whose port is active the one with the fewest lanes, in turn where several have:
  /// what a device lost that works again comes back to it, and does not gather on the others.
  adapter& least_used_adapter();
  adapter& adapter_at(std::uint16_t index) { return *adapters_[index % adapters_.size()]; }
  std::uint16_t adapter_count() const { return static_cast<std::uint16_t>(adapters_.size()); }
  std::uint64_t instance() const { return instance_; }
  /// Shared by the lanes to that device; the last of them drops it.
  std::shared_ptr<region_directory> regions_of(std::uint64_t instance, std::uint16_t device);
  void note(const std::string& text);
  void note_device_counts(std::uint16_t theirs);
  void note_registration_failure(error cause, std::uint64_t bytes);
  void show(network_event::kind what, std::uint64_t context, std::unique_ptr<lane> opened);
  void show_failure(std::uint64_t context, error cause);

  // For lanes.
  const buffer_table& buffers() const { return buffers_; }
  ready_lanes& ready() { return ready_; }
  std::uint64_t turn() const { return turn_; }
  instant now() const { return now_; }
  std::uint64_t enrol(verbs_lane& lane);
  void expel(verbs_lane& lane, std::uint64_t id);
  void watch(verbs_lane& lane);  ///< it has a deadline now
  void poll_completions();

 private:
  struct place {
    verbs_lane* lane = nullptr;
    std::uint16_t generation = 0;
  };

  void on_buffer_released(buffer_id id) override;
  void on_key_revoked(buffer_id id, std::uint64_t key) override;

  bool side_is_due(instant now) const;
  void look_at_side();
  void on_side_event(network_event& event);
  void look_at_device(adapter& where);
  void on_device_event(adapter& where, const ibv_async_event& event);
  void run_deadlines();
  greeting* find_dial(std::uint64_t context);
  void give_share_to(const adapter& where);
  void lose_all(const adapter& where, error cause);

  std::unique_ptr<tcp_network> beside_;
  std::vector<std::unique_ptr<adapter>> adapters_;
  buffer_table& buffers_;
  descriptor epoll_;
  std::uint64_t instance_;
  std::size_t next_adapter_ = 0;
  instant now_{};
  instant side_looked_{};
  std::uint64_t turn_ = 1;
  bool waited_ = true;
  bool more_completions_ = false;
  std::uint64_t refused_total_ = 0;
  std::string notice_;
  bool counts_noted_ = false;
  ready_lanes ready_;
  std::vector<place> places_;
  std::vector<std::uint32_t> free_places_;
  std::vector<verbs_lane*> ending_;  ///< with a deadline
  std::deque<network_event> shown_;
  std::vector<std::unique_ptr<greeting>> greetings_;
  /// What is known of the memory of each device of each peer.
  std::map<std::pair<std::uint64_t, std::uint16_t>, std::weak_ptr<region_directory>> regions_;
};

}  // namespace troupe::net::detail
