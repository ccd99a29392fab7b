#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "actors/work/futex_flag.hpp"
#include "runtime/result.hpp"

namespace troupe::actors {

/// An answer that a thread outside waits for: the edge between the public API and the actors. The
/// last of the two sides to let go frees it.
template <class T>
class ticket {
 public:
  /// Once, from the worker.
  void answer(outcome<T> value) {
    value_.emplace(std::move(value));
    done_.raise();
  }

  bool answered() const { return done_.is_up(); }

  /// Null if nothing was answered within `limit`.
  outcome<T>* wait(duration limit) {
    return done_.wait(limit, duration::zero()) ? &*value_ : nullptr;
  }

 private:
  std::optional<outcome<T>> value_;
  futex_flag done_;
};

/// Nothing: the value of an answer that only says "done".
struct done_value {};

template <class T>
using ticket_handle = std::shared_ptr<ticket<T>>;

}  // namespace troupe::actors
