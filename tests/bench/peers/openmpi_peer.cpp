#include <mpi.h>

#include "tests/bench/peers/rank_loop.hpp"

namespace {

using namespace troupe;
using peers::operation;

class openmpi_library : public peers::measured_library {
 public:
  openmpi_library() {
    ::MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    ::MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    ::MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }

  std::uint32_t rank() const override { return static_cast<std::uint32_t>(rank_); }
  std::uint32_t size() const override { return static_cast<std::uint32_t>(size_); }
  const float* result() const override { return planned_.receive.data(); }
  bool barrier() override { return done(::MPI_Barrier(MPI_COMM_WORLD)); }
  void finish() override { ::MPI_Finalize(); }

  bool prepare(const peers::planned_call& planned) override {
    planned_ = planned;
    return true;
  }

  bool call() override {
    const float* send = planned_.send.data();
    float* receive = planned_.receive.data();
    const int count = static_cast<int>(planned_.count);
    const MPI_Comm world = MPI_COMM_WORLD;
    switch (planned_.what) {
      case operation::all_reduce:
        return done(::MPI_Allreduce(send, receive, count, MPI_FLOAT, MPI_SUM, world));
      case operation::all_gather:
        return done(::MPI_Allgather(send, count, MPI_FLOAT, receive, count, MPI_FLOAT, world));
      case operation::reduce_scatter:
        return done(::MPI_Reduce_scatter_block(send, receive, count, MPI_FLOAT, MPI_SUM, world));
      case operation::all_to_all:
        return done(::MPI_Alltoall(send, count, MPI_FLOAT, receive, count, MPI_FLOAT, world));
      case operation::barrier: return barrier();
      case operation::ping_pong:
        if (rank_ == 0)
          return done(::MPI_Send(send, count, MPI_FLOAT, 1, 0, world)) &&
                 done(::MPI_Recv(receive, count, MPI_FLOAT, 1, 0, world, MPI_STATUS_IGNORE));
        return done(::MPI_Recv(receive, count, MPI_FLOAT, 0, 0, world, MPI_STATUS_IGNORE)) &&
               done(::MPI_Send(receive, count, MPI_FLOAT, 0, 0, world));
    }
    return failed("no such operation");
  }

 private:
  bool done(int status) {
    if (status == MPI_SUCCESS) return true;
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    ::MPI_Error_string(status, text, &length);
    return failed(text);
  }

  int rank_ = 0;
  int size_ = 1;
  peers::planned_call planned_;
};

}  // namespace

int main(int argument_count, char** arguments) {
  const auto options = troupe::peers::driver_options_of(argument_count, arguments);
  ::MPI_Init(&argument_count, &arguments);
  openmpi_library library;
  return troupe::peers::serve(library, options);
}
