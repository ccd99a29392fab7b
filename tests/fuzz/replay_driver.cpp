// The main of a fuzz target in builds without libFuzzer: runs the target on every file of a corpus
// directory, then on seeded mutations of those files: always the same ones in the same order, as
// many as fit into the time.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "runtime/random.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using input = std::vector<std::uint8_t>;

// Chosen: enough to notice a decoder that breaks on garbage; the search with libFuzzer is the one
// that looks for long.
constexpr int mutation_count_max = 100'000;
constexpr auto time_limit = std::chrono::seconds(2);
constexpr std::size_t fresh_bytes_max = 256;

std::vector<input> read_corpus(const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(directory))
    if (entry.is_regular_file()) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<input> corpus;
  for (const auto& path : paths) {
    std::ifstream stream(path, std::ios::binary);
    corpus.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
  }
  return corpus;
}

std::uint8_t any_byte(troupe::random_stream& random) {
  return static_cast<std::uint8_t>(random.below(256));
}

input fresh(troupe::random_stream& random) {
  input out(random.below(fresh_bytes_max + 1));
  std::generate(out.begin(), out.end(), [&] { return any_byte(random); });
  return out;
}

void mutate(input& bytes, troupe::random_stream& random) {
  const auto at = static_cast<std::ptrdiff_t>(random.below(bytes.size() + 1));
  const bool inside = at < static_cast<std::ptrdiff_t>(bytes.size());
  switch (random.below(5)) {
    case 0:
      if (inside) bytes[static_cast<std::size_t>(at)] = any_byte(random);
      break;
    case 1:
      if (inside)
        bytes[static_cast<std::size_t>(at)] ^= static_cast<std::uint8_t>(1u << random.below(8));
      break;
    case 2: bytes.resize(static_cast<std::size_t>(at)); break;
    case 3: bytes.insert(bytes.begin() + at, any_byte(random)); break;
    default:
      if (inside) bytes.erase(bytes.begin() + at);
      break;
  }
}

void run(const input& bytes) {
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

}  // namespace

int main(int argument_count, char** arguments) {
  if (argument_count != 2 || !std::filesystem::is_directory(arguments[1])) {
    std::fprintf(stderr, "usage: %s CORPUS_DIRECTORY\n", arguments[0]);
    return 2;
  }
  const auto corpus = read_corpus(arguments[1]);
  for (const auto& bytes : corpus)
    run(bytes);
  troupe::random_stream random(1);
  const auto deadline = std::chrono::steady_clock::now() + time_limit;
  int count = 0;
  for (; count < mutation_count_max && std::chrono::steady_clock::now() < deadline; ++count) {
    auto bytes =
        corpus.empty() || random.one_in(8) ? fresh(random) : corpus[random.below(corpus.size())];
    for (auto steps = random.between(1, 4); steps > 0; --steps)
      mutate(bytes, random);
    run(bytes);
  }
  std::printf("%zu inputs and %d mutations\n", corpus.size(), count);
}
