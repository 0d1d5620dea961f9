#include "traces/mapping.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "model/proto/mapping.pb.h"
#include "model/status_macros.h"
#include "model/text/yaml_proto.h"
#include "traces/byte_source.h"
#include "traces/column_reader.h"
#include "traces/embedded.h"

namespace drasim {
namespace {

constexpr size_t kMaxMappingBytes = size_t{1} << 20;
// The words that `values` may translate the texts of pods.state to.
constexpr absl::string_view kStates[] = {"succeeded", "failed", "cancelled", "skip"};

// Collects the first thing that is wrong with a mapping.
class Validator {
 public:
  Validator(const proto::TableMapping& mapping, absl::string_view file)
      : mapping_(mapping), file_(file) {}

  void Require(bool good, absl::string_view path, absl::string_view found,
               absl::string_view expected) {
    if (!good) Fail(absl::StrCat(path, ": found '", ShownText(found), "', expected ", expected));
  }
  void Number(absl::string_view path, bool present, const proto::Column& column, ColumnKind kind) {
    if (!present) return;
    const absl::StatusOr<NumberColumn> made = NumberColumn::Make(column, kind);
    if (!made.ok()) Fail(absl::StrCat(path, ".", made.status().message()));
    RequireListed(path, column);
    Alternatives(path, column);
  }
  void Text(absl::string_view path, bool present, const proto::Column& column) {
    if (!present) return;
    const absl::StatusOr<TextColumn> made = TextColumn::Make(column);
    if (!made.ok()) Fail(absl::StrCat(path, ".", made.status().message()));
    RequireListed(path, column);
    Alternatives(path, column);
  }
  // A column whose value no row may lack.
  void Name(absl::string_view path, bool present, const proto::Column& column) {
    Text(path, present, column);
    if (!present) return;
    Require(!column.optional(), absl::StrCat(path, ".optional"), "true",
            "false, because each row has its own name");
    Require(!column.has_default_(), absl::StrCat(path, ".default"), column.default_(),
            "none, because each row has its own name");
  }
  void Extended(absl::string_view path,
                const google::protobuf::RepeatedPtrField<proto::ExtendedColumn>& columns) {
    for (int i = 0; i < columns.size(); ++i) {
      const std::string here = absl::StrCat(path, "[", i, "]");
      const std::string& resource = columns[i].resource();
      Require(!resource.empty(), absl::StrCat(here, ".resource"), "", "a name");
      Require(resource != "cpu" && resource != "memory" && resource != "pods",
              absl::StrCat(here, ".resource"), resource,
              "another resource, because this one has a column of its own");
      const auto end = columns.begin() + i;
      const bool is_new = std::none_of(columns.begin(), end, [&resource](const auto& earlier) {
        return earlier.resource() == resource;
      });
      Require(is_new, absl::StrCat(here, ".resource"), resource, "a name that no earlier one has");
      Require(columns[i].has_amount(), absl::StrCat(here, ".amount"), "", "a column");
      Number(absl::StrCat(here, ".amount"), columns[i].has_amount(), columns[i].amount(),
             ColumnKind::kUnits);
    }
  }
  void Filter(absl::string_view path, const proto::RowFilter& filter) {
    Require(!filter.column().empty(), absl::StrCat(path, ".column"), "", "the name of a column");
    Require(!mapping_.no_header() || IsListed(filter.column()), absl::StrCat(path, ".column"),
            filter.column(), "one of 'columns'");
    Require(filter.equals_size() > 0 || filter.not_equals_size() > 0 || filter.has_at_least() ||
                filter.has_at_most(),
            path, "", "one of equals, not_equals, at_least, at_most");
    // A bound that is not a number compares with nothing, itself included.
    Require(filter.at_least() == filter.at_least(), absl::StrCat(path, ".at_least"), "nan",
            "a number");
    Require(filter.at_most() == filter.at_most(), absl::StrCat(path, ".at_most"), "nan",
            "a number");
  }
  bool IsListed(absl::string_view column) const {
    return std::find(mapping_.columns().begin(), mapping_.columns().end(), column) !=
           mapping_.columns().end();
  }
  const absl::Status& status() const { return status_; }

 private:
  void Fail(absl::string_view why) {
    if (status_.ok()) status_ = absl::InvalidArgumentError(absl::StrCat(file_, ": ", why));
  }
  void RequireListed(absl::string_view path, const proto::Column& column) {
    Require(!mapping_.no_header() || column.optional() || IsListed(column.column()),
            absl::StrCat(path, ".column"), column.column(), "one of 'columns'");
  }
  void Alternatives(absl::string_view path, const proto::Column& column) {
    for (int i = 0; i < column.or_column_size(); ++i) {
      const std::string& name = column.or_column(i);
      const std::string here = absl::StrCat(path, ".or_column[", i, "]");
      Require(!name.empty(), here, "", "the name of a column");
      const auto end = column.or_column().begin() + i;
      Require(name != column.column() && std::find(column.or_column().begin(), end, name) == end,
              here, name, "a column that is not looked at before");
    }
  }

  const proto::TableMapping& mapping_;
  const absl::string_view file_;
  absl::Status status_;
};

void ValidateTable(const proto::TableMapping& mapping, Validator* check) {
  check->Require(!mapping.name().empty(), "name", "", "the format's name");
  const std::string& separator = mapping.separator();
  check->Require(separator.size() <= 1, "separator", separator, "one byte");
  check->Require(separator.find_first_of("\"\r\n") == std::string::npos, "separator", separator,
                 "neither a quote nor a line end");
  const std::string& comment = mapping.comment();
  check->Require(comment.find_first_of("\r\n") == std::string::npos, "comment", comment,
                 "a text without line ends");
  check->Require(comment.empty() || comment.front() != '"', "comment", comment,
                 "a text that does not begin with a quote");
  check->Require(mapping.no_header() || mapping.columns().empty(), "columns",
                 absl::StrJoin(mapping.columns(), ","), "none, unless no_header is true");
  check->Require(!mapping.no_header() || !mapping.columns().empty(), "columns", "",
                 "the names of all columns, because no_header is true");
  for (int i = 0; i < mapping.columns_size(); ++i) {
    const std::string& column = mapping.columns(i);
    const auto here = mapping.columns().begin() + i;
    const std::string path = absl::StrCat("columns[", i, "]");
    check->Require(!column.empty(), path, column, "a name");
    check->Require(std::find(mapping.columns().begin(), here, column) == here, path, column,
                   "a name that no earlier column has");
  }
}

void ValidateGpus(const proto::PodColumns& pods, Validator* check) {
  check->Number("pods.gpu_count", pods.has_gpu_count(), pods.gpu_count(), ColumnKind::kCount);
  check->Number("pods.gpu_share", pods.has_gpu_share(), pods.gpu_share(), ColumnKind::kGpuShare);
  check->Number("pods.gpu_amount", pods.has_gpu_amount(), pods.gpu_amount(),
                ColumnKind::kGpuAmount);
  check->Text("pods.gpu_model", pods.has_gpu_model(), pods.gpu_model());
  check->Require(!pods.has_gpu_amount() || (!pods.has_gpu_count() && !pods.has_gpu_share()),
                 "pods.gpu_amount", pods.gpu_amount().column(),
                 "no column, because gpu_count or gpu_share has one");
  check->Require(pods.has_gpu_count() || pods.has_gpu_amount() ||
                     (!pods.has_gpu_share() && !pods.has_gpu_model()),
                 "pods.gpu_count", "", "a column, because gpu_share or gpu_model has one");
  check->Require(pods.gpu_model_separator().size() <= 1, "pods.gpu_model_separator",
                 pods.gpu_model_separator(), "one byte");
}

void ValidateTimes(const proto::PodColumns& pods, Validator* check) {
  check->Number("pods.arrival", pods.has_arrival(), pods.arrival(), ColumnKind::kTime);
  check->Number("pods.start", pods.has_start(), pods.start(), ColumnKind::kTime);
  check->Number("pods.end", pods.has_end(), pods.end(), ColumnKind::kTime);
  check->Number("pods.run_time", pods.has_run_time(), pods.run_time(), ColumnKind::kLength);
  // With a run time, a start is still good for TableSourceOptions::arrive_at_start.
  check->Require(pods.has_start() == pods.has_end() || (pods.has_start() && pods.has_run_time()),
                 pods.has_start() ? "pods.end" : "pods.start", "",
                 "both start and end, or neither: a run time needs both");
  for (int i = 0; i < pods.needs_size(); ++i) {
    const std::string& need = pods.needs(i);
    check->Require(need == "cpu" || need == "gpu_count" || need == "run_time",
                   absl::StrCat("pods.needs[", i, "]"), need, "one of cpu, gpu_count, run_time");
  }
  check->Require(!pods.end_without_start_deletes() || (pods.has_start() && pods.has_end()),
                 "pods.end_without_start_deletes", "true",
                 "false, because there are no columns start and end");
  check->Number("pods.estimate", pods.has_estimate(), pods.estimate(), ColumnKind::kLength);
  check->Number("pods.deadline", pods.has_deadline(), pods.deadline(), ColumnKind::kTime);
  check->Number("pods.deadline_after", pods.has_deadline_after(), pods.deadline_after(),
                ColumnKind::kLength);
  check->Require(!pods.has_deadline() || !pods.has_deadline_after(), "pods.deadline_after",
                 pods.deadline_after().column(), "no column, because deadline has one");
}

void ValidateState(const proto::Column& state, Validator* check) {
  const auto is_state = [](absl::string_view text) {
    return std::find(std::begin(kStates), std::end(kStates), text) != std::end(kStates);
  };
  const std::string expected = absl::StrCat("one of ", absl::StrJoin(kStates, ", "));
  // Sorted, because a protobuf map has no order, and the first mistake is the one that counts.
  std::vector<std::string> texts;
  for (const auto& value : state.values()) texts.push_back(value.first);
  std::sort(texts.begin(), texts.end());
  for (const std::string& text : texts) {
    const std::string& to = state.values().at(text);
    check->Require(to.empty() || is_state(to), absl::StrCat("pods.state.values.", ShownText(text)),
                   to, expected);
  }
  const std::string& missing = state.default_();
  check->Require(!state.has_default_() || state.values().contains(missing) || is_state(missing),
                 "pods.state.default", missing, expected);
}

// Checks the keys that split rows into pods and name these.
void ValidateJobs(const proto::PodColumns& pods, Validator* check) {
  check->Text("pods.tenant", pods.has_tenant(), pods.tenant());
  check->Text("pods.state", pods.has_state(), pods.state());
  if (pods.has_state()) ValidateState(pods.state(), check);
  check->Number("pods.preemptible", pods.has_preemptible(), pods.preemptible(), ColumnKind::kFlag);
  check->Number("pods.pods", pods.has_pods(), pods.pods(), ColumnKind::kCount);
  struct Split {
    absl::string_view path;
    int32_t per_pod;
    bool has_amounts;
    absl::string_view without_amounts;
  };
  for (const Split& split : {Split{"pods.gpus_per_pod", pods.gpus_per_pod(),
                                   pods.has_gpu_count() || pods.has_gpu_amount(),
                                   "0, because neither gpu_count nor gpu_amount has a column"},
                             Split{"pods.cores_per_pod", pods.cores_per_pod(), pods.has_cpu(),
                                   "0, because cpu has no column"}}) {
    const std::string found = absl::StrCat(split.per_pod);
    check->Require(split.per_pod >= 0, split.path, found, "a number that is not negative");
    check->Require(split.per_pod == 0 || !pods.has_pods(), split.path, found,
                   "0, because pods has a column: the amounts are those of each pod then");
    check->Require(split.per_pod == 0 || split.has_amounts, split.path, found,
                   split.without_amounts);
  }
  check->Text("pods.group", pods.has_group(), pods.group());
  check->Number("pods.max_per_node", pods.has_max_per_node(), pods.max_per_node(),
                ColumnKind::kLimit);
  check->Require(pods.has_group() == pods.has_max_per_node(),
                 pods.has_group() ? "pods.max_per_node" : "pods.group", "",
                 "both group and max_per_node, or neither: a limit needs both");
  check->Extended("pods.extended", pods.extended());
}

void ValidatePods(const proto::PodColumns& pods, Validator* check) {
  check->Require(
      pods.has_cpu() || pods.has_memory() || pods.has_gpu_count() || pods.has_gpu_amount(), "pods",
      "", "at least one of cpu, memory, gpu_count, gpu_amount");
  check->Name("pods.name", pods.has_name(), pods.name());
  check->Number("pods.cpu", pods.has_cpu(), pods.cpu(), ColumnKind::kCpu);
  check->Number("pods.memory", pods.has_memory(), pods.memory(), ColumnKind::kMemory);
  ValidateGpus(pods, check);
  check->Number("pods.priority", pods.has_priority(), pods.priority(), ColumnKind::kPriority);
  ValidateTimes(pods, check);
  ValidateJobs(pods, check);
}

void ValidateNodes(const proto::NodeColumns& nodes, Validator* check) {
  check->Require(nodes.has_name(), "nodes.name", "", "a column");
  check->Require(nodes.has_cpu() || nodes.has_memory() || nodes.has_gpu_count(), "nodes", "",
                 "at least one of cpu, memory, gpu_count");
  check->Name("nodes.name", nodes.has_name(), nodes.name());
  check->Number("nodes.cpu", nodes.has_cpu(), nodes.cpu(), ColumnKind::kCpu);
  check->Number("nodes.memory", nodes.has_memory(), nodes.memory(), ColumnKind::kMemory);
  check->Number("nodes.gpu_count", nodes.has_gpu_count(), nodes.gpu_count(), ColumnKind::kDevices);
  check->Text("nodes.gpu_model", nodes.has_gpu_model(), nodes.gpu_model());
  check->Require(nodes.has_gpu_count() || !nodes.has_gpu_model(), "nodes.gpu_count", "",
                 "a column, because gpu_model has one");
  check->Number("nodes.pods", nodes.has_pods(), nodes.pods(), ColumnKind::kCount);
  check->Extended("nodes.extended", nodes.extended());
}

}  // namespace

absl::Status ValidateMapping(const proto::TableMapping& mapping, absl::string_view file) {
  Validator check(mapping, file);
  ValidateTable(mapping, &check);
  check.Require(mapping.has_pods() || mapping.has_nodes(), "pods", "",
                "a section 'pods' or a section 'nodes'");
  if (mapping.has_pods()) ValidatePods(mapping.pods(), &check);
  if (mapping.has_nodes()) ValidateNodes(mapping.nodes(), &check);
  for (int i = 0; i < mapping.filters_size(); ++i) {
    check.Filter(absl::StrCat("filters[", i, "]"), mapping.filters(i));
  }
  return check.status();
}

absl::StatusOr<proto::TableMapping> ParseMapping(absl::string_view yaml, absl::string_view file) {
  proto::TableMapping mapping;
  RETURN_IF_ERROR(MergeYaml(yaml, file, &mapping));
  RETURN_IF_ERROR(ValidateMapping(mapping, file));
  return mapping;
}

absl::StatusOr<proto::TableMapping> ParseMappingFile(absl::string_view yaml,
                                                     absl::string_view file) {
  absl::StatusOr<proto::TableMapping> mapping = ParseMapping(yaml, file);
  if (mapping.ok()) return mapping;
  // "FILE: field.path: ..." becomes "FILE:LINE:COLUMN: field.path: ..." where the file has the
  // field.
  absl::string_view rest = mapping.status().message();
  if (!absl::ConsumePrefix(&rest, absl::StrCat(file, ": "))) return mapping;
  const std::string place = LocateField(yaml, file, rest.substr(0, rest.find(':')));
  if (place.empty()) return mapping;
  return absl::Status(mapping.status().code(), absl::StrCat(place, ": ", rest));
}

absl::StatusOr<proto::TableMapping> LoadMapping(absl::string_view name_or_path) {
  const absl::string_view embedded = EmbeddedMapping(name_or_path);
  if (!embedded.empty()) {
    return ParseMapping(embedded, absl::StrCat("built-in mapping ", name_or_path));
  }
  absl::StatusOr<std::unique_ptr<ByteSource>> source = OpenByteSource(name_or_path);
  if (absl::IsNotFound(source.status())) {
    return absl::NotFoundError(absl::StrCat(
        "mapping '", ShownText(name_or_path),
        "': found neither a built-in mapping nor a file of this name; the built-in ones are ",
        absl::StrJoin(EmbeddedMappingNames(), ", ")));
  }
  RETURN_IF_ERROR(source.status());
  ASSIGN_OR_RETURN(const std::string yaml, ReadAll(**source, kMaxMappingBytes));
  return ParseMappingFile(yaml, (*source)->name());
}

}  // namespace drasim
