#include "actors/communicator/communicator_handle.hpp"
#include "actors/endpoint/endpoint_host.hpp"
#include "runtime/communicator.hpp"

namespace troupe {

outcome<std::unique_ptr<communicator>> join(const communicator_options& options) {
  auto host = actors::endpoint_host::open(options);
  if (!host) return fail(host.error());
  auto seat = (*host)->join();
  if (!seat) return fail(seat.error());
  return std::unique_ptr<communicator>(
      std::make_unique<actors::communicator_handle>(std::move(*host), std::move(*seat)));
}

}  // namespace troupe
