#include "runtime/cli/memory_report.hpp"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <functional>

#include "runtime/assert.hpp"

namespace troupe::cli {
namespace {

template <class... Values>
std::string print(const char* format, Values... values) {
  std::array<char, 256> text{};
  std::snprintf(text.data(), text.size(), format, values...);
  return text.data();
}

std::uint64_t heap_part(const memory_usage& ledger) {
  return ledger.total() - ledger[memory_purpose::segments];
}

/// Nothing: not measured.
using cell = std::optional<std::int64_t>;

/// What only a process that holds one rank and nothing else can say.
cell process_view(const memory_case& each, std::uint64_t bytes) {
  return each.unaccounted ? cell(static_cast<std::int64_t>(bytes)) : cell();
}

std::string line(std::string_view name, const std::vector<memory_case>& cases,
                 const std::function<cell(const memory_case&)>& value) {
  std::string text = print("%-18s", std::string(name).c_str());
  for (const memory_case& each : cases) {
    const cell shown = value(each);
    text += shown ? print("  %12" PRId64, *shown) : print("  %12s", "-");
  }
  return text + "\n";
}

std::string heading(const std::vector<memory_case>& cases) {
  std::string names = print("# %-16s", "bytes of one rank");
  std::string states = print("%-18s", "#");
  for (const memory_case& each : cases) {
    const std::string name = std::to_string(each.rank_count) + " " + each.lanes;
    names += print("  %12s", name.c_str());
    states += print("  %12s", each.state.c_str());
  }
  return names + "\n" + states + "\n";
}

/// The field of a purpose: "lanes_bytes", as "lanes" is the kind of lanes.
std::string field_of(std::size_t purpose) {
  return std::string(to_string(static_cast<memory_purpose>(purpose))) + "_bytes";
}

std::string json_of(const memory_case& each) {
  std::string text = print("{\"library\": \"troupe\", \"world\": \"%s\", \"lanes\": \"%s\"",
                           each.world.c_str(), each.lanes.c_str());
  text += print(", \"ranks\": %u, \"state\": \"%s\"", each.rank_count, each.state.c_str());
  for (std::size_t i = 0; i < memory_purpose_count; ++i)
    text += print(", \"%s\": %" PRIu64, field_of(i).c_str(), each.mean.ledger.bytes[i]);
  text += print(", \"ledger_bytes\": %" PRIu64 ", \"largest_ledger_bytes\": %" PRIu64,
                each.mean.ledger.total(), each.largest_total);
  if (!each.unaccounted)
    return text +
           ", \"not_in_the_ledger_bytes\": null, \"heap_bytes\": null, \"resident_bytes\": null}";
  return text + print(", \"not_in_the_ledger_bytes\": %" PRId64 ", \"heap_bytes\": %" PRIu64
                      ", \"resident_bytes\": %" PRIu64 "}",
                      *each.unaccounted, each.mean.heap_bytes, each.mean.resident_bytes);
}

/// Reads the fields of one row and keeps the first that is not there.
class row_fields {
 public:
  explicit row_fields(const json_row& row) : row_(row) {}

  template <class Number>
  void number(const char* name, Number& out) {
    if (auto value = row_.number(name))
      out = static_cast<Number>(*value);
    else if (wrong_.message.empty())
      wrong_ = value.error();
  }
  void text(const char* name, std::string& out) {
    if (auto value = row_.text(name))
      out = *value;
    else if (wrong_.message.empty())
      wrong_ = value.error();
  }
  const failure& wrong() const { return wrong_; }

 private:
  const json_row& row_;
  failure wrong_;
};

}  // namespace

std::int64_t memory_sample::unaccounted(const memory_sample& before) const {
  return static_cast<std::int64_t>(heap_bytes) - static_cast<std::int64_t>(before.heap_bytes) -
         static_cast<std::int64_t>(heap_part(ledger));
}

memory_sample sample_process(const memory_usage& ledger) {
  memory_sample out{.ledger = ledger};
  const auto heap = ::mallinfo2();
  out.heap_bytes = heap.uordblks + heap.hblkhd;
  std::ifstream file("/proc/self/statm");
  std::uint64_t size_pages = 0, resident_pages = 0;
  file >> size_pages >> resident_pages;
  out.resident_bytes = resident_pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return out;
}

memory_case make_memory_case(std::span<const memory_sample> ranks,
                             std::span<const memory_sample> before) {
  TROUPE_ASSERT(!ranks.empty());
  TROUPE_ASSERT(ranks.size() == before.size());
  memory_case out;
  out.rank_count = static_cast<std::uint32_t>(ranks.size());
  memory_sample& sum = out.mean;
  std::int64_t unaccounted = 0;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    for (std::size_t i = 0; i < memory_purpose_count; ++i)
      sum.ledger.bytes[i] += ranks[r].ledger.bytes[i];
    sum.heap_bytes += ranks[r].heap_bytes;
    sum.resident_bytes += ranks[r].resident_bytes;
    unaccounted += ranks[r].unaccounted(before[r]);
    out.largest_total = std::max(out.largest_total, ranks[r].ledger.total());
  }
  for (auto& each : sum.ledger.bytes)
    each /= ranks.size();
  sum.heap_bytes /= ranks.size();
  sum.resident_bytes /= ranks.size();
  out.unaccounted = unaccounted / static_cast<std::int64_t>(ranks.size());
  return out;
}

std::string describe_memory(const std::vector<memory_case>& cases) {
  std::string text = heading(cases);
  for (std::size_t i = 0; i < memory_purpose_count; ++i) {
    const auto purpose = static_cast<memory_purpose>(i);
    text += line(to_string(purpose), cases, [purpose](const memory_case& each) {
      return cell(static_cast<std::int64_t>(each.mean.ledger[purpose]));
    });
  }
  text += line("# ledger", cases, [](const memory_case& each) {
    return cell(static_cast<std::int64_t>(each.mean.ledger.total()));
  });
  text += line("# largest rank", cases, [](const memory_case& each) {
    return cell(static_cast<std::int64_t>(each.largest_total));
  });
  text += line("# not in it", cases, [](const memory_case& each) { return each.unaccounted; });
  text += line("# heap in use", cases,
               [](const memory_case& each) { return process_view(each, each.mean.heap_bytes); });
  return text + line("# resident", cases, [](const memory_case& each) {
           return process_view(each, each.mean.resident_bytes);
         });
}

std::string memory_json(const std::vector<memory_case>& cases) {
  std::string text;
  for (const memory_case& each : cases)
    text += (text.empty() ? "" : ",\n") + json_of(each);
  return "[\n" + text + "\n]\n";
}

outcome<std::vector<memory_case>> memory_cases_of(const std::vector<json_row>& rows) {
  std::vector<memory_case> out;
  for (const json_row& row : rows) {
    memory_case each;
    row_fields fields(row);
    fields.text("world", each.world);
    fields.text("lanes", each.lanes);
    fields.text("state", each.state);
    fields.number("ranks", each.rank_count);
    for (std::size_t i = 0; i < memory_purpose_count; ++i)
      fields.number(field_of(i).c_str(), each.mean.ledger.bytes[i]);
    fields.number("largest_ledger_bytes", each.largest_total);
    if (row.number("not_in_the_ledger_bytes")) {
      fields.number("not_in_the_ledger_bytes", each.unaccounted.emplace());
      fields.number("heap_bytes", each.mean.heap_bytes);
      fields.number("resident_bytes", each.mean.resident_bytes);
    }
    if (fields.wrong().code() != errc::ok) return fail(fields.wrong());
    out.push_back(std::move(each));
  }
  return out;
}

}  // namespace troupe::cli
