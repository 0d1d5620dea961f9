#include "sim/bench/judge_decisions.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "model/kube/gpu_annotations.h"
#include "model/kube/reader.h"
#include "model/record.h"
#include "model/status_macros.h"
#include "sim/record/ledger_frame.h"
#include "sim/record/ledger_reader.h"
#include "sim/record/pod_log.h"
#include "sim/run/manifest_objects.h"
#include "traces/byte_source.h"
#include "traces/csv_splitter.h"
#include "traces/date_time.h"
#include "traces/decimal.h"

namespace drasim::bench {
namespace {

constexpr size_t kMaxDecisionBytes = size_t{1} << 30;
constexpr int64_t kSecondNs = 1'000'000'000;

void SortByTime(DecisionList* list) {
  std::stable_sort(list->decisions.begin(), list->decisions.end(),
                   [](const PodDecision& a, const PodDecision& b) { return a.at < b.at; });
}

// "0-3". False for anything but indices of a node's devices, each once.
bool ParseDevices(absl::string_view text, DeviceSet* devices) {
  if (text.empty()) return true;
  for (const absl::string_view part : absl::StrSplit(text, '-')) {
    int64_t index = 0;
    if (!ParseDigits(part, &index) || index >= kMaxDevicesPerNode) return false;
    const DeviceSet one = DeviceSet::Of(static_cast<size_t>(index));
    if (!(*devices & one).empty()) return false;
    *devices |= one;
  }
  return true;
}

// "0:1g.5gb@4;1:2g.10gb@0". Parts of devices that are no instances are left to the node.
bool ParseInstances(absl::string_view text, std::vector<DecidedInstance>* instances) {
  if (text.empty()) return true;
  for (const absl::string_view part : absl::StrSplit(text, ';')) {
    const std::pair<absl::string_view, absl::string_view> place =
        absl::StrSplit(part, absl::MaxSplits(':', 1));
    if (!absl::StrContains(part, ':')) continue;
    const std::pair<absl::string_view, absl::string_view> profile =
        absl::StrSplit(place.second, absl::MaxSplits('@', 1));
    const std::pair<absl::string_view, absl::string_view> start =
        absl::StrSplit(profile.second, absl::MaxSplits(' ', 1));
    int64_t gpu = 0;
    int64_t first = 0;
    if (!ParseDigits(place.first, &gpu) || gpu >= kMaxDevicesPerNode || profile.first.empty() ||
        !ParseDigits(start.first, &first) || first >= kMaxMigPlacements) {
      return false;
    }
    instances->push_back(
        {static_cast<size_t>(gpu), std::string(profile.first), static_cast<int>(first)});
  }
  return true;
}

// Reads one table; a class for its state.
class DecisionTable {
 public:
  DecisionTable(absl::string_view name, CsvSplitter* rows, const DecisionFileOptions& options)
      : name_(name), rows_(*rows), options_(options) {}

  absl::StatusOr<DecisionList> Read() {
    DecisionList list;
    list.origin = std::string(name_);
    ASSIGN_OR_RETURN(const bool any, Next());
    if (!any) {
      return absl::InvalidArgumentError(
          absl::StrCat(name_, ": found nothing, expected a header with the columns pod and node"));
    }
    RETURN_IF_ERROR(ReadHeader());
    while (true) {
      ASSIGN_OR_RETURN(const bool more, Next());
      if (!more) break;
      RETURN_IF_ERROR(ReadRow(&list));
    }
    SortByTime(&list);
    return list;
  }

 private:
  absl::StatusOr<bool> Next() {
    switch (rows_.Next()) {
      case CsvSplitter::Result::kRow:
        return true;
      case CsvSplitter::Result::kEnd:
        return false;
      case CsvSplitter::Result::kBadRow:
        return At(rows_.error().at, rows_.error().what);
      case CsvSplitter::Result::kFailed:
        return rows_.status();
    }
    return false;
  }

  absl::Status At(const CsvPosition& at, absl::string_view what) const {
    return absl::InvalidArgumentError(
        absl::StrCat(name_, ":", at.line, ":", at.column, ": ", what));
  }

  absl::Status ReadHeader() {
    columns_ = rows_.size();
    for (size_t i = 0; i < columns_; ++i) {
      const std::string column(rows_.field(i));
      if (!places_.emplace(column, i).second) {
        return At(rows_.position(i), absl::StrCat("found column '", column, "' twice"));
      }
    }
    time_ = places_.count("time") > 0 ? "time" : "start_seconds";
    for (const absl::string_view needed : {"pod", "node"}) {
      if (places_.count(std::string(needed)) > 0) continue;
      return At(rows_.end_position(), absl::StrCat("found no column '", needed, "'"));
    }
    if (options_.replay && places_.count(time_) == 0) {
      return At(rows_.end_position(), "found no column 'time', which a replay needs");
    }
    return absl::OkStatus();
  }

  // Empty without the column.
  absl::string_view Field(const std::string& column) const {
    const auto it = places_.find(column);
    return it == places_.end() ? absl::string_view() : rows_.field(it->second);
  }
  absl::Status Bad(const std::string& column, absl::string_view expected) const {
    return At(rows_.position(places_.find(column)->second),
              absl::StrCat(column, ": found '", Field(column), "', expected ", expected));
  }

  absl::Status ReadRow(DecisionList* list) {
    if (rows_.size() != columns_) {
      return At(rows_.position(0), absl::StrCat("found ", rows_.size(), " fields, expected ",
                                                columns_, " as in the header"));
    }
    PodDecision decision;
    decision.line = static_cast<size_t>(rows_.line());
    decision.pod = std::string(Field("pod"));
    if (decision.pod.empty()) return Bad("pod", "the name of a pod");
    decision.node = std::string(Field("node"));
    const absl::string_view time = Field(time_);
    if (decision.node.empty() && time.empty()) return absl::OkStatus();
    int64_t ns = 0;
    if (options_.replay && ParseNearest(time, kSecondNs, &ns) != DecimalError::kNone)
      return Bad(time_, "seconds of the run, from 0 on");
    decision.at = SimTime(ns);
    if (!ParseDevices(Field("devices"), &decision.devices))
      return Bad("devices", "indices of GPUs with dashes between them, such as 0-3");
    if (!ParseInstances(Field("grants"), &decision.instances))
      return Bad("grants", "MIG instances such as 0:1g.5gb@4;1:2g.10gb@0");
    list->decisions.push_back(std::move(decision));
    return absl::OkStatus();
  }

  std::string name_;
  CsvSplitter& rows_;
  const DecisionFileOptions& options_;
  size_t columns_ = 0;
  std::map<std::string, size_t> places_;
  std::string time_;  // the column of times
};

// When the pod was scheduled, as far as it tells.
absl::StatusOr<int64_t> ScheduledNs(const proto::kube::Pod& pod) {
  for (const proto::kube::Condition& condition : pod.status().conditions()) {
    if (condition.type() == "PodScheduled" && condition.status() == "True" &&
        !condition.last_transition_time().empty()) {
      return ParseRfc3339(condition.last_transition_time());
    }
  }
  return ParseRfc3339(pod.status().start_time());
}

}  // namespace

absl::StatusOr<DecisionList> DecisionsOfCsv(absl::string_view name, absl::string_view text,
                                            const DecisionFileOptions& options) {
  ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source, OpenMemory(name, text));
  CsvSplitter rows(source.get(), CsvOptions());
  return DecisionTable(name, &rows, options).Read();
}

absl::StatusOr<DecisionList> DecisionsOfPods(absl::string_view name, absl::string_view text,
                                             const DecisionFileOptions& options) {
  KubeReadOptions lax;
  lax.validate = false;
  lax.of_cluster = true;
  ASSIGN_OR_RETURN(const KubeManifest manifest, ReadKubeObjects(text, name, lax));
  DecisionList list;
  list.origin = std::string(name);
  list.resolution = SimDuration(kSecondNs);  // of metav1.Time
  std::optional<int64_t> zero = options.zero_ns;
  for (const KubeObject& read : manifest.objects) {
    if (options.zero_ns.has_value() || !read.object.has_pod()) continue;
    const auto created = ParseRfc3339(read.object.pod().metadata().creation_timestamp());
    if (created.ok()) zero = std::min(zero.value_or(*created), *created);
  }
  for (const KubeObject& read : manifest.objects) {
    if (!read.object.has_pod() || read.object.pod().spec().node_name().empty()) continue;
    const proto::kube::Pod& pod = read.object.pod();
    PodDecision decision;
    decision.line = read.line;
    decision.pod = ManifestJobName(
        pod.metadata().namespace_().empty() ? "default" : pod.metadata().namespace_(),
        pod.metadata().name());
    decision.node = pod.spec().node_name();
    std::vector<KubeProblem> problems;
    decision.devices = ReadGpuAnnotations(pod.metadata(), &problems).devices;
    if (options.replay) {
      const absl::StatusOr<int64_t> at = ScheduledNs(pod);
      if (!at.ok() || !zero.has_value()) {
        return absl::InvalidArgumentError(
            absl::StrCat(name, ":", read.line, ": pod '", decision.pod, "': found no ",
                         at.ok() ? "metadata.creationTimestamp" : "time of PodScheduled",
                         ", which a replay needs"));
      }
      decision.at = SimTime(std::max<int64_t>(0, *at - *zero));
    }
    list.decisions.push_back(std::move(decision));
  }
  if (list.decisions.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(name,
                     ": found no pod with spec.nodeName, expected pods as `kubectl get pods "
                     "-o json` prints them"));
  }
  SortByTime(&list);
  return list;
}

absl::StatusOr<DecisionList> DecisionsOfLedger(const std::string& path,
                                               const DecisionFileOptions& options) {
  ASSIGN_OR_RETURN(const std::unique_ptr<LedgerReader> ledger, LedgerReader::Open(path));
  DecisionList list;
  list.origin = path;
  std::vector<bool> reserved;
  Record record;
  while (true) {
    ASSIGN_OR_RETURN(const bool more, ledger->Next(&record));
    if (!more) break;
    if (!record.pod.valid()) continue;
    const size_t pod = record.pod.value();
    if (reserved.size() <= pod) reserved.resize(pod + 1);
    PodDecision decision;
    decision.pod = std::string(ledger->cluster().pod_name(record.pod));
    decision.at = record.time;
    const bool evicted = record.kind == RecordKind::kPodEvicted &&
                         record.detail == static_cast<uint32_t>(EvictionCause::kPreempted);
    if (record.kind == RecordKind::kPodReserved ||
        (record.kind == RecordKind::kPodBound && !reserved[pod])) {
      decision.node = ledger->cluster().node_spec(record.node).name;
      decision.devices = record.devices;
      std::string grants;
      AppendGrants(ledger->cluster(), record.node, ledger->cluster().pod_grants(record.pod),
                   &grants);
      if (!ParseInstances(grants, &decision.instances)) {
        return absl::DataLossError(absl::StrCat(path, ": found the grants '", grants, "'"));
      }
    } else if (evicted) {
      decision.at = SimTime(std::max<int64_t>(0, record.time.ns() - options.grace_period.ns()));
      decision.may_be_over = true;
    } else if (record.kind == RecordKind::kPodUnreserved) {
      decision.may_be_over = true;  // a start that is cancelled ends at once
    }
    reserved[pod] = record.kind == RecordKind::kPodReserved;
    if (decision.node.empty() && !decision.may_be_over) continue;
    list.decisions.push_back(std::move(decision));
  }
  SortByTime(&list);
  return list;
}

absl::StatusOr<std::shared_ptr<const DecisionList>> ReadDecisions(
    const std::string& path, const DecisionFileOptions& options) {
  std::error_code error;
  DecisionList list;
  if (std::filesystem::is_directory(path, error)) {
    ASSIGN_OR_RETURN(list, DecisionsOfLedger(path, options));
    return std::make_shared<const DecisionList>(std::move(list));
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source, OpenByteSource(path));
  ASSIGN_OR_RETURN(const std::string text, ReadAll(*source, kMaxDecisionBytes));
  const absl::string_view start = absl::StripLeadingAsciiWhitespace(text);
  if (absl::StartsWith(text, kLedgerMagic)) {
    ASSIGN_OR_RETURN(list, DecisionsOfLedger(path, options));
  } else if (absl::StartsWith(start, "{") || absl::StartsWith(start, "apiVersion:") ||
             absl::StartsWith(start, "---")) {
    ASSIGN_OR_RETURN(list, DecisionsOfPods(path, text, options));
  } else {
    ASSIGN_OR_RETURN(list, DecisionsOfCsv(path, text, options));
  }
  return std::make_shared<const DecisionList>(std::move(list));
}

}  // namespace drasim::bench
