// A source over a small table, and its jobs as lines of text.
#ifndef DRASIM_TESTS_TRACES_JOB_TABLE_RIG_H_
#define DRASIM_TESTS_TRACES_JOB_TABLE_RIG_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "model/event_source.h"
#include "model/pod_shape.h"
#include "model/proto/mapping.pb.h"
#include "model/time.h"
#include "traces/byte_source.h"
#include "traces/mapping.h"
#include "traces/table_source.h"

namespace drasim::job_table {

using Lines = std::vector<std::string>;

// Columns id, cpu and at; the last two may be missing.
inline constexpr absl::string_view kBase =
    "name: t\n"
    "pods:\n"
    "  name: {column: id}\n"
    "  cpu: {column: cpu, unit: milli, optional: true}\n"
    "  arrival: {column: at, unit: s, optional: true}\n";

inline std::string TimeText(int64_t ns) {
  return ns % kSecondNs == 0 ? absl::StrCat(ns / kSecondNs, "s") : absl::StrCat(ns, "ns");
}

inline std::string ShapeText(const PodShape& shape) {
  Lines parts;
  if (shape.cpu_milli != 0) parts.push_back(absl::StrCat("c", shape.cpu_milli));
  if (shape.memory_bytes != 0) parts.push_back(absl::StrCat("m", shape.memory_bytes));
  if (shape.gpu_count != 0) {
    parts.push_back(absl::StrCat("g", shape.gpu_count, "x", shape.gpu_milli));
  }
  if (!shape.gpu_spec.empty()) parts.push_back(shape.gpu_spec);
  for (const auto& [resource, amount] : shape.extended) {
    parts.push_back(absl::StrCat(resource, "=", amount));
  }
  if (shape.max_per_node != 0 || !shape.group.empty()) {
    parts.push_back(absl::StrCat(shape.group, "<=", shape.max_per_node));
  }
  if (shape.gang_remainder) parts.push_back("rest");
  return absl::StrCat("[", absl::StrJoin(parts, " "), "]");
}

// "NAME@ARRIVAL ...: PODS*[SHAPE] ..."; what is not there is not said.
inline std::string JobText(const JobArrival& job, const ShapeTable& shapes) {
  std::string text = absl::StrCat(job.name, "@", TimeText(job.time.ns()));
  if (job.has_run_time) absl::StrAppend(&text, " run ", TimeText(job.run_time.ns()));
  if (job.has_estimate) absl::StrAppend(&text, " est ", TimeText(job.estimate.ns()));
  if (job.has_deadline) absl::StrAppend(&text, " due ", TimeText(job.deadline.ns()));
  if (job.has_deletion) absl::StrAppend(&text, " del ", TimeText(job.deletion.ns()));
  if (!job.tenant.empty()) absl::StrAppend(&text, " of ", job.tenant);
  if (!job.preemptible) absl::StrAppend(&text, " fixed");
  if (job.fails) absl::StrAppend(&text, " fails");
  absl::StrAppend(&text, ": ", job.pods, "*", ShapeText(shapes.row(job.shape)));
  for (const PodGroup& group : job.more_pods) {
    absl::StrAppend(&text, " ", group.pods, "*", ShapeText(shapes.row(group.shape)));
  }
  return text;
}

// A source over a table, and everything it needs to live.
class Rig {
 public:
  Rig(absl::string_view yaml, absl::string_view table, const TableSourceOptions& options = {})
      : table_(table), shapes_(&models_) {
    const absl::StatusOr<proto::TableMapping> mapping = ParseMapping(yaml, "m.yaml");
    status_ = mapping.status();
    if (!mapping.ok()) return;
    absl::StatusOr<std::unique_ptr<ByteSource>> bytes = OpenMemory("t.csv", table_);
    status_ = bytes.status();
    if (!bytes.ok()) return;
    absl::StatusOr<std::unique_ptr<TableSource>> source =
        TableSource::Open(*std::move(bytes), *mapping, &shapes_, options);
    status_ = source.status();
    if (source.ok()) source_ = *std::move(source);
  }

  // The jobs that are left, and the error in which they end.
  Lines All() {
    Lines lines;
    JobArrival job;
    while (source_ != nullptr) {
      const absl::StatusOr<bool> got = source_->Next(&job);
      if (!got.ok()) status_ = got.status();
      if (!got.ok() || !*got) break;
      lines.push_back(JobText(job, shapes_));
    }
    if (!status_.ok()) lines.push_back(std::string(status_.message()));
    return lines;
  }

  TableSource& source() { return *source_; }
  const ShapeTable& shapes() const { return shapes_; }

 private:
  const std::string table_;  // the source reads from it until the end
  GpuModelTable models_;
  ShapeTable shapes_;
  std::unique_ptr<TableSource> source_;
  absl::Status status_;
};

// With `more` columns behind those of kBase.
inline Lines Read(absl::string_view more, absl::string_view table,
                  const TableSourceOptions& options = {}) {
  return Rig(absl::StrCat(kBase, more), table, options).All();
}

}  // namespace drasim::job_table

#endif  // DRASIM_TESTS_TRACES_JOB_TABLE_RIG_H_
