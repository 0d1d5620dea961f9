// drasim cel and drasim cases cel.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

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
#include "sim/app/format_flag.h"
#include "sim/record/data_table.h"
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

// An expression's verdict on each device, in the order of the slices.
class EvaluationTable {
 public:
  explicit EvaluationTable(const cel::Program* program) : program_(program) {}

  absl::Status AddSlices(absl::string_view path);
  std::string Text() const;
  std::string Document(OutputFormat format) const;

 private:
  struct Row {
    std::string driver;
    std::string pool;
    std::string device;
    cel::Verdict verdict = cel::Verdict::kFalse;
    std::string error;  // with kError
    uint64_t cost = 0;
  };

  const cel::Program* program_;
  std::vector<Row> rows_;
};

absl::Status EvaluationTable::AddSlices(absl::string_view path) {
  ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(path));
  ASSIGN_OR_RETURN(const PublishedSlices published, ReadResourceSlices(text, path));
  for (const std::string& warning : published.warnings) {
    std::fprintf(stderr, "drasim: warning: %s\n", warning.c_str());
  }
  DeviceColumns columns;
  cel::DeviceSelector selector(program_, &columns);
  for (const proto::kube::ResourceSlice& slice : published.slices) {
    const proto::kube::ResourceSliceSpec& spec = slice.spec();
    for (const proto::kube::Device& device : spec.devices()) {
      ASSIGN_OR_RETURN(const DeviceFacts facts, DeviceFactsOf(spec.driver(), device));
      const cel::Evaluation evaluation = selector.Explain(columns.Add(facts));
      Row row{spec.driver(),      spec.pool().name(), device.name(),
              evaluation.verdict, std::string(),      evaluation.cost};
      if (row.verdict == cel::Verdict::kError) row.error = cel::WithAdvice(evaluation.error);
      rows_.push_back(std::move(row));
    }
  }
  return absl::OkStatus();
}

std::string EvaluationTable::Text() const {
  std::string text =
      absl::StrCat("worst-case cost ", program_->worst_cost, " of ", cel::kCostLimit, "\n");
  for (const Row& row : rows_) {
    const std::string verdict = row.verdict == cel::Verdict::kTrue    ? "true"
                                : row.verdict == cel::Verdict::kFalse ? "false"
                                                                      : "error: " + row.error;
    absl::StrAppend(&text, row.driver, "/", row.pool, "/", row.device, "\t", verdict, "\tcost ",
                    row.cost, "\n");
  }
  return text;
}

std::string EvaluationTable::Document(OutputFormat format) const {
  DataTable table({"driver", "pool", "device", "match", "error", "cost", "worst_cost"});
  for (const Row& row : rows_) {
    table.AddRow().Text(row.driver).Text(row.pool).Text(row.device);
    if (row.verdict == cel::Verdict::kError) {
      table.Empty().Text(row.error);
    } else {
      table.Bool(row.verdict == cel::Verdict::kTrue).Empty();
    }
    table.Int(static_cast<int64_t>(row.cost)).Int(static_cast<int64_t>(program_->worst_cost));
  }
  return RowsIn("cel", "devices", table, format);
}

}  // namespace

absl::Status CelCommand(const ParsedFlags& flags) {
  if (flags.positional().size() < 2) {
    return absl::InvalidArgumentError("cel needs an expression and files with ResourceSlices");
  }
  ASSIGN_OR_RETURN(const cel::Program program, cel::Compile(flags.positional()[0], {}));
  EvaluationTable table(&program);
  for (size_t i = 1; i < flags.positional().size(); ++i) {
    RETURN_IF_ERROR(table.AddSlices(flags.positional()[i]));
  }
  const OutputFormat format = FormatOf(flags);
  const std::string text = format == OutputFormat::kText ? table.Text() : table.Document(format);
  std::fputs(text.c_str(), stdout);
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
