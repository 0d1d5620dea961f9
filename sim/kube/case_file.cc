#include "sim/kube/case_file.h"

#include <cstddef>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "model/status_macros.h"

namespace drasim {
namespace {

constexpr absl::string_view kByteOrderMark = "\xEF\xBB\xBF";

absl::Status ForEachLine(ByteSource& source,
                         absl::FunctionRef<void(absl::string_view line, size_t number)> handle) {
  std::string rest;
  size_t number = 0;
  std::string chunk(1 << 20, '\0');
  for (bool more = true; more;) {
    ASSIGN_OR_RETURN(const size_t bytes, source.Read(chunk.data(), chunk.size()));
    more = bytes > 0;
    // The rest of earlier chunks has no line break.
    size_t from = rest.size();
    rest.append(chunk, 0, bytes);
    if (!more && !rest.empty()) rest.push_back('\n');
    size_t begin = 0;
    for (size_t end = rest.find('\n', from); end != std::string::npos;
         end = rest.find('\n', from)) {
      ++number;
      absl::string_view line = absl::string_view(rest).substr(begin, end - begin);
      if (number == 1) absl::ConsumePrefix(&line, kByteOrderMark);
      line = absl::StripAsciiWhitespace(line);
      if (!line.empty()) handle(line, number);
      begin = from = end + 1;
    }
    rest.erase(0, begin);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ForEachCaseLine(ByteSource& source,
                             absl::FunctionRef<absl::Status(absl::string_view line)> handle) {
  absl::Status first_error;
  RETURN_IF_ERROR(ForEachLine(source, [&](absl::string_view line, size_t number) {
    const absl::Status handled = handle(line);
    if (handled.ok() || !first_error.ok()) return;
    first_error = absl::InvalidArgumentError(
        absl::StrCat(source.name(), ":", number, ": ", handled.message()));
  }));
  return first_error;
}

absl::Status ForEachKubeCase(ByteSource& source, bool with_answers,
                             absl::FunctionRef<absl::Status(const KubeCaseLine&)> handle) {
  return ForEachCaseLine(source, [&](absl::string_view line) -> absl::Status {
    ASSIGN_OR_RETURN(const KubeCaseLine read, ReadKubeCaseLine(line, with_answers));
    return handle(read);
  });
}

}  // namespace drasim
