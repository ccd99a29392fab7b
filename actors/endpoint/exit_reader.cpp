#include "actors/endpoint/exit_reader.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace troupe::actors {

outcome<std::unique_ptr<exit_reader>> exit_reader::open(const std::string& path,
                                                        std::uint32_t rank_count,
                                                        std::function<void(rank)> tell) {
  const auto refuse = [&](const std::string& why) {
    return fail(errc::bad_configuration, "fault_tolerance.exit_board = " + path + ": " + why);
  };
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return refuse(std::strerror(errno));
  struct stat about {};
  const bool is_long = ::fstat(file, &about) == 0 && about.st_size >= std::int64_t{rank_count};
  void* const board =
      is_long ? ::mmap(nullptr, rank_count, PROT_READ, MAP_SHARED, file, 0) : MAP_FAILED;
  const int cause = errno;
  ::close(file);
  if (!is_long)
    return refuse("it has " + std::to_string(about.st_size) + " bytes, and there are " +
                  std::to_string(rank_count) + " ranks; it needs a byte for each");
  if (board == MAP_FAILED) return refuse(std::strerror(cause));
  return std::unique_ptr<exit_reader>(
      new exit_reader(static_cast<const volatile std::byte*>(board), rank_count, std::move(tell)));
}

exit_reader::~exit_reader() {
  ::munmap(const_cast<std::byte*>(board_), told_.size());
}

void exit_reader::look_for_missing(instant now) {
  search_until_ = saturating_add(now, search);
  next_search_ = now;
}

bool exit_reader::poll(instant now) {
  if (now < saturating_add(last_look_, pause) && now < next_search_) return false;
  last_look_ = now;
  next_search_ = now < search_until_ ? saturating_add(now, pause) : never;
  bool found = false;
  for (std::uint32_t r = 0; r < told_.size(); ++r) {
    if (told_[r] || board_[r] == std::byte{0}) continue;
    told_[r] = found = true;
    tell_(rank{r});
  }
  return found;
}

}  // namespace troupe::actors
