#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "collectives/collective_machine.hpp"
#include "collectives/collective_state.hpp"
#include "collectives/plan.hpp"
#include "runtime/random.hpp"

namespace troupe::sim {

/// What one rank brings to an operation: its plan, the bytes of its buffers and where they lie.
struct network_member {
  collectives::plan what;
  std::vector<std::byte> memory{};  ///< both buffers, in place or apart, with guards around
  buffer_view send{};               ///< views of `memory`: offsets from its start
  buffer_view receive{};
  double scalar = 1.0;
  std::vector<collectives::peer_block> blocks{};  ///< all_to_all_v: by peer
};

/// How the network behaves.
struct network_options {
  std::uint64_t seed = 1;
  std::uint64_t eager_bytes = 0;      ///< puts up to this size are taken before they are accepted
  std::uint64_t event_count_max = 0;  ///< the work bound: more events than this fail the run
  /// Changes an effect of a rank before it is applied: a planted bug. Returns false to drop it.
  std::function<bool(rank, collectives::collective_effect&)> mutate;
};

/// What one rank did.
struct member_work {
  std::uint64_t puts = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t combines = 0;
  std::uint64_t copies = 0;
  std::uint64_t events = 0;
  bool finished = false;

  friend bool operator==(const member_work&, const member_work&) = default;
};

/// Machines of all ranks of one operation and a network that delivers in any order: each pending
/// thing may happen next, by a seeded choice. Every effect is checked against the regions in use:
/// nobody writes what is being read or written, nor reads what is being written.
class collective_network {
 public:
  collective_network(std::vector<network_member> members, network_options options);

  /// Runs until nothing is pending. Empty if all went well, else the first thing that went wrong.
  std::string run();

  const std::vector<std::byte>& memory(std::uint32_t member) const {
    return nodes_[member].given.memory;
  }
  const member_work& work(std::uint32_t member) const { return nodes_[member].work; }
  std::uint64_t ignored(std::uint32_t member) const { return nodes_[member].state.ignored; }
  std::uint64_t trace_hash() const { return trace_hash_; }

 private:
  enum class happening_kind : std::uint8_t { start, land, put_done, accept_done, bytes_done };
  enum class usage : std::uint8_t { reads, writes };

  /// A region that an effect uses until it is done.
  struct region {
    std::uint64_t name = 0;
    buffer_view view;
    usage how = usage::reads;
  };
  /// A put and an accept of the same step, on their way to each other.
  struct transfer {
    rank from, to;
    std::uint32_t step = 0;
    bool has_put = false, has_accept = false, taken = false, landed = false;
    buffer_view source{}, target{};
    std::vector<std::byte> bytes{};
  };
  struct happening {
    happening_kind kind = happening_kind::start;
    std::uint32_t member = 0;
    std::size_t index = 0;  ///< of the transfer or the byte work
  };
  struct byte_work {
    bool live = false;
    std::uint32_t token = 0;
    collectives::collective_effect effect;
  };
  struct node {
    network_member given{};
    std::vector<std::byte> scratch;
    std::vector<std::byte> saved;
    collectives::collective_state state;
    std::vector<region> regions;
    std::vector<byte_work> byte_works;
    member_work work;
  };

  void happen(const happening& what);
  void drive(std::uint32_t member, const collectives::collective_event& event);
  void apply(std::uint32_t member, const collectives::put& effect);
  void apply(std::uint32_t member, const collectives::accept& effect);
  void apply(std::uint32_t member, const collectives::combine& effect);
  void apply(std::uint32_t member, const collectives::copy& effect);
  void apply(std::uint32_t member, const collectives::finish& effect);

  void land(transfer& what, std::size_t index);
  void do_bytes(std::uint32_t member, const byte_work& what);
  void begin_byte_work(std::uint32_t member, const collectives::collective_effect& effect,
                       std::uint32_t token);
  void use(std::uint32_t member, const region& wanted);
  void release(std::uint32_t member, std::uint64_t name);
  std::byte* at(std::uint32_t member, const buffer_view& view);
  static std::vector<std::byte>& memory_of(node& self, std::uint32_t slot);
  transfer& transfer_of(const transfer& key, std::size_t& index);
  void fail(std::uint32_t member, const std::string& what);
  void hash(std::uint64_t value);
  std::string leftovers() const;

  std::vector<node> nodes_;
  network_options options_;
  random_stream random_;
  std::vector<transfer> transfers_;
  std::vector<std::size_t> open_transfers_;
  std::vector<happening> pending_;
  collectives::collective_effects effects_;
  std::string failure_;
  std::uint64_t event_count_ = 0;
  std::uint64_t trace_hash_ = 0xcbf2'9ce4'8422'2325ull;
};

}  // namespace troupe::sim
