#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <cstdint>
#include <vector>

namespace troupe::net::emulation {

/// The devices of this process, as many as its settings say; they live as long as the process.
const std::vector<ibv_device*>& process_devices();
/// Which of them it is.
std::uint32_t index_of(const ibv_device& device);

/// GID `gid_index` of a device: 0 is link-local, 1 holds an IPv4 address in which host
/// and device can be read, both RoCE v2.
/// `changes` makes GID 1 another.
ibv_gid device_gid(std::uint32_t device_index, std::uint32_t gid_index, std::uint32_t changes);
/// The host that any such GID names.
std::uint32_t host_of(const ibv_gid& gid);
std::array<std::uint64_t, 2> gid_words(const ibv_gid& gid);
ibv_gid gid_of(const std::array<std::uint64_t, 2>& words);

// Entries of the verbs context.
int query_port(ibv_context* context, std::uint8_t port, ibv_port_attr* out, std::size_t bytes);
int query_device_ex(ibv_context* context, const ibv_query_device_ex_input* input,
                    ibv_device_attr_ex* out, std::size_t bytes);

/// Limits of a device, as `ibv_query_device` says them.
ibv_device_attr device_limits(std::uint32_t device_index);

inline constexpr std::uint32_t inline_bytes_max = 512;
inline constexpr std::uint32_t piece_count_max = 16;
inline constexpr std::uint32_t message_bytes_max = 1u << 30;
inline constexpr std::uint32_t queue_depth_max = 16384;
inline constexpr std::uint32_t completion_depth_max = 1u << 22;

}  // namespace troupe::net::emulation
