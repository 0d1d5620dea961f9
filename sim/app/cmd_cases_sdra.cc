// drasim cases sdra.

#include <cstdio>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "model/kube/reader_json.h"
#include "model/kube/sdra_case_reader.h"
#include "model/proto/sdra_case.pb.h"
#include "model/status_macros.h"
#include "model/text/json_writer.h"
#include "policies/allocator/cel_verdicts.h"
#include "policies/choice/choice_policies.h"
#include "sim/app/commands.h"
#include "sim/app/exit_codes.h"
#include "sim/kube/case_file.h"
#include "sim/sdra/allocator_case.h"
#include "sim/sdra/allocator_rounds.h"
#include "sim/sdra/case_table.h"
#include "sim/sdra/json_message.h"
#include "sim/sdra/plugin_case.h"
#include "traces/byte_source.h"

namespace drasim {
namespace {

struct SdraRun {
  AllocatorOptions options;
  std::string variant;
  bool compare = false;
  CaseTable table;
};

absl::Status AnswerAllocatorLine(absl::string_view line, const YamlNode& root,
                                 const YamlNode& given, SdraRun* run) {
  ASSIGN_OR_RETURN(const AllocatorCase read, ReadAllocatorCase(line, given));
  ASSIGN_OR_RETURN(const std::vector<AllocationAnswer> answers,
                   AnswerAllocatorCase(read, run->options, MakeCelVerdicts));
  const bool steps = run->options.count_steps;
  if (!run->compare) {
    JsonWriter name(JsonWriter::Layout::kOneLine);
    name.BeginObject().Key("name").String(read.name);
    name.Key("want").Json(AllocatorAnswerJson(read, answers, steps)).EndObject();
    std::fputs(name.text().c_str(), stdout);
    return absl::OkStatus();
  }
  const YamlNode* want = JsonMember(root, "want");
  if (want == nullptr) return absl::InvalidArgumentError("no key `want` to compare with");
  return CompareAllocatorAnswers(line, *want, read, answers, run->variant, steps, &run->table)
      .status();
}

absl::Status AnswerPluginLine(absl::string_view line, SdraRun* run) {
  ASSIGN_OR_RETURN(const SdraLine read, SdraLine::Parse(line, "line"));
  ASSIGN_OR_RETURN(const proto::kube::SdraCase given, read.Case());
  ASSIGN_OR_RETURN(const std::vector<proto::kube::SdraStepAnswer> answers,
                   AnswerPluginCase(given, MakeCelVerdicts, run->options));
  if (!run->compare) {
    std::fputs(PluginAnswerLine(given.name(), answers).c_str(), stdout);
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const std::vector<proto::kube::SdraStepAnswer> want, read.PluginWant());
  ComparePluginAnswers(given, answers, want, &run->table);
  return absl::OkStatus();
}

absl::Status AnswerSdraLine(absl::string_view line, SdraRun* run) {
  std::deque<YamlNode> nodes;
  const JsonTree tree = ParseJsonTree(line, 0, &nodes);
  if (tree.root == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("not a case: at byte ", tree.problem_position, ": ", tree.problem));
  }
  const YamlNode* given = JsonMember(*tree.root, "case");
  if (given == nullptr) return absl::InvalidArgumentError("not a case: no key `case`");
  if (JsonMember(*given, "steps") != nullptr) return AnswerPluginLine(line, run);
  return AnswerAllocatorLine(line, *tree.root, *given, run);
}

}  // namespace

absl::Status CasesSdraCommand(const ParsedFlags& flags) {
  if (flags.positional().size() != 1) {
    return absl::InvalidArgumentError("cases sdra needs one file of cases");
  }
  SdraRun run;
  run.variant = flags.GetOr("variant", "incubating");
  ASSIGN_OR_RETURN(run.options.variant, ParseAllocatorVariant(run.variant));
  ASSIGN_OR_RETURN(run.options.release, ParseStructuredRelease(flags.GetOr("release", "1.37")));
  run.options.strict_upstream = !flags.Has("mended");
  run.options.count_steps = flags.Has("count-steps");
  run.compare = flags.Has("compare");
  ASSIGN_OR_RETURN(run.options.policy, MakeChoicePolicy(flags.GetOr("policy", ""), {}));
  ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, OpenByteSource(flags.positional()[0]));
  const absl::Status read = ForEachCaseLine(
      *source, [&run](absl::string_view line) { return AnswerSdraLine(line, &run); });
  if (!run.compare) return read;
  std::fputs(run.table.Text().c_str(), stdout);
  RETURN_IF_ERROR(read);
  return run.table.unequal_cases() == 0 ? absl::OkStatus() : QuietFailure();
}

}  // namespace drasim
