#include "runtime/operation.hpp"

namespace troupe {

std::string_view to_string(operation_kind kind) {
  switch (kind) {
    case operation_kind::all_reduce: return "all_reduce";
    case operation_kind::all_gather: return "all_gather";
    case operation_kind::reduce_scatter: return "reduce_scatter";
    case operation_kind::broadcast: return "broadcast";
    case operation_kind::send: return "send";
    case operation_kind::receive: return "receive";
    case operation_kind::put: return "put";
    case operation_kind::get: return "get";
    case operation_kind::wait_notifications: return "wait_notifications";
    case operation_kind::barrier: return "barrier";
    case operation_kind::split: return "split";
    case operation_kind::reduce: return "reduce";
    case operation_kind::gather: return "gather";
    case operation_kind::scatter: return "scatter";
    case operation_kind::all_to_all: return "all_to_all";
    case operation_kind::all_to_all_v: return "all_to_all_v";
  }
  return "invalid";
}

std::string_view to_string(algorithm a) {
  switch (a) {
    case algorithm::none: return "none";
    case algorithm::local_copy: return "local_copy";
    case algorithm::ring: return "ring";
    case algorithm::recursive_doubling: return "recursive_doubling";
    case algorithm::direct: return "direct";
    case algorithm::binomial_tree: return "binomial_tree";
    case algorithm::dissemination: return "dissemination";
    case algorithm::point_to_point: return "point_to_point";
    case algorithm::chain: return "chain";
    case algorithm::recursive_halving: return "recursive_halving";
    case algorithm::bruck: return "bruck";
    case algorithm::binary_tree: return "binary_tree";
    case algorithm::ftar: return "ftar";
  }
  return "invalid";
}

std::string_view to_string(choice_reason reason) {
  switch (reason) {
    case choice_reason::single_rank: return "single_rank";
    case choice_reason::nothing_to_move: return "nothing_to_move";
    case choice_reason::requested_by_call: return "requested_by_call";
    case choice_reason::below_threshold: return "below_threshold";
    case choice_reason::above_threshold: return "above_threshold";
    case choice_reason::few_elements: return "few_elements";
    case choice_reason::only_algorithm: return "only_algorithm";
    case choice_reason::many_ranks: return "many_ranks";
  }
  return "invalid";
}

namespace {

bool has_reduction(operation_kind kind) {
  return kind == operation_kind::all_reduce || kind == operation_kind::reduce_scatter ||
         kind == operation_kind::reduce;
}

bool has_root(operation_kind kind) {
  return kind == operation_kind::broadcast || kind == operation_kind::reduce ||
         kind == operation_kind::gather || kind == operation_kind::scatter;
}

}  // namespace

std::string to_string(const operation_signature& s) {
  std::string out{to_string(s.kind)};
  if (s.kind == operation_kind::barrier || s.kind == operation_kind::split) return out + "()";
  out += "(count " + std::to_string(s.count) + ", ";
  out += to_string(s.type);
  if (has_reduction(s.kind)) {
    out += ", ";
    out += to_string(s.op);
  }
  if (has_root(s.kind)) out += ", root " + std::to_string(s.root);
  return out + ")";
}

std::string to_string(const operation_path& path) {
  std::string out{to_string(path.algorithm)};
  out += " over ";
  out += to_string(path.lanes);
  out += ": ";
  out += to_string(path.reason);
  out += " (" + std::to_string(path.bytes) + " bytes";
  if (path.reason == choice_reason::below_threshold)
    out += " <= " + std::to_string(path.threshold_bytes);
  if (path.reason == choice_reason::above_threshold)
    out += " > " + std::to_string(path.threshold_bytes);
  return out + ", " + std::to_string(path.ranks) + " ranks)";
}

}  // namespace troupe
