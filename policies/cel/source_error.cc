#include "policies/cel/source_error.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"

namespace drasim::cel {
namespace {

// The characters (code points) of UTF-8 text.
size_t CharactersIn(absl::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & '\xc0') != '\x80'; }));
}

}  // namespace

std::string SourceErrorText(absl::string_view source, std::vector<SourceError> errors) {
  std::stable_sort(errors.begin(), errors.end(), [](const SourceError& a, const SourceError& b) {
    return a.position < b.position;
  });
  std::string text;
  for (const SourceError& error : errors) {
    const size_t position = std::min<size_t>(error.position, source.size());
    const absl::string_view before = source.substr(0, position);
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    const size_t line_break = before.rfind('\n');
    const size_t begin = line_break == absl::string_view::npos ? 0 : line_break + 1;
    const size_t end = std::min(source.find('\n', begin), source.size());
    const size_t column = CharactersIn(source.substr(begin, position - begin));
    absl::StrAppend(&text, text.empty() ? "" : "\n", "ERROR: <input>:", line, ":", column + 1, ": ",
                    error.message, "\n | ", source.substr(begin, end - begin), "\n | ",
                    std::string(column, '.'), "^");
  }
  return text;
}

}  // namespace drasim::cel
