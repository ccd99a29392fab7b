#include "net/emulation/detail/byte_mover.hpp"

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "net/emulation/detail/device.hpp"

namespace troupe::net::emulation {

namespace {

struct vector_list {
  std::array<iovec, piece_count_max> pieces;
  std::size_t count = 0;

  void add(std::uint64_t begin, std::uint64_t piece_bytes, std::uint64_t& skip,
           std::uint64_t& left) {
    const auto skipped = std::min(skip, piece_bytes);
    skip -= skipped;
    const auto taken = std::min(left, piece_bytes - skipped);
    left -= taken;
    if (taken == 0 || count == pieces.size()) return;
    pieces[count++] = {reinterpret_cast<void*>(begin + skipped), taken};
  }
};

vector_list cut(std::span<const source_piece> pieces, std::uint64_t skip, std::uint64_t left) {
  vector_list list;
  for (const auto& piece : pieces)
    list.add(piece.address, piece.bytes, skip, left);
  return list;
}

vector_list cut(std::span<const local_piece> pieces, std::uint64_t skip, std::uint64_t left) {
  vector_list list;
  for (const auto& piece : pieces)
    list.add(reinterpret_cast<std::uintptr_t>(piece.begin), piece.bytes, skip, left);
  return list;
}

// Within one process the bytes are copied here.
void copy_pieces(const vector_list& from, const vector_list& to) {
  std::size_t source = 0;
  std::size_t target = 0;
  std::size_t source_done = 0;
  std::size_t target_done = 0;
  while (source < from.count && target < to.count) {
    const auto& f = from.pieces[source];
    const auto& t = to.pieces[target];
    const auto bytes = std::min(f.iov_len - source_done, t.iov_len - target_done);
    std::memmove(static_cast<std::byte*>(t.iov_base) + target_done,
                 static_cast<const std::byte*>(f.iov_base) + source_done, bytes);
    source_done += bytes;
    target_done += bytes;
    if (source_done == f.iov_len) ++source, source_done = 0;
    if (target_done == t.iov_len) ++target, target_done = 0;
  }
}

}  // namespace

move_result move_bytes(::pid_t process, std::span<const source_piece> theirs,
                       std::span<const local_piece> ours, std::uint64_t offset, std::uint64_t bytes,
                       direction way) {
  if (bytes == 0) return move_result::moved;
  const auto there = cut(theirs, offset, bytes);
  const auto here = cut(ours, offset, bytes);
  if (process == 0) {
    way == direction::to_us ? copy_pieces(there, here) : copy_pieces(here, there);
    return move_result::moved;
  }
  const auto moved = way == direction::to_us
                         ? ::process_vm_readv(process, here.pieces.data(), here.count,
                                              there.pieces.data(), there.count, 0)
                         : ::process_vm_writev(process, here.pieces.data(), here.count,
                                               there.pieces.data(), there.count, 0);
  if (moved == static_cast<ssize_t>(bytes)) return move_result::moved;
  return moved < 0 && errno == ESRCH ? move_result::process_gone : move_result::bad_memory;
}

}  // namespace troupe::net::emulation
