#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "net/fabric/fabric.hpp"
#include "net/shm/shm_network.hpp"
#include "net/tcp/tcp_network.hpp"
#include "tests/conformance/lane_world.hpp"

namespace troupe::conformance {

/// Endpoints 0 and 1 of a simulated network, under virtual time. Endpoint 2 is a host that died.
class fabric_lane_world final : public lane_world {
 public:
  explicit fabric_lane_world(const net::fabric_options& options = {});

  lane_kind kind() const override { return lane_kind::fabric; }
  lane_network& network(int side) override { return *networks_[side]; }
  buffer_table& buffers(int side) override { return buffers_[side]; }
  instant now() override { return fabric_.now(); }
  void wait(instant until) override;
  lane_address nobody() override { return net::fabric::address_of(77); }
  lane_address silence() override { return net::fabric::address_of(2); }
  std::uint64_t large_bytes() const override { return 8ull << 20; }
  duration patience() const override { return std::chrono::seconds(20); }
  duration quiet() const override { return std::chrono::seconds(1); }

 private:
  net::fabric fabric_;
  std::vector<buffer_table> buffers_;
  std::vector<std::unique_ptr<lane_network>> networks_;
};

/// What a world of real networks waits with: this machine's clock, and poll(2).
class machine_lane_world : public lane_world {
 public:
  instant now() override;
  void wait(instant until) override;
};

/// Two endpoints on one address of this machine, under its clock: with sockets alone, or, `kind`
/// shm, with shared memory where it can be had, or, `kind` verbs, with RDMA queue pairs.
class tcp_lane_world : public machine_lane_world {
 public:
  /// `devices`: what each endpoint uses, where `kind` is verbs; empty: every device.
  explicit tcp_lane_world(const std::string& host, duration patience = std::chrono::seconds(20),
                          lane_kind kind = lane_kind::tcp,
                          const std::array<std::string, 2>& devices = {});
  ~tcp_lane_world() override;

  /// Whether this machine has the address.
  static bool has(const std::string& host);

  lane_kind kind() const override { return networks_[0]->kind(); }
  lane_network& network(int side) override { return *networks_[side]; }
  buffer_table& buffers(int side) override { return buffers_[side]; }
  lane_address nobody() override;
  lane_address silence() override;
  std::uint64_t large_bytes() const override { return 64ull << 20; }
  bool loses_lane_with_key() const override { return kind() == lane_kind::verbs; }
  duration patience() const override { return patience_; }
  duration quiet() const override { return std::chrono::milliseconds(50); }

 private:
  std::string host_;
  duration patience_;
  std::vector<buffer_table> buffers_;
  std::vector<std::unique_ptr<lane_network>> networks_;
  std::vector<int> deaf_sockets_;
};

/// Two endpoints of this process that share memory. `large_writes`: as the option of that name.
class shm_lane_world final : public machine_lane_world {
 public:
  explicit shm_lane_world(const std::string& large_writes,
                          duration patience = std::chrono::seconds(20));
  ~shm_lane_world() override;

  lane_kind kind() const override { return lane_kind::shm; }
  lane_network& network(int side) override { return *networks_[side]; }
  buffer_table& buffers(int side) override { return buffers_[side]; }
  lane_address nobody() override { return address_of(3); }
  lane_address silence() override;
  std::uint64_t large_bytes() const override { return 64ull << 20; }
  duration patience() const override { return patience_; }
  duration quiet() const override { return std::chrono::milliseconds(50); }

  /// A name that nobody else on this host uses.
  static lane_address address_of(std::uint16_t number);

 private:
  duration patience_;
  std::vector<buffer_table> buffers_;
  std::vector<std::unique_ptr<net::shm_network>> networks_;
  int deaf_socket_ = -1;
};

}  // namespace troupe::conformance
