#include "docs/examples/text_corpus.hpp"

#include "runtime/assert.hpp"
#include "runtime/random.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

namespace examples {
namespace {

namespace fs = std::filesystem;

constexpr const char* licence_directory = "/usr/share/common-licenses";

/// Regular files only: "GPL" is a link to "GPL-3" and would count it twice.
tl::expected<std::vector<fs::path>, std::string> licence_files() {
  std::error_code error;
  std::vector<fs::path> files;
  for (fs::directory_iterator it(licence_directory, error), end; !error && it != end;
       it.increment(error)) {
    if (it->symlink_status().type() == fs::file_type::regular) files.push_back(it->path());
  }
  if (error || files.empty()) {
    return tl::unexpected(std::string("no licence texts in ") + licence_directory +
                          "; name a text with --data PATH");
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

tl::expected<text_corpus, std::string> text_corpus::load(const std::string& path) {
  std::vector<fs::path> files{path};
  if (path.empty()) {
    auto licences = licence_files();
    if (!licences) return tl::unexpected(licences.error());
    files = std::move(*licences);
  }
  std::string text;
  for (const fs::path& file : files) {
    std::error_code error;
    std::ifstream stream(file, std::ios::binary);
    if (!stream || fs::is_directory(file, error))
      return tl::unexpected("cannot read the text " + file.string());
    text.append(std::istreambuf_iterator<char>(stream), {});
    if (stream.bad()) return tl::unexpected("reading the text " + file.string() + " failed");
  }
  if (text.empty()) return tl::unexpected("the text " + files.front().string() + " is empty");
  return text_corpus(text);
}

text_corpus::text_corpus(std::string_view original) {
  std::string text;
  std::unique_copy(original.begin(), original.end(), std::back_inserter(text),
                   [](char a, char b) { return a == ' ' && b == ' '; });
  std::array<bool, 256> seen{};
  for (const char c : text)
    seen[static_cast<std::uint8_t>(c)] = true;
  std::array<std::uint8_t, 256> symbol_of{};
  for (std::size_t byte = 0; byte < seen.size(); ++byte) {
    if (!seen[byte]) continue;
    symbol_of[byte] = static_cast<std::uint8_t>(alphabet_.size());
    alphabet_.push_back(static_cast<char>(byte));
  }
  symbols_.resize(text.size());
  std::transform(text.begin(), text.end(), symbols_.begin(),
                 [&](char c) { return symbol_of[static_cast<std::uint8_t>(c)]; });
}

std::uint64_t text_corpus::fingerprint() const {
  std::uint64_t hash = 0xcbf2'9ce4'8422'2325ull;  // FNV-1a
  const auto add = [&hash](std::uint8_t byte) { hash = (hash ^ byte) * 0x100'0000'01b3ull; };
  for (const char c : alphabet_)
    add(static_cast<std::uint8_t>(c));
  for (const std::uint8_t symbol : symbols_)
    add(symbol);
  return hash;
}

text_batch text_corpus::draw(const batch_request& request) const {
  TROUPE_ASSERT(size() > request.context);
  const troupe::random_stream step = troupe::random_stream(request.seed).fork(request.step);
  text_batch batch;
  batch.inputs.resize(request.row_count * request.context);
  batch.targets.resize(request.row_count);
  for (std::size_t row = 0; row < request.row_count; ++row) {
    const std::size_t begin =
        step.fork(request.first_row + row + 1).below(size() - request.context);
    std::copy_n(symbols_.begin() + static_cast<std::ptrdiff_t>(begin), request.context,
                batch.inputs.begin() + static_cast<std::ptrdiff_t>(row * request.context));
    batch.targets[row] = symbols_[begin + request.context];
  }
  return batch;
}

}  // namespace examples
