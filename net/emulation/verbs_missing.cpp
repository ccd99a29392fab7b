// What a program may link to and is not emulated: every call fails, names itself on standard error,
// and gives EOPNOTSUPP as verbs do for what a card cannot.
#include <infiniband/verbs.h>

#include <cerrno>
#include <cstddef>

#include "net/emulation/detail/misuse.hpp"

using troupe::net::emulation::complain;

namespace {

std::nullptr_t none(const char* call) {
  complain(call, "not emulated");
  errno = EOPNOTSUPP;
  return nullptr;
}

int unsupported(const char* call) {
  none(call);
  return EOPNOTSUPP;
}

}  // namespace

extern "C" {

// Declared by verbs headers.
ibv_mr* ibv_reg_dmabuf_mr(ibv_pd*, std::uint64_t, std::size_t, std::uint64_t, int, int) {
  return none("ibv_reg_dmabuf_mr");
}
int ibv_rereg_mr(ibv_mr*, int, ibv_pd*, void*, std::size_t, int) {
  unsupported("ibv_rereg_mr");
  return IBV_REREG_MR_ERR_INPUT;
}
ibv_context* ibv_import_device(int) {
  return none("ibv_import_device");
}
ibv_pd* ibv_import_pd(ibv_context*, std::uint32_t) {
  return none("ibv_import_pd");
}
void ibv_unimport_pd(ibv_pd*) {
  unsupported("ibv_unimport_pd");
}
ibv_mr* ibv_import_mr(ibv_pd*, std::uint32_t) {
  return none("ibv_import_mr");
}
void ibv_unimport_mr(ibv_mr*) {
  unsupported("ibv_unimport_mr");
}
ibv_dm* ibv_import_dm(ibv_context*, std::uint32_t) {
  return none("ibv_import_dm");
}
void ibv_unimport_dm(ibv_dm*) {
  unsupported("ibv_unimport_dm");
}
ibv_srq* ibv_create_srq(ibv_pd*, ibv_srq_init_attr*) {
  return none("ibv_create_srq");
}
int ibv_modify_srq(ibv_srq*, ibv_srq_attr*, int) {
  return unsupported("ibv_modify_srq");
}
int ibv_query_srq(ibv_srq*, ibv_srq_attr*) {
  return unsupported("ibv_query_srq");
}
int ibv_destroy_srq(ibv_srq*) {
  return unsupported("ibv_destroy_srq");
}
ibv_ah* ibv_create_ah(ibv_pd*, ibv_ah_attr*) {
  return none("ibv_create_ah");
}
int ibv_init_ah_from_wc(ibv_context*, std::uint8_t, ibv_wc*, ibv_grh*, ibv_ah_attr*) {
  unsupported("ibv_init_ah_from_wc");
  return -1;
}
ibv_ah* ibv_create_ah_from_wc(ibv_pd*, ibv_wc*, ibv_grh*, std::uint8_t) {
  return none("ibv_create_ah_from_wc");
}
int ibv_destroy_ah(ibv_ah*) {
  return unsupported("ibv_destroy_ah");
}
int ibv_attach_mcast(ibv_qp*, const ibv_gid*, std::uint16_t) {
  return unsupported("ibv_attach_mcast");
}
int ibv_detach_mcast(ibv_qp*, const ibv_gid*, std::uint16_t) {
  return unsupported("ibv_detach_mcast");
}
int ibv_query_ece(ibv_qp*, ibv_ece*) {
  return unsupported("ibv_query_ece");
}
int ibv_set_ece(ibv_qp*, ibv_ece*) {
  return unsupported("ibv_set_ece");
}
int ibv_query_qp_data_in_order(ibv_qp*, ibv_wr_opcode, std::uint32_t) {
  return 0;
}
// Only queue pairs of ibv_create_qp_ex have the other interface.
ibv_qp_ex* ibv_qp_to_qp_ex(ibv_qp*) {
  return nullptr;
}
int ibv_resolve_eth_l2_from_gid(ibv_context*, ibv_ah_attr*, std::uint8_t[6], std::uint16_t*) {
  unsupported("ibv_resolve_eth_l2_from_gid");
  return -1;
}

// Declared by no public header; the kernel's device directory has no emulated devices.
int ibv_read_sysfs_file(const char*, const char*, char*, std::size_t) {
  return -1;
}
const char* ibv_get_sysfs_path() {
  return "/sys";
}
int ibv_dontfork_range(void*, std::size_t) {
  return 0;
}
int ibv_dofork_range(void*, std::size_t) {
  return 0;
}

}  // extern "C"
