#include "traces/mapping.h"

#include <algorithm>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "model/text/yaml_proto.h"
#include "traces/byte_source.h"
#include "traces/column_reader.h"
#include "traces/embedded.h"

namespace drasim {
namespace {

constexpr size_t kMaxMappingBytes = size_t{1} << 20;

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
  }
  void Text(absl::string_view path, bool present, const proto::Column& column) {
    if (!present) return;
    const absl::StatusOr<TextColumn> made = TextColumn::Make(column);
    if (!made.ok()) Fail(absl::StrCat(path, ".", made.status().message()));
    RequireListed(path, column);
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

void ValidatePods(const proto::PodColumns& pods, Validator* check) {
  check->Require(pods.has_cpu() || pods.has_memory() || pods.has_gpu_count(), "pods", "",
                 "at least one of cpu, memory, gpu_count");
  check->Name("pods.name", pods.has_name(), pods.name());
  check->Number("pods.cpu", pods.has_cpu(), pods.cpu(), ColumnKind::kCpu);
  check->Number("pods.memory", pods.has_memory(), pods.memory(), ColumnKind::kMemory);
  check->Number("pods.gpu_count", pods.has_gpu_count(), pods.gpu_count(), ColumnKind::kCount);
  check->Number("pods.gpu_share", pods.has_gpu_share(), pods.gpu_share(), ColumnKind::kGpuShare);
  check->Text("pods.gpu_model", pods.has_gpu_model(), pods.gpu_model());
  check->Require(pods.has_gpu_count() || (!pods.has_gpu_share() && !pods.has_gpu_model()),
                 "pods.gpu_count", "", "a column, because gpu_share or gpu_model has one");
  check->Require(pods.gpu_model_separator().size() <= 1, "pods.gpu_model_separator",
                 pods.gpu_model_separator(), "one byte");
  check->Number("pods.priority", pods.has_priority(), pods.priority(), ColumnKind::kPriority);
  check->Number("pods.arrival", pods.has_arrival(), pods.arrival(), ColumnKind::kTime);
  check->Number("pods.start", pods.has_start(), pods.start(), ColumnKind::kTime);
  check->Number("pods.end", pods.has_end(), pods.end(), ColumnKind::kTime);
  check->Require(pods.has_start() == pods.has_end(), pods.has_start() ? "pods.end" : "pods.start",
                 "", "both start and end, or neither: a run time needs both");
  check->Number("pods.run_time", pods.has_run_time(), pods.run_time(), ColumnKind::kTime);
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
  absl::Status status = MergeYaml(yaml, file, &mapping);
  if (status.ok()) status = ValidateMapping(mapping, file);
  if (!status.ok()) return status;
  return mapping;
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
  if (!source.ok()) return source.status();
  absl::StatusOr<std::string> yaml = ReadAll(**source, kMaxMappingBytes);
  if (!yaml.ok()) return yaml.status();
  return ParseMapping(*yaml, (*source)->name());
}

}  // namespace drasim
