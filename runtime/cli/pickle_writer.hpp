#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace troupe::cli {

/// Writes one Python object in pickle protocol 2: dicts, lists, tuples of two, texts, numbers,
/// None, True and False. Every version of Python 3 reads it.
///
/// Source: Python's pickletools, the list of opcodes.
class pickle_writer {
 public:
  pickle_writer();

  void begin_dict();  ///< then key, value, key, value, ...
  void end_dict();
  void begin_list();  ///< then its elements
  void end_list();
  void end_pair();  ///< the last two values become a tuple

  void value(std::string_view text);
  void value(const char* text) { value(std::string_view(text)); }
  void value(std::int64_t number);
  void value(double number);
  void value(bool truth);
  void none();

  template <class Value>
  void member(std::string_view name, const Value& v) {
    value(name);
    value(v);
  }

  /// The whole pickle; nothing may follow.
  std::string take();

 private:
  std::string bytes_;
};

}  // namespace troupe::cli
