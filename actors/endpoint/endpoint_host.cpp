#include "actors/endpoint/endpoint_host.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <utility>

#include "actors/endpoint/bootstrap_setup.hpp"
#include "actors/endpoint/endpoint_actor.hpp"
#include "actors/endpoint/quiet_network.hpp"
#include "config/launch_environment.hpp"
#include "config/topology_file.hpp"
#include "net/crypto/system_entropy.hpp"
#include "net/host/host_network.hpp"
#include "net/tcp/tcp_address.hpp"
#include "net/tcp/tcp_network.hpp"
#include "net/verbs/verbs_devices.hpp"
#include "net/verbs/verbs_network.hpp"

namespace troupe::actors {

namespace {

// Buffers and exposures known at once. Chosen: 4,096 operations with three buffers each, and the
// pieces of pipelined ones; an entry costs 24 to 48 bytes and is made on first use.
constexpr std::uint32_t buffer_capacity = 1u << 20;

// Beyond the job's own deadline: the bootstrap core answers in time, this only guards the caller.
constexpr duration join_grace = std::chrono::seconds(2);

constexpr duration shut_down_patience = std::chrono::seconds(2);

// Sockets of one rank before its first operation: listeners, epolls, wake-up, ring and rendezvous.
constexpr std::uint64_t basic_descriptors = 16;

std::uint64_t fnv(std::string_view text) {
  std::uint64_t hash = 14695981039346656037ull;
  for (const char c : text)
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  return hash;
}

std::string host_name() {
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  return name;
}

/// An address without its port and brackets.
std::string host_of(lane_address address) {
  address.port = 0;
  auto host = to_string(address);
  host.resize(host.rfind(':'));
  if (host.front() == '[') host = host.substr(1, host.size() - 2);
  return host;
}

outcome<place> place_of(rank self, const communicator_options& asked,
                        const config::topology_options& topology) {
  if (!asked.find_place) {
    auto found = config::find_place(topology, host_name());
    if (!found) return fail(std::move(found.error()));
    return found->where;
  }
  auto where = asked.find_place(self);
  if (const auto complete = check_place(where); !complete)
    return fail(errc::bad_argument, "find_place of rank " + std::to_string(self.value) + ": " +
                                        complete.error().message);
  if (where.host.empty()) where.host = topology.host.empty() ? host_name() : topology.host;
  return where;
}

outcome<endpoint_identity> find_identity(const communicator_options& options,
                                         const config::options& values) {
  const auto& invited = options.invitation.value_or(values.fault_tolerance.invitation);
  if (!invited.empty()) {
    auto one = parse_invitation(invited);
    if (!one) return fail(one.error());
    return endpoint_identity{one->newcomer(), one->world_size, one->address, one->job, *one};
  }
  auto rendezvous = options.rendezvous;
  if (!rendezvous && !values.bootstrap.rendezvous.empty()) rendezvous = values.bootstrap.rendezvous;
  const auto place = config::find_launch_environment(
      {.rank = options.rank, .world_size = options.world_size, .rendezvous = rendezvous},
      config::process_environment());
  if (!place) return fail(place.error());
  endpoint_identity who{place->rank, place->world_size, {}, fnv(place->job_id)};
  if (place->world_size == 1) return who;
  const auto address = net::resolve(to_string(place->rendezvous));
  if (!address) return fail(address.error());
  who.rendezvous = *address;
  return who;
}

template <class Network>
outcome<std::unique_ptr<lane_network>> own(outcome<std::unique_ptr<Network>> made) {
  if (!made) return fail(std::move(made.error()));
  return std::unique_ptr<lane_network>(std::move(*made));
}

outcome<std::unique_ptr<lane_network>> open_network(const config::options& options,
                                                    const endpoint_identity& who,
                                                    buffer_table& buffers, memory_ledger& ledger) {
  if (who.world_size == 1) return std::unique_ptr<lane_network>(std::make_unique<quiet_network>());
  if (auto enough = net::check_descriptor_limit(basic_descriptors); !enough)
    return fail(enough.error());
  net::tcp_network_options tcp{.sockets = options.tcp,
                               .interface = options.bootstrap.interface,
                               .route_to = who.rendezvous,
                               .port_first = options.bootstrap.port_first,
                               .port_last = options.bootstrap.port_last,
                               .ledger = &ledger};
  if (to_index(who.self) == 0) {
    // Rank 0 serves the rendezvous on its own socket.
    tcp.interface = host_of(who.rendezvous);
    tcp.port_first = who.rendezvous.port;
    tcp.port_last = who.rendezvous.port;
  }
  if (options.transport.lanes == "tcp") return own(net::tcp_network::make(tcp, buffers));
  if (options.transport.lanes == "verbs")
    return own(
        net::verbs_network::make({.queue_pairs = options.verbs, .tcp = std::move(tcp)}, buffers));
  const bool required = options.transport.lanes == "shm";
  return own(net::host_network::make(
      {.lanes = required ? net::host_lanes::required : net::host_lanes::preferred,
       .tcp = std::move(tcp),
       .shm = options.shm},
      buffers));
}

// Said by one rank: those of other hosts would say the same.
std::string unused_devices(const config::options& options, const endpoint_identity& who) {
  if (options.transport.lanes != "auto" || who.world_size == 1 || who.self != rank{0}) return {};
  const auto ports = net::find_verbs_ports();
  return ports ? net::describe_unused(*ports) : to_string(ports.error());
}

polling_options make_polling_options(const config::worker_options& options) {
  return {.spin = options.spin, .yield = options.yield};
}

}  // namespace

endpoint_host::endpoint_host(config::loaded_options loaded, endpoint_identity who)
    : loaded_(std::move(loaded)),
      identity_(who),
      ledger_(std::make_shared<memory_ledger>()),
      works_(std::make_shared<shared_slab>(ledger_, memory_purpose::works,
                                           loaded_.values.worker.control_bytes)),
      buffers_(buffer_capacity, ledger_->of(memory_purpose::endpoint)) {}

outcome<std::shared_ptr<endpoint_host>> endpoint_host::open(const communicator_options& options) {
  auto loaded = config::load(
      {.config_file = options.config_file, .settings = options.settings, .environment = {}});
  if (!loaded) return fail(loaded.error());
  auto who = find_identity(options, loaded->values);
  if (!who) return fail(who.error());
  const auto where = place_of(who->self, options, loaded->values.topology);
  if (!where) return fail(where.error());
  who->where = code_of(*where);
  std::shared_ptr<endpoint_host> made(new endpoint_host(std::move(*loaded), *who));
  auto network = open_network(made->loaded_.values, *who, made->buffers_, *made->ledger_);
  if (!network) return fail(network.error());
  made->network_ = std::move(*network);
  if (auto started = made->start(); !started) return fail(started.error());
  return made;
}

outcome<void> endpoint_host::start() {
  const auto entropy = net::system_entropy();
  if (!entropy)
    return fail(failure{entropy.error(), "the system gave no random bytes (getrandom)"});
  worker_ = std::make_unique<polling_worker>(make_polling_options(loaded_.values.worker));
  if (auto bound = worker_->bind(loaded_.values.worker.cpus); !bound) return bound;
  context_ = std::make_unique<endpoint_context>(loaded_.values, identity_, *worker_, buffers_,
                                                *network_, counters_, *ledger_);
  if (!loaded_.values.metrics.listen.empty()) {
    auto exposer = metrics_exposer::open(loaded_.values.metrics.listen,
                                         {.worker = worker_->counters(),
                                          .operations = counters_,
                                          .ledger = *ledger_,
                                          .recorder = context_->recorder,
                                          .now = [this] { return worker_->now(); },
                                          .self = identity_.self,
                                          .world_size = identity_.world_size});
    if (!exposer) return fail(exposer.error());
    exposer_ = std::move(*exposer);
    // Port 0 leaves the choice to the system: somebody has to say what it was.
    if (loaded_.values.metrics.listen.ends_with(":0"))
      std::fprintf(stderr, "troupe: rank %u serves metrics on port %u\n", identity_.self.value,
                   exposer_->port());
  }
  auto reports = reporter::open(loaded_.values.trace, identity_.self,
                                [this](const char* cause) { return dump(cause); });
  if (!reports) return fail(reports.error());
  reporter_ = std::move(*reports);
  context_->recorder.on_failure = [this] { reporter_->note_failure(); };
  context_->strangers.enable();
  if (const auto unused = unused_devices(loaded_.values, identity_); !unused.empty())
    context_->strangers.note(identity_.self, unused);
  if (const auto& board = loaded_.values.fault_tolerance.exit_board; !board.empty()) {
    auto reader = exit_reader::open(board, identity_.world_size, [this](rank ended) {
      context_->send(context_->endpoint, process_ended{ended});
    });
    if (!reader) return fail(reader.error());
    context_->exits = std::move(*reader);
  }
  auto bootstrap = make_bootstrap_options(loaded_.values, identity_);
  if (identity_.invited && net::digest_of(bootstrap.must_agree) != identity_.invited->agreed)
    return fail(errc::bad_configuration,
                "options that have to be equal on all ranks differ from those of the job that the "
                "invitation is for; compare `troupe config print` (column \"must agree\") of both");
  actor_ = spawn_endpoint(*context_, std::move(bootstrap), *entropy);
  return {};
}

outcome<communicator_seat> endpoint_host::join() {
  auto answer = std::make_shared<ticket<communicator_seat>>();
  post(nullptr, actor_, join_requested{answer});
  auto* seat = answer->wait(loaded_.values.bootstrap.timeout + join_grace);
  if (seat == nullptr && identity_.invited)
    return fail(errc::timed_out,
                "nobody let this rank in within bootstrap.timeout: the invitation was used, its "
                "giver is gone, or a member is left out that is not proven to have ended");
  if (seat == nullptr)
    return fail(errc::timed_out,
                "joining did not end within bootstrap.timeout: the worker does not run");
  return *seat;
}

rank_dump endpoint_host::dump(std::string cause) const {
  // Both clocks as near to each other as can be.
  const auto wall = std::chrono::system_clock::now().time_since_epoch();
  auto out = context_->recorder.take(worker_->counters(), worker_->now());
  out.taken_at_unix_ns = std::chrono::duration_cast<duration>(wall).count();
  out.self = identity_.self;
  out.world_size = identity_.world_size;
  out.job = identity_.job_hash;
  out.host = host_name();
  out.process = static_cast<std::uint32_t>(::getpid());
  out.cause = std::move(cause);
  return out;
}

endpoint_host::~endpoint_host() {
  if (guard_.forked()) {
    // The worker's thread exists in the parent only: joining it or closing its sockets would hang
    // or harm the parent's job. The child keeps the memory.
    [[maybe_unused]] auto* exposer = exposer_.release();
    [[maybe_unused]] auto* reports = reporter_.release();
    [[maybe_unused]] auto* worker = worker_.release();
    [[maybe_unused]] auto* context = context_.release();
    [[maybe_unused]] auto* network = network_.release();
    return;
  }
  exposer_.reset();
  if (worker_ && actor_) {
    auto answer = std::make_shared<ticket<done_value>>();
    post(nullptr, actor_, shut_down{answer});
    answer->wait(shut_down_patience);
    stop_actor(actor_);
  }
  actor_ = nullptr;
  // Answers until the worker goes, whose counters are in every dump.
  if (reporter_) reporter_->stop();
  worker_.reset();
  context_.reset();
}

void endpoint_host::drive_until(const std::function<bool()>& done, duration limit) {
  worker_->drive(done, limit, [this] { return context_->operations.live_count() != 0; });
}

void endpoint_host::start_now() {
  worker_->start_now([this] { return context_->operations.live_count() != 0; });
}

void endpoint_host::raise_next_communicator_id(std::uint32_t above) {
  auto known = next_id_.load();
  while (known < above && !next_id_.compare_exchange_weak(known, above)) {
  }
}

}  // namespace troupe::actors
