#include "net/emulation/detail/device.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>

#include "net/emulation/detail/nic.hpp"
#include "net/emulation/detail/settings.hpp"

namespace troupe::net::emulation {

namespace {

struct device_set {
  std::vector<std::unique_ptr<ibv_device>> held;
  std::vector<ibv_device*> all;
};

void write_name(char (&to)[IBV_SYSFS_NAME_MAX], const std::string& name) {
  std::memcpy(to, name.c_str(), name.size() + 1);
}

device_set make_devices() {
  device_set made;
  for (std::uint32_t i = 0; i < process_settings().device_count; ++i) {
    auto device = std::make_unique<ibv_device>();
    device->node_type = IBV_NODE_CA;
    device->transport_type = IBV_TRANSPORT_IB;
    write_name(device->name, "emu" + std::to_string(i));
    write_name(device->dev_name, "uverbs" + std::to_string(i));
    made.all.push_back(device.get());
    made.held.push_back(std::move(device));
  }
  return made;
}

template <class Attributes>
void copy_front(void* to, const Attributes& from, std::size_t bytes) {
  std::memset(to, 0, bytes);
  std::memcpy(to, &from, std::min(bytes, sizeof from));
}

}  // namespace

const std::vector<ibv_device*>& process_devices() {
  static const device_set& devices = *std::make_unique<device_set>(make_devices()).release();
  return devices.all;
}

std::uint32_t index_of(const ibv_device& device) {
  const auto& all = process_devices();
  std::uint32_t index = 0;
  while (index < all.size() && all[index] != &device)
    ++index;
  return index;
}

ibv_gid device_gid(std::uint32_t device_index, std::uint32_t gid_index, std::uint32_t changes) {
  const auto host = process_settings().host;
  const auto high = static_cast<std::uint8_t>(host >> 8);
  const auto low = static_cast<std::uint8_t>(host);
  const auto card = static_cast<std::uint8_t>(device_index + 1);
  const auto net = static_cast<std::uint8_t>(10 + changes % 100);
  ibv_gid gid{};
  if (gid_index == 0) {
    const std::uint8_t raw[16] = {0xfe, 0x80, 0, 0,    0,    0,    0,   0,
                                  0x02, 0,    0, 0xff, 0xfe, high, low, card};
    std::memcpy(gid.raw, raw, sizeof raw);
  } else {
    const std::uint8_t raw[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, net, high, low, card};
    std::memcpy(gid.raw, raw, sizeof raw);
  }
  return gid;
}

std::uint32_t host_of(const ibv_gid& gid) {
  return std::uint32_t{gid.raw[13]} << 8 | gid.raw[14];
}

std::array<std::uint64_t, 2> gid_words(const ibv_gid& gid) {
  std::array<std::uint64_t, 2> words{};
  std::memcpy(words.data(), gid.raw, sizeof gid.raw);
  return words;
}

ibv_gid gid_of(const std::array<std::uint64_t, 2>& words) {
  ibv_gid gid{};
  std::memcpy(gid.raw, words.data(), sizeof gid.raw);
  return gid;
}

int query_port(ibv_context* context, std::uint8_t port, ibv_port_attr* out, std::size_t bytes) {
  if (port != 1) return EINVAL;
  const auto& owner = nic_of(context);
  ibv_port_attr said{};
  const bool is_up = owner.port_is_up();
  said.state = is_up ? IBV_PORT_ACTIVE : IBV_PORT_DOWN;
  said.phys_state = is_up ? 5 : 3;  // LinkUp, Disabled
  said.max_mtu = IBV_MTU_4096;
  said.active_mtu = IBV_MTU_4096;
  said.gid_tbl_len = gid_count;
  said.max_msg_sz = message_bytes_max;
  said.pkey_tbl_len = 1;
  said.max_vl_num = 1;
  said.active_width = 2;   // 4 lanes
  said.active_speed = 32;  // of 25 Gbit/s
  said.link_layer = IBV_LINK_LAYER_ETHERNET;
  copy_front(out, said, bytes);
  return 0;
}

ibv_device_attr device_limits(std::uint32_t device_index) {
  ibv_device_attr said{};
  std::memcpy(said.fw_ver, "troupe", sizeof "troupe");
  const auto words = gid_words(device_gid(device_index, 0, 0));
  said.node_guid = words[1];
  said.sys_image_guid = words[1];
  said.max_mr_size = ~std::uint64_t{0};
  said.page_size_cap = 0xfffff000;
  said.vendor_part_id = 1;
  said.hw_ver = 1;
  said.max_qp = slot_count;
  said.max_qp_wr = queue_depth_max;
  said.device_cap_flags = IBV_DEVICE_SYS_IMAGE_GUID | IBV_DEVICE_RC_RNR_NAK_GEN;
  said.max_sge = piece_count_max;
  said.max_sge_rd = piece_count_max;
  said.max_cq = 65536;
  said.max_cqe = completion_depth_max;
  said.max_mr = 1 << 24;
  said.max_pd = 65536;
  said.max_qp_rd_atom = 16;
  said.max_res_rd_atom = 16 * slot_count;
  said.max_qp_init_rd_atom = 16;
  said.atomic_cap = IBV_ATOMIC_HCA;
  said.max_pkeys = 1;
  said.local_ca_ack_delay = 15;
  said.phys_port_cnt = 1;
  return said;
}

int query_device_ex(ibv_context* context, const ibv_query_device_ex_input* input,
                    ibv_device_attr_ex* out, std::size_t bytes) {
  if (bytes < sizeof out->orig_attr || (input != nullptr && input->comp_mask != 0)) return EINVAL;
  ibv_device_attr_ex said{};
  said.orig_attr = device_limits(nic_of(context).device_index());
  said.phys_port_cnt_ex = 1;
  copy_front(out, said, bytes);
  return 0;
}

}  // namespace troupe::net::emulation
