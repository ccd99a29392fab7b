#include <gloo/allgather.h>
#include <gloo/allreduce.h>
#include <gloo/alltoall.h>
#include <gloo/barrier.h>
#include <gloo/math.h>
#include <gloo/reduce_scatter.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/rendezvous/prefix_store.h>
#include <gloo/transport/tcp/device.h>

#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "tests/bench/peers/rank_loop.hpp"

namespace {

using namespace troupe;
using peers::operation;

void sum_floats(void* out, const void* left, const void* right, std::size_t count) {
  ::gloo::sum<float>(out, left, right, count);
}

class gloo_library : public peers::measured_library {
 public:
  gloo_library(int rank, int size, const std::string& store_path)
      : rank_(rank), size_(size), store_(store_path) {
    ::gloo::transport::tcp::attr attributes;
    attributes.iface = "lo";
    device_ = ::gloo::transport::tcp::CreateDevice(attributes);
    connect();
  }

  std::uint32_t rank() const override { return static_cast<std::uint32_t>(rank_); }
  std::uint32_t size() const override { return static_cast<std::uint32_t>(size_); }
  const float* result() const override {
    return planned_.what == operation::reduce_scatter ? in_place_.data() : planned_.receive.data();
  }

  bool prepare(const peers::planned_call& planned) override {
    planned_ = planned;
    return guarded([&] {
      // Fresh connections: gloo sets SO_SNDBUF to the size of a message, and one that follows
      // smaller ones on the same connection waits for delayed acknowledgements, 40 ms a call.
      connect();
      if (planned.what == operation::reduce_scatter) prepare_reduce_scatter();
      if (planned.what == operation::ping_pong) prepare_ping_pong();
    });
  }

  bool call() override {
    return guarded([&] { run(); });
  }

  bool barrier() override {
    return guarded([&] { run_barrier(); });
  }

  void release() override {
    reduce_scatter_.reset();
    sent_.reset();
    received_.reset();
    in_place_ = {};
  }

 private:
  template <class Call>
  bool guarded(const Call& call) {
    try {
      call();
      return true;
    } catch (const std::exception& e) {
      return failed(e.what());
    }
  }

  void connect() {
    release();
    context_.reset();
    ::gloo::rendezvous::PrefixStore store(std::to_string(++connected_), store_);
    context_ = std::make_shared<::gloo::rendezvous::Context>(rank_, size_);
    context_->connectFullMesh(store, device_);
  }

  /// Its only reduce-scatter works in place and leaves a rank's block at the front.
  void prepare_reduce_scatter() {
    in_place_.assign(planned_.send.begin(), planned_.send.end());
    const std::vector<int> blocks(static_cast<std::size_t>(size_),
                                  static_cast<int>(planned_.count));
    reduce_scatter_ = std::make_unique<::gloo::ReduceScatterHalvingDoubling<float>>(
        context_, std::vector<float*>{in_place_.data()}, static_cast<int>(in_place_.size()),
        blocks);
  }

  void prepare_ping_pong() {
    float* const back = planned_.receive.data();
    const std::size_t bytes = planned_.receive.size_bytes();
    sent_ = context_->createUnboundBuffer(rank_ == 0 ? planned_.send.data() : back, bytes);
    received_ = context_->createUnboundBuffer(back, bytes);
  }

  void run() {
    switch (planned_.what) {
      case operation::all_reduce: return run_all_reduce();
      case operation::all_gather: return run_gathering<::gloo::AllgatherOptions>();
      case operation::all_to_all: return run_gathering<::gloo::AlltoallOptions>();
      case operation::reduce_scatter: return reduce_scatter_->run();
      case operation::barrier: return run_barrier();
      case operation::ping_pong: return run_ping_pong();
    }
  }

  void run_all_reduce() {
    ::gloo::AllreduceOptions options(context_);
    options.setInput(planned_.send.data(), planned_.send.size());
    options.setOutput(planned_.receive.data(), planned_.receive.size());
    options.setReduceFunction(sum_floats);
    ::gloo::allreduce(options);
  }

  template <class Options>
  void run_gathering() {
    Options options(context_);
    options.setInput(planned_.send.data(), planned_.send.size());
    options.setOutput(planned_.receive.data(), planned_.receive.size());
    if constexpr (std::is_same_v<Options, ::gloo::AllgatherOptions>)
      ::gloo::allgather(options);
    else
      ::gloo::alltoall(options);
  }

  void run_barrier() {
    ::gloo::BarrierOptions options(context_);
    ::gloo::barrier(options);
  }

  void run_ping_pong() {
    const int other = 1 - rank_;
    constexpr std::uint64_t slot = 7;
    if (rank_ == 0) {
      received_->recv(other, slot);
      sent_->send(other, slot);
      sent_->waitSend();
      received_->waitRecv();
    } else {
      received_->recv(other, slot);
      received_->waitRecv();
      sent_->send(other, slot);
      sent_->waitSend();
    }
  }

  int rank_ = 0;
  int size_ = 1;
  int connected_ = 0;
  ::gloo::rendezvous::FileStore store_;
  std::shared_ptr<::gloo::transport::Device> device_;
  std::shared_ptr<::gloo::rendezvous::Context> context_;
  peers::planned_call planned_;
  std::vector<float> in_place_;
  std::unique_ptr<::gloo::ReduceScatterHalvingDoubling<float>> reduce_scatter_;
  std::unique_ptr<::gloo::transport::UnboundBuffer> sent_;
  std::unique_ptr<::gloo::transport::UnboundBuffer> received_;
};

}  // namespace

/// gloo_peer RANK SIZE STORE_DIRECTORY --control PATH
int main(int argument_count, char** arguments) {
  const auto options = troupe::peers::driver_options_of(argument_count, arguments);
  gloo_library library(std::atoi(arguments[1]), std::atoi(arguments[2]), arguments[3]);
  return troupe::peers::serve(library, options);
}
