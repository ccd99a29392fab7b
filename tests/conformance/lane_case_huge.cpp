// The case of a write that needs more than 32 bits.

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "tests/conformance/lane_cases.hpp"
#include "tests/conformance/lane_pair.hpp"

namespace troupe::conformance {

namespace {

// A long range of addresses behind which the same `period` bytes of memory come again and again.
class repeated_memory {
 public:
  repeated_memory(std::uint64_t bytes, std::uint64_t period)
      : bytes_((bytes + period - 1) / period * period),
        base_(::mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                     0)) {
    if (base_ == MAP_FAILED) return;
    const int file = ::memfd_create("repeated_memory", MFD_CLOEXEC);
    valid_ = ::ftruncate(file, static_cast<off_t>(period)) == 0;
    for (std::uint64_t at = 0; at < bytes_ && valid_; at += period)
      valid_ = ::mmap(data() + at, period, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_FIXED | MAP_POPULATE, file, 0) != MAP_FAILED;
    ::close(file);
  }
  ~repeated_memory() {
    if (base_ != MAP_FAILED) ::munmap(base_, bytes_);
  }
  repeated_memory(const repeated_memory&) = delete;
  repeated_memory& operator=(const repeated_memory&) = delete;

  bool valid() const { return valid_; }
  std::byte* data() const { return static_cast<std::byte*>(base_); }

 private:
  std::uint64_t bytes_;
  void* base_;
  bool valid_ = false;
};

}  // namespace

std::string a_write_of_more_than_4_gib_arrives_whole(lane_world& world) {
  constexpr std::uint64_t bytes = (4ull << 30) + (16ull << 20) + 1;
  // Neither divides 2^32 in the same way: a length or an offset that lost its upper half shows.
  constexpr std::uint64_t source_period = 48ull << 20;
  constexpr std::uint64_t target_period = 64ull << 20;
  lane_pair pair(world, 16);
  if (!pair.connect()) return "no lane";
  const repeated_memory source(bytes, source_period);
  const repeated_memory target(bytes, target_period);
  if (!source.valid() || !target.valid()) return "no memory";
  for (std::uint64_t i = 0; i < source_period; ++i)
    source.data()[i] = pattern(i >> 16, i);
  const auto source_view = *world.buffers(0).add(source.data(), bytes);
  const auto target_view = *world.buffers(1).add(target.data(), bytes);
  const auto key = *world.buffers(1).expose(target_view);
  if (pair.at(0).post_write({source_view, {key, 0}, 9, 0}) != post_status::accepted)
    return "not taken";
  const bool arrived = pair.wait_until([&] { return !pair.log(1).empty(); });
  const bool completed = pair.wait_until([&] { return !pair.log(0).empty(); });
  world.buffers(1).withdraw(key);
  if (!arrived || !completed) return "it did not arrive and complete";
  const auto& event = pair.log(1)[0];
  if (event.what != lane_event::kind::write_arrived || event.bytes != bytes) return "wrong event";
  // The memory of the target shows the last period that was written, across the 4 GiB line.
  const auto first = bytes - target_period;
  const bool same = std::equal(source.data() + first, source.data() + bytes, target.data() + first);
  return same ? "" : "wrong bytes";
}

}  // namespace troupe::conformance
