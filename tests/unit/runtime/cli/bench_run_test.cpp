#define BOOST_TEST_MODULE bench_run
#include "runtime/cli/bench_run.hpp"

#include <boost/test/unit_test.hpp>
#include <cstring>

using namespace troupe;

namespace {

/// Work that was done when it was started.
class finished_work : public work {
 public:
  outcome<void> wait(duration) override { return {}; }
  outcome<void> wait() override { return {}; }
  bool test() const override { return true; }
  failure error() const override { return {}; }
  std::vector<troupe::rank> contributors() const override { return {troupe::rank{0}}; }
  troupe::epoch epoch() const override { return {}; }
  operation_path path() const override { return {}; }
  operation_signature signature() const override { return {}; }
  operation_number number() const override { return {}; }
};

/// What is wrong with the world of a test.
enum class fault { none, one_bit, stale_output, refused_call };

/// A communicator of one rank that does what a test wants it to.
class lonely_communicator : public communicator {
 public:
  explicit lonely_communicator(fault wrong) : wrong_(wrong) {}

  troupe::rank rank() const override { return troupe::rank{0}; }
  std::uint32_t size() const override { return 1; }
  troupe::epoch epoch() const override { return {}; }
  communicator_id id() const override { return {}; }
  start_up_report start_up() const override { return {}; }
  memory_usage memory() const override { return {}; }
  rank_dump dump() const override { return {}; }

  outcome<work_handle> all_reduce(const all_reduce_arguments& a) override {
    return move(a.send, a.receive, a.count * size_of(a.type), a.type == data_type::float32);
  }
  outcome<work_handle> all_gather(const all_gather_arguments& a) override {
    return move(a.send, a.receive, a.count * size_of(a.type), a.type == data_type::float32);
  }
  outcome<work_handle> reduce_scatter(const reduce_scatter_arguments& a) override {
    return move(a.send, a.receive, a.count * size_of(a.type), true);
  }
  outcome<work_handle> broadcast(const broadcast_arguments&) override { return done(); }
  outcome<work_handle> send(const send_arguments& a) override {
    sent_ = a.buffer;
    return move(sent_, received_, a.count * size_of(a.type), true);
  }
  outcome<work_handle> receive(const receive_arguments& a) override {
    received_ = a.buffer;
    return done();
  }
  outcome<work_handle> barrier(const operation_options&) override { return done(); }
  outcome<work_handle> reduce(const reduce_arguments&) override { return done(); }
  outcome<work_handle> gather(const gather_arguments&) override { return done(); }
  outcome<work_handle> scatter(const scatter_arguments&) override { return done(); }
  outcome<work_handle> all_to_all(const all_to_all_arguments&) override { return done(); }
  outcome<work_handle> all_to_all_v(const all_to_all_v_arguments&) override { return done(); }
  outcome<std::unique_ptr<communicator>> split(const split_arguments&) override {
    return std::unique_ptr<communicator>();
  }
  outcome<std::unique_ptr<window>> create_window(const window_arguments&) override {
    return fail(errc::not_available, "not of this communicator");
  }
  epoch_members members() const override { return {{}, troupe::rank{0}, {0}, {}}; }
  outcome<epoch_members> wait_epoch(troupe::epoch, duration) override { return not_tolerant(); }
  outcome<epoch_members> adopt_epoch() override { return not_tolerant(); }
  outcome<void> reconfigure(const std::vector<std::uint32_t>&) override { return not_tolerant(); }
  outcome<std::string> invite() override { return not_tolerant(); }
  outcome<void> set_timeout(duration) override { return {}; }
  void abort() override {}
  outcome<void> finalize(duration) override { return {}; }

 private:
  static tl::unexpected<failure> not_tolerant() {
    return fail(errc::not_available, "not of this communicator");
  }
  static outcome<work_handle> done() { return std::make_shared<finished_work>(); }

  /// Moves bytes from rank 0 to rank 0, with the fault if the data is what is measured.
  outcome<work_handle> move(const void* from, void* to, std::size_t bytes, bool measured) {
    if (measured && wrong_ == fault::refused_call)
      return fail(errc::peer_lost, "rank 0 has lost itself");
    if (measured && wrong_ == fault::stale_output && from != to) return done();
    std::memmove(to, from, bytes);
    if (measured && wrong_ == fault::one_bit)
      static_cast<std::byte*>(to)[bytes / 2] ^= std::byte{4};
    return done();
  }

  fault wrong_;
  const void* sent_ = nullptr;
  void* received_ = nullptr;
};

/// The fault of the world that the next join gives.
fault next_fault = fault::none;

outcome<int> run(cli::bench_kind kind, fault wrong) {
  next_fault = wrong;
  cli::bench_options options;
  options.heading.kind = kind;
  options.heading.sizes = {4096, 65536, 16, 0};
  options.heading.iteration_count = 2;
  options.heading.warmup_count = 1;
  return cli::run_bench_rank(options);
}

constexpr cli::bench_kind measured_kinds[] = {
    cli::bench_kind::all_reduce, cli::bench_kind::all_gather, cli::bench_kind::reduce_scatter,
    cli::bench_kind::sendrecv};

}  // namespace

/// The factory that the program gets from actors/.
outcome<std::unique_ptr<communicator>> troupe::join(const communicator_options&) {
  return std::make_unique<lonely_communicator>(next_fault);
}

BOOST_AUTO_TEST_CASE(a_world_without_fault_gives_exit_code_0) {
  for (const cli::bench_kind kind : measured_kinds)
    BOOST_CHECK_EQUAL(run(kind, fault::none).value(), 0);
  BOOST_CHECK_EQUAL(run(cli::bench_kind::broadcast, fault::none).value(), 0);
  BOOST_CHECK_EQUAL(run(cli::bench_kind::barrier, fault::none).value(), 0);
}

BOOST_AUTO_TEST_CASE(one_wrong_bit_in_one_element_gives_exit_code_1) {
  for (const cli::bench_kind kind : measured_kinds)
    BOOST_CHECK_EQUAL(run(kind, fault::one_bit).value(), 1);
}

BOOST_AUTO_TEST_CASE(output_that_was_not_written_gives_exit_code_1) {
  for (const cli::bench_kind kind : measured_kinds)
    BOOST_CHECK_EQUAL(run(kind, fault::stale_output).value(), 1);
}

BOOST_AUTO_TEST_CASE(a_call_that_fails_ends_the_run_and_names_the_rank) {
  const auto refused = run(cli::bench_kind::all_reduce, fault::refused_call);
  BOOST_REQUIRE(!refused);
  BOOST_CHECK(refused.error().code() == errc::peer_lost);
  BOOST_CHECK_EQUAL(refused.error().message, "rank 0: rank 0 has lost itself");
}
