// A training that goes on when a member ends, and takes another one in: start reading here, then
// replica_trainer.hpp.
//
//   troupe launch -n 4 --keep-going -- train_through_faults --kill 2 --at 60 --invite /tmp/door
//   train_through_faults --come-in /tmp/door       # meanwhile: waits for the invitation
#include <signal.h>
#include <time.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "docs/examples/replica_trainer.hpp"
#include "runtime/communicator.hpp"

namespace examples {
namespace {

using steady = std::chrono::steady_clock;

struct fault_options {
  std::size_t steps = 240;
  std::size_t rows = 64;     ///< of each member
  long victim = -1;          ///< who ends, by its first rank
  std::size_t at = 0;        ///< in which step
  std::string invite = {};   ///< where a survivor puts an invitation
  std::string come_in = {};  ///< where this process finds one
};

int misuse(const std::string& what) {
  std::fprintf(stderr,
               "train_through_faults: %s\n"
               "usage: train_through_faults [--steps N] [--rows N] [--kill RANK --at STEP] "
               "[--invite FILE] [--come-in FILE]\n",
               what.c_str());
  return 2;
}

std::optional<fault_options> parse(int argc, char** argv) {
  fault_options out;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string flag = argv[i];
    const std::string value = argv[i + 1];
    char* end = nullptr;
    const long number = std::strtol(value.c_str(), &end, 10);
    const bool is_number = !value.empty() && *end == '\0' && number >= 0;
    if (flag == "--invite") {
      out.invite = value;
    } else if (flag == "--come-in") {
      out.come_in = value;
    } else if (!is_number) {
      return std::nullopt;
    } else if (flag == "--steps") {
      out.steps = static_cast<std::size_t>(number);
    } else if (flag == "--rows") {
      out.rows = static_cast<std::size_t>(number);
    } else if (flag == "--kill") {
      out.victim = number;
    } else if (flag == "--at") {
      out.at = static_cast<std::size_t>(number);
    } else {
      return std::nullopt;
    }
  }
  if (argc % 2 == 0 || out.steps == 0 || out.rows == 0) return std::nullopt;
  return out;
}

/// Waits for the file of an invitation; nothing if there is none within a minute.
std::optional<std::string> wait_for_invitation(const std::string& path) {
  const auto limit = steady::now() + std::chrono::minutes(1);
  while (steady::now() < limit) {
    std::string text;
    if (std::ifstream(path) >> text) {
      std::filesystem::remove(path);
      return text;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return std::nullopt;
}

class faulty_training {
 public:
  faulty_training(const fault_options& options, troupe::communicator& world,
                  const text_corpus& corpus, const character_model& model)
      : options_(options),
        world_(world),
        corpus_(corpus),
        trainer_(world, model, options.rows, 1),
        schedule_{.step_count = options.steps} {
    const auto now = world.members();
    name_ = now.names[to_index(now.self)];
    for (const auto name : now.names)
      members_.push_back(troupe::rank{name});
    first_step_ = now.first_operation.value - 1;
    is_new_ = first_step_ != 0;
  }

  int run() {
    for (std::size_t step = first_step_; step < options_.steps; ++step) {
      std::optional<text_batch> batch;
      if (!is_new_) batch = draw(step);
      if (name_ == static_cast<std::uint32_t>(options_.victim) && step == options_.at && !is_late())
        end_here(step);
      const auto began = steady::now();
      const auto result = trainer_.step(batch, schedule_.rate(step));
      if (!result) return failed(result.error());
      if (auto problem = look_at(*result, step, steady::now() - began); problem)
        return failed(*problem);
    }
    return finish();
  }

 private:
  /// A newcomer is not the one who was told to end, whatever its name.
  bool is_late() const { return first_step_ != 0; }

  text_batch draw(std::size_t step) const {
    return corpus_.draw({.seed = 1,
                         .step = step,
                         .first_row = name_ * options_.rows,
                         .row_count = options_.rows,
                         .context = 32});
  }

  void end_here(std::size_t step) const {
    std::printf("step %zu: member %u ends now (SIGKILL)\n", step, name_);
    std::fflush(stdout);
    ::raise(SIGKILL);
  }

  /// Whatever changed among the members is seen at the same step by all of them.
  std::optional<troupe::failure> look_at(const replica_trainer::step_result& result,
                                         std::size_t step, steady::duration took) {
    const bool speaks = result.contributors.front().value == name_;
    const auto milliseconds = std::chrono::duration<double, std::milli>(took).count();
    if (losses_.empty()) losses_.push_back(result.loss);
    losses_.push_back(result.loss);
    const auto size = result.contributors.size();
    const auto is_missing = [](const auto& from, troupe::rank one) {
      return std::find(from.begin(), from.end(), one) == from.end();
    };
    const bool lost = std::any_of(members_.begin(), members_.end(), [&](troupe::rank one) {
      return is_missing(result.contributors, one);
    });
    const bool grew =
        is_new_ || std::any_of(result.contributors.begin(), result.contributors.end(),
                               [&](troupe::rank one) { return is_missing(members_, one); });
    members_ = result.contributors;
    if (speaks && step % 20 == 0)
      std::printf("step %4zu  loss %.4f  %zu members, epoch %u\n", step, result.loss, size,
                  result.epoch.value);
    if (lost && speaks) {
      std::printf("step %4zu  %zu members are left; this step took %.1f ms, weights as before\n",
                  step, size, milliseconds);
      invite();
    }
    if (!grew) return std::nullopt;
    return take_in(step, speaks);
  }

  void invite() const {
    if (options_.invite.empty()) return;
    const auto text = world_.invite();
    if (!text) {
      std::printf("no invitation: %s\n", text.error().message.c_str());
      return;
    }
    std::ofstream(options_.invite + ".new") << *text << '\n';
    std::filesystem::rename(options_.invite + ".new", options_.invite);
  }

  /// A newcomer took part in this step: it gets weights and moments from the first member.
  std::optional<troupe::failure> take_in(std::size_t step, bool speaks) {
    const auto began = steady::now();
    if (const auto adopted = world_.adopt_epoch(); !adopted) return adopted.error();
    if (const auto shared = trainer_.share_state(step + 1); !shared) return shared.error();
    const auto took = std::chrono::duration<double, std::milli>(steady::now() - began).count();
    if (speaks)
      std::printf("step %4zu  %zu members: a newcomer got the weights in %.1f ms\n", step,
                  members_.size(), took);
    if (is_new_) std::printf("step %4zu  in as member %u\n", step, name_);
    is_new_ = false;
    return std::nullopt;
  }

  /// All members' weights are equal, and they learned something. Both are asked by all_reduce: when
  /// it returns here every member has the result, so whoever leaves first leaves nobody waiting.
  int finish() {
    std::uint64_t extremes[2] = {trainer_.bits(), trainer_.bits()};
    for (const auto op : {troupe::reduction::minimum, troupe::reduction::maximum}) {
      auto* const value = op == troupe::reduction::minimum ? &extremes[0] : &extremes[1];
      const auto work = world_.all_reduce({.send = value,
                                           .receive = value,
                                           .count = 1,
                                           .type = troupe::data_type::uint64,
                                           .op = op});
      if (!work) return failed(work.error());
      if (const auto done = (*work)->wait(); !done) return failed(done.error());
    }
    const bool equal = extremes[0] == extremes[1];
    const bool learned = losses_.back() < losses_.front();
    if (members_.front().value == name_)
      std::printf("the weights of %zu members are %s (%016" PRIx64 "); loss %.4f -> %.4f\n",
                  members_.size(), equal ? "bitwise equal" : "DIFFERENT", trainer_.bits(),
                  losses_.front(), losses_.back());
    if (const auto left = world_.finalize(std::chrono::seconds(10)); !left)
      return failed(left.error());
    return equal && learned ? 0 : 1;
  }

  int failed(const troupe::failure& why) const {
    std::fprintf(stderr, "train_through_faults: %s\n", to_string(why).c_str());
    return 3;
  }

  const fault_options& options_;
  troupe::communicator& world_;
  const text_corpus& corpus_;
  replica_trainer trainer_;
  learning_schedule schedule_;
  std::uint32_t name_ = 0;
  std::vector<troupe::rank> members_;  ///< names, as of the last step
  std::size_t first_step_ = 0;
  bool is_new_ = false;  ///< it has no weights yet
  std::vector<double> losses_;
};

int run(const fault_options& options) {
  troupe::communicator_options how;
  how.settings = {{"fault_tolerance.world", "continue"}};
  if (!options.come_in.empty()) {
    how.invitation = wait_for_invitation(options.come_in);
    if (!how.invitation) {
      std::printf("nobody invited: %s does not exist after a minute\n", options.come_in.c_str());
      return 3;
    }
  }
  const auto corpus = text_corpus::load("");
  if (!corpus) return misuse(corpus.error());
  const character_model model(
      {.symbol_count = corpus->symbol_count(), .context = 32, .width = 64, .block_count = 2});
  auto world = troupe::join(how);
  if (!world) {
    std::fprintf(stderr, "train_through_faults: %s\n", to_string(world.error()).c_str());
    return 3;
  }
  return faulty_training(options, **world, *corpus, model).run();
}

}  // namespace
}  // namespace examples

int main(int argc, char** argv) {
  const auto options = examples::parse(argc, argv);
  if (!options) return examples::misuse("a flag is unknown or has no fitting value");
  return examples::run(*options);
}
