#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "docs/examples/adam.hpp"
#include "docs/examples/character_model.hpp"
#include "docs/examples/step_timeline.hpp"
#include "docs/examples/text_corpus.hpp"
#include "runtime/communicator.hpp"

namespace examples {

/// Nothing is outstanding when a job says good-bye; only a broken peer takes this long.
inline constexpr troupe::duration longest_good_bye = std::chrono::seconds(10);

struct sharded_trainer_options {
  std::uint32_t group_count = 1;  ///< replica groups; divides the size of the world
  std::size_t row_count = 0;      ///< rows of the global batch that this rank computes
  std::uint64_t seed = 0;
  bool skip_all_reduce = false;  ///< test aid: the groups drift apart
};

/// Hybrid sharded data parallelism on Troupe, one rank's part.
///
/// The ranks form `group_count` groups of neighbours. Inside a group each rank owns one shard of
/// every bucket (parameters, averages of Adam); the groups are replicas of each other. Shards of
/// the same place in all groups form a line across. One step of one bucket:
///
///   all_gather       in the group    shards -> whole parameters, for forward and backward
///   reduce_scatter   in the group    my gradient -> my shard of the group's gradient
///   all_reduce       across          my shard of the group's -> my shard of everybody's
///   Adam on my shard, and the next all_gather can go
///
/// Each of the three runs on a communicator of its own and passes the buckets last to first, in
/// every step, on every rank. That is the rule behind all overlap: members must make the same
/// calls in the same order, but when a reduction is done differs from rank to rank. With the
/// all_gathers and the reduce_scatters on one communicator, the order of calls would depend on it.
///
/// Thread: one at a time.
class sharded_trainer {
 public:
  /// Collective. `model` outlives the trainer.
  static troupe::outcome<std::unique_ptr<sharded_trainer>> create(
      troupe::communicator& world, const character_model& model,
      const sharded_trainer_options& options);

  /// One step on this rank's rows. Returns the mean loss over the global batch.
  troupe::outcome<double> step(const text_batch& batch, double learning_rate);

  /// Waits for the last all_gathers, so that `parameters` are those after the last step, and
  /// leaves the groups. No step may follow.
  troupe::outcome<void> finish();

  std::span<const float> parameters(std::size_t index) const;
  const step_timeline& timeline() const { return timeline_; }

 private:
  /// A bucket's memory on this rank. Parameters and gradients are whole, padded to equal shards;
  /// operations work in place, and this rank's own shard lies where its block is.
  struct bucket {
    std::size_t count;        ///< parameters of the model
    std::size_t shard_count;  ///< elements of one shard
    std::vector<float> parameters;
    std::vector<float> gradients;
    adam optimizer;                     ///< of the shard
    troupe::work_handle in_group = {};  ///< its reduce_scatter
    troupe::work_handle across = {};    ///< its all_reduce
    troupe::work_handle gathered = {};  ///< its all_gather
  };

  sharded_trainer(const troupe::communicator& world, const character_model& model,
                  const sharded_trainer_options& options);
  troupe::outcome<void> form_groups(troupe::communicator& world);
  troupe::outcome<void> start_loss_exchange();

  troupe::outcome<void> forward();
  troupe::outcome<void> backward(double learning_rate);
  troupe::outcome<void> advance(double learning_rate);
  troupe::outcome<void> wait_for_oldest();

  troupe::outcome<void> start_reduce_scatter(std::size_t index);
  troupe::outcome<void> start_all_reduce(std::size_t index);
  troupe::outcome<void> step_and_gather(std::size_t index, double learning_rate);

  troupe::outcome<void> wait(const troupe::work_handle& work, std::size_t index);
  std::span<float> own_shard(std::vector<float>& values) const;

  sharded_trainer_options options_;
  std::uint32_t rank_;
  std::uint32_t rank_count_;
  std::uint32_t group_size_;

  model_pass pass_;
  std::vector<bucket> buckets_;
  std::vector<double> losses_;  ///< of all ranks
  /// How far the step is; all three count down, none overtakes the one before it.
  std::size_t next_in_group_ = 0;  ///< buckets from here on have started their reduce_scatter,
  std::size_t next_across_ = 0;    ///< from here on their all_reduce,
  std::size_t next_to_step_ = 0;   ///< from here on their optimizer step and all_gather
  troupe::work_handle losses_known_;
  step_timeline timeline_;

  /// Declared last, so that they go first: memory belongs to running operations until then.
  std::unique_ptr<troupe::communicator> in_group_;
  std::unique_ptr<troupe::communicator> across_;
  std::unique_ptr<troupe::communicator> gathering_;
  std::unique_ptr<troupe::communicator> everyone_;
};

}  // namespace examples
