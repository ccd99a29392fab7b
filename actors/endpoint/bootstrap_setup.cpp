#include "actors/endpoint/bootstrap_setup.hpp"

#include "config/agreement.hpp"
#include "net/crypto/hmac.hpp"

namespace troupe::actors {

net::bootstrap_options make_bootstrap_options(const config::options& options,
                                              const endpoint_identity& who) {
  net::bootstrap_options out;
  out.self = who.self;
  out.world_size = who.world_size;
  out.rendezvous = who.rendezvous;
  out.job = who.job_hash;
  if (who.invited) out.contact = {who.invited->contact, who.invited->address};
  for (const char c : options.bootstrap.secret)
    out.secret.push_back(static_cast<std::byte>(c));
  out.crypto = {&net::hmac_sha256, &net::constant_time_equal};
  for (auto& agreed : config::must_agree_options(options))
    out.must_agree.push_back({std::move(agreed.name), std::move(agreed.value)});
  out.data_lane_count = options.transport.data_lane_count;
  out.place = who.where;
  out.timeout = options.bootstrap.timeout;
  out.step_timeout = options.bootstrap.step_timeout;
  out.connect_timeout = options.bootstrap.connect_timeout;
  out.rendezvous_fan_out = options.bootstrap.rendezvous_fan_out;
  out.pending_connection_count = options.bootstrap.pending_connection_count;
  return out;
}

}  // namespace troupe::actors
