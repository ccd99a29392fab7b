#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace troupe::net {

/// What two queue pairs have to know of each other.
struct emulated_address {
  std::uint32_t qp = 0;
  ibv_gid gid{};
  std::uint32_t psn = 0;
};

struct emulated_node_options {
  int device = 0;
  int completion_depth = 256;
  std::uint32_t send_depth = 64;
  std::uint32_t receive_depth = 64;
  std::uint32_t inline_bytes = 128;
  std::uint32_t pieces = 4;
  std::size_t memory_bytes = 1 << 20;
  bool has_channel = false;
  int signal_all = 1;
};

/// A device of the emulated NIC with one queue pair and one registered buffer. Ends in the right
/// order unless a test did so itself.
class emulated_node {
 public:
  explicit emulated_node(const emulated_node_options& options = {});
  ~emulated_node();
  emulated_node(const emulated_node&) = delete;
  emulated_node& operator=(const emulated_node&) = delete;

  emulated_address address() const;
  void to_init();
  void to_ready_to_receive(const emulated_address& peer);
  void to_ready_to_send();
  /// All three.
  void connect(const emulated_address& peer);
  /// RESET, so that it can be connected again.
  void reset();

  /// Bytes of the buffer as a piece.
  ibv_sge piece(std::size_t offset, std::size_t bytes) const;
  /// A signalled request without pieces; what it leaves out is set by the test.
  ibv_send_wr request(ibv_wr_opcode opcode, std::uint64_t wr_id) const;
  /// `request` aimed at the buffer of `target`.
  ibv_send_wr aimed(ibv_wr_opcode opcode, std::uint64_t wr_id, const emulated_node& target,
                    std::size_t offset = 0) const;
  int post(ibv_send_wr& wr);
  int post(ibv_send_wr& wr, std::vector<ibv_sge> pieces);
  int post_receive(std::uint64_t wr_id, std::vector<ibv_sge> pieces = {});

  /// The next completion; polls for up to ten seconds.
  std::optional<ibv_wc> completion();
  /// Whether none comes within `milliseconds`.
  bool stays_quiet(int milliseconds);

  ibv_context* context = nullptr;
  ibv_pd* pd = nullptr;
  ibv_comp_channel* channel = nullptr;
  ibv_cq* cq = nullptr;
  ibv_qp* qp = nullptr;
  ibv_mr* mr = nullptr;
  std::vector<std::byte> memory;

  // As the queue pair is connected; to be changed before.
  std::uint32_t psn = 7;
  std::uint8_t timeout = 12;  // 17 ms
  std::uint8_t retry_count = 2;
  std::uint8_t not_ready_retries = 7;
  std::uint8_t not_ready_timer = 1;  // 10 us
  unsigned access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                    IBV_ACCESS_REMOTE_ATOMIC;
};

/// Gives the emulated NICs of this process a fault command; what they answer: "ok", or an error.
std::string nic_command(const std::string& text);

/// Connects two nodes of this process with each other.
void connect(emulated_node& one, emulated_node& other);

}  // namespace troupe::net
