#include "actors/trace/collective_trace.hpp"

#include <algorithm>

#include "runtime/assert.hpp"

namespace troupe::actors {

namespace {

// A write takes some 20 ns: a reader that fails this often met a writer that lost its processor in
// the middle.
constexpr int read_tries = 1000;

}  // namespace

void record_cell::begin() {
  version_.store(version_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
}

void record_cell::end() {
  version_.store(version_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

void record_cell::write(const operation_record& record) {
  std::array<std::uint64_t, word_count> words;
  std::memcpy(words.data(), &record, sizeof record);
  begin();
  for (std::size_t i = 0; i < word_count; ++i)
    words_[i].store(words[i], std::memory_order_relaxed);
  end();
}

void record_cell::clear() {
  begin();
  words_[offsetof(operation_record, serial) / sizeof(std::uint64_t)].store(
      0, std::memory_order_relaxed);
  end();
}

std::optional<operation_record> record_cell::read(bool& torn) const {
  std::array<std::uint64_t, word_count> words;
  for (int i = 0; i < read_tries; ++i) {
    const auto before = version_.load(std::memory_order_acquire);
    if (before % 2 != 0) continue;
    for (std::size_t w = 0; w < word_count; ++w)
      words[w] = words_[w].load(std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_acquire);
    if (version_.load(std::memory_order_relaxed) != before) continue;
    operation_record record;
    std::memcpy(static_cast<void*>(&record), words.data(), sizeof record);
    if (record.serial == 0) return std::nullopt;
    return record;
  }
  torn = true;
  return std::nullopt;
}

record_cells::record_cells(std::size_t count, std::pmr::memory_resource* memory)
    : count_(count), memory_(memory), chunks_((count + chunk_cells - 1) / chunk_cells) {}

record_cells::~record_cells() {
  for (auto& one : chunks_)
    if (auto* made = one.load()) memory_.delete_object(made);
}

record_cell& record_cells::at(std::size_t index) {
  TROUPE_ASSERT(index < count_);
  auto& place = chunks_[index / chunk_cells];
  auto* made = place.load(std::memory_order_relaxed);
  if (made == nullptr) {
    made = memory_.new_object<chunk>();
    place.store(made, std::memory_order_release);
  }
  return (*made)[index % chunk_cells];
}

void record_cells::read(std::vector<operation_record>& out, bool& torn) const {
  for (const auto& place : chunks_) {
    const auto* made = place.load(std::memory_order_acquire);
    if (made == nullptr) continue;
    for (const auto& cell : *made)
      if (const auto record = cell.read(torn)) out.push_back(*record);
  }
}

void collective_trace::retire(std::uint16_t slot, const operation_record& record) {
  // In this order: a reader that looks at the live ones first misses no operation.
  past_.at(next_past_).write(record);
  next_past_ = (next_past_ + 1) % past_.size();
  live_.at(slot).clear();
}

bool collective_trace::read(std::vector<operation_record>& out) const {
  bool torn = false;
  std::vector<operation_record> all;
  live_.read(all, torn);
  past_.read(all, torn);
  // One that ended in between was read twice: its end is the later word.
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return a.serial != b.serial ? a.serial < b.serial : a.phase < b.phase;
  });
  for (std::size_t i = 0; i < all.size(); ++i)
    if (i + 1 == all.size() || all[i + 1].serial != all[i].serial) out.push_back(all[i]);
  return !torn;
}

}  // namespace troupe::actors
