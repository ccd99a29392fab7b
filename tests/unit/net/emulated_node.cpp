#include "tests/unit/net/emulated_node.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>

#include "net/emulation/control_name.hpp"

namespace troupe::net {

namespace {

void demand(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(std::string("failed: ") + what);
}

ibv_context* open_device(int index) {
  int count = 0;
  auto** const list = ibv_get_device_list(&count);
  demand(index < count, "there is such a device");
  auto* const context = ibv_open_device(list[index]);
  ibv_free_device_list(list);
  demand(context != nullptr, "ibv_open_device");
  return context;
}

}  // namespace

emulated_node::emulated_node(const emulated_node_options& options)
    : context(open_device(options.device)), memory(options.memory_bytes) {
  pd = ibv_alloc_pd(context);
  if (options.has_channel) channel = ibv_create_comp_channel(context);
  cq = ibv_create_cq(context, options.completion_depth, this, channel, 0);
  demand(cq != nullptr, "ibv_create_cq");
  mr = ibv_reg_mr(pd, memory.data(), memory.size(), static_cast<int>(access));
  demand(mr != nullptr, "ibv_reg_mr");
  ibv_qp_init_attr init{};
  init.send_cq = init.recv_cq = cq;
  init.qp_type = IBV_QPT_RC;
  init.sq_sig_all = options.signal_all;
  init.cap = {options.send_depth, options.receive_depth, options.pieces, options.pieces,
              options.inline_bytes};
  qp = ibv_create_qp(pd, &init);
  demand(qp != nullptr, "ibv_create_qp");
}

emulated_node::~emulated_node() {
  if (qp != nullptr) ibv_destroy_qp(qp);
  if (mr != nullptr) ibv_dereg_mr(mr);
  if (cq != nullptr) ibv_destroy_cq(cq);
  if (channel != nullptr) ibv_destroy_comp_channel(channel);
  if (pd != nullptr) ibv_dealloc_pd(pd);
  if (context != nullptr) ibv_close_device(context);
}

emulated_address emulated_node::address() const {
  emulated_address said{.qp = qp->qp_num, .gid = {}, .psn = psn};
  demand(ibv_query_gid(context, 1, 1, &said.gid) == 0, "ibv_query_gid");
  return said;
}

void emulated_node::to_init() {
  ibv_qp_attr to{};
  to.qp_state = IBV_QPS_INIT;
  to.port_num = 1;
  to.qp_access_flags = access;
  demand(ibv_modify_qp(qp, &to,
                       IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) == 0,
         "to INIT");
}

void emulated_node::to_ready_to_receive(const emulated_address& peer) {
  ibv_qp_attr to{};
  to.qp_state = IBV_QPS_RTR;
  to.path_mtu = IBV_MTU_4096;
  to.dest_qp_num = peer.qp;
  to.rq_psn = peer.psn;
  to.max_dest_rd_atomic = 4;
  to.min_rnr_timer = not_ready_timer;
  to.ah_attr.is_global = 1;
  to.ah_attr.port_num = 1;
  to.ah_attr.grh.dgid = peer.gid;
  to.ah_attr.grh.sgid_index = 1;
  demand(ibv_modify_qp(qp, &to,
                       IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                           IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) == 0,
         "to RTR");
}

void emulated_node::to_ready_to_send() {
  ibv_qp_attr to{};
  to.qp_state = IBV_QPS_RTS;
  to.timeout = timeout;
  to.retry_cnt = retry_count;
  to.rnr_retry = not_ready_retries;
  to.sq_psn = psn;
  to.max_rd_atomic = 4;
  demand(ibv_modify_qp(qp, &to,
                       IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                           IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC) == 0,
         "to RTS");
}

void emulated_node::connect(const emulated_address& peer) {
  to_init();
  to_ready_to_receive(peer);
  to_ready_to_send();
}

void emulated_node::reset() {
  ibv_qp_attr to{};
  to.qp_state = IBV_QPS_RESET;
  demand(ibv_modify_qp(qp, &to, IBV_QP_STATE) == 0, "to RESET");
}

ibv_sge emulated_node::piece(std::size_t offset, std::size_t bytes) const {
  return {reinterpret_cast<std::uintptr_t>(memory.data()) + offset,
          static_cast<std::uint32_t>(bytes), mr->lkey};
}

ibv_send_wr emulated_node::request(ibv_wr_opcode opcode, std::uint64_t wr_id) const {
  ibv_send_wr wr{};
  wr.wr_id = wr_id;
  wr.opcode = opcode;
  wr.send_flags = IBV_SEND_SIGNALED;
  return wr;
}

ibv_send_wr emulated_node::aimed(ibv_wr_opcode opcode, std::uint64_t wr_id,
                                 const emulated_node& target, std::size_t offset) const {
  auto wr = request(opcode, wr_id);
  wr.wr.rdma.remote_addr = reinterpret_cast<std::uintptr_t>(target.memory.data()) + offset;
  wr.wr.rdma.rkey = target.mr->rkey;
  return wr;
}

int emulated_node::post(ibv_send_wr& wr) {
  ibv_send_wr* bad = nullptr;
  return ibv_post_send(qp, &wr, &bad);
}

int emulated_node::post(ibv_send_wr& wr, std::vector<ibv_sge> pieces) {
  wr.sg_list = pieces.data();
  wr.num_sge = static_cast<int>(pieces.size());
  return post(wr);
}

int emulated_node::post_receive(std::uint64_t wr_id, std::vector<ibv_sge> pieces) {
  ibv_recv_wr wr{};
  wr.wr_id = wr_id;
  wr.sg_list = pieces.data();
  wr.num_sge = static_cast<int>(pieces.size());
  ibv_recv_wr* bad = nullptr;
  return ibv_post_recv(qp, &wr, &bad);
}

std::optional<ibv_wc> emulated_node::completion() {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  do {
    ibv_wc done{};
    const int count = ibv_poll_cq(cq, 1, &done);
    if (count == 1) return done;
    if (count < 0) return std::nullopt;
    std::this_thread::yield();
  } while (std::chrono::steady_clock::now() < limit);
  return std::nullopt;
}

bool emulated_node::stays_quiet(int milliseconds) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
  do {
    ibv_wc done{};
    if (ibv_poll_cq(cq, 1, &done) != 0) return false;
    std::this_thread::yield();
  } while (std::chrono::steady_clock::now() < limit);
  return true;
}

std::string nic_command(const std::string& text) {
  const auto name = emulation::control_name({.user = ::geteuid(),
                                             .job = "default",
                                             .process = static_cast<std::uint32_t>(::getpid()),
                                             .rank = ""});
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  demand(::connect(socket, reinterpret_cast<sockaddr*>(&address), bytes) == 0, "connect");
  const auto line = text + '\n';
  demand(::send(socket, line.data(), line.size(), 0) == static_cast<ssize_t>(line.size()), "send");
  std::string answer;
  for (char c = 0; ::recv(socket, &c, 1, 0) == 1 && c != '\n';)
    answer += c;
  ::close(socket);
  return answer;
}

void connect(emulated_node& one, emulated_node& other) {
  one.to_init();
  other.to_init();
  one.to_ready_to_receive(other.address());
  other.to_ready_to_receive(one.address());
  one.to_ready_to_send();
  other.to_ready_to_send();
}

}  // namespace troupe::net
