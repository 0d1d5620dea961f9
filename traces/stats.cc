#include "traces/stats.h"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "model/check.h"
#include "model/text/json_writer.h"
#include "model/time.h"
#include "traces/csv_writer.h"
#include "traces/decimal.h"

namespace drasim {
namespace {

// Values below 2^kExactBits have a bucket each; later powers of two have 2^kSubBits buckets.
constexpr int kExactBits = 7;
constexpr int kSubBits = 6;
constexpr size_t kExact = size_t{1} << kExactBits;
constexpr size_t kSub = size_t{1} << kSubBits;

size_t BucketOf(int64_t seconds) {
  const auto value = static_cast<uint64_t>(seconds);
  if (value < kExact) return static_cast<size_t>(value);
  const int exponent = 63 - std::countl_zero(value);
  const size_t sub = static_cast<size_t>(value >> (exponent - kSubBits)) & (kSub - 1);
  return kExact + static_cast<size_t>(exponent - kExactBits) * kSub + sub;
}

int64_t MiddleOf(size_t bucket) {
  if (bucket < kExact) return static_cast<int64_t>(bucket);
  const size_t above = bucket - kExact;
  const size_t shift = above / kSub + static_cast<size_t>(kExactBits - kSubBits);
  const auto lower = static_cast<int64_t>(kSub + above % kSub) << shift;
  return lower + (int64_t{1} << (shift - 1));
}

int64_t Saturated(absl::uint128 value) {
  return value > absl::uint128(kMaxInt64) ? kMaxInt64
                                          : static_cast<int64_t>(absl::Uint128Low64(value));
}

absl::uint128 Product(int64_t a, int64_t b) {
  DRASIM_CHECK(a >= 0 && b >= 0);
  return absl::uint128(static_cast<uint64_t>(a)) * static_cast<uint64_t>(b);
}

// "12.50" is part / whole in percent, rounded to two decimals by integers alone; "0.00" of nothing.
std::string Percent(int64_t part, int64_t whole) {
  if (whole == 0) return "0.00";
  const absl::uint128 half = static_cast<uint64_t>(whole / 2);
  const int64_t hundredths =
      Saturated((Product(part, 10'000) + half) / static_cast<uint64_t>(whole));
  return absl::StrCat(hundredths / 100, ".", absl::Dec(hundredths % 100, absl::kZeroPad2));
}

// "1..100", ..., "901..999" milli.
int64_t BinLow(size_t bin) { return static_cast<int64_t>(bin) * 100 + 1; }
int64_t BinHigh(size_t bin) { return std::min<int64_t>(BinLow(bin) + 99, kDeviceMilli - 1); }

int64_t MibRoundedUp(int64_t bytes) {
  constexpr int64_t kMib = int64_t{1} << 20;
  return bytes / kMib + (bytes % kMib != 0 ? 1 : 0);
}

// "p50", "p99.9".
std::string QuantileName(int permille) {
  return permille % 10 == 0 ? absl::StrCat("p", permille / 10)
                            : absl::StrCat("p", permille / 10, ".", permille % 10);
}

// ---- Text ----

using Rows = std::vector<std::vector<std::string>>;

// Columns two spaces apart, the first one to the left, the others to the right.
std::string Aligned(const Rows& rows) {
  std::vector<size_t> widths;
  for (const std::vector<std::string>& row : rows) {
    if (widths.size() < row.size()) widths.resize(row.size());
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const std::vector<std::string>& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths[i] - row[i].size(), ' ');
      if (i > 0) {
        absl::StrAppend(&text, "  ", padding, row[i]);
      } else {
        absl::StrAppend(&text, row[i], row.size() > 1 ? padding : std::string());
      }
    }
    text.push_back('\n');
  }
  return text;
}

// A sum as the table shows it.
std::string SumText(const TraceSummary& summary, absl::string_view name, int64_t sum) {
  return absl::StrCat(summary.exceeds(name) ? "above " : "", sum);
}

Rows OverviewRows(const TraceSummary& summary) {
  Rows rows = {{"pods", absl::StrCat(summary.pods)},
               {"  with a share of a GPU", absl::StrCat(summary.share_pods)},
               {"  with a run time", absl::StrCat(summary.timed_pods)},
               {"distinct shapes", absl::StrCat(summary.distinct_shapes)},
               {"requested CPU, milli", SumText(summary, "cpu_milli", summary.cpu_milli)},
               {"requested memory, MiB",
                SumText(summary, "memory_bytes", MibRoundedUp(summary.memory_bytes))},
               {"requested GPUs, devices", SumText(summary, "gpus", summary.gpus)},
               {"requested GPUs, milli", SumText(summary, "gpu_milli", summary.gpu_milli)}};
  if (summary.pods > 0) {
    rows.push_back({"first arrival, s", SecondsText(summary.first_arrival_ns)});
    rows.push_back({"last arrival, s", SecondsText(summary.last_arrival_ns)});
  }
  return rows;
}

// ---- JSON ----

// A JSON string (RFC 8259, section 7).
std::string Quoted(absl::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted.push_back('\\');
      quoted.push_back(c);
    } else if (byte < 0x20) {
      absl::StrAppend(&quoted, "\\u", absl::Hex(byte, absl::kZeroPad4));
    } else {
      quoted.push_back(c);
    }
  }
  quoted.push_back('"');
  return quoted;
}

// The elements of a JSON array, one to a line.
std::string Array(const std::vector<std::string>& elements) {
  if (elements.empty()) return "[]";
  std::string text = "[";
  for (size_t i = 0; i < elements.size(); ++i) {
    absl::StrAppend(&text, i == 0 ? "\n    " : ",\n    ", elements[i]);
  }
  return absl::StrCat(text, "\n  ]");
}

std::string ArrivalsJson(const TraceSummary& summary) {
  if (summary.pods == 0) return "null";
  return absl::StrCat("{\"first_ns\": ", summary.first_arrival_ns,
                      ", \"last_ns\": ", summary.last_arrival_ns, "}");
}

std::string RunTimeJson(const TraceSummary& summary) {
  std::string text = absl::StrCat("{\"pods\": ", summary.timed_pods);
  if (summary.timed_pods == 0) {
    return absl::StrCat(
        text, ", \"min_ns\": null, \"max_ns\": null, \"mean_ns\": null, \"quantiles_s\": null}");
  }
  absl::StrAppend(&text, ", \"min_ns\": ", summary.min_run_time_ns,
                  ", \"max_ns\": ", summary.max_run_time_ns,
                  ", \"mean_ns\": ", summary.mean_run_time_ns, ", \"quantiles_s\": {");
  for (size_t i = 0; i < TraceSummary::kPermilles.size(); ++i) {
    absl::StrAppend(&text, i == 0 ? "" : ", ", Quoted(QuantileName(TraceSummary::kPermilles[i])),
                    ": ", summary.run_time_quantiles_s[i]);
  }
  return absl::StrCat(text, "}}");
}

}  // namespace

void SecondsHistogram::Add(int64_t seconds) {
  static_assert(kBuckets == kExact + static_cast<size_t>(63 - kExactBits) * kSub);
  DRASIM_CHECK_GE(seconds, 0);
  ++buckets_[BucketOf(seconds)];
  ++count_;
}

int64_t SecondsHistogram::Quantile(int permille) const {
  DRASIM_CHECK_GT(count_, 0);
  DRASIM_CHECK(permille >= 1 && permille <= 1000);
  const int64_t rank = Saturated((Product(count_, permille) + 999) / 1000);
  int64_t seen = 0;
  size_t bucket = 0;
  for (; bucket + 1 < kBuckets; ++bucket) {
    seen += buckets_[bucket];
    if (seen >= rank) break;
  }
  return MiddleOf(bucket);
}

bool TraceSummary::exceeds(absl::string_view sum) const {
  return std::find(exceeded.begin(), exceeded.end(), sum) != exceeded.end();
}

void TraceStats::Add(const JobArrival& pod) {
  DRASIM_CHECK_LT(pod.shape.value(), shapes_->size());
  if (shape_pods_.size() <= pod.shape.value()) shape_pods_.resize(shapes_->size());
  ++shape_pods_[pod.shape.value()];
  const int64_t arrival_ns = pod.time.ns();
  first_arrival_ns_ = pods_ == 0 ? arrival_ns : std::min(first_arrival_ns_, arrival_ns);
  last_arrival_ns_ = pods_ == 0 ? arrival_ns : std::max(last_arrival_ns_, arrival_ns);
  ++pods_;
  if (!pod.has_run_time) return;
  const int64_t run_time_ns = std::max<int64_t>(pod.run_time.ns(), 0);
  const bool is_first = run_times_.count() == 0;
  min_run_time_ns_ = is_first ? run_time_ns : std::min(min_run_time_ns_, run_time_ns);
  max_run_time_ns_ = is_first ? run_time_ns : std::max(max_run_time_ns_, run_time_ns);
  run_time_sum_ns_ += static_cast<uint64_t>(run_time_ns);
  const bool rounds_up = run_time_ns % kSecondNs >= kSecondNs / 2;
  run_times_.Add(run_time_ns / kSecondNs + (rounds_up ? 1 : 0));
}

void TraceStats::FoldShapes(TraceSummary* summary, size_t top_shapes) const {
  absl::uint128 cpu_milli = 0;
  absl::uint128 memory_bytes = 0;
  absl::uint128 gpus = 0;
  absl::uint128 gpu_milli = 0;
  std::map<int32_t, TraceSummary::GpuCountGroup> groups;
  std::vector<uint32_t> by_pods;
  for (uint32_t id = 0; id < shape_pods_.size(); ++id) {
    const int64_t pods = shape_pods_[id];
    if (pods == 0) continue;
    by_pods.push_back(id);
    const ResourceRequest& request = shapes_->row(ShapeId(id)).request;
    cpu_milli += Product(pods, request.cpu_milli);
    memory_bytes += Product(pods, request.memory_bytes);
    TraceSummary::GpuCountGroup& group = groups[request.gpu_count];
    group.gpu_count = request.gpu_count;
    group.pods += pods;
    const absl::uint128 milli = Product(pods, request.total_gpu_milli());
    group.gpu_milli = Saturated(milli + static_cast<uint64_t>(group.gpu_milli));
    gpu_milli += milli;
    gpus += Product(pods, request.gpu_count);
    if (request.is_share()) {
      summary->share_pods += pods;
      const auto bin = static_cast<size_t>(std::max(request.gpu_milli - 1, 0) / 100);
      summary->share_bins[bin] += pods;
    }
  }
  const auto set = [summary](absl::string_view name, absl::uint128 sum, int64_t* field) {
    *field = Saturated(sum);
    if (sum > absl::uint128(kMaxInt64)) summary->exceeded.emplace_back(name);
  };
  set("cpu_milli", cpu_milli, &summary->cpu_milli);
  set("memory_bytes", memory_bytes, &summary->memory_bytes);
  set("gpus", gpus, &summary->gpus);
  set("gpu_milli", gpu_milli, &summary->gpu_milli);
  for (const auto& [gpu_count, group] : groups) summary->by_gpu_count.push_back(group);
  summary->distinct_shapes = static_cast<int64_t>(by_pods.size());
  std::stable_sort(by_pods.begin(), by_pods.end(),
                   [this](uint32_t a, uint32_t b) { return shape_pods_[a] > shape_pods_[b]; });
  by_pods.resize(std::min(by_pods.size(), top_shapes));
  for (const uint32_t id : by_pods) {
    TraceSummary::ShapeCount entry;
    entry.shape = shapes_->row(ShapeId(id));
    entry.pods = shape_pods_[id];
    summary->top_shapes.push_back(std::move(entry));
  }
}

TraceSummary TraceStats::Summary(size_t top_shapes) const {
  TraceSummary summary;
  summary.pods = pods_;
  FoldShapes(&summary, top_shapes);
  summary.first_arrival_ns = first_arrival_ns_;
  summary.last_arrival_ns = last_arrival_ns_;
  summary.timed_pods = run_times_.count();
  if (summary.timed_pods == 0) return summary;
  summary.min_run_time_ns = min_run_time_ns_;
  summary.max_run_time_ns = max_run_time_ns_;
  summary.mean_run_time_ns =
      Saturated(run_time_sum_ns_ / static_cast<uint64_t>(summary.timed_pods));
  for (size_t i = 0; i < TraceSummary::kPermilles.size(); ++i) {
    summary.run_time_quantiles_s[i] = run_times_.Quantile(TraceSummary::kPermilles[i]);
  }
  return summary;
}

std::string TraceSummary::ToTable() const {
  std::string text = Aligned(OverviewRows(*this));

  Rows groups = {{"GPUs per pod", "pods", "% of pods", "GPU milli", "% of GPU milli"}};
  for (const GpuCountGroup& group : by_gpu_count) {
    groups.push_back({absl::StrCat(group.gpu_count), absl::StrCat(group.pods),
                      Percent(group.pods, pods), absl::StrCat(group.gpu_milli),
                      Percent(group.gpu_milli, gpu_milli)});
  }
  absl::StrAppend(&text, "\n", Aligned(groups));

  if (share_pods > 0) {
    Rows bins = {{"share of a GPU, milli", "pods", "% of share pods"}};
    for (size_t i = 0; i < kShareBins; ++i) {
      bins.push_back({absl::StrCat(BinLow(i), "..", BinHigh(i)), absl::StrCat(share_bins[i]),
                      Percent(share_bins[i], share_pods)});
    }
    absl::StrAppend(&text, "\n", Aligned(bins));
  }

  if (timed_pods > 0) {
    Rows times = {{"run time", "s"},
                  {"least", SecondsText(min_run_time_ns)},
                  {"mean", SecondsText(mean_run_time_ns)},
                  {"greatest", SecondsText(max_run_time_ns)}};
    for (size_t i = 0; i < kPermilles.size(); ++i) {
      times.push_back({QuantileName(kPermilles[i]), absl::StrCat(run_time_quantiles_s[i])});
    }
    absl::StrAppend(&text, "\n", Aligned(times));
  }

  if (!top_shapes.empty()) {
    Rows shapes = {{"most frequent shapes", "% of pods", "CPU milli", "memory MiB", "GPUs",
                    "milli per GPU", "GPU models"}};
    for (const ShapeCount& entry : top_shapes) {
      const ResourceRequest& request = entry.shape.request;
      shapes.push_back({absl::StrCat(entry.pods), Percent(entry.pods, pods),
                        absl::StrCat(request.cpu_milli),
                        absl::StrCat(MibRoundedUp(request.memory_bytes)),
                        absl::StrCat(request.gpu_count), absl::StrCat(request.gpu_milli),
                        request.gpu_count == 0     ? "-"
                        : request.gpu_spec.empty() ? "any"
                                                   : request.gpu_spec});
    }
    absl::StrAppend(&text, "\n", Aligned(shapes));
  }
  return text;
}

std::string TraceSummary::ToJson() const {
  std::vector<std::string> groups;
  for (const GpuCountGroup& group : by_gpu_count) {
    groups.push_back(absl::StrCat("{\"gpu_count\": ", group.gpu_count, ", \"pods\": ", group.pods,
                                  ", \"gpu_milli\": ", group.gpu_milli, "}"));
  }
  std::vector<std::string> bins;
  for (size_t i = 0; i < kShareBins; ++i) {
    bins.push_back(absl::StrCat("{\"from_milli\": ", BinLow(i), ", \"to_milli\": ", BinHigh(i),
                                ", \"pods\": ", share_bins[i], "}"));
  }
  std::vector<std::string> shapes;
  for (const ShapeCount& entry : top_shapes) {
    const ResourceRequest& request = entry.shape.request;
    std::string text =
        absl::StrCat("{\"pods\": ", entry.pods, ", \"cpu_milli\": ", request.cpu_milli,
                     ", \"memory_bytes\": ", request.memory_bytes);
    absl::StrAppend(&text, ", \"gpu_count\": ", request.gpu_count,
                    ", \"gpu_milli\": ", request.gpu_milli,
                    ", \"gpu_spec\": ", Quoted(request.gpu_spec), "}");
    shapes.push_back(std::move(text));
  }
  std::string text = absl::StrCat("{\n  \"schema\": ", Quoted(SchemaName("trace-stats")),
                                  ",\n  \"pods\": ", pods, ",\n  \"share_pods\": ", share_pods);
  absl::StrAppend(&text, ",\n  \"requested\": {\"cpu_milli\": ", cpu_milli,
                  ", \"memory_bytes\": ", memory_bytes, ", \"gpus\": ", gpus,
                  ", \"gpu_milli\": ", gpu_milli);
  // Only where there are such sums, which are the largest integer above.
  if (!exceeded.empty()) {
    absl::StrAppend(&text, ", \"exceeded\": [\"", absl::StrJoin(exceeded, "\", \""), "\"]");
  }
  absl::StrAppend(&text, "},\n  \"by_gpu_count\": ", Array(groups),
                  ",\n  \"share_pods_by_gpu_milli\": ", Array(bins));
  absl::StrAppend(&text, ",\n  \"arrivals\": ", ArrivalsJson(*this),
                  ",\n  \"run_time\": ", RunTimeJson(*this));
  absl::StrAppend(&text, ",\n  \"distinct_shapes\": ", distinct_shapes,
                  ",\n  \"top_shapes\": ", Array(shapes), "\n}\n");
  return text;
}

}  // namespace drasim
