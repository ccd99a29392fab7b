#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/communicator.hpp"
#include "tests/reference/collective_reference.hpp"

/// Random operations, the same on every rank of a job that draws them from the same seed, and one
/// rank's side of each: buffers, call, and the check of every byte against the reference.
namespace troupe::reference {

/// One operation of all members of one communicator. What depends on the size of the communicator
/// is settled when a member takes part.
struct stream_operation {
  operation_kind kind = operation_kind::all_reduce;
  data_type type = data_type::float32;
  reduction op = reduction::sum;
  std::uint64_t count = 0;
  std::uint32_t communicator = 0;  ///< index into the caller's list
  std::uint32_t root = 0;          ///< modulo the size; of a send, who sends
  std::uint32_t peer = 0;          ///< modulo the size; of a send, who receives: maybe the same
  bool in_place = false;           ///< where the kind has it
  std::uint32_t algorithm = 0;     ///< 0: the table's choice; else one of the kind's
  std::uint64_t seed = 0;          ///< of inputs, layout and counts of pairs
};

std::string describe(const stream_operation& one);

/// Operations in batches whose members are all started before any is waited for; `grouped`: in one
/// group.
struct stream_batch {
  std::vector<stream_operation> operations;
  bool grouped = false;
};

/// What a stream may contain.
struct stream_wishes {
  std::uint32_t communicator_count = 1;
  std::uint32_t batch_count = 4;
  std::uint64_t count_max = 3000;  ///< of elements, of a block where there are blocks
};

std::vector<stream_batch> draw_stream(std::uint64_t seed, const stream_wishes& wishes);

/// One member's side of one operation. Buffers live here: keep it until its works are done.
class stream_part {
 public:
  stream_part(const stream_operation& what, std::uint32_t self, std::uint32_t size);

  /// Starts this member's calls: none, one, or, for a send to oneself, two.
  outcome<void> start(communicator& on, group* in);

  const std::vector<work_handle>& works() const { return works_; }

  /// Both buffers and what lies around them.
  const std::vector<std::byte>& memory() const { return memory_; }

  /// Compares the memory with what it must be now. Empty if all is right, else what is not.
  std::string check() const;

 private:
  void draw_inputs();
  void lay_out();
  operation_options options(group* in) const;
  outcome<work_handle> call(communicator& on, group* in);
  outcome<work_handle> exchange(communicator& on, const operation_options& how);
  bool is_root() const { return self_ == what_.root; }
  bool has_input(std::uint32_t member) const;
  std::uint64_t input_count(std::uint32_t member) const;
  std::byte* send() { return memory_.data() + send_offset_; }
  std::byte* receive() { return memory_.data() + receive_offset_; }

  stream_operation what_;
  std::uint32_t self_;
  std::uint32_t size_;
  collective_call reference_;
  std::uint64_t send_bytes_ = 0, receive_bytes_ = 0;
  std::uint64_t send_offset_ = 0, receive_offset_ = 0;
  std::vector<std::byte> memory_;
  std::vector<std::byte> before_;
  std::vector<work_handle> works_;
};

}  // namespace troupe::reference
