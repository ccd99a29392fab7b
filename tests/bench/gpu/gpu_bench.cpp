// Troupe and NCCL side by side on the GPUs of one machine, one process for each GPU.
//   bench_gpu [--json FILE] [--nccl PATH] [--only OPERATION] [--members N] [--chunk BYTES]
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/device/device.hpp"
#include "kernels/device/memory.hpp"
#include "kernels/domain/domain.hpp"
#include "tests/bench/gpu/measurement.hpp"
#include "tests/bench/gpu/nccl_library.hpp"
#include "tests/bench/gpu/overlap.hpp"

namespace troupe::bench {

namespace {

using kernels::all_reduce_path;

struct options {
  std::string json;
  std::string nccl = "libnccl.so.2";
  std::string cublas = "libcublas.so.13";
  std::string only;
  std::uint32_t members = 2;
  std::uint64_t chunk_bytes = 0;
};

constexpr std::uint64_t mebibyte = 1 << 20;
constexpr std::uint64_t buffer_bytes = 256 * mebibyte;

template <class T>
T got(outcome<T>&& value) {
  if (!value) {
    std::fprintf(stderr, "bench_gpu: %s\n", to_string(value.error()).c_str());
    std::exit(1);
  }
  if constexpr (!std::is_void_v<T>) return std::move(*value);
}

const char* name_of(all_reduce_path path) {
  switch (path) {
    case all_reduce_path::automatic: return "automatic";
    case all_reduce_path::small: return "small";
    case all_reduce_path::two_shot: return "two_shot";
    case all_reduce_path::pipelined: return "pipelined";
  }
  return "";
}

/// One member and what it measures with.
class bench_seat {
 public:
  bench_seat(test::member& who, const options& asked)
      : who_(who),
        asked_(asked),
        in_(got(kernels::stream::create(who.device))),
        send_(got(kernels::device_memory::allocate(who.device, buffer_bytes))),
        receive_(got(kernels::device_memory::allocate(who.device, buffer_bytes))) {
    const auto free_before = got(kernels::free_memory(who.device));
    const auto begin = std::chrono::steady_clock::now();
    group_ = got(kernels::domain::form({.device = who.device,
                                        .rank = who.rank,
                                        .size = who.size,
                                        .chunk_bytes = asked.chunk_bytes},
                                       *who.others));
    report_creation("troupe", begin);
    report_memory("troupe", "after creation", free_before);
    got(group_->share(send_.data(), buffer_bytes, *who.others));
    got(group_->share(receive_.data(), buffer_bytes, *who.others));
    const auto free_without_nccl = got(kernels::free_memory(who.device));
    join_nccl();
    if (nccl_) report_memory("nccl", "after creation", free_without_nccl);
  }

  void measure_all() {
    all_reduce_small();
    all_reduce_large();
    copies();
    beside_products();
    if (who_.rank == 0 && !asked_.json.empty()) write_json(asked_.json, rows_);
  }

 private:
  void report_creation(const char* library, std::chrono::steady_clock::time_point begin) {
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    if (who_.rank == 0) std::printf("%s: created in %.1f ms\n", library, took.count());
  }

  void report_memory(const char* library, const char* when, std::uint64_t free_before) {
    const auto used = free_before - got(kernels::free_memory(who_.device));
    if (who_.rank == 0)
      std::printf("%s: %.1f MiB of device memory %s\n", library,
                  static_cast<double>(used) / static_cast<double>(mebibyte), when);
  }

  void join_nccl() {
    auto library = nccl_library::load(asked_.nccl);
    if (!library) {
      if (who_.rank == 0) std::printf("%s\n", to_string(library.error()).c_str());
      return;
    }
    nccl_ = std::move(*library);
    nccl_library::unique_id id{};
    if (who_.rank == 0) id = got(nccl_->make_unique_id());
    std::vector<nccl_library::unique_id> all(who_.size);
    got(who_.others->all_gather(std::as_bytes(std::span(&id, 1)),
                                std::as_writable_bytes(std::span(all))));
    const auto begin = std::chrono::steady_clock::now();
    communicator_ = got(nccl_->join(all[0], who_.rank, who_.size));
    report_creation(("nccl " + nccl_->version()).c_str(), begin);
  }

  void run(contest what) {
    if (!asked_.only.empty() && what.operation != asked_.only) return;
    for (auto& row : got(measure(who_, in_, what)))
      rows_.push_back(std::move(row));
  }

  contender troupe_all_reduce(std::uint64_t bytes, all_reduce_path path, std::uint32_t blocks) {
    std::string variant = name_of(path);
    if (blocks != 0) variant += " " + std::to_string(blocks) + " blocks";
    return {"troupe", variant, [=, this](kernels::stream_ref in) {
              return group_->all_reduce(in, {.send = send_.data(),
                                             .receive = send_.data(),
                                             .count = bytes / 4,
                                             .path = path,
                                             .blocks = blocks});
            }};
  }

  void add_nccl(contest& what, std::function<outcome<void>(kernels::stream_ref)> call) {
    if (nccl_) what.contenders.push_back({"nccl", nccl_->version(), std::move(call)});
  }

  contest all_reduce_contest(std::uint64_t bytes, call_mode mode) {
    contest what{"all_reduce", bytes, 2.0 * (who_.size - 1) / who_.size, mode, {}};
    add_nccl(what, [=, this](kernels::stream_ref in) {
      return nccl_->all_reduce(communicator_, in, send_.data(), send_.data(), bytes / 4);
    });
    return what;
  }

  void all_reduce_small() {
    for (const auto mode : {call_mode::eager, call_mode::call_and_wait, call_mode::graph})
      for (const std::uint64_t bytes : {8ull, 1'024ull, 8'192ull, 65'536ull, 262'144ull}) {
        auto what = all_reduce_contest(bytes, mode);
        what.contenders.push_back(troupe_all_reduce(bytes, all_reduce_path::small, 0));
        if (bytes >= 65'536)
          what.contenders.push_back(troupe_all_reduce(bytes, all_reduce_path::two_shot, 16));
        run(std::move(what));
      }
  }

  void all_reduce_large() {
    for (const auto mode : {call_mode::eager, call_mode::graph})
      for (const std::uint64_t size : {1, 8, 64, 256}) {
        const std::uint64_t bytes = size * mebibyte;
        auto what = all_reduce_contest(bytes, mode);
        for (const std::uint32_t blocks : {2, 4, 8, 16, 32, 64, 128})
          if (mode == call_mode::eager || blocks >= 8)
            what.contenders.push_back(troupe_all_reduce(bytes, all_reduce_path::two_shot, blocks));
        for (const std::uint32_t blocks : {1, 2, 4, 8, 16})
          if (size >= 8)
            what.contenders.push_back(troupe_all_reduce(bytes, all_reduce_path::pipelined, blocks));
        run(std::move(what));
      }
  }

  contender copy_contender(outcome<void> (kernels::domain::*call)(kernels::stream_ref,
                                                                  const kernels::copy_call&),
                           std::uint64_t bytes) {
    return {"troupe", "copy engines", [=, this](kernels::stream_ref in) {
              return (*group_.*call)(in, {send_.data(), receive_.data(), bytes});
            }};
  }

  void copies() {
    const double factor = static_cast<double>(who_.size - 1) / who_.size;
    for (const std::uint64_t size : {1, 8, 64, 256}) {
      const std::uint64_t total = size * mebibyte;
      const std::uint64_t block = total / who_.size;
      const std::uint64_t count = block / 4;
      contest gather{"all_gather", total, factor, call_mode::eager, {}};
      add_nccl(gather, [=, this](kernels::stream_ref in) {
        return nccl_->all_gather(communicator_, in, send_.data(), receive_.data(), count);
      });
      gather.contenders.push_back(copy_contender(&kernels::domain::all_gather, block));
      gather.contenders.push_back(
          {"troupe", "in place", [=, this](kernels::stream_ref in) {
             return group_->all_gather(
                 in, {receive_.data() + who_.rank * block, receive_.data(), block});
           }});
      run(std::move(gather));

      contest to_all{"all_to_all", total, factor, call_mode::eager, {}};
      add_nccl(to_all, [=, this](kernels::stream_ref in) {
        std::vector<nccl_library::exchange> peers;
        for (std::uint32_t peer = 0; peer < who_.size; ++peer)
          peers.push_back({peer, send_.data() + peer * block, receive_.data() + peer * block});
        return nccl_->exchange_with(communicator_, in, peers.data(), who_.size, count);
      });
      to_all.contenders.push_back(copy_contender(&kernels::domain::all_to_all, block));
      run(std::move(to_all));
      send_receive(total);
    }
  }

  void send_receive(std::uint64_t bytes) {
    const std::uint32_t after = (who_.rank + 1) % who_.size;
    const std::uint32_t before = (who_.rank + who_.size - 1) % who_.size;
    contest pair{"send_receive", bytes, 1, call_mode::eager, {}};
    if (who_.size == 2)
      add_nccl(pair, [=, this](kernels::stream_ref in) {
        const nccl_library::exchange peer{after, send_.data(), receive_.data()};
        return nccl_->exchange_with(communicator_, in, &peer, 1, bytes / 4);
      });
    pair.contenders.push_back(
        {"troupe", "copy engines", [=, this](kernels::stream_ref in) {
           return group_->send_receive(in, {send_.data(), receive_.data(), bytes}, after, before);
         }});
    run(std::move(pair));
  }

  /// 16 all-reduces of 256 MiB beside 20 products of 8192 x 8192 matrices.
  void beside_products() {
    if (!asked_.only.empty() && asked_.only != "overlap") return;
    auto products = matrix_products::create(who_.device, asked_.cublas);
    if (!products) {
      if (who_.rank == 0) std::printf("%s\n", to_string(products.error()).c_str());
      return;
    }
    std::vector<contender> contenders{{"nobody", "products alone", {}}};
    auto what = all_reduce_contest(buffer_bytes, call_mode::eager);
    for (auto& nccl : what.contenders)
      contenders.push_back(std::move(nccl));
    for (const std::uint32_t blocks : {2, 4, 8})
      contenders.push_back(troupe_all_reduce(buffer_bytes, all_reduce_path::pipelined, blocks));
    contenders.push_back(troupe_all_reduce(buffer_bytes, all_reduce_path::two_shot, 8));
    got(measure_overlap(who_, *products, contenders));
  }

  test::member& who_;
  const options& asked_;
  kernels::stream in_;
  kernels::device_memory send_;
  kernels::device_memory receive_;
  std::unique_ptr<kernels::domain> group_;
  std::optional<nccl_library> nccl_;
  void* communicator_ = nullptr;
  std::vector<row> rows_;
};

std::optional<options> read(int count, char** words) {
  options asked;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    const bool has_value = i + 1 < count;
    if (word == "--json" && has_value) {
      asked.json = words[++i];
    } else if (word == "--nccl" && has_value) {
      asked.nccl = words[++i];
    } else if (word == "--cublas" && has_value) {
      asked.cublas = words[++i];
    } else if (word == "--only" && has_value) {
      asked.only = words[++i];
    } else if (word == "--members" && has_value) {
      asked.members = static_cast<std::uint32_t>(std::atoi(words[++i]));
    } else if (word == "--chunk" && has_value) {
      asked.chunk_bytes = std::strtoull(words[++i], nullptr, 10);
    } else {
      std::fprintf(stderr,
                   "usage: bench_gpu [--json FILE] [--nccl PATH] [--only OPERATION]\n"
                   "                 [--members N] [--chunk BYTES] [--cublas PATH]\n");
      return std::nullopt;
    }
  }
  return asked;
}

int run(const options& asked) {
  const int devices = test::visible_devices();
  if (devices < static_cast<int>(asked.members)) {
    std::fprintf(stderr, "bench_gpu: %u members need as many GPUs, there are %d\n", asked.members,
                 devices);
    return 77;
  }
  const auto wrong =
      test::run_members(test::living::in_processes, asked.members, std::chrono::seconds(400),
                        [&](test::member& who) -> std::string {
                          bench_seat(who, asked).measure_all();
                          std::fflush(stdout);
                          return "";
                        });
  if (!wrong.empty()) std::fprintf(stderr, "bench_gpu: %s\n", wrong.c_str());
  return wrong.empty() ? 0 : 1;
}

}  // namespace

}  // namespace troupe::bench

int main(int count, char** words) {
  const auto asked = troupe::bench::read(count, words);
  return asked ? troupe::bench::run(*asked) : 2;
}
