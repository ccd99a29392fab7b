#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "collectives/reduction/combine_bytes.hpp"
#include "runtime/random.hpp"
#include "runtime/stream_copy.hpp"

/// GB/s of reductions and copies, by type, operator, instruction set and size, on one thread.
///   bench_collectives_reduction [SECONDS FOR EACH FIGURE] [TYPE...]
/// GB is 1e9 bytes of the target: what moves is two or three times that.
namespace {

using namespace troupe;
using clock = std::chrono::steady_clock;

constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t mib = 1024 * kib;
constexpr std::uint64_t pool_bytes = 96 * mib;

/// Three runs of memory, written once, so that every page is there.
struct pool {
  std::byte* target = page_memory();
  std::byte* left = page_memory();
  std::byte* right = page_memory();

  static std::byte* page_memory() {
    void* const place = ::mmap(nullptr, pool_bytes, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (place == MAP_FAILED) std::abort();
    return static_cast<std::byte*>(place);
  }
};

/// Numbers near 1 in every floating-point type, so that no format overflows into NaN.
void write_number(std::byte* to, data_type type, std::uint64_t chosen) {
  const double value = 1 + static_cast<double>(chosen) / 100;
  const auto narrow = static_cast<float>(value);
  const std::uint64_t one = type == data_type::bfloat16  ? 0x3f80
                            : type == data_type::float16 ? 0x3c00
                                                         : 0x3838;
  const std::uint64_t code = one + chosen % 8;
  switch (type) {
    case data_type::float64: std::memcpy(to, &value, sizeof value); break;
    case data_type::float32: std::memcpy(to, &narrow, sizeof narrow); break;
    default: std::memcpy(to, &code, size_of(type)); break;
  }
}

/// The same numbers all over: what they are matters only in being ordinary.
void fill(const pool& memory, data_type type) {
  constexpr std::uint64_t pattern_bytes = 64 * kib;
  random_stream random(1);
  for (std::byte* const place : {memory.left, memory.right}) {
    for (std::uint64_t at = 0; at < pattern_bytes; at += size_of(type))
      write_number(place + at, type, random.below(100));
    for (std::uint64_t at = pattern_bytes; at < pool_bytes; at += pattern_bytes)
      std::memcpy(place + at, place, pattern_bytes);
  }
}

/// The best of several tries, in GB/s; each call gets the next place of the walk.
template <class Call>
double best_rate(std::uint64_t bytes, std::uint64_t walked, double seconds, const Call& call) {
  const std::uint64_t places = std::max<std::uint64_t>(1, walked / bytes);
  std::uint64_t calls = 1;
  double best = 0;
  double spent = 0;
  for (int tries = 0; tries < 2 || spent < seconds; ++tries) {
    const auto start = clock::now();
    for (std::uint64_t i = 0; i < calls; ++i)
      call(i % places * bytes);
    const double took = std::chrono::duration<double>(clock::now() - start).count();
    best = std::max(best, static_cast<double>(calls * bytes) / took / 1e9);
    spent += took;
    if (took < seconds / 8) calls *= 2;
    if (tries > 200) break;
  }
  return best;
}

std::vector<instruction_set> sets_here() {
  std::vector<instruction_set> out;
  for (const instruction_set set : instruction_sets)
    if (has_instruction_set(set)) out.push_back(set);
  return out;
}

struct named_rule {
  const char* name;
  collectives::combine_rule rule;
};

std::vector<named_rule> rules_of(data_type type) {
  return {{"sum", {.type = type}},
          {"product", {.type = type, .op = reduction::product}},
          {"min", {.type = type, .op = reduction::minimum}},
          {"max", {.type = type, .op = reduction::maximum}},
          {"average", {.type = type, .op = reduction::average, .divisor = 3, .divide = true}},
          {"scaled sum",
           {.type = type,
            .op = reduction::premultiplied_sum,
            .scalar = 1.0,
            .scale_left = true,
            .scale_right = true}}};
}

void print_combines(const pool& memory, data_type type, double seconds) {
  constexpr std::array<std::uint64_t, 3> sizes{8 * kib, 256 * kib, 32 * mib};
  fill(memory, type);
  for (const auto& [name, rule] : rules_of(type)) {
    std::printf("%-12s %-10s", to_string(type).data(), name);
    for (const std::uint64_t bytes : sizes) {
      const std::uint64_t walked = bytes < mib ? bytes : pool_bytes;
      for (const instruction_set set : sets_here())
        std::printf(" %8.2f", best_rate(bytes, walked, seconds, [&](std::uint64_t at) {
                      collectives::combine_bytes(rule, memory.target + at, memory.left + at,
                                                 memory.right + at, bytes / size_of(type),
                                                 {.instructions = set});
                    }));
      std::printf("  |");
    }
    std::puts("");
    std::fflush(stdout);
  }
}

using copy_call = void (*)(std::byte*, const std::byte*, std::uint64_t, instruction_set);

constexpr std::array<copy_call, 3> copies{
    [](std::byte* t, const std::byte* s, std::uint64_t n, instruction_set) {
      std::memcpy(t, s, n);
    },
    [](std::byte* t, const std::byte* s, std::uint64_t n, instruction_set set) {
      copy_memory(t, s, n, {store_path::cached, set});
    },
    [](std::byte* t, const std::byte* s, std::uint64_t n, instruction_set set) {
      copy_memory(t, s, n, {store_path::streaming, set});
    }};

/// Where streaming begins to pay: the same buffers again and again, and a walk through 96 MiB.
void print_copies(const pool& memory, double seconds) {
  std::printf("\ncopy, %s: memcpy, cached, streaming; same buffers | walking through 96 MiB\n",
              to_string(best_instruction_set()).data());
  for (std::uint64_t bytes = 4 * kib; bytes <= 64 * mib; bytes *= 4) {
    std::printf("%8llu KiB", static_cast<unsigned long long>(bytes / kib));
    for (const std::uint64_t walked : {bytes, pool_bytes}) {
      for (const copy_call copy : copies)
        std::printf(" %8.2f", best_rate(bytes, walked, seconds, [&](std::uint64_t at) {
                      copy(memory.target + at, memory.left + at, bytes, best_instruction_set());
                    }));
      std::printf("  |");
    }
    std::puts("");
  }
}

/// The same for a sum of float32 out of place.
void print_streamed_sums(const pool& memory, double seconds) {
  fill(memory, data_type::float32);
  std::printf("\nfloat32 sum out of place, %s: cached, streaming; same buffers | walking\n",
              to_string(best_instruction_set()).data());
  for (std::uint64_t bytes = 256 * kib; bytes <= 64 * mib; bytes *= 4) {
    std::printf("%8llu KiB", static_cast<unsigned long long>(bytes / kib));
    for (const std::uint64_t walked : {bytes, pool_bytes}) {
      for (const store_path path : {store_path::cached, store_path::streaming})
        std::printf(" %8.2f", best_rate(bytes, walked, seconds, [&](std::uint64_t at) {
                      collectives::combine_bytes({}, memory.target + at, memory.left + at,
                                                 memory.right + at, bytes / 4, {.path = path});
                    }));
      std::printf("  |");
    }
    std::puts("");
  }
}

void print_alignments(const pool& memory, double seconds) {
  std::puts("\ncopy of 16 KiB by (target - source) mod 4096: memcpy, then cached of each set");
  constexpr std::uint64_t bytes = 16 * kib;
  for (const std::uint64_t shift : {0, 1, 4, 8, 24, 40, 64, 72, 200, 1032}) {
    std::printf("%8llu", static_cast<unsigned long long>(shift));
    const auto rate = [&](copy_call copy, instruction_set set) {
      return best_rate(bytes, bytes, seconds, [&](std::uint64_t) {
        copy(memory.target + shift, memory.left, bytes, set);
      });
    };
    std::printf(" %8.2f", rate(copies[0], instruction_set::baseline));
    for (const instruction_set set : sets_here())
      std::printf(" %8.2f", rate(copies[1], set));
    std::puts("");
  }
}

}  // namespace

int main(int argument_count, char** arguments) {
  const double seconds = argument_count > 1 ? std::atof(arguments[1]) : 0.001;
  const std::span<char*> words(arguments, static_cast<std::size_t>(argument_count));
  const pool memory;
  std::puts("GB/s of the target, one thread: each instruction set at 8 KiB | 256 KiB | 32 MiB");
  std::printf("%-23s", "");
  for (const char* const size : {"8K", "256K", "32M"})
    for (const instruction_set set : sets_here())
      std::printf(" %4s%5s", to_string(set).substr(0, 6).data(), size);
  std::puts("");
  for (std::size_t i = 0; i < data_type_count; ++i) {
    const auto type = static_cast<data_type>(i);
    const bool wanted =
        argument_count < 3 || std::any_of(words.begin() + 2, words.end(), [&](const char* word) {
          return std::string_view(word) == to_string(type);
        });
    if (wanted) print_combines(memory, type, seconds);
  }
  print_copies(memory, seconds);
  print_streamed_sums(memory, seconds);
  print_alignments(memory, seconds);
  return 0;
}
