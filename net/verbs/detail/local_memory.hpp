#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "net/verbs/detail/handles.hpp"
#include "net/verbs/verbs_frame_wire.hpp"
#include "runtime/buffer_table.hpp"
#include "runtime/result.hpp"

namespace troupe::net::detail {

/// The buffers of an endpoint that one device knows. A buffer is registered whole, when it is first
/// used, and until it is released.
class local_memory {
 public:
  local_memory(ibv_pd& domain, const buffer_table& buffers) : domain_(domain), buffers_(buffers) {}

  /// The local key of a source. Errors: resource_exhausted with errno.
  result<std::uint32_t> source_key(const buffer_view& source);

  /// What `key` exposes, for a peer; none if it is dead. Errors: resource_exhausted with errno.
  result<std::optional<verbs_remote_memory>> target_of(std::uint64_t key);

  /// Ends the registrations of a buffer: after the call the device reads and writes it no more.
  void forget(buffer_id id);

  /// The same, if a peer was told what `key` of the buffer exposes.
  void revoke(buffer_id id, std::uint64_t key);

  /// Of the registration that failed last.
  std::uint64_t failed_bytes() const { return failed_bytes_; }

  std::uint64_t registered_bytes() const { return registered_bytes_; }

 private:
  struct entry {
    std::uint32_t generation = 0;
    memory_registration source;  ///< may be read only
    memory_registration target;  ///< may be written by peers
  };

  entry& find(buffer_id id);
  result<void> make(buffer_id id, memory_registration& out, int access);

  ibv_pd& domain_;
  const buffer_table& buffers_;
  std::vector<entry> entries_;       ///< by slot of the buffer
  std::vector<std::uint64_t> told_;  ///< by slot of the exposure: the key that a peer was told
  std::uint64_t registered_bytes_ = 0;
  std::uint64_t failed_bytes_ = 0;
};

}  // namespace troupe::net::detail
