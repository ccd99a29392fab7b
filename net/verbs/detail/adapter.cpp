#include "net/verbs/detail/adapter.hpp"

#include <fcntl.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "net/verbs/detail/queue_pair.hpp"

namespace troupe::net::detail {

namespace {

// Sends that a lane makes for itself and that may be under way: credits, questions and answers.
constexpr std::uint32_t service_count = 8;

// Longest piece of a write. Chosen: long enough to cost nothing, below the 2 GiB that devices take.
constexpr std::uint32_t piece_bytes_max = 1u << 30;

std::string name_of(const verbs_port& port) {
  return port.device + ":" + std::to_string(port.number);
}

tl::unexpected<failure> system_text(const std::string& call, const verbs_port& port, int code) {
  return fail(failure({errc::system_failure, code},
                      call + " of RDMA port " + name_of(port) + ": " + std::strerror(code)));
}

device_context open_device(const std::string& name) {
  int count = 0;
  ibv_device** const list = ibv_get_device_list(&count);
  device_context opened;
  for (int i = 0; list != nullptr && i < count && !opened; ++i)
    if (name == ibv_get_device_name(list[i])) opened.reset(ibv_open_device(list[i]));
  if (list != nullptr) ibv_free_device_list(list);
  return opened;
}

bool set_nonblocking(int descriptor) {
  const int flags = ::fcntl(descriptor, F_GETFL);
  return flags >= 0 && ::fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) == 0;
}

std::string in_kib(std::uint64_t bytes) {
  return std::to_string((bytes + 1023) / 1024) + " KiB";
}

std::uint16_t bytes_of(ibv_mtu mtu) {
  return static_cast<std::uint16_t>(128u << static_cast<unsigned>(mtu));
}

}  // namespace

std::string locked_memory_text(std::uint64_t needed_bytes) {
  rlimit limit{};
  ::getrlimit(RLIMIT_MEMLOCK, &limit);
  if (limit.rlim_cur == RLIM_INFINITY)
    return "the device cannot register " + in_kib(needed_bytes) + " more memory";
  return "RLIMIT_MEMLOCK is " + in_kib(limit.rlim_cur) + " and " + in_kib(needed_bytes) +
         " more are to be registered with the device: raise it (ulimit -l unlimited; LimitMEMLOCK "
         "of a service)";
}

outcome<std::unique_ptr<adapter>> adapter::open(const request& what,
                                                const config::verbs_options& options,
                                                const buffer_table& buffers) {
  std::unique_ptr<adapter> made(new adapter(what, options));
  made->device_ = open_device(what.port.device);
  if (!made->device_) return system_text("opening", what.port, errno);
  made->domain_.reset(ibv_alloc_pd(made->device_.get()));
  if (!made->domain_) return system_text("ibv_alloc_pd", what.port, errno);
  made->channel_.reset(ibv_create_comp_channel(made->device_.get()));
  if (!made->channel_) return system_text("ibv_create_comp_channel", what.port, errno);
  if (!set_nonblocking(made->channel_->fd) || !set_nonblocking(made->device_->async_fd))
    return system_text("fcntl", what.port, errno);
  if (auto read = made->read_limits(); !read) return fail(std::move(read.error()));
  if (auto address = made->read_address(); !address) return fail(std::move(address.error()));
  made->memory_ = std::make_unique<local_memory>(*made->domain_, buffers);
  if (auto tried = made->try_lane(); !tried) return fail(std::move(tried.error()));
  return made;
}

outcome<void> adapter::read_limits() {
  ibv_device_attr device{};
  if (const int code = ibv_query_device(device_.get(), &device); code != 0)
    return system_text("ibv_query_device", port_, code);
  ibv_port_attr port{};
  if (const int code = ibv_query_port(device_.get(), port_.number, &port); code != 0)
    return system_text("ibv_query_port", port_, code);
  sizes_.depth = options_.lane_depth;
  sizes_.services = service_count;
  sizes_.messages = 2 * sizes_.depth;
  sizes_.requests = sizes_.depth + sizes_.messages + service_count;
  sizes_.receives = 2 * sizes_.depth + service_count;
  sizes_.inline_bytes = static_cast<std::uint32_t>(options_.inline_bytes);
  sizes_.piece_bytes = std::min(piece_bytes_max, port.max_msg_sz);
  const auto requests_max = static_cast<std::uint32_t>(device.max_qp_wr);
  if (sizes_.requests > requests_max)
    return fail(errc::bad_configuration, "verbs.lane_depth = " + std::to_string(sizes_.depth) +
                                             " needs " + std::to_string(sizes_.requests) +
                                             " requests in a queue of port " + name_of(port_) +
                                             ", which has at most " + std::to_string(requests_max));
  const auto entries =
      std::min(options_.completion_queue_entries, static_cast<std::uint32_t>(device.max_cqe));
  if (entries < sizes_.completions())
    return fail(errc::bad_configuration,
                "verbs.lane_depth = " + std::to_string(sizes_.depth) + " needs " +
                    std::to_string(sizes_.completions()) +
                    " entries of a completion queue, and one has " + std::to_string(entries) +
                    " (verbs.completion_queue_entries, or what port " + name_of(port_) + " takes)");
  queues_ = std::make_unique<completion_queues>(*device_, *channel_, entries);
  return {};
}

bool adapter::port_is_active() const {
  ibv_port_attr port{};
  return ibv_query_port(device_.get(), port_.number, &port) == 0 && port.state == IBV_PORT_ACTIVE;
}

outcome<adapter::address> adapter::read_address() const {
  ibv_port_attr port{};
  if (const int code = ibv_query_port(device_.get(), port_.number, &port); code != 0)
    return system_text("ibv_query_port", port_, code);
  if (port.state != IBV_PORT_ACTIVE)
    return fail(errc::not_available, "RDMA port " + name_of(port_) + " is " +
                                         ibv_port_state_str(port.state) + ": bring it up");
  std::vector<verbs_gid> rows;
  for (int i = 0; i < port.gid_tbl_len; ++i) {
    ibv_gid_entry row{};
    if (ibv_query_gid_ex(device_.get(), port_.number, static_cast<std::uint32_t>(i), &row, 0) != 0)
      continue;
    verbs_gid gid{.index = static_cast<std::uint32_t>(i),
                  .is_roce_v2 = row.gid_type == IBV_GID_TYPE_ROCE_V2};
    std::memcpy(gid.bytes.data(), row.gid.raw, gid.bytes.size());
    rows.push_back(gid);
  }
  auto gid = choose_gid(port_, options_.gid_index, rows);
  if (!gid) return fail(std::move(gid.error()));
  auto mtu = bytes_of(port.active_mtu);
  if (options_.mtu != 0) mtu = std::min(mtu, static_cast<std::uint16_t>(options_.mtu));
  return address{*gid, port.lid, mtu};
}

// A lane is made and thrown away: what would fail in mid-job fails now.
outcome<void> adapter::try_lane() {
  const auto slots = slot_memory::make(*domain_, sizes_.slots());
  const auto needed = slot_memory::bytes_of(sizes_.slots());
  if (!slots) {
    const auto text = slots.error().native == ENOMEM ? locked_memory_text(needed)
                                                     : std::strerror(slots.error().native);
    return fail(
        failure(slots.error(), "no memory for lanes on RDMA port " + name_of(port_) + ": " + text));
  }
  auto pair = queue_pair::make(*this);
  if (!pair)
    return fail(failure(pair.error(), "RDMA port " + name_of(port_) + " makes no queue pair: " +
                                          std::strerror(pair.error().native)));
  // What the pair got is never less than was asked for, and lanes ask for the same.
  sizes_.inline_bytes = std::min(sizes_.inline_bytes, pair->inline_bytes());
  return {};
}

}  // namespace troupe::net::detail
