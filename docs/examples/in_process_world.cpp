#include "docs/examples/in_process_world.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "docs/examples/summation_order.hpp"
#include "runtime/random.hpp"

namespace examples {
namespace {

using troupe::errc;
using troupe::operation_kind;
using troupe::outcome;
using steady = std::chrono::steady_clock;

/// One member's call of an operation.
struct call {
  troupe::operation_signature signature;
  const std::byte* send = nullptr;
  std::byte* receive = nullptr;
};

/// One operation of all members. Its mutex is the meeting's.
struct operation {
  std::vector<call> calls;
  std::vector<std::optional<troupe::split_arguments>> splits;
  std::size_t arrived = 0;
  troupe::failure error;
  std::vector<std::shared_ptr<class meeting>> parts;          ///< of a split: by colour
  std::vector<std::pair<std::size_t, std::uint32_t>> places;  ///< of a split: part and new rank
};

void perform(operation& op) {
  const troupe::operation_signature& what = op.calls[0].signature;
  const std::size_t bytes = what.count * size_of(what.type);
  if (what.kind == operation_kind::all_gather) {
    for (const call& to : op.calls) {
      for (std::size_t r = 0; r < op.calls.size(); ++r) {
        if (to.receive + r * bytes != op.calls[r].send)
          std::memcpy(to.receive + r * bytes, op.calls[r].send, bytes);
      }
    }
    return;
  }
  // Into memory of its own first: the output of one member may be the input of another.
  std::vector<const float*> terms;
  for (const call& each : op.calls)
    terms.push_back(reinterpret_cast<const float*>(each.send));
  std::vector<std::vector<float>> sums(op.calls.size(), std::vector<float>(what.count));
  for (std::size_t r = 0; r < op.calls.size(); ++r) {
    if (what.kind == operation_kind::all_reduce) {
      add_like_recursive_doubling(terms, sums[r]);
      continue;
    }
    add_like_reduce_scatter(terms, r, sums[r]);
    for (const float*& term : terms)
      term += what.count;
  }
  for (std::size_t r = 0; r < op.calls.size(); ++r)
    std::memcpy(op.calls[r].receive, sums[r].data(), bytes);
}

/// What the members of one communicator share.
class meeting : public std::enable_shared_from_this<meeting> {
 public:
  meeting(std::size_t size, const in_process_options& options)
      : size_(size), options_(options), random_(options.seed) {}

  std::size_t size() const { return size_; }

  std::shared_ptr<operation> arrive(std::uint64_t number, std::size_t member, const call& mine,
                                    const std::optional<troupe::split_arguments>& split) {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<operation>& op = operations_[number];
    if (!op) {
      op = std::make_shared<operation>();
      op->calls.resize(size_);
      op->splits.resize(size_);
    }
    const std::shared_ptr<operation> result = op;
    result->calls[member] = mine;
    result->splits[member] = split;
    if (++result->arrived == size_) {
      finish(*result);
      operations_.erase(number);
      changed_.notify_all();
    }
    return result;
  }

  /// Whether all members have arrived, waiting for it at most until `deadline`.
  bool all_arrived(const operation& op, steady::time_point deadline) {
    std::unique_lock lock(mutex_);
    return changed_.wait_until(lock, deadline, [&] { return op.arrived == size_; });
  }

  troupe::duration draw_delay() {
    const std::lock_guard lock(mutex_);
    const auto longest = static_cast<std::uint64_t>(options_.longest_delay.count());
    return troupe::duration(static_cast<std::int64_t>(random_.below(longest + 1)));
  }

 private:
  void finish(operation& op) {
    for (const call& each : op.calls) {
      if (each.signature == op.calls[0].signature) continue;
      op.error = {errc::mismatch, to_string(op.calls[0].signature) + " and " +
                                      to_string(each.signature) + " in one operation"};
      return;
    }
    if (op.calls[0].signature.kind == operation_kind::split)
      divide(op);
    else
      perform(op);
  }

  void divide(operation& op) {
    std::map<std::int32_t, std::vector<std::size_t>> members;
    for (std::size_t r = 0; r < size_; ++r)
      members[op.splits[r]->colour.value_or(0)].push_back(r);
    op.places.resize(size_);
    for (auto& [colour, of] : members) {
      std::stable_sort(of.begin(), of.end(), [&](std::size_t a, std::size_t b) {
        return op.splits[a]->key < op.splits[b]->key;
      });
      in_process_options options = options_;
      options.seed = random_.next();
      op.parts.push_back(std::make_shared<meeting>(of.size(), options));
      for (std::size_t i = 0; i < of.size(); ++i)
        op.places[of[i]] = {op.parts.size() - 1, static_cast<std::uint32_t>(i)};
    }
  }

  std::size_t size_;
  in_process_options options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  troupe::random_stream random_;
  std::map<std::uint64_t, std::shared_ptr<operation>> operations_;
};

class in_process_work : public troupe::work {
 public:
  in_process_work(std::shared_ptr<meeting> where, std::shared_ptr<operation> op,
                  troupe::operation_number number)
      : where_(std::move(where)),
        operation_(std::move(op)),
        number_(number),
        not_before_(steady::now() + where_->draw_delay()) {}

  outcome<void> wait(troupe::duration limit) override {
    if (!where_->all_arrived(*operation_, steady::now() + limit))
      return troupe::fail(errc::timed_out, "a member did not call");
    while (steady::now() < not_before_) {
    }
    if (operation_->error.code() != errc::ok) return troupe::fail(operation_->error);
    return {};
  }
  outcome<void> wait() override { return wait(std::chrono::seconds(20)); }
  bool test() const override {
    return steady::now() >= not_before_ && where_->all_arrived(*operation_, steady::now());
  }
  troupe::failure error() const override { return test() ? operation_->error : troupe::failure(); }
  std::vector<troupe::rank> contributors() const override { return {}; }
  troupe::epoch epoch() const override { return {}; }
  troupe::operation_path path() const override { return {}; }
  troupe::operation_signature signature() const override { return {}; }
  troupe::operation_number number() const override { return number_; }

 private:
  std::shared_ptr<meeting> where_;
  std::shared_ptr<operation> operation_;
  troupe::operation_number number_;
  steady::time_point not_before_;
};

class in_process_communicator : public troupe::communicator {
 public:
  in_process_communicator(std::shared_ptr<meeting> where, std::uint32_t rank)
      : where_(std::move(where)), rank_{rank} {}

  troupe::rank rank() const override { return rank_; }
  std::uint32_t size() const override { return static_cast<std::uint32_t>(where_->size()); }
  troupe::epoch epoch() const override { return {}; }
  troupe::communicator_id id() const override { return {}; }
  troupe::start_up_report start_up() const override { return {}; }
  troupe::memory_usage memory() const override { return {}; }
  troupe::rank_dump dump() const override { return {}; }

  outcome<troupe::work_handle> all_reduce(const troupe::all_reduce_arguments& a) override {
    if (a.options.algorithm != troupe::algorithm::recursive_doubling)
      return troupe::fail(errc::not_available, "the in-process world only has recursive doubling");
    return start(
        {{operation_kind::all_reduce, a.type, a.op, 0, a.count}, bytes(a.send), bytes(a.receive)});
  }
  outcome<troupe::work_handle> all_gather(const troupe::all_gather_arguments& a) override {
    return start(
        {{operation_kind::all_gather, a.type, {}, 0, a.count}, bytes(a.send), bytes(a.receive)});
  }
  outcome<troupe::work_handle> reduce_scatter(const troupe::reduce_scatter_arguments& a) override {
    return start({{operation_kind::reduce_scatter, a.type, a.op, 0, a.count},
                  bytes(a.send),
                  bytes(a.receive)});
  }
  outcome<std::unique_ptr<troupe::communicator>> split(
      const troupe::split_arguments& arguments) override {
    const call mine{{operation_kind::split, {}, {}, 0, 0}, nullptr, nullptr};
    const auto op = where_->arrive(++calls_, to_index(rank_), mine, arguments);
    in_process_work work(where_, op, {calls_});
    if (auto done = work.wait(); !done) return troupe::fail(done.error());
    const auto [part, place] = op->places[to_index(rank_)];
    return std::make_unique<in_process_communicator>(op->parts[part], place);
  }

  outcome<troupe::work_handle> broadcast(const troupe::broadcast_arguments&) override {
    return missing();
  }
  outcome<troupe::work_handle> send(const troupe::send_arguments&) override { return missing(); }
  outcome<troupe::work_handle> receive(const troupe::receive_arguments&) override {
    return missing();
  }
  outcome<troupe::work_handle> barrier(const troupe::operation_options&) override {
    return missing();
  }
  outcome<troupe::work_handle> reduce(const troupe::reduce_arguments&) override {
    return missing();
  }
  outcome<troupe::work_handle> gather(const troupe::gather_arguments&) override {
    return missing();
  }
  outcome<troupe::work_handle> scatter(const troupe::scatter_arguments&) override {
    return missing();
  }
  outcome<troupe::work_handle> all_to_all(const troupe::all_to_all_arguments&) override {
    return missing();
  }
  outcome<troupe::work_handle> all_to_all_v(const troupe::all_to_all_v_arguments&) override {
    return missing();
  }
  outcome<std::unique_ptr<troupe::window>> create_window(const troupe::window_arguments&) override {
    return troupe::fail(errc::not_available, "the in-process world has no windows");
  }
  troupe::epoch_members members() const override { return {{}, rank_, {}, {}}; }
  outcome<troupe::epoch_members> wait_epoch(troupe::epoch, troupe::duration) override {
    return one_epoch();
  }
  outcome<troupe::epoch_members> adopt_epoch() override { return one_epoch(); }
  outcome<void> reconfigure(const std::vector<std::uint32_t>&) override { return one_epoch(); }
  outcome<std::string> invite() override { return one_epoch(); }
  outcome<void> set_timeout(troupe::duration) override { return {}; }
  void abort() override {}
  outcome<void> finalize(troupe::duration) override { return {}; }

 private:
  static const std::byte* bytes(const void* data) { return static_cast<const std::byte*>(data); }
  static std::byte* bytes(void* data) { return static_cast<std::byte*>(data); }

  static tl::unexpected<troupe::failure> one_epoch() {
    return troupe::fail(errc::not_available, "the in-process world has one epoch");
  }

  static outcome<troupe::work_handle> missing() {
    return troupe::fail(errc::not_available, "the in-process world has no such operation");
  }

  outcome<troupe::work_handle> start(const call& mine) {
    const auto op = where_->arrive(++calls_, to_index(rank_), mine, std::nullopt);
    return std::make_shared<in_process_work>(where_, op, troupe::operation_number{calls_});
  }

  std::shared_ptr<meeting> where_;
  troupe::rank rank_;
  std::uint64_t calls_ = 0;
};

}  // namespace

std::vector<std::unique_ptr<troupe::communicator>> make_in_process_world(
    const in_process_options& options) {
  const auto where = std::make_shared<meeting>(options.size, options);
  std::vector<std::unique_ptr<troupe::communicator>> members;
  for (std::uint32_t r = 0; r < options.size; ++r)
    members.push_back(std::make_unique<in_process_communicator>(where, r));
  return members;
}

}  // namespace examples
