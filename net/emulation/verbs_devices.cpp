// The calls about devices, contexts and addresses.
#include <infiniband/verbs.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>

#include "net/emulation/detail/device.hpp"
#include "net/emulation/detail/misuse.hpp"
#include "net/emulation/detail/nic.hpp"

#undef ibv_query_port

using namespace troupe::net::emulation;

namespace {

int failed_with_errno(int code) {
  errno = code;
  return -1;
}

bool gid_entry(ibv_context* context, std::uint32_t port, std::uint32_t index, ibv_gid_entry& out) {
  if (port != 1 || index >= gid_count) return false;
  const auto& words = nic_of(context).memory().header().gids[index];
  out = {};
  out.gid = gid_of({words[0].load(), words[1].load()});
  out.gid_index = index;
  out.port_num = port;
  out.gid_type = IBV_GID_TYPE_ROCE_V2;
  return true;
}

}  // namespace

extern "C" {

ibv_device** ibv_get_device_list(int* count) {
  const auto& devices = process_devices();
  auto list = std::make_unique<ibv_device*[]>(devices.size() + 1);
  std::copy(devices.begin(), devices.end(), list.get());
  if (count != nullptr) *count = static_cast<int>(devices.size());
  return list.release();
}

void ibv_free_device_list(ibv_device** list) {
  const std::unique_ptr<ibv_device*[]> released(list);
}

const char* ibv_get_device_name(ibv_device* device) {
  return device->name;
}

int ibv_get_device_index(ibv_device* device) {
  return static_cast<int>(index_of(*device));
}

__be64 ibv_get_device_guid(ibv_device* device) {
  return gid_words(device_gid(index_of(*device), 0, 0))[1];
}

ibv_context* ibv_open_device(ibv_device* device) {
  auto opened = nic::open(*device, index_of(*device));
  return opened == nullptr ? nullptr : opened.release()->context();
}

int ibv_close_device(ibv_context* context) {
  const std::unique_ptr<nic> closed(&nic_of(context));
  const auto left = [](std::size_t count, const char* what) {
    return count == 0 ? "" : " " + std::to_string(count) + ' ' + what;
  };
  const auto still_there = left(closed->qp_count(), "queue pairs") +
                           left(closed->cq_count, "completion queues") +
                           left(closed->regions.count(), "memory regions") +
                           left(closed->pd_count, "protection domains") +
                           left(closed->channel_count, "completion channels");
  if (!still_there.empty())
    misuse("ibv_close_device", std::string(context->device->name) +
                                   " is closed before what was made on it:" + still_there);
  return 0;
}

int ibv_query_device(ibv_context* context, ibv_device_attr* out) {
  *out = device_limits(nic_of(context).device_index());
  return 0;
}

// Only programs that know no extended context call this one.
int ibv_query_port(ibv_context* context, std::uint8_t port, _compat_ibv_port_attr* out) {
  return query_port(context, port, reinterpret_cast<ibv_port_attr*>(out),
                    offsetof(ibv_port_attr, port_cap_flags2));
}

int ibv_query_gid(ibv_context* context, std::uint8_t port, int index, ibv_gid* out) {
  ibv_gid_entry entry{};
  if (index < 0 || !gid_entry(context, port, static_cast<std::uint32_t>(index), entry))
    return failed_with_errno(EINVAL);
  *out = entry.gid;
  return 0;
}

int _ibv_query_gid_ex(ibv_context* context, std::uint32_t port, std::uint32_t index,
                      ibv_gid_entry* out, std::uint32_t flags, std::size_t entry_bytes) {
  ibv_gid_entry entry{};
  if (flags != 0 || port != 1) return EINVAL;
  if (!gid_entry(context, port, index, entry)) return ENODATA;
  std::memcpy(out, &entry, std::min(entry_bytes, sizeof entry));
  return 0;
}

ssize_t _ibv_query_gid_table(ibv_context* context, ibv_gid_entry* out, std::size_t count_max,
                             std::uint32_t flags, std::size_t entry_bytes) {
  if (flags != 0) return -EINVAL;
  const std::size_t count = std::min(count_max, gid_count);
  for (std::size_t i = 0; i < count; ++i) {
    auto* const at = reinterpret_cast<std::byte*>(out) + i * entry_bytes;
    _ibv_query_gid_ex(context, 1, static_cast<std::uint32_t>(i),
                      reinterpret_cast<ibv_gid_entry*>(at), 0, entry_bytes);
  }
  return static_cast<ssize_t>(count);
}

// Of the library's private part, but ibv_devinfo calls it; 1 is RoCE v2.
int ibv_query_gid_type(ibv_context*, std::uint8_t port, unsigned index, int* type) {
  if (port != 1 || index >= gid_count) return failed_with_errno(EINVAL);
  *type = 1;
  return 0;
}

int ibv_query_pkey(ibv_context*, std::uint8_t port, int index, __be16* pkey) {
  if (port != 1 || index != 0) return failed_with_errno(EINVAL);
  *pkey = 0xffff;
  return 0;
}

int ibv_get_pkey_index(ibv_context*, std::uint8_t port, __be16 pkey) {
  return port == 1 && pkey == 0xffff ? 0 : failed_with_errno(EINVAL);
}

int ibv_get_async_event(ibv_context* context, ibv_async_event* out) {
  const auto event = nic_of(context).async_events.take();
  if (!event) return -1;
  *out = *event;
  return 0;
}

void ibv_ack_async_event(ibv_async_event*) {}

int ibv_fork_init() {
  return 0;
}

ibv_fork_status ibv_is_fork_initialized() {
  return IBV_FORK_UNNEEDED;
}

}  // extern "C"
