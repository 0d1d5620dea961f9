// Reads the rows of a table as jobs, by the columns that a mapping's section `pods` names.
//
// mapping.h says what a row means. TableSource orders the jobs and handles `gang: false`; here a
// row is always one job of one or more pods.
#ifndef DRASIM_TRACES_JOB_READER_H_
#define DRASIM_TRACES_JOB_READER_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "model/event_source.h"
#include "model/ids.h"
#include "model/shape_table.h"
#include "traces/job_split.h"
#include "traces/name_set.h"
#include "traces/table_reader.h"

namespace drasim {

namespace proto {
class PodColumns;
class TableMapping;
}  // namespace proto

// A row that arrives before `ns` is bad.
struct EarliestArrival {
  int64_t ns = std::numeric_limits<int64_t>::min();
  int64_t line = 0;        // of the row because of which that is so
  int64_t window_ns = -1;  // how much earlier than that row this is; below 0: by nothing
};

// Not thread-safe.
class JobReader {
 public:
  struct Options {
    int64_t time_offset_ns = 0;
    bool unique_names = true;
    bool arrive_at_start = false;
  };

  // `table` and `shapes` must outlive the reader.
  JobReader(TableReader* table, ShapeTable* shapes, const Options& options);
  JobReader(const JobReader&) = delete;
  JobReader& operator=(const JobReader&) = delete;
  ~JobReader();

  // Finds the columns of a valid mapping with pods. Errors are in table->status().
  void Bind(const proto::TableMapping& mapping);
  // Whether each pod of a row is a job of its own.
  bool singly() const { return singly_; }

  // The current row of the table; every field of `out` is set. False when the row is bad, or left
  // out because of its state: the table has counted it then (or has the error), and neither the
  // names nor the shapes know of it. Amortised O(bytes of the row).
  bool Read(const EarliestArrival& earliest, JobArrival* out);

 private:
  struct Columns;
  // The parts of a shape, besides PodAmounts, that only tables with columns for jobs have.
  struct ShapeExtras {
    std::vector<int64_t> extended;  // in the order of the columns
    absl::string_view group;        // of the current row
    int64_t max_per_node = 0;
    bool remainder = false;
  };
  struct CachedShape {
    PodAmounts amounts;
    std::string key;  // the GPU model as in the file, and what ShapeExtras there are
    ShapeId id;       // invalid: an empty slot
  };
  static constexpr size_t kCachedShapes = 1024;

  void BindJobs(const proto::PodColumns& pods);
  bool LeavesOut(const PodAmounts& amounts, const JobArrival& job);
  bool ReadState(JobArrival* out);
  bool ReadName(JobArrival* out);
  bool ReadTimes(const EarliestArrival& earliest, JobArrival* out);
  bool AddOffset(const NumberField& from, int64_t* time_ns);
  bool ReadRunTime(JobArrival* out);
  bool SetDeletion(int64_t end_ns, JobArrival* out);
  bool ReadAmounts(PodAmounts* amounts, absl::string_view* gpu_model);
  bool CutGpuAmount(PodAmounts* amounts);
  bool ReadJob(const PodAmounts& amounts, JobArrival* out, JobSplit* split);
  bool ReadDeadline(JobArrival* out);
  bool ReadPods(const PodAmounts& amounts, JobSplit* split);
  bool ReadShapeExtras();
  ShapeId InternPart(const PodAmounts& job, absl::string_view gpu_model, int64_t part,
                     int64_t whole, bool remainder);
  ShapeId Intern(const PodAmounts& amounts, absl::string_view gpu_model, absl::string_view key,
                 const ShapeExtras* extras);

  TableReader* const table_;
  ShapeTable* const shapes_;
  const Options options_;
  std::unique_ptr<Columns> columns_;
  bool singly_ = false;
  std::vector<CachedShape> cache_;  // kCachedShapes slots, by hash
  NameSet names_;

  ShapeExtras extras_;  // of the current row, for the job as a whole
  ShapeExtras part_;    // of the pod at hand
  std::string key_;     // of the same, for the cache
};

}  // namespace drasim

#endif  // DRASIM_TRACES_JOB_READER_H_
