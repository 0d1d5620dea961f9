#include "traces/table_source.h"

#include <algorithm>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "model/check.h"
#include "model/proto/mapping.pb.h"
#include "model/status_macros.h"
#include "traces/mapping.h"
#include "traces/name_set.h"

namespace drasim {
namespace {

// A mapping given by a program has no file; its name stands in for one.
absl::Status CheckMapping(const proto::TableMapping& mapping, bool has_section,
                          absl::string_view section) {
  RETURN_IF_ERROR(ValidateMapping(mapping, mapping.name()));
  if (has_section) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(mapping.name(), ": ", section,
                                                 ": found no such section, expected one, because "
                                                 "a table of ",
                                                 section, " is to be read"));
}

}  // namespace

TableSource::TableSource(std::unique_ptr<TableReader> table, ShapeTable* shapes,
                         const TableSourceOptions& options)
    : table_(std::move(table)),
      options_(options),
      jobs_(table_.get(), shapes,
            JobReader::Options{options.time_offset_ns, options.unique_names,
                               options.arrive_at_start}) {
  if (options.order == ArrivalOrder::kWindow) earliest_.window_ns = options.sort_window_ns;
}

absl::StatusOr<std::unique_ptr<TableSource>> TableSource::Open(std::unique_ptr<ByteSource> bytes,
                                                               const proto::TableMapping& mapping,
                                                               ShapeTable* shapes,
                                                               const TableSourceOptions& options) {
  if (options.sort_window_ns < 0) {
    return absl::InvalidArgumentError(absl::StrCat("sort_window: found '", options.sort_window_ns,
                                                   " ns', expected a length that is not negative"));
  }
  proto::TableMapping used = mapping;
  if (mapping.has_pods() && options.gpus_per_pod.has_value()) {
    used.mutable_pods()->set_gpus_per_pod(*options.gpus_per_pod);
  }
  if (mapping.has_pods() && options.cores_per_pod.has_value()) {
    used.mutable_pods()->set_cores_per_pod(*options.cores_per_pod);
  }
  for (const std::string& need : options.needs) {
    if (mapping.has_pods()) used.mutable_pods()->add_needs(need);
  }
  RETURN_IF_ERROR(CheckMapping(used, used.has_pods(), "pods"));
  if (options.arrive_at_start && !used.pods().has_start()) {
    return absl::InvalidArgumentError(
        absl::StrCat(used.name(),
                     ": pods.start: found '', expected a column, because jobs are to arrive when "
                     "they started"));
  }
  TableReader::Options table_options;
  table_options.lenient = options.lenient;
  ASSIGN_OR_RETURN(std::unique_ptr<TableReader> table,
                   TableReader::Open(std::move(bytes), used, table_options));
  std::unique_ptr<TableSource> source =
      absl::WrapUnique(new TableSource(std::move(table), shapes, options));
  source->jobs_.Bind(used);
  RETURN_IF_ERROR(source->table_->status());
  return source;
}

absl::StatusOr<bool> TableSource::Next(JobArrival* out) {
  if (!ended_) [[likely]] {
    bool got = false;
    switch (options_.order) {
      case ArrivalOrder::kRequire:
      case ArrivalOrder::kKeep:
        got = NextInFileOrder(out);
        break;
      case ArrivalOrder::kSort:
        got = NextInTimeOrder(out);
        break;
      case ArrivalOrder::kWindow:
        got = NextInWindow(out);
        break;
    }
    if (got) [[likely]] {
      ++delivered_;
      return true;
    }
    ended_ = true;
  }
  RETURN_IF_ERROR(status_);
  return false;
}

// Raises the bound on later arrivals after a row.
void TableSource::NoteArrival() {
  if (options_.order != ArrivalOrder::kRequire && options_.order != ArrivalOrder::kWindow) return;
  const int64_t earliest_ns = options_.order == ArrivalOrder::kRequire
                                  ? last_time_ns_
                                  : last_time_ns_ - options_.sort_window_ns;
  if (options_.order == ArrivalOrder::kWindow && earliest_ns <= earliest_.ns) return;
  earliest_.ns = earliest_ns;
  earliest_.line = last_line_;
}

// This and the next three: false at the end, or on an error that status_ has.
bool TableSource::NextRow(JobArrival* out) {
  for (;;) {
    const TableReader::Result result = table_->Next();
    if (result == TableReader::Result::kRow) [[likely]] {
      if (jobs_.Read(earliest_, out)) [[likely]] {
        last_line_ = table_->line();
        last_time_ns_ = out->time.ns();
        NoteArrival();
        // Behind a bad row, rows are read for their mistakes alone.
        if (!table_->complaints().has_bad_rows()) [[likely]] {
          return true;
        }
      }
    }
    if (result == TableReader::Result::kEnd) return false;
    if (!table_->status().ok()) {
      status_ = table_->status();
      return false;
    }
  }
}

bool TableSource::NextInFileOrder(JobArrival* out) {
  if (!jobs_.singly()) [[likely]] {
    return NextRow(out);
  }
  if (next_pod_ == row_pods_) {
    if (!NextRow(&row_)) return false;
    row_pods_ = int64_t{row_.pods} + static_cast<int64_t>(row_.more_pods.size());
    next_pod_ = 0;
  }
  *out = row_;
  absl::StrAppend(&out->name, "-", next_pod_);
  if (next_pod_ >= row_.pods) {
    out->shape = row_.more_pods[static_cast<size_t>(next_pod_ - row_.pods)].shape;
  }
  out->pods = 1;
  out->more_pods.clear();
  ++next_pod_;
  return true;
}

bool TableSource::NextInTimeOrder(JobArrival* out) {
  if (!all_read_) {
    Pending row;
    while (NextInFileOrder(&row.job)) {
      row.line = last_line_;
      pending_.push_back(row);
    }
    if (!status_.ok()) return false;
    all_read_ = true;
    std::stable_sort(pending_.begin(), pending_.end(),
                     [](const Pending& a, const Pending& b) { return a.job.time < b.job.time; });
  }
  if (next_sorted_ == pending_.size()) return false;
  Pending& row = pending_[next_sorted_++];
  last_line_ = row.line;
  last_time_ns_ = row.job.time.ns();
  *out = std::move(row.job);
  return true;
}

bool TableSource::NextInWindow(JobArrival* out) {
  const auto later = [](const Pending& a, const Pending& b) {
    return a.job.time == b.job.time ? a.sequence > b.sequence : a.job.time > b.job.time;
  };
  // Until no row to come can arrive ahead of the job in front.
  while (!all_read_ && (pending_.empty() || pending_.front().job.time.ns() > earliest_.ns)) {
    Pending row;
    if (!NextInFileOrder(&row.job)) {
      if (!status_.ok()) return false;
      all_read_ = true;
      break;
    }
    row.line = last_line_;
    row.sequence = next_sequence_++;
    pending_.push_back(std::move(row));
    std::push_heap(pending_.begin(), pending_.end(), later);
  }
  if (pending_.empty()) return false;
  std::pop_heap(pending_.begin(), pending_.end(), later);
  last_line_ = pending_.back().line;
  last_time_ns_ = pending_.back().job.time.ns();
  *out = std::move(pending_.back().job);
  pending_.pop_back();
  return true;
}

void TableSource::Save(StateWriter& out) const {
  out.Section("table_source");
  out.I64(delivered_);
  out.Bool(ended_);
  out.I64(last_line_);
  out.I64(last_time_ns_);
}

absl::Status TableSource::Load(StateReader& in) {
  DRASIM_CHECK_EQ(delivered_, 0);
  in.Section("table_source");
  const int64_t delivered = in.I64();
  const bool ended = in.Bool();
  const int64_t line = in.I64();
  const int64_t time_ns = in.I64();
  RETURN_IF_ERROR(in.status());
  JobArrival job;
  bool same = true;
  for (int64_t i = 0; same && i < delivered; ++i) {
    ASSIGN_OR_RETURN(same, Next(&job));
  }
  if (same && ended) {
    absl::StatusOr<bool> got = Next(&job);
    same = !got.ok() || !*got;
  }
  if (same && last_line_ == line && last_time_ns_ == time_ns) return absl::OkStatus();
  return absl::DataLossError(
      "the checkpoint was made from another table: its place is not to be found in this one");
}

namespace {

// The columns of NodeColumns in a table.
struct NodeFields {
  TextField name;
  NumberField cpu;
  NumberField memory;
  NumberField gpu_count;
  TextField gpu_model;
  NumberField pods;
  std::vector<ExtendedField> extended;
  std::vector<int64_t> amounts;  // of the row at hand, in the order of `extended`
};

void BindNodes(const proto::NodeColumns& columns, TableReader* table, NodeFields* fields) {
  table->Bind(true, columns.name(), &fields->name);
  table->Bind(columns.has_cpu(), columns.cpu(), ColumnKind::kCpu, &fields->cpu);
  table->Bind(columns.has_memory(), columns.memory(), ColumnKind::kMemory, &fields->memory);
  table->Bind(columns.has_gpu_count(), columns.gpu_count(), ColumnKind::kDevices,
              &fields->gpu_count);
  table->Bind(columns.has_gpu_model(), columns.gpu_model(), &fields->gpu_model);
  table->Bind(columns.has_pods(), columns.pods(), ColumnKind::kCount, &fields->pods);
  table->Bind({columns.extended().begin(), columns.extended().end()}, &fields->extended);
}

// False when the row is bad: it has been rejected then.
bool ReadNode(TableReader* table, NodeFields* fields, NodeSpec* node) {
  absl::string_view text;
  int64_t number = 0;
  bool has = false;
  if (!table->Read(fields->name, &text, &has)) return false;
  node->name = std::string(text);
  if (!table->Read(fields->cpu, &node->cpu_milli, &has)) return false;
  if (!table->Read(fields->memory, &node->memory_bytes, &has)) return false;
  if (!table->Read(fields->gpu_count, &number, &has)) return false;
  node->gpu_count = static_cast<int32_t>(number);
  if (node->gpu_count > 0) {
    if (!table->Read(fields->gpu_model, &text, &has)) return false;
    node->gpu_model = has ? std::string(text) : std::string();
  }
  if (!table->Read(fields->pods, &number, &has)) return false;
  if (has) node->pods = number;
  if (!table->Read(fields->extended, &fields->amounts)) return false;
  for (size_t i = 0; i < fields->amounts.size(); ++i) {
    if (fields->amounts[i] == 0) continue;
    node->extended.emplace_back(fields->extended[i].resource, fields->amounts[i]);
  }
  return true;
}

}  // namespace

absl::StatusOr<std::vector<NodeSpec>> ReadNodes(std::unique_ptr<ByteSource> bytes,
                                                const proto::TableMapping& mapping) {
  RETURN_IF_ERROR(CheckMapping(mapping, mapping.has_nodes(), "nodes"));
  TableReader::Options options;
  options.use_filters = !mapping.has_pods();
  options.advice = "";
  ASSIGN_OR_RETURN(const std::unique_ptr<TableReader> opened,
                   TableReader::Open(std::move(bytes), mapping, options));
  TableReader& table = *opened;
  NodeFields fields;
  BindNodes(mapping.nodes(), &table, &fields);
  std::vector<NodeSpec> nodes;
  NameSet names;
  while (table.status().ok() && table.Next() == TableReader::Result::kRow) {
    NodeSpec node;
    if (!ReadNode(&table, &fields, &node)) continue;
    if (!names.Insert(node.name)) {
      table.Reject("duplicate name", fields.name, "a name that no earlier row has");
      continue;
    }
    nodes.push_back(std::move(node));
  }
  RETURN_IF_ERROR(table.status());
  return nodes;
}

}  // namespace drasim
