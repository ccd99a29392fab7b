#include "net/verbs/verbs_devices.hpp"

#include <cerrno>
#include <cstring>
#include <string>

#include "net/verbs/detail/handles.hpp"

namespace troupe::net {

outcome<std::vector<verbs_port>> find_verbs_ports() {
  int count = 0;
  ibv_device** const list = ibv_get_device_list(&count);
  std::vector<verbs_port> out;
  // ENOSYS: the kernel has no RDMA, so there are no devices.
  if (list == nullptr) return out;
  int failed = 0;
  for (int i = 0; i < count && failed == 0; ++i) {
    const detail::device_context device(ibv_open_device(list[i]));
    ibv_device_attr limits{};
    if (!device || ibv_query_device(device.get(), &limits) != 0) {
      failed = errno == 0 ? EIO : errno;
      break;
    }
    for (std::uint8_t number = 1; number <= limits.phys_port_cnt; ++number) {
      ibv_port_attr port{};
      if (ibv_query_port(device.get(), number, &port) != 0) continue;
      out.push_back({.device = ibv_get_device_name(list[i]),
                     .number = number,
                     .active = port.state == IBV_PORT_ACTIVE,
                     .state = ibv_port_state_str(port.state),
                     .link_layer = port.link_layer == IBV_LINK_LAYER_ETHERNET
                                       ? verbs_link_layer::ethernet
                                       : verbs_link_layer::infiniband});
    }
  }
  ibv_free_device_list(list);
  if (failed != 0)
    return fail(failure(
        {errc::system_failure, failed},
        std::string("an RDMA device is there and cannot be opened: ") + std::strerror(failed)));
  return out;
}

}  // namespace troupe::net
