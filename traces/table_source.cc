#include "traces/table_source.h"

#include <algorithm>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "model/check.h"
#include "model/hash.h"
#include "model/time.h"
#include "traces/mapping.h"

namespace drasim {
namespace {

// Separates models in PodShape::gpu_spec.
constexpr char kModelSeparator = '|';

// A mapping given by a program has no file; its name stands in for one.
absl::Status CheckMapping(const proto::TableMapping& mapping, bool has_section,
                          absl::string_view section) {
  absl::Status status = ValidateMapping(mapping, mapping.name());
  if (!status.ok() || has_section) return status;
  return absl::InvalidArgumentError(absl::StrCat(mapping.name(), ": ", section,
                                                 ": found no such section, expected one, because "
                                                 "a table of ",
                                                 section, " is to be read"));
}

}  // namespace

// The columns of PodColumns in the table at hand.
struct TableSource::Columns {
  bool has_names = false;
  std::string name_prefix;  // without names
  TextField name;
  NumberField cpu;
  NumberField memory;
  NumberField gpu_count;
  NumberField gpu_share;
  TextField gpu_model;
  char model_separator = kModelSeparator;
  NumberField priority;
  NumberField arrival;
  NumberField start;
  NumberField end;
  NumberField run_time;
};

TableSource::TableSource(std::unique_ptr<TableReader> table, ShapeTable* shapes,
                         const TableSourceOptions& options)
    : table_(std::move(table)),
      shapes_(shapes),
      options_(options),
      columns_(std::make_unique<Columns>()),
      cache_(kCachedShapes) {}

TableSource::~TableSource() = default;

absl::StatusOr<std::unique_ptr<TableSource>> TableSource::Open(std::unique_ptr<ByteSource> bytes,
                                                               const proto::TableMapping& mapping,
                                                               ShapeTable* shapes,
                                                               const TableSourceOptions& options) {
  absl::Status status = CheckMapping(mapping, mapping.has_pods(), "pods");
  if (!status.ok()) return status;
  TableReader::Options table_options;
  table_options.lenient = options.lenient;
  absl::StatusOr<std::unique_ptr<TableReader>> table =
      TableReader::Open(std::move(bytes), mapping, table_options);
  if (!table.ok()) return table.status();
  std::unique_ptr<TableSource> source =
      absl::WrapUnique(new TableSource(*std::move(table), shapes, options));
  source->Bind(mapping);
  if (!source->table_->status().ok()) return source->table_->status();
  return source;
}

void TableSource::Bind(const proto::TableMapping& mapping) {
  const proto::PodColumns& pods = mapping.pods();
  Columns& c = *columns_;
  c.has_names = pods.has_name();
  c.name_prefix = absl::StrCat(mapping.name(), "-");
  if (!pods.gpu_model_separator().empty()) c.model_separator = pods.gpu_model_separator()[0];
  table_->Bind(pods.has_name(), pods.name(), &c.name);
  table_->Bind(pods.has_cpu(), pods.cpu(), ColumnKind::kCpu, &c.cpu);
  table_->Bind(pods.has_memory(), pods.memory(), ColumnKind::kMemory, &c.memory);
  table_->Bind(pods.has_gpu_count(), pods.gpu_count(), ColumnKind::kCount, &c.gpu_count);
  table_->Bind(pods.has_gpu_share(), pods.gpu_share(), ColumnKind::kGpuShare, &c.gpu_share);
  table_->Bind(pods.has_gpu_model(), pods.gpu_model(), &c.gpu_model);
  table_->Bind(pods.has_priority(), pods.priority(), ColumnKind::kPriority, &c.priority);
  table_->Bind(pods.has_arrival(), pods.arrival(), ColumnKind::kTime, &c.arrival);
  table_->Bind(pods.has_start(), pods.start(), ColumnKind::kTime, &c.start);
  table_->Bind(pods.has_end(), pods.end(), ColumnKind::kTime, &c.end);
  table_->Bind(pods.has_run_time(), pods.run_time(), ColumnKind::kTime, &c.run_time);
}

absl::StatusOr<bool> TableSource::Next(PodArrival* out) {
  if (!ended_) [[likely]] {
    const bool got =
        options_.order == ArrivalOrder::kSort ? NextInTimeOrder(out) : NextInFileOrder(out);
    if (got) [[likely]] {
      ++delivered_;
      return true;
    }
    ended_ = true;
  }
  if (!status_.ok()) return status_;
  return false;
}

// False at the end, or on an error that status_ has.
bool TableSource::NextInFileOrder(PodArrival* out) {
  for (;;) {
    const TableReader::Result result = table_->Next();
    if (result == TableReader::Result::kRow) [[likely]] {
      if (ReadPod(out)) [[likely]] {
        last_line_ = table_->line();
        last_time_ns_ = out->time.ns();
        return true;
      }
    }
    if (result == TableReader::Result::kEnd) return false;
    if (!table_->status().ok()) {
      status_ = table_->status();
      return false;
    }
  }
}

bool TableSource::NextInTimeOrder(PodArrival* out) {
  if (!all_read_) {
    Sorted row;
    while (NextInFileOrder(&row.pod)) {
      row.line = last_line_;
      sorted_.push_back(row);
    }
    if (!status_.ok()) return false;
    all_read_ = true;
    std::stable_sort(sorted_.begin(), sorted_.end(),
                     [](const Sorted& a, const Sorted& b) { return a.pod.time < b.pod.time; });
  }
  if (next_sorted_ == sorted_.size()) return false;
  Sorted& row = sorted_[next_sorted_++];
  last_line_ = row.line;
  last_time_ns_ = row.pod.time.ns();
  *out = std::move(row.pod);
  return true;
}

// False when the row is bad: it has been rejected then, and has left no trace in names_ and the
// shapes.
bool TableSource::ReadPod(PodArrival* out) {
  const Columns& c = *columns_;
  Request request;
  absl::string_view gpu_model;
  int64_t priority = 0;
  bool has_priority = false;
  if (!ReadName(out) || !ReadRequest(&request, &gpu_model) ||
      !table_->Read(c.priority, &priority, &has_priority) || !ReadTimes(out)) {
    return false;
  }
  if (c.has_names && !names_.Insert(out->name)) {
    table_->Reject("duplicate name", c.name.index, c.name.column.name(),
                   "a name that no earlier row has");
    return false;
  }
  if (request.gpu_count > 0 && request.gpu_milli == 0) [[unlikely]] {
    table_->Warn("GPUs with a share of 0", c.gpu_share.index, c.gpu_share.column.name(),
                 "found 0 per GPU, so the pod is read as one without GPUs");
    request.gpu_count = 0;
    gpu_model = absl::string_view();
  }
  out->priority = static_cast<int32_t>(priority);
  out->shape = Intern(request, gpu_model);
  return true;
}

bool TableSource::ReadName(PodArrival* out) {
  if (!columns_->has_names) {
    out->name.assign(columns_->name_prefix);
    absl::StrAppend(&out->name, table_->line());
    return true;
  }
  absl::string_view name;
  bool has_name = false;
  if (!table_->Read(columns_->name, &name, &has_name)) return false;
  out->name.assign(name.data(), name.size());
  return true;
}

bool TableSource::ReadTimes(PodArrival* out) {
  const NumberField& arrival = columns_->arrival;
  int64_t arrival_ns = 0;
  bool has_arrival = false;
  if (!table_->Read(arrival, &arrival_ns, &has_arrival)) return false;
  if (arrival_ns < last_time_ns_ && options_.order == ArrivalOrder::kRequire) [[unlikely]] {
    table_->Reject("arrival out of order", arrival.index, arrival.column.name(),
                   absl::StrCat("a time not before that of line ", last_line_));
    return false;
  }
  out->time = SimTime(arrival_ns);
  return ReadRunTime(out);
}

bool TableSource::ReadRunTime(PodArrival* out) {
  const Columns& c = *columns_;
  int64_t run_ns = 0;
  out->has_run_time = false;
  if (!table_->Read(c.run_time, &run_ns, &out->has_run_time)) return false;
  if (!out->has_run_time) {
    int64_t start_ns = 0;
    int64_t end_ns = 0;
    bool has_start = false;
    bool has_end = false;
    if (!table_->Read(c.start, &start_ns, &has_start) || !table_->Read(c.end, &end_ns, &has_end)) {
      return false;
    }
    out->has_run_time = has_start && has_end;
    if (out->has_run_time) run_ns = end_ns - start_ns;
    if (run_ns < 0) {
      table_->Reject("end before start", c.end.index, c.end.column.name(),
                     absl::StrCat("a time not before ", c.start.column.name()));
      return false;
    }
  }
  out->run_time = SimDuration(run_ns);
  return true;
}

bool TableSource::ReadRequest(Request* request, absl::string_view* gpu_model) {
  const Columns& c = *columns_;
  bool has = false;
  if (!table_->Read(c.cpu, &request->cpu_milli, &has) ||
      !table_->Read(c.memory, &request->memory_bytes, &has) ||
      !table_->Read(c.gpu_count, &request->gpu_count, &has)) {
    return false;
  }
  if (request->gpu_count == 0) return true;
  if (!table_->Read(c.gpu_share, &request->gpu_milli, &has)) return false;
  if (!has) request->gpu_milli = kDeviceMilli;
  return table_->Read(c.gpu_model, gpu_model, &has);
}

// The cache only saves time: a miss asks the table, which knows all shapes.
ShapeId TableSource::Intern(const Request& request, absl::string_view gpu_model) {
  uint64_t hash = MixWord(kFnvOffset, static_cast<uint64_t>(request.cpu_milli));
  hash = MixWord(hash, static_cast<uint64_t>(request.memory_bytes));
  hash = MixWord(hash, static_cast<uint64_t>(request.gpu_count) << 16 |
                           static_cast<uint64_t>(request.gpu_milli));
  if (!gpu_model.empty()) hash = MixWord(hash, Fnv1a(gpu_model));
  CachedShape& slot = cache_[hash % kCachedShapes];
  if (slot.id.valid() && slot.request == request && slot.gpu_model == gpu_model) [[likely]] {
    return slot.id;
  }
  PodShape shape;
  shape.cpu_milli = request.cpu_milli;
  shape.memory_bytes = request.memory_bytes;
  shape.gpu_count = static_cast<int32_t>(request.gpu_count);
  shape.gpu_milli = static_cast<int32_t>(request.gpu_milli);
  shape.gpu_spec = std::string(gpu_model);
  std::replace(shape.gpu_spec.begin(), shape.gpu_spec.end(), columns_->model_separator,
               kModelSeparator);
  slot.request = request;
  slot.gpu_model = std::string(gpu_model);
  slot.id = shapes_->Intern(shape);
  return slot.id;
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
  if (!in.status().ok()) return in.status();
  PodArrival pod;
  bool same = true;
  for (int64_t i = 0; same && i < delivered; ++i) {
    absl::StatusOr<bool> got = Next(&pod);
    if (!got.ok()) return got.status();
    same = *got;
  }
  if (same && ended) {
    absl::StatusOr<bool> got = Next(&pod);
    same = !got.ok() || !*got;
  }
  if (same && last_line_ == line && last_time_ns_ == time_ns) return absl::OkStatus();
  return absl::DataLossError(
      "the checkpoint was made from another table: its place is not to be found in this one");
}

absl::StatusOr<std::vector<NodeSpec>> ReadNodes(std::unique_ptr<ByteSource> bytes,
                                                const proto::TableMapping& mapping) {
  absl::Status status = CheckMapping(mapping, mapping.has_nodes(), "nodes");
  if (!status.ok()) return status;
  TableReader::Options options;
  options.use_filters = !mapping.has_pods();
  absl::StatusOr<std::unique_ptr<TableReader>> opened =
      TableReader::Open(std::move(bytes), mapping, options);
  if (!opened.ok()) return opened.status();
  TableReader& table = **opened;
  const proto::NodeColumns& columns = mapping.nodes();
  TextField name;
  NumberField cpu;
  NumberField memory;
  NumberField gpu_count;
  TextField gpu_model;
  NumberField pods;
  table.Bind(true, columns.name(), &name);
  table.Bind(columns.has_cpu(), columns.cpu(), ColumnKind::kCpu, &cpu);
  table.Bind(columns.has_memory(), columns.memory(), ColumnKind::kMemory, &memory);
  table.Bind(columns.has_gpu_count(), columns.gpu_count(), ColumnKind::kDevices, &gpu_count);
  table.Bind(columns.has_gpu_model(), columns.gpu_model(), &gpu_model);
  table.Bind(columns.has_pods(), columns.pods(), ColumnKind::kCount, &pods);

  std::vector<NodeSpec> nodes;
  NameSet names;
  while (table.status().ok() && table.Next() == TableReader::Result::kRow) {
    NodeSpec node;
    absl::string_view text;
    int64_t number = 0;
    bool has = false;
    if (!table.Read(name, &text, &has)) break;
    node.name = std::string(text);
    if (!table.Read(cpu, &node.cpu_milli, &has)) break;
    if (!table.Read(memory, &node.memory_bytes, &has)) break;
    if (!table.Read(gpu_count, &number, &has)) break;
    node.gpu_count = static_cast<int32_t>(number);
    if (node.gpu_count > 0) {
      if (!table.Read(gpu_model, &text, &has)) break;
      node.gpu_model = has ? std::string(text) : std::string();
    }
    if (!table.Read(pods, &number, &has)) break;
    if (has) node.pods = number;
    if (!names.Insert(node.name)) {
      table.Reject("duplicate name", name.index, columns.name().column(),
                   "a name that no earlier row has");
      break;
    }
    nodes.push_back(std::move(node));
  }
  if (!table.status().ok()) return table.status();
  return nodes;
}

}  // namespace drasim
