#include "net/emulation/detail/segment.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <utility>

namespace troupe::net::emulation {

namespace {

constexpr std::uint64_t page_bytes = 4096;

constexpr std::uint64_t whole_pages(std::uint64_t bytes) {
  return (bytes + page_bytes - 1) / page_bytes * page_bytes;
}

}  // namespace

segment::segment(segment&& other) noexcept
    : file_(std::move(other.file_)), base_(std::exchange(other.base_, nullptr)) {}

segment& segment::operator=(segment&& other) noexcept {
  if (this == &other) return *this;
  reset();
  file_ = std::move(other.file_);
  base_ = std::exchange(other.base_, nullptr);
  return *this;
}

void segment::reset() {
  if (base_ != nullptr) ::munmap(base_, segment_bytes);
  base_ = nullptr;
}

bool segment::map(descriptor file) {
  void* const place =
      ::mmap(nullptr, segment_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.number(), 0);
  if (place == MAP_FAILED) return false;
  base_ = static_cast<std::byte*>(place);
  file_ = std::move(file);
  return true;
}

segment segment::make() {
  segment made;
  descriptor file(::memfd_create("troupe-emulation", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file.valid() || ::ftruncate(file.number(), segment_bytes) != 0 ||
      ::fcntl(file.number(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0)
    return made;
  if (!made.map(std::move(file))) return made;
  made.header().magic = segment_magic;
  made.header().version = segment_version;
  made.header().own_address = reinterpret_cast<std::uintptr_t>(made.base_);
  return made;
}

segment segment::of_peer(descriptor file) {
  segment made;
  struct stat status {};
  // A file that could shrink would end us with SIGBUS.
  const int seals = ::fcntl(file.number(), F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0 || ::fstat(file.number(), &status) != 0 ||
      static_cast<std::uint64_t>(status.st_size) != segment_bytes)
    return made;
  if (!made.map(std::move(file))) return made;
  if (made.header().magic != segment_magic || made.header().version != segment_version)
    made.reset();
  made.file_.reset();
  return made;
}

send_entry* segment::entry(const qp_slot& of, std::uint64_t index) const {
  const std::uint64_t entries = of.ring_entries.load(std::memory_order_relaxed);
  const std::uint64_t bytes = of.entry_bytes.load(std::memory_order_relaxed);
  const std::uint64_t offset = of.ring_offset.load(std::memory_order_relaxed);
  if (entries == 0 || bytes < sizeof(send_entry) || bytes % 64 != 0 || offset < rings_offset ||
      offset >= segment_bytes || entries > (segment_bytes - offset) / bytes)
    return nullptr;
  return reinterpret_cast<send_entry*>(base_ + offset + index % entries * bytes);
}

bool segment::ring(std::uint32_t slot) const {
  auto& head = header();
  const auto word = slot / 64;
  head.rung_slots[word].fetch_or(1ull << (slot % 64), std::memory_order_seq_cst);
  head.rung_words.fetch_or(1ull << word, std::memory_order_seq_cst);
  if (head.is_asleep.load(std::memory_order_seq_cst) == 0) return false;
  return head.is_asleep.exchange(0, std::memory_order_seq_cst) != 0;
}

void segment::drop(std::uint64_t offset, std::uint64_t bytes) const {
  ::fallocate(file_.number(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
              static_cast<off_t>(offset), static_cast<off_t>(whole_pages(bytes)));
}

std::optional<std::uint64_t> ring_space::take(std::uint64_t bytes) {
  const auto need = whole_pages(bytes);
  for (auto at = free_.begin(); at != free_.end(); ++at) {
    if (at->second < need) continue;
    const auto [offset, available] = *at;
    free_.erase(at);
    if (available > need) free_.emplace(offset + need, available - need);
    return offset;
  }
  return std::nullopt;
}

void ring_space::give_back(std::uint64_t offset, std::uint64_t bytes) {
  auto at = free_.emplace(offset, whole_pages(bytes)).first;
  if (const auto next = std::next(at);
      next != free_.end() && next->first == at->first + at->second) {
    at->second += next->second;
    free_.erase(next);
  }
  if (at == free_.begin()) return;
  const auto before = std::prev(at);
  if (before->first + before->second != at->first) return;
  before->second += at->second;
  free_.erase(at);
}

}  // namespace troupe::net::emulation
