// Troupe and NCCL side by side on the GPUs of one machine, one process for each GPU.
//   bench_gpu [--json FILE] [--nccl PATH] [--only OPERATION] [--members N] [--quick]
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

namespace troupe::bench {

namespace {

using kernels::all_reduce_path;

struct options {
  std::string json;
  std::string nccl = "libnccl.so.2";
  std::string only;
  std::uint32_t members = 2;
  bool quick = false;
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

/// One member and what it measures with.
class bench_seat {
 public:
  bench_seat(test::member& who, const options& asked)
      : who_(who),
        asked_(asked),
        in_(got(kernels::stream::create(who.device))),
        send_(got(kernels::device_memory::allocate(who.device, buffer_bytes))),
        receive_(got(kernels::device_memory::allocate(who.device, buffer_bytes))) {
    const auto begin = std::chrono::steady_clock::now();
    group_ = got(kernels::domain::form({who.device, who.rank, who.size}, *who.others));
    report_creation("troupe", begin);
    got(group_->share(send_.data(), buffer_bytes, *who.others));
    got(group_->share(receive_.data(), buffer_bytes, *who.others));
    join_nccl();
  }

  void measure_all() {
    all_reduce_small();
    all_reduce_large();
    copies();
    if (who_.rank == 0 && !asked_.json.empty()) write_json(asked_.json, rows_);
  }

 private:
  void report_creation(const char* library, std::chrono::steady_clock::time_point begin) {
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    if (who_.rank == 0) std::printf("%s: created in %.1f ms\n", library, took.count());
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
    std::string variant = path == all_reduce_path::small ? "small" : "two_shot";
    if (path == all_reduce_path::automatic) variant = "automatic";
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
        for (const std::uint32_t blocks : {2, 4, 8, 16, 32, 64})
          if (mode == call_mode::eager || blocks >= 8)
            what.contenders.push_back(troupe_all_reduce(bytes, all_reduce_path::two_shot, blocks));
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
    if (word == "--quick") {
      asked.quick = true;
    } else if (word == "--json" && has_value) {
      asked.json = words[++i];
    } else if (word == "--nccl" && has_value) {
      asked.nccl = words[++i];
    } else if (word == "--only" && has_value) {
      asked.only = words[++i];
    } else if (word == "--members" && has_value) {
      asked.members = static_cast<std::uint32_t>(std::atoi(words[++i]));
    } else {
      std::fprintf(stderr,
                   "usage: bench_gpu [--json FILE] [--nccl PATH] [--only OPERATION]\n"
                   "                 [--members N] [--quick]\n");
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
