// drasim cel and drasim cases cel.

#include <cstdio>
#include <deque>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "model/device_columns.h"
#include "model/kube/device_facts_of.h"
#include "model/kube/reader_json.h"
#include "model/kube/slice_reader.h"
#include "model/proto/resource.pb.h"
#include "model/status_macros.h"
#include "policies/cel/compile.h"
#include "policies/cel/program.h"
#include "policies/cel/selector.h"
#include "sim/app/commands.h"
#include "sim/app/exit_codes.h"
#include "sim/sdra/case_table.h"
#include "sim/sdra/cel_case.h"
#include "traces/byte_source.h"

namespace drasim {
namespace {

constexpr size_t kMostBytes = size_t{1} << 30;

absl::StatusOr<std::string> ReadWholeFile(absl::string_view path) {
  ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, OpenByteSource(path));
  return ReadAll(*source, kMostBytes);
}

// One line: the device, what the expression says of it, and the actual cost.
std::string EvaluationLine(const proto::kube::ResourceSlice& slice,
                           const proto::kube::Device& device, const cel::Evaluation& evaluation) {
  std::string verdict;
  switch (evaluation.verdict) {
    case cel::Verdict::kTrue:
      verdict = "true";
      break;
    case cel::Verdict::kFalse:
      verdict = "false";
      break;
    case cel::Verdict::kError:
      verdict = absl::StrCat("error: ", cel::WithAdvice(evaluation.error));
      break;
  }
  return absl::StrCat(slice.spec().driver(), "/", slice.spec().pool().name(), "/", device.name(),
                      "\t", verdict, "\tcost ", evaluation.cost, "\n");
}

absl::Status EvaluateSlices(const cel::Program& program, absl::string_view path) {
  ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(path));
  ASSIGN_OR_RETURN(const PublishedSlices published, ReadResourceSlices(text, path));
  for (const std::string& warning : published.warnings) {
    std::fprintf(stderr, "drasim: warning: %s\n", warning.c_str());
  }
  DeviceColumns columns;
  cel::DeviceSelector selector(&program, &columns);
  for (const proto::kube::ResourceSlice& slice : published.slices) {
    for (const proto::kube::Device& device : slice.spec().devices()) {
      ASSIGN_OR_RETURN(const DeviceFacts facts, DeviceFactsOf(slice.spec().driver(), device));
      const cel::Evaluation evaluation = selector.Explain(columns.Add(facts));
      std::fputs(EvaluationLine(slice, device, evaluation).c_str(), stdout);
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CelCommand(const ParsedFlags& flags) {
  if (flags.positional().size() < 2) {
    return absl::InvalidArgumentError("cel needs an expression and files with ResourceSlices");
  }
  ASSIGN_OR_RETURN(const cel::Program program, cel::Compile(flags.positional()[0], {}));
  std::printf("worst-case cost %s of %s\n", absl::StrCat(program.worst_cost).c_str(),
              absl::StrCat(cel::kCostLimit).c_str());
  for (size_t i = 1; i < flags.positional().size(); ++i) {
    RETURN_IF_ERROR(EvaluateSlices(program, flags.positional()[i]));
  }
  return absl::OkStatus();
}

absl::Status CasesCelCommand(const ParsedFlags& flags) {
  if (flags.positional().size() != 1) {
    return absl::InvalidArgumentError("cases cel needs one file of cases");
  }
  const std::string& path = flags.positional()[0];
  ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(path));
  std::deque<YamlNode> nodes;
  const JsonTree tree = ParseJsonTree(text, 0, &nodes);
  if (tree.root == nullptr || tree.root->kind != YamlNode::Kind::kSequence) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": expected an array of cases",
        tree.root == nullptr ? absl::StrCat(": at byte ", tree.problem_position, ": ", tree.problem)
                             : ""));
  }
  CaseTable table;
  for (size_t i = 0; i < tree.root->children.size(); ++i) {
    const absl::StatusOr<CelCase> read = ReadCelCase(text, *tree.root->children[i]);
    const absl::StatusOr<CelAnswer> answer = read.ok() ? AnswerCelCase(*read) : read.status();
    if (!answer.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": case ", i, ": ", answer.status().message()));
    }
    if (flags.Has("compare")) {
      CompareCelAnswer(*read, *answer, &table);
    } else {
      std::fputs(CelAnswerJson(*read, *answer).c_str(), stdout);
    }
  }
  if (!flags.Has("compare")) return absl::OkStatus();
  std::fputs(table.Text().c_str(), stdout);
  return table.unequal_cases() == 0 ? absl::OkStatus() : QuietFailure();
}

}  // namespace drasim
