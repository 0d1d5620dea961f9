#include "traces/generator.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "model/check.h"
#include "model/device_set.h"
#include "model/status_macros.h"
#include "model/text/shown_text.h"
#include "model/time.h"
#include "traces/csv_writer.h"
#include "traces/generator_options.h"

namespace drasim {
namespace {

constexpr int64_t kBytesPerMib = int64_t{1} << 20;
// Keeps the products of Apportion within 64 bits.
constexpr int64_t kMaxPodCount = std::numeric_limits<int32_t>::max();
constexpr size_t kMaxShownLineBytes = 200;
// The quota order holds row numbers in 16 bits.
constexpr size_t kMaxRows = std::numeric_limits<uint16_t>::max();

enum TableField : size_t { kKind, kCount, kCpuMilli, kMemoryMib, kGpuCount, kGpuMilli, kGpuModel };
constexpr std::array<absl::string_view, 7> kFieldNames = {
    "kind", "count", "cpu_milli", "memory_mib", "gpu_count", "gpu_milli", "gpu_model"};

absl::Status ErrorAt(absl::string_view file, size_t line, size_t column, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(file, ":", line, ":", column, ": ", what));
}

// One row's fields. The first error sticks, so a caller reads them all and looks once at the end.
class RowReader {
 public:
  RowReader(absl::string_view file, size_t line, std::vector<absl::string_view> fields)
      : file_(file), line_(line), fields_(std::move(fields)) {}

  absl::string_view Text(TableField field) const { return fields_[field]; }

  int64_t Integer(TableField field, int64_t low, int64_t high) {
    const absl::string_view text = fields_[field];
    // At most 18 digits: they cannot leave 64 bits.
    bool good = !text.empty() && text.size() <= 18;
    int64_t value = 0;
    for (size_t i = 0; good && i < text.size(); ++i) {
      good = text[i] >= '0' && text[i] <= '9';
      value = value * 10 + (text[i] - '0');
    }
    if (good && value >= low && value <= high) return value;
    Fail(field, low == high ? absl::StrCat("expected ", low)
                            : absl::StrCat("expected a whole number from ", low, " to ", high));
    return low;
  }

  void Fail(TableField field, absl::string_view expected) {
    if (!status_.ok()) return;
    size_t column = 1;
    for (size_t i = 0; i < field; ++i) column += fields_[i].size() + 1;
    status_ =
        ErrorAt(file_, line_, column,
                absl::StrCat(kFieldNames[field], " '", ShownText(fields_[field]), "': ", expected));
  }

  const absl::Status& status() const { return status_; }

 private:
  absl::string_view file_;
  size_t line_;
  std::vector<absl::string_view> fields_;
  absl::Status status_;
};

constexpr int64_t kMaxMilli = 1'000'000'000'000;  // a thousand million cores
constexpr int64_t kMaxMib = int64_t{1} << 40;     // an exbibyte: its bytes fit 64 bits

// The table so far, with running sums of its counts.
struct TableBuilder {
  WorkloadTable table;
  int64_t pods = 0;
  int64_t nodes = 0;
};

// Reads a row's count and adds it to the sum of its kind.
int64_t ReadCount(RowReader& row, int64_t max_sum, int64_t* sum) {
  const int64_t count = row.Integer(kCount, 1, max_sum);
  *sum += count;
  if (*sum > max_sum) {
    row.Fail(kCount, absl::StrCat("expected the counts of all ", row.Text(kKind),
                                  " rows to add up to at most ", max_sum));
  }
  return count;
}

void ReadPod(RowReader& row, TableBuilder* builder) {
  if (builder->table.pods.size() == kMaxRows) {
    row.Fail(kKind, absl::StrCat("expected at most ", kMaxRows, " pod rows"));
    return;
  }
  WorkloadTable::PodRow pod;
  ResourceRequest& request = pod.shape.request;
  pod.count = ReadCount(row, kMaxPodCount, &builder->pods);
  request.cpu_milli = row.Integer(kCpuMilli, 0, kMaxMilli);
  request.memory_bytes = row.Integer(kMemoryMib, 0, kMaxMib) * kBytesPerMib;
  request.gpu_count = static_cast<int32_t>(row.Integer(kGpuCount, 0, kMaxDevicesPerNode));
  const bool has_gpu = request.gpu_count > 0;
  request.gpu_milli = static_cast<int32_t>(
      row.Integer(kGpuMilli, has_gpu ? 1 : 0, has_gpu ? int64_t{kDeviceMilli} : 0));
  request.gpu_spec = std::string(row.Text(kGpuModel));
  if (!has_gpu && !request.gpu_spec.empty()) {
    row.Fail(kGpuModel, "expected nothing for a pod without GPUs");
  }
  if (row.status().ok()) builder->table.pods.push_back(std::move(pod));
}

void ReadNode(RowReader& row, TableBuilder* builder) {
  if (builder->table.nodes.size() == kMaxRows) {
    row.Fail(kKind, absl::StrCat("expected at most ", kMaxRows, " node rows"));
    return;
  }
  WorkloadTable::NodeRow node;
  node.count = ReadCount(row, kMaxGeneratedNodes, &builder->nodes);
  node.node.cpu_milli = row.Integer(kCpuMilli, 0, kMaxMilli);
  node.node.memory_bytes = row.Integer(kMemoryMib, 0, kMaxMib) * kBytesPerMib;
  node.node.pods = kOpenbPodSlots;
  node.node.gpu_count = static_cast<int32_t>(row.Integer(kGpuCount, 0, kMaxDevicesPerNode));
  if (!row.Text(kGpuMilli).empty()) row.Fail(kGpuMilli, "expected nothing in a node row");
  node.node.gpu_model = std::string(row.Text(kGpuModel));
  if (node.node.gpu_count == 0 && !node.node.gpu_model.empty()) {
    row.Fail(kGpuModel, "expected nothing for a node without GPUs");
  }
  if (node.node.gpu_model.find('|') != std::string::npos) {
    row.Fail(kGpuModel, "expected one model");
  }
  if (row.status().ok()) builder->table.nodes.push_back(std::move(node));
}

absl::Status ReadRow(absl::string_view text, absl::string_view file, size_t line,
                     TableBuilder* builder) {
  std::vector<absl::string_view> fields = absl::StrSplit(text, ',');
  if (fields.size() != kFieldNames.size()) {
    return ErrorAt(file, line, 1,
                   absl::StrCat("found ", fields.size(), " fields, expected ", kFieldNames.size()));
  }
  RowReader row(file, line, std::move(fields));
  if (row.Text(kKind) == "pod") {
    ReadPod(row, builder);
  } else if (row.Text(kKind) == "node") {
    ReadNode(row, builder);
  } else {
    row.Fail(kKind, "expected pod or node");
  }
  return row.status();
}

// Shares `total` in proportion to `weights`, exactly: whole parts first, then one each to the
// largest remainders, the earlier weight first among equals.
// REQUIRES: the weights sum to 1..kMaxPodCount; total >= 0.
std::vector<int64_t> Apportion(const std::vector<int64_t>& weights, int64_t total) {
  const int64_t sum = std::accumulate(weights.begin(), weights.end(), int64_t{0});
  DRASIM_CHECK(sum > 0 && sum <= kMaxPodCount);
  std::vector<int64_t> shares;
  std::vector<int64_t> remainders;
  int64_t left = total;
  for (const int64_t weight : weights) {
    // total * weight may leave 64 bits; (total % sum) * weight cannot.
    const int64_t product = (total % sum) * weight;
    shares.push_back(total / sum * weight + product / sum);
    remainders.push_back(product % sum);
    left -= shares.back();
  }
  std::vector<size_t> order(weights.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&remainders](size_t a, size_t b) { return remainders[a] > remainders[b]; });
  for (size_t i = 0; left > 0; ++i, --left) ++shares[order[i]];
  return shares;
}

// counts[k] times the number k for each k, spread evenly: the i-th of n instances of a kind stands
// at (2i + 1) / 2n of the way; ties go to the smaller k. REQUIRES: the counts sum to at most
// kMaxGeneratedNodes.
std::vector<size_t> Interleave(const std::vector<int64_t>& counts) {
  struct Place {
    int64_t odd = 0;    // 2i + 1
    int64_t count = 0;  // n
    size_t kind = 0;
  };
  std::vector<Place> places;
  for (size_t kind = 0; kind < counts.size(); ++kind) {
    for (int64_t i = 0; i < counts[kind]; ++i) {
      places.push_back(Place{2 * i + 1, counts[kind], kind});
    }
  }
  std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
    const int64_t left = a.odd * b.count;
    const int64_t right = b.odd * a.count;
    return left != right ? left < right : a.kind < b.kind;
  });
  std::vector<size_t> kinds;
  kinds.reserve(places.size());
  for (const Place& place : places) kinds.push_back(place.kind);
  return kinds;
}

std::vector<int64_t> PodCounts(const WorkloadTable& table) {
  std::vector<int64_t> counts;
  for (const WorkloadTable::PodRow& row : table.pods) counts.push_back(row.count);
  return counts;
}

std::vector<int64_t> NodeCounts(const WorkloadTable& table) {
  std::vector<int64_t> counts;
  for (const WorkloadTable::NodeRow& row : table.nodes) counts.push_back(row.count);
  return counts;
}

}  // namespace

int64_t WorkloadTable::pod_count() const {
  int64_t sum = 0;
  for (const PodRow& row : pods) sum += row.count;
  return sum;
}

int64_t WorkloadTable::node_count() const {
  int64_t sum = 0;
  for (const NodeRow& row : nodes) sum += row.count;
  return sum;
}

absl::StatusOr<WorkloadTable> ParseWorkloadTable(absl::string_view text, absl::string_view file) {
  const std::string header = absl::StrJoin(kFieldNames, ",");
  TableBuilder builder;
  bool has_header = false;
  size_t line_number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++line_number;
    absl::ConsumeSuffix(&line, "\r");
    if (line.empty() || line.front() == '#') continue;
    if (!has_header) {
      if (line != header) {
        return ErrorAt(file, line_number, 1,
                       absl::StrCat("found '", ShownText(line, kMaxShownLineBytes),
                                    "', expected the header '", header, "'"));
      }
      has_header = true;
      continue;
    }
    RETURN_IF_ERROR(ReadRow(line, file, line_number, &builder));
  }
  if (builder.table.pods.empty() && builder.table.nodes.empty()) {
    return ErrorAt(file, line_number, 1, "found the end of the table, expected a pod or node row");
  }
  return std::move(builder.table);
}

std::vector<NodeSpec> GenerateNodes(const WorkloadTable& table, int64_t nodes) {
  DRASIM_CHECK(nodes >= 0 && nodes <= kMaxGeneratedNodes);
  std::vector<NodeSpec> specs;
  if (table.nodes.empty()) return specs;
  const int64_t total = nodes == 0 ? table.node_count() : nodes;
  const size_t digits = NumberDigits(total, 6);
  for (const size_t kind : Interleave(Apportion(NodeCounts(table), total))) {
    const auto number = static_cast<int64_t>(specs.size());
    specs.push_back(table.nodes[kind].node);
    specs.back().name = NumberedName("node-", number, digits);
  }
  return specs;
}

GeneratedSource::GeneratedSource(int64_t pods, uint64_t seed)
    : pods_(pods),
      name_digits_(NumberDigits(pods, 7)),
      times_("pod", seed),
      shape_stream_(seed, "workload/shape") {}

absl::StatusOr<std::unique_ptr<GeneratedSource>> GeneratedSource::Create(
    const WorkloadTable& table, const GeneratedOptions& options, ShapeTable* shapes) {
  if (table.pods.empty()) {
    return absl::InvalidArgumentError("the workload table has no pod rows to generate pods from");
  }
  if (options.pods < 0 || options.pods > kMaxPods) {
    return absl::InvalidArgumentError(
        absl::StrCat("pods: found ", options.pods, ", expected 0 to ", kMaxPods));
  }
  const bool quota = options.sampling.empty() || options.sampling == "quota";
  if (!quota && options.sampling != "independent") {
    return absl::InvalidArgumentError(
        absl::StrCat("sampling: found '", options.sampling, "', expected quota or independent"));
  }
  const int64_t pods = options.pods == 0 ? table.pod_count() : options.pods;
  std::unique_ptr<GeneratedSource> source(new GeneratedSource(pods, options.seed));
  RETURN_IF_ERROR(source->times_.Parse("", options.interarrival, options.run_time));
  for (const WorkloadTable::PodRow& row : table.pods) {
    source->shapes_.push_back(shapes->Intern(row.shape));
  }
  const std::vector<int64_t> counts = PodCounts(table);
  if (quota) {
    const std::vector<int64_t> shares = Apportion(counts, pods);
    source->order_.reserve(static_cast<size_t>(pods));
    for (size_t row = 0; row < shares.size(); ++row) {
      source->order_.insert(source->order_.end(), static_cast<size_t>(shares[row]),
                            static_cast<uint16_t>(row));
    }
    Random(options.seed, "workload/order").Shuffle(absl::MakeSpan(source->order_));
  } else {
    uint64_t sum = 0;
    for (const int64_t count : counts) {
      sum += static_cast<uint64_t>(count);
      source->cumulative_.push_back(sum);
    }
  }
  return source;
}

size_t GeneratedSource::NextRow() {
  if (cumulative_.empty()) return order_[static_cast<size_t>(next_)];
  return DrawIndex(cumulative_, &shape_stream_);
}

absl::StatusOr<bool> GeneratedSource::Next(JobArrival* out) {
  RETURN_IF_ERROR(status_);
  if (next_ == pods_) return false;
  *out = JobArrival();
  status_ = times_.Draw(next_, &time_ns_, out);
  RETURN_IF_ERROR(status_);
  out->name = NumberedName("pod-", next_, name_digits_);
  out->shape = shapes_[NextRow()];
  out->time = SimTime(time_ns_);
  ++next_;
  return true;
}

void GeneratedSource::Save(StateWriter& out) const {
  out.Section("generated_source");
  out.I64(pods_);
  out.I64(next_);
  out.I64(time_ns_);
  shape_stream_.Save(out);
  times_.Save(out);
  out.Str(status_.message());
}

absl::Status GeneratedSource::Load(StateReader& in) {
  in.Section("generated_source");
  const int64_t pods = in.I64();
  if (in.status().ok() && pods != pods_) {
    in.Fail(absl::StrCat("the generated workload has ", pods_, " pods, the saved one ", pods));
  }
  const int64_t next = in.I64();
  if (next < 0 || next > pods_) in.Fail(absl::StrCat("there is no generated pod ", next));
  const int64_t time_ns = in.I64();
  if (time_ns < 0) in.Fail(absl::StrCat("the time ", time_ns, " ns is negative"));
  RETURN_IF_ERROR(shape_stream_.Load(in));
  RETURN_IF_ERROR(times_.Load(in));
  const std::string error = in.Str();
  RETURN_IF_ERROR(in.status());
  next_ = next;
  time_ns_ = time_ns;
  status_ = error.empty() ? absl::OkStatus() : absl::InvalidArgumentError(error);
  return absl::OkStatus();
}

}  // namespace drasim
