#include "tests/bench/gpu/overlap.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "runtime/random.hpp"

namespace troupe::bench {

namespace {

using clock = std::chrono::steady_clock;

constexpr int side = 8192;
constexpr int products_of_a_round = 20;
constexpr int calls_of_a_round = 16;
constexpr int rounds = 5;

// Numbers of cuBLAS 13.
constexpr int no_transpose = 0;
constexpr int bfloat16_data = 14;
constexpr int float32_computation = 68;
constexpr int default_algorithm = -1;

/// Values between -1 and 1: products of zeros would draw less power and run faster.
outcome<kernels::device_memory> random_matrix(int device, std::uint64_t seed) {
  const std::uint64_t count = std::uint64_t{side} * side;
  auto memory = kernels::device_memory::allocate(device, count * 2);
  if (!memory) return memory;
  random_stream random(seed);
  std::vector<std::uint16_t> values(count);
  for (auto& value : values)
    value = static_cast<std::uint16_t>(random.between(0x3c00, 0x3f7f) | (random.below(2) << 15));
  if (auto done = memory->write(0, values.data(), count * 2); !done) return fail(done.error());
  return memory;
}

struct round_times {
  double products_ms = 0;
  double everything_ms = 0;
};

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

outcome<round_times> one_round(const contender& one, const matrix_products& products,
                               const kernels::stream& beside) {
  auto begun = kernels::event::create(products.in().ref().device);
  auto ended = kernels::event::create(products.in().ref().device);
  if (!begun || !ended) return fail((begun ? ended : begun).error());
  const auto begin = clock::now();
  outcome<void> done = begun->record(products.in().ref());
  for (int i = 0; i < calls_of_a_round && done && one.call; ++i)
    done = one.call(beside.ref());
  if (done) done = products.start(products_of_a_round);
  if (done) done = ended->record(products.in().ref());
  if (done) done = products.in().wait();
  if (done) done = beside.wait();
  if (!done) return fail(done.error());
  const std::chrono::duration<double, std::milli> took = clock::now() - begin;
  const auto products_took = begun->milliseconds_until(*ended);
  if (!products_took) return fail(products_took.error());
  return round_times{*products_took, took.count()};
}

}  // namespace

outcome<matrix_products> matrix_products::create(int device, const std::string& library) {
  void* const loaded = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (loaded == nullptr)
    return fail(errc::not_available, std::string("cuBLAS is not there: ") + ::dlerror());
  const auto create = reinterpret_cast<int (*)(void**)>(::dlsym(loaded, "cublasCreate_v2"));
  const auto set_stream =
      reinterpret_cast<int (*)(void*, void*)>(::dlsym(loaded, "cublasSetStream_v2"));
  matrix_products made;
  made.multiply_ = reinterpret_cast<product_call>(::dlsym(loaded, "cublasGemmEx"));
  if (create == nullptr || set_stream == nullptr || made.multiply_ == nullptr)
    return fail(errc::not_available, library + " is no cuBLAS");
  auto in = kernels::stream::create(device);
  auto left = random_matrix(device, 1);
  auto right = random_matrix(device, 2);
  auto product = random_matrix(device, 3);
  if (!in || !left || !right || !product)
    return fail(errc::resource_exhausted, "no memory for three matrices");
  made.in_ = std::move(*in);
  made.left_ = std::move(*left);
  made.right_ = std::move(*right);
  made.product_ = std::move(*product);
  if (const int status = create(&made.handle_); status != 0)
    return fail(failure(error{errc::system_failure, status}, "cublasCreate failed"));
  if (const int status = set_stream(made.handle_, made.in_.ref().native); status != 0)
    return fail(failure(error{errc::system_failure, status}, "cublasSetStream failed"));
  return made;
}

outcome<void> matrix_products::start(int count) const {
  const float one = 1;
  const float zero = 0;
  for (int i = 0; i < count; ++i) {
    const int status =
        multiply_(handle_, no_transpose, no_transpose, side, side, side, &one, left_.data(),
                  bfloat16_data, side, right_.data(), bfloat16_data, side, &zero, product_.data(),
                  bfloat16_data, side, float32_computation, default_algorithm);
    if (status != 0)
      return fail(failure(error{errc::system_failure, status}, "cublasGemmEx failed"));
  }
  return {};
}

outcome<void> measure_overlap(test::member& who, const matrix_products& products,
                              const std::vector<contender>& contenders) {
  auto beside = kernels::stream::create(who.device, kernels::stream_priority::high);
  if (!beside) return fail(beside.error());
  std::vector<std::vector<double>> products_ms(contenders.size());
  std::vector<std::vector<double>> everything_ms(contenders.size());
  // The first round warms up.
  for (int round = 0; round < rounds + 1; ++round)
    for (std::size_t i = 0; i < contenders.size(); ++i) {
      if (auto together = who.gather(); !together) return together;
      const auto times = one_round(contenders[i], products, *beside);
      if (!times) return fail(times.error());
      const auto all_products = who.all_say(times->products_ms);
      const auto all = who.all_say(times->everything_ms);
      if (round == 0) continue;
      products_ms[i].push_back(*std::max_element(all_products.begin(), all_products.end()));
      everything_ms[i].push_back(*std::max_element(all.begin(), all.end()));
    }
  for (std::size_t i = 0; i < contenders.size() && who.rank == 0; ++i) {
    const auto [least, most] =
        std::minmax_element(everything_ms[i].begin(), everything_ms[i].end());
    std::printf("overlap        %-7s %-22s products %6.2f ms, everything %6.2f ms (%.2f to %.2f)\n",
                contenders[i].library.c_str(), contenders[i].variant.c_str(),
                median(products_ms[i]), median(everything_ms[i]), *least, *most);
  }
  return {};
}

}  // namespace troupe::bench
