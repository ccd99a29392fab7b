#include "net/emulation/detail/qp_transition.hpp"

#include <array>

namespace troupe::net::emulation {

namespace {

struct transition {
  ibv_qp_state from;
  ibv_qp_state to;
  int required;
  int optional;
};

constexpr int path_options = IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE;

constexpr std::array transitions{
    transition{IBV_QPS_RESET, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
               0},
    transition{IBV_QPS_INIT, IBV_QPS_INIT, 0,
               IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS},
    transition{IBV_QPS_INIT, IBV_QPS_RTR,
               IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                   IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
               IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX},
    transition{IBV_QPS_RTR, IBV_QPS_RTS,
               IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                   IBV_QP_MAX_QP_RD_ATOMIC,
               IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER | path_options},
    transition{IBV_QPS_RTS, IBV_QPS_RTS, 0,
               IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER | path_options},
};

struct attribute_name {
  int bit;
  const char* name;
};

constexpr std::array attribute_names{
    attribute_name{IBV_QP_CUR_STATE, "IBV_QP_CUR_STATE"},
    attribute_name{IBV_QP_EN_SQD_ASYNC_NOTIFY, "IBV_QP_EN_SQD_ASYNC_NOTIFY"},
    attribute_name{IBV_QP_ACCESS_FLAGS, "IBV_QP_ACCESS_FLAGS"},
    attribute_name{IBV_QP_PKEY_INDEX, "IBV_QP_PKEY_INDEX"},
    attribute_name{IBV_QP_PORT, "IBV_QP_PORT"},
    attribute_name{IBV_QP_QKEY, "IBV_QP_QKEY"},
    attribute_name{IBV_QP_AV, "IBV_QP_AV"},
    attribute_name{IBV_QP_PATH_MTU, "IBV_QP_PATH_MTU"},
    attribute_name{IBV_QP_TIMEOUT, "IBV_QP_TIMEOUT"},
    attribute_name{IBV_QP_RETRY_CNT, "IBV_QP_RETRY_CNT"},
    attribute_name{IBV_QP_RNR_RETRY, "IBV_QP_RNR_RETRY"},
    attribute_name{IBV_QP_RQ_PSN, "IBV_QP_RQ_PSN"},
    attribute_name{IBV_QP_MAX_QP_RD_ATOMIC, "IBV_QP_MAX_QP_RD_ATOMIC"},
    attribute_name{IBV_QP_ALT_PATH, "IBV_QP_ALT_PATH"},
    attribute_name{IBV_QP_MIN_RNR_TIMER, "IBV_QP_MIN_RNR_TIMER"},
    attribute_name{IBV_QP_SQ_PSN, "IBV_QP_SQ_PSN"},
    attribute_name{IBV_QP_MAX_DEST_RD_ATOMIC, "IBV_QP_MAX_DEST_RD_ATOMIC"},
    attribute_name{IBV_QP_PATH_MIG_STATE, "IBV_QP_PATH_MIG_STATE"},
    attribute_name{IBV_QP_CAP, "IBV_QP_CAP"},
    attribute_name{IBV_QP_DEST_QPN, "IBV_QP_DEST_QPN"},
    attribute_name{IBV_QP_RATE_LIMIT, "IBV_QP_RATE_LIMIT"},
};

std::string names_of(int mask) {
  std::string text;
  for (const auto& attribute : attribute_names)
    if ((mask & attribute.bit) != 0) text += std::string(text.empty() ? "" : ", ") + attribute.name;
  return text;
}

}  // namespace

const char* name_of(ibv_qp_state state) {
  switch (state) {
    case IBV_QPS_RESET: return "RESET";
    case IBV_QPS_INIT: return "INIT";
    case IBV_QPS_RTR: return "RTR";
    case IBV_QPS_RTS: return "RTS";
    case IBV_QPS_SQD: return "SQD";
    case IBV_QPS_SQE: return "SQE";
    case IBV_QPS_ERR: return "ERR";
    default: return "an unknown state";
  }
}

std::string transition_problem(ibv_qp_state from, ibv_qp_state to, int mask) {
  const int given = mask & ~IBV_QP_STATE;
  const std::string step = std::string(name_of(from)) + " to " + name_of(to);
  if (to == IBV_QPS_RESET || to == IBV_QPS_ERR)
    return given == 0 ? "" : step + " takes no " + names_of(given);
  for (const auto& known : transitions) {
    if (known.from != from || known.to != to) continue;
    if (const int missing = known.required & ~given; missing != 0)
      return step + " needs " + names_of(missing);
    if (const int extra = given & ~(known.required | known.optional); extra != 0)
      return step + " takes no " + names_of(extra);
    return "";
  }
  return "there is no way from " + step;
}

}  // namespace troupe::net::emulation
