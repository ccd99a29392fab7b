#include "net/verbs/detail/queue_pair.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

#include "net/verbs/detail/adapter.hpp"

namespace troupe::net::detail {

namespace {

// Wait before a peer without a posted receive is asked again: 0.64 ms. Lanes hold credits, so this
// happens to a broken peer only, which is lost after `receiver_retry_count` of them.
constexpr std::uint8_t receiver_timer = 12;
constexpr std::uint8_t receiver_retry_count = 6;

ibv_mtu to_mtu(std::uint16_t bytes) {
  return static_cast<ibv_mtu>(std::bit_width(bytes) - 8);
}

}  // namespace

queue_pair& queue_pair::operator=(queue_pair&& other) noexcept {
  if (this == &other) return *this;
  reset();
  where_ = std::exchange(other.where_, nullptr);
  handle_ = std::move(other.handle_);
  place_ = other.place_;
  inline_bytes_ = other.inline_bytes_;
  first_packet_ = other.first_packet_;
  mtu_bytes_ = other.mtu_bytes_;
  gid_index_ = other.gid_index_;
  return *this;
}

result<queue_pair> queue_pair::make(adapter& where) {
  const auto& sizes = where.sizes();
  const auto place = where.queues().reserve(sizes.completions());
  if (!place) return tl::unexpected<error>(place.error());
  ibv_qp_init_attr wanted{};
  wanted.send_cq = where.queues().at(*place);
  wanted.recv_cq = wanted.send_cq;
  wanted.qp_type = IBV_QPT_RC;
  wanted.cap.max_send_wr = sizes.requests;
  wanted.cap.max_recv_wr = sizes.receives;
  wanted.cap.max_send_sge = 1;
  wanted.cap.max_recv_sge = 1;
  wanted.cap.max_inline_data = sizes.inline_bytes;
  queue_pair made;
  made.where_ = &where;
  made.place_ = *place;
  made.handle_.reset(ibv_create_qp(&where.domain(), &wanted));
  if (!made.handle_ && wanted.cap.max_inline_data != 0) {
    // How much a device takes inline is told by no query.
    wanted.cap.max_inline_data = 0;
    made.handle_.reset(ibv_create_qp(&where.domain(), &wanted));
  }
  if (!made.handle_) return fail(errc::resource_exhausted, errno);
  made.inline_bytes_ = std::min(sizes.inline_bytes, wanted.cap.max_inline_data);
  // Its own number is as good as a random one: a packet of an earlier pair names another number.
  made.first_packet_ = made.handle_->qp_num & 0xff'ffffu;
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_INIT;
  attributes.port_num = where.port().number;
  attributes.qp_access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
  const int code =
      ibv_modify_qp(made.handle_.get(), &attributes,
                    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
  if (code != 0) return fail(errc::system_failure, code);
  return made;
}

outcome<verbs_queue_pair_name> queue_pair::name(std::uint16_t device_count) {
  const auto address = where_->read_address();
  if (!address) return fail(address.error());
  mtu_bytes_ = address->mtu_bytes;
  gid_index_ = address->gid.index;
  return verbs_queue_pair_name{.link_layer = where_->port().link_layer,
                               .device_index = where_->index(),
                               .device_count = device_count,
                               .local_id = address->local_id,
                               .mtu_bytes = mtu_bytes_,
                               .number = handle_->qp_num,
                               .first_packet = first_packet_,
                               .receive_count = where_->sizes().receives,
                               .gid = address->gid.bytes};
}

result<void> queue_pair::connect(const verbs_queue_pair_name& peer) {
  const auto& options = where_->options();
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RTR;
  attributes.path_mtu = to_mtu(std::min(mtu_bytes_, peer.mtu_bytes));
  attributes.dest_qp_num = peer.number;
  attributes.rq_psn = peer.first_packet;
  attributes.max_dest_rd_atomic = 1;
  attributes.min_rnr_timer = receiver_timer;
  auto& path = attributes.ah_attr;
  path.dlid = peer.local_id;
  path.sl = static_cast<std::uint8_t>(options.service_level);
  path.port_num = where_->port().number;
  path.is_global = peer.link_layer == verbs_link_layer::ethernet;
  std::memcpy(path.grh.dgid.raw, peer.gid.data(), peer.gid.size());
  path.grh.sgid_index = static_cast<std::uint8_t>(gid_index_);
  path.grh.hop_limit = static_cast<std::uint8_t>(options.hop_limit);
  path.grh.traffic_class = static_cast<std::uint8_t>(options.traffic_class);
  int code = ibv_modify_qp(handle_.get(), &attributes,
                           IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                               IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
  if (code != 0) return fail(errc::system_failure, code);
  attributes = {};
  attributes.qp_state = IBV_QPS_RTS;
  attributes.timeout = static_cast<std::uint8_t>(options.timeout);
  attributes.retry_cnt = static_cast<std::uint8_t>(options.retry_count);
  attributes.rnr_retry = receiver_retry_count;
  attributes.sq_psn = first_packet_;
  attributes.max_rd_atomic = 1;
  code = ibv_modify_qp(handle_.get(), &attributes,
                       IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                           IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
  if (code != 0) return fail(errc::system_failure, code);
  return {};
}

int queue_pair::post(ibv_send_wr& first) {
  ibv_send_wr* refused = nullptr;
  return ibv_post_send(handle_.get(), &first, &refused);
}

int queue_pair::post(ibv_recv_wr& first) {
  ibv_recv_wr* refused = nullptr;
  return ibv_post_recv(handle_.get(), &first, &refused);
}

void queue_pair::reset() {
  if (where_ == nullptr) return;
  handle_.reset();
  std::exchange(where_, nullptr)->queues().release(place_);
}

}  // namespace troupe::net::detail
