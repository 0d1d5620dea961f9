// Writes workloads and clusters as CSV files with the columns of the openb trace, so that
// everything that reads openb (drasim's own mapping first of all) reads them too.
//
// A file appears under its name only when it is complete: until Close its bytes are in PATH.part.
// A PATH that ends in ".gz" is compressed; "-" is standard output, plain and as it comes. Equal
// input gives equal bytes.
//
// Pod columns: name, cpu_milli, memory_mib, num_gpu, gpu_milli, gpu_spec, qos, pod_phase,
// creation_time, deletion_time, scheduled_time. Rules beyond their names:
//   * memory_mib is exact: up to 20 decimals when it is no whole number of MiB;
//   * qos is the class of kOpenbQos that has the pod's priority, else the number itself;
//   * times are seconds and exact: up to 9 decimals;
//   * a pod with a run time is "Succeeded", scheduled when created, deleted a run time later;
//   * a pod without one is "Pending", as openb marks pods that never ran: creation_time only.
// Node columns: sn, cpu_milli, memory_mib, gpu, model; then `pods`, but only when some node has
// other than kOpenbPodSlots slots. Fields with a comma, quote or line break are quoted (RFC 4180).
#ifndef DRASIM_TRACES_CSV_WRITER_H_
#define DRASIM_TRACES_CSV_WRITER_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/event_source.h"
#include "model/node_spec.h"
#include "model/shape_table.h"

namespace drasim {

// Pod slots of every node in the FGD experiments over openb, whose node list has no such column.
inline constexpr int64_t kOpenbPodSlots = 1001;

// openb's service classes as priorities, as the built-in mapping (traces/data/openb.yaml) has them.
// LS is latency sensitive, BE best effort.
struct OpenbQos {
  absl::string_view name;
  int32_t priority;
};
inline constexpr std::array<OpenbQos, 4> kOpenbQos = {OpenbQos{"Guaranteed", 3}, OpenbQos{"LS", 2},
                                                      OpenbQos{"Burstable", 1}, OpenbQos{"BE", 0}};

// `ns` nanoseconds as exact decimal seconds: "90", "0.25", "-3.5".
std::string SecondsText(int64_t ns);

namespace internal {
class TextFile;
}  // namespace internal

// Writes pod arrivals one by one, in constant memory. Not thread-safe.
class PodCsvWriter {
 public:
  // Creates PATH.part with the header line. `shapes` must outlive the writer. Errors name the path.
  static absl::StatusOr<std::unique_ptr<PodCsvWriter>> Open(const std::string& path,
                                                            const ShapeTable* shapes);
  // Without a successful Close, PATH.part is removed and PATH is left as it was.
  ~PodCsvWriter();
  PodCsvWriter(const PodCsvWriter&) = delete;
  PodCsvWriter& operator=(const PodCsvWriter&) = delete;

  // InvalidArgument for a pod that the columns cannot express: no name, a node selector,
  // tolerations, a negative time or run time, an end beyond 64 bits of nanoseconds. It is not
  // written; others may follow. An error of the file sticks.
  absl::Status Write(const JobArrival& pod);

  // Completes the file and gives it its name, replacing an existing file. To be called once, and
  // last.
  absl::Status Close();

 private:
  PodCsvWriter(std::unique_ptr<internal::TextFile> file, const ShapeTable* shapes);

  std::unique_ptr<internal::TextFile> file_;
  const ShapeTable* shapes_;
};

// Writes a node list. InvalidArgument, and no file, for a node that the columns cannot express: no
// name, labels, taints, unschedulable, GPUs of several models.
absl::Status WriteNodesCsv(const std::string& path, absl::Span<const NodeSpec> nodes);

}  // namespace drasim

#endif  // DRASIM_TRACES_CSV_WRITER_H_
