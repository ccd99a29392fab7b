#include "kernels/detail/flag_batch.hpp"

namespace troupe::kernels::detail {

flag_batch& flag_batch::set(const void* word, std::uint32_t value) {
  CUstreamBatchMemOpParams step{};
  step.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
  step.writeValue.address = reinterpret_cast<CUdeviceptr>(word);
  step.writeValue.value = value;
  step.writeValue.flags = CU_STREAM_WRITE_VALUE_DEFAULT;
  steps_.push_back(step);
  return *this;
}

flag_batch& flag_batch::wait(const void* word) {
  CUstreamBatchMemOpParams step{};
  step.waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
  step.waitValue.address = reinterpret_cast<CUdeviceptr>(word);
  step.waitValue.value = 1;
  step.waitValue.flags = CU_STREAM_WAIT_VALUE_GEQ;
  steps_.push_back(step);
  return *this;
}

}  // namespace troupe::kernels::detail
