// drasim cases kube.

#include <cstdio>
#include <memory>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "model/status_macros.h"
#include "sim/app/commands.h"
#include "sim/app/exit_codes.h"
#include "sim/kube/case_compare.h"
#include "sim/kube/kube_case.h"
#include "traces/byte_source.h"

namespace drasim {
namespace {

// Calls `handle` with each line that is not empty, and its number from 1.
absl::Status ForEachLine(
    ByteSource& source,
    absl::FunctionRef<absl::Status(absl::string_view line, size_t number)> handle) {
  std::string rest;
  size_t number = 0;
  std::string chunk(1 << 20, '\0');
  for (bool more = true; more;) {
    ASSIGN_OR_RETURN(const size_t bytes, source.Read(chunk.data(), chunk.size()));
    more = bytes > 0;
    rest.append(chunk, 0, bytes);
    if (!more && !rest.empty()) rest.push_back('\n');
    size_t begin = 0;
    for (size_t end = rest.find('\n'); end != std::string::npos; end = rest.find('\n', begin)) {
      ++number;
      const absl::string_view line =
          absl::StripAsciiWhitespace(absl::string_view(rest).substr(begin, end - begin));
      if (!line.empty()) RETURN_IF_ERROR(handle(line, number));
      begin = end + 1;
    }
    rest.erase(0, begin);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CasesKubeCommand(const ParsedFlags& flags) {
  if (flags.positional().size() != 1) {
    return absl::InvalidArgumentError("cases kube needs one file of cases");
  }
  const bool compare = flags.Has("compare");
  ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, OpenByteSource(flags.positional()[0]));
  CaseComparison comparison;
  RETURN_IF_ERROR(ForEachLine(*source, [&](absl::string_view line, size_t number) -> absl::Status {
    const auto placed = [&](const absl::Status& status) {
      return absl::InvalidArgumentError(
          absl::StrCat(source->name(), ":", number, ": ", status.message()));
    };
    const absl::StatusOr<KubeCaseLine> read = ReadKubeCase(line, compare);
    if (!read.ok()) return placed(read.status());
    const absl::StatusOr<proto::kube::KubeAnswer> answer = AnswerKubeCase(read->given);
    if (!answer.ok()) return placed(answer.status());
    if (!compare) {
      std::fputs(KubeAnswerLine(read->given.id(), *answer).c_str(), stdout);
      return absl::OkStatus();
    }
    if (!read->stored.has_value()) {
      return placed(absl::InvalidArgumentError("no key `answer` to compare with"));
    }
    comparison.Add(read->given.id(), read->given.family(), *answer, *read->stored);
    return absl::OkStatus();
  }));
  if (!compare) return absl::OkStatus();
  std::fputs(comparison.Text().c_str(), stdout);
  return comparison.unequal_cases() == 0 ? absl::OkStatus() : QuietFailure();
}

}  // namespace drasim
