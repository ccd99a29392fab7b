#pragma once

#include "config/detail/option_units.hpp"
#include "config/option_description.hpp"
#include "config/text_forms.hpp"

#include <array>
#include <string_view>

namespace troupe::config::detail {

inline constexpr std::array<std::string_view, 3> large_write_choices{"auto", "pull", "ring"};

/// The options of section [tcp].
inline constexpr option_description tcp_table[] = {
    {.name = "tcp.congestion_control",
     .field = field<&options::tcp, &tcp_options::congestion_control>,
     .unset_means = "reno within a host if allowed, else the system's",
     .accepts = is_kernel_name,
     .form = "name of a congestion control that the kernel has",
     .sentence = "Congestion control of every socket."},
    {.name = "tcp.send_buffer_bytes",
     .kind = value_kind::bytes,
     .field = field<&options::tcp, &tcp_options::send_buffer_bytes>,
     .unit = "bytes",
     .low = 4 * kib,
     .high = 1 * gib,
     .unset_means = "the system tunes it",
     .sentence = "Send buffer of every socket (SO_SNDBUF)."},
    {.name = "tcp.receive_buffer_bytes",
     .kind = value_kind::bytes,
     .field = field<&options::tcp, &tcp_options::receive_buffer_bytes>,
     .unit = "bytes",
     .low = 4 * kib,
     .high = 1 * gib,
     .unset_means = "the system tunes it",
     .sentence = "Receive buffer of every socket (SO_RCVBUF)."},
    {.name = "tcp.backlog",
     .kind = value_kind::count,
     .field = field<&options::tcp, &tcp_options::backlog>,
     .unit = "connections",
     .low = 1,
     .high = 65535,
     .sentence = "Connections the kernel keeps until they are accepted."},
    // 10: with less a link has no room for its control messages.
    {.name = "tcp.lane_depth",
     .kind = value_kind::count,
     .field = field<&options::tcp, &tcp_options::lane_depth>,
     .unit = "writes",
     .low = 10,
     .high = 4096,
     .sentence = "Writes that one lane takes at once."},
};

/// The options of section [shm].
inline constexpr option_description shm_table[] = {
    // 64KiB: room for the messages and write headers of a lane of the default depth.
    {.name = "shm.ring_bytes",
     .kind = value_kind::bytes,
     .field = field<&options::shm, &shm_options::ring_bytes>,
     .unit = "bytes",
     .low = 64 * kib,
     .high = 64 * mib,
     .shape = number_shape::power_of_two,
     .sentence = "Frames on their way in one direction of a lane; each lane has two such rings."},
    {.name = "shm.bulk_bytes",
     .kind = value_kind::bytes,
     .field = field<&options::shm, &shm_options::bulk_bytes>,
     .unit = "bytes",
     .low = 64 * kib,
     .high = 64 * mib,
     .shape = number_shape::power_of_two,
     .sentence =
         "Bytes of long writes on their way in one direction of a lane where they cannot be "
         "read from their source."},
    {.name = "shm.inline_bytes",
     .kind = value_kind::bytes,
     .field = field<&options::shm, &shm_options::inline_bytes>,
     .unit = "bytes",
     .low = 0,
     .high = 1 * mib,
     .sentence = "Writes up to this size travel in the ring while it has room."},
    // 32: a link gives up a lane with less.
    {.name = "shm.lane_depth",
     .kind = value_kind::count,
     .field = field<&options::shm, &shm_options::lane_depth>,
     .unit = "writes",
     .low = 32,
     .high = 4096,
     .sentence = "Writes that one lane takes at once."},
    {.name = "shm.large_writes",
     .field = field<&options::shm, &shm_options::large_writes>,
     .choices = large_write_choices,
     .sentence = "How longer writes cross: auto reads them from their source, directly within one "
                 "process, where the system permits it; pull never directly; ring never."},
};

/// The options of section [verbs].
inline constexpr option_description verbs_table[] = {
    {.name = "verbs.devices",
     .field = field<&options::verbs, &verbs_options::devices>,
     .unset_means = "every port that is active",
     .form = "names with commas, each with or without :port; ^ before the first excludes them",
     .sentence = "RDMA devices to use; lanes to a peer take them in turn."},
    // 255: no GID table in use is that long.
    {.name = "verbs.gid_index",
     .kind = value_kind::count,
     .field = field<&options::verbs, &verbs_options::gid_index>,
     .unit = "row",
     .high = 255,
     .sentence = "Row of the port's GID table; 255 chooses: RoCE v2 with an IPv4 address, else "
                 "RoCE v2 with a global IPv6 address, else RoCE v2; on InfiniBand row 0."},
    {.name = "verbs.mtu",
     .kind = value_kind::count,
     .field = field<&options::verbs, &verbs_options::mtu>,
     .unit = "bytes",
     .low = 256,
     .high = 4096,
     .shape = number_shape::power_of_two,
     .unset_means = "the active MTU of the port",
     .sentence = "Longest packet; the smaller of both ends counts."},
    // 31 is what the field of the device holds; 0 would wait for ever.
    {.name = "verbs.timeout",
     .kind = value_kind::count,
     .field = field<&options::verbs, &verbs_options::timeout>,
     .unit = "exponent",
     .low = 1,
     .high = 31,
     .sentence = "How long a device waits for an acknowledgement before it repeats: 4.096 us times "
                 "two to this power; 16 is 268 ms."},
    // Some devices take 7 as without end: a dead peer would then never be noticed.
    {.name = "verbs.retry_count",
     .kind = value_kind::count,
     .field = field<&options::verbs, &verbs_options::retry_count>,
     .unit = "times",
     .high = 6,
     .sentence = "Repetitions without an answer after which a lane is lost."},
    {.name = "verbs.traffic_class",
     .kind = value_kind::count,
     .field = field<&options::verbs, &verbs_options::traffic_class>,
     .unit = "class",
     .high = 255,
     .sentence = "Traffic class of the packets: DSCP in the upper six bits on RoCE."},
    {.name = "verbs.service_level",
     .kind = value_kind::count,
     .field = field<&options::verbs, &verbs_options::service_level>,
     .unit = "level",
     .high = 15,
     .sentence = "InfiniBand service level of the packets."},
    {.name = "verbs.hop_limit",
     .kind = value_kind::count,
     .field = field<&options::verbs, &verbs_options::hop_limit>,
     .unit = "hops",
     .low = 1,
     .high = 255,
     .sentence = "Routers that a packet may pass on RoCE."},
    // 32: a link gives up a lane with less.
    {.name = "verbs.lane_depth",
     .kind = value_kind::count,
     .field = field<&options::verbs, &verbs_options::lane_depth>,
     .unit = "writes",
     .low = 32,
     .high = 1024,
     .sentence = "Writes that one lane takes at once."},
    {.name = "verbs.inline_bytes",
     .kind = value_kind::bytes,
     .field = field<&options::verbs, &verbs_options::inline_bytes>,
     .unit = "bytes",
     .high = 1024,
     .unset_means = "never",
     .sentence = "Writes and messages up to this size travel in the work request itself, as far "
                 "as the device takes them."},
    // 2048: ten lanes of the default depth.
    {.name = "verbs.completion_queue_entries",
     .kind = value_kind::count,
     .field = field<&options::verbs, &verbs_options::completion_queue_entries>,
     .unit = "entries",
     .low = 2048,
     .high = 4 * 1024 * 1024,
     .sentence = "Entries of one completion queue; lanes that do not fit get another one."},
};

}  // namespace troupe::config::detail
