// The calls about protection domains and memory regions.
#include <infiniband/verbs.h>

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "net/emulation/detail/memory_table.hpp"
#include "net/emulation/detail/misuse.hpp"
#include "net/emulation/detail/nic.hpp"

#undef ibv_reg_mr
#undef ibv_reg_mr_iova

using namespace troupe::net::emulation;

namespace {

constexpr unsigned known_access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                                  IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC |
                                  IBV_ACCESS_RELAXED_ORDERING;

// Brings the pages in, as pinning does. An address without memory is an error at once.
int touch(void* begin, std::size_t bytes, unsigned access) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto first = reinterpret_cast<std::uintptr_t>(begin) / page * page;
  const auto end = reinterpret_cast<std::uintptr_t>(begin) + bytes;
  const bool writes = (access & ~unsigned{IBV_ACCESS_REMOTE_READ}) != 0;
  const int advice = writes ? MADV_POPULATE_WRITE : MADV_POPULATE_READ;
  if (::madvise(reinterpret_cast<void*>(first), end - first, advice) == 0) return 0;
  // Kernels before 5.14 do not know the advice.
  return errno == EINVAL ? 0 : EFAULT;
}

ibv_mr* refused(int code, const std::string& why) {
  complain("ibv_reg_mr", why);
  errno = code;
  return nullptr;
}

ibv_mr* add_region(ibv_pd* pd, void* begin, std::size_t bytes, std::uint64_t iova,
                   unsigned access) {
  auto& owner = nic_of(pd->context);
  auto& faults = owner.faults();
  std::this_thread::sleep_for(std::chrono::nanoseconds(faults.registration_ns.load()));
  if (device_faults::take_one(faults.registrations_to_fail))
    return refused(ENOMEM, "fails on command (fail_registrations)");
  if (bytes == 0) return refused(EINVAL, "a region has at least one byte");
  if ((access & ~known_access) != 0)
    return refused(EOPNOTSUPP, "access flags " + hexadecimal(access & ~known_access) +
                                   " are not emulated (on demand, huge, zero based, windows)");
  constexpr unsigned writes = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
  if ((access & writes) != 0 && (access & IBV_ACCESS_LOCAL_WRITE) == 0)
    return refused(EINVAL, "remote write and atomic need IBV_ACCESS_LOCAL_WRITE");
  if (const int wrong = touch(begin, bytes, access); wrong != 0)
    return refused(wrong, std::to_string(bytes) + " bytes at " +
                              hexadecimal(reinterpret_cast<std::uintptr_t>(begin)) +
                              " are not all memory that may be used so");
  auto made = std::make_unique<region>();
  made->handle.context = pd->context;
  made->handle.pd = pd;
  made->handle.addr = begin;
  made->handle.length = bytes;
  made->begin = iova;
  made->access = access;
  const std::lock_guard guard(owner.lock);
  auto* const held = owner.regions.add(std::move(made));
  return held == nullptr ? nullptr : &held->handle;
}

}  // namespace

extern "C" {

ibv_pd* ibv_alloc_pd(ibv_context* context) {
  auto& owner = nic_of(context);
  const std::lock_guard guard(owner.lock);
  auto made = std::make_unique<ibv_pd>();
  made->context = context;
  made->handle = ++owner.pd_count;
  return made.release();
}

int ibv_dealloc_pd(ibv_pd* pd) {
  auto& owner = nic_of(pd->context);
  const std::lock_guard guard(owner.lock);
  if (const auto count = owner.regions.count_of(pd); count != 0)
    misuse("ibv_dealloc_pd", std::to_string(count) +
                                 " memory regions of this protection domain are still registered");
  if (const auto count = owner.qp_count_of(pd); count != 0)
    misuse("ibv_dealloc_pd",
           std::to_string(count) + " queue pairs of this protection domain still exist");
  --owner.pd_count;
  const std::unique_ptr<ibv_pd> released(pd);
  return 0;
}

ibv_mr* ibv_reg_mr(ibv_pd* pd, void* begin, std::size_t bytes, int access) {
  return add_region(pd, begin, bytes, reinterpret_cast<std::uintptr_t>(begin),
                    static_cast<unsigned>(access));
}

ibv_mr* ibv_reg_mr_iova(ibv_pd* pd, void* begin, std::size_t bytes, std::uint64_t iova,
                        int access) {
  return add_region(pd, begin, bytes, iova, static_cast<unsigned>(access));
}

ibv_mr* ibv_reg_mr_iova2(ibv_pd* pd, void* begin, std::size_t bytes, std::uint64_t iova,
                         unsigned access) {
  return add_region(pd, begin, bytes, iova, access);
}

int ibv_dereg_mr(ibv_mr* handle) {
  auto& owner = nic_of(handle->context);
  auto& ended = *reinterpret_cast<region*>(handle);
  const std::lock_guard guard(owner.lock);
  if (ended.sends != 0)
    misuse("ibv_dereg_mr", std::to_string(ended.sends) + " requests under way use the region of " +
                               std::to_string(handle->length) + " bytes at " +
                               hexadecimal(reinterpret_cast<std::uintptr_t>(handle->addr)) +
                               ": wait for their completions first");
  owner.regions.remove(ended);
  return 0;
}

}  // extern "C"
