// Jobs and nodes from a delimited table, as a mapping describes it (see mapping.h).
//
//   ASSIGN_OR_RETURN(const proto::TableMapping mapping, LoadMapping("openb"));
//   ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> bytes, OpenByteSource("pods.csv"));
//   ASSIGN_OR_RETURN(const auto source, TableSource::Open(std::move(bytes), mapping, &shapes));
//   JobArrival job;
//   for (;;) {
//     ASSIGN_OR_RETURN(const bool more, source->Next(&job));
//     if (!more) break;
//     Use(job, shapes.row(job.shape));
//   }
#ifndef DRASIM_TRACES_TABLE_SOURCE_H_
#define DRASIM_TRACES_TABLE_SOURCE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/event_source.h"
#include "model/node_spec.h"
#include "model/shape_table.h"
#include "model/state_io.h"
#include "traces/byte_source.h"
#include "traces/job_reader.h"
#include "traces/table_reader.h"

namespace drasim {

namespace proto {
class TableMapping;
}

// Treatment of rows that are not in order of arrival, which is common in public lists.
enum class ArrivalOrder {
  // A row that arrives before the one ahead of it is bad. Streams: the source keeps no rows.
  kRequire,
  // All rows are read at the first Next and sorted; rows that arrive together keep the file's
  // order. Materialised: the memory grows with the file.
  kSort,
  // Rows come in the file's order, whatever their times. Streams. Breaks EventSource's promise that
  // times never decrease, so it is for consumers that ignore times or sort by themselves.
  kKeep,
  // A row may be up to TableSourceOptions::sort_window_ns earlier than the latest one so far; one
  // that is earlier still is bad. Jobs are sorted as with kSort. Streams: the jobs of one window
  // are kept.
  kWindow,
};

struct TableSourceOptions {
  bool lenient = false;  // bad rows are counted and skipped
  ArrivalOrder order = ArrivalOrder::kRequire;
  bool unique_names = true;    // a name that comes again is bad; takes memory for every name
  int64_t sort_window_ns = 0;  // of kWindow; not negative
  // Added to every point of time of the file, but not to lengths. May be negative; the sums must
  // not.
  int64_t time_offset_ns = 0;
  // A job arrives at its start if it has one, and not at its submission. The mapping must have a
  // start column.
  bool arrive_at_start = false;
  // Override those of the mapping.
  std::optional<int32_t> gpus_per_pod;
  std::optional<int32_t> cores_per_pod;
  std::vector<std::string> needs;  // in addition to those of the mapping
};

// The jobs of a table. Times are nanoseconds, as the file counts them, plus the offset of the
// options: no origin is subtracted.
//
// A row is a job: one pod or a gang; with `gang: false`, each of the row's pods is a job. A job has
// a run time when its run_time column has a value, or else when both start and end have one. Names
// are unique: 10 to 20 bytes a row are kept to see that, more for names that do not end in a
// number. Bad rows (see table_reader.h for the message): values that are missing, not numbers,
// negative, too large, with a unit; a wrong number of fields; a repeated name; an end before the
// start; an arrival out of order (kRequire, kWindow); an unknown state; too many pods; quotes that
// do not match; rows beyond 1 MiB. Damage of the file itself is an error even when lenient. Two
// mistakes in one row count once. The jobs ahead of the first bad row are delivered; then the rest
// of the table is read for its mistakes alone, and one error reports all of them. With kSort and
// kWindow, which read ahead, that error comes first. Speed: 200 MB/s and more from bytes to
// pods; less for jobs.
class TableSource final : public EventSource {
 public:
  // Reads the header. `mapping` is validated and not kept; `shapes` must outlive the source, and
  // its models be interned. InvalidArgument for a bad mapping, one without pods, one that the
  // options do not suit, or a header without a needed column; else errors of the byte source.
  static absl::StatusOr<std::unique_ptr<TableSource>> Open(std::unique_ptr<ByteSource> bytes,
                                                           const proto::TableMapping& mapping,
                                                           ShapeTable* shapes,
                                                           const TableSourceOptions& options = {});

  // Amortised O(bytes of the row), and O(log jobs of the window) with kWindow.
  absl::StatusOr<bool> Next(JobArrival* out) override;
  void Save(StateWriter& out) const override;
  // Reads the input again up to the saved place, which interns the same shapes and counts the same
  // rows. DataLoss when the input is not the one that was saved.
  absl::Status Load(StateReader& in) override;

  int64_t delivered() const { return delivered_; }
  // Rows read so far, bad ones and those left out included.
  int64_t rows() const { return table_->complaints().rows(); }
  // Bad rows left out so far, by kind; empty unless lenient. Complete when Next has returned false.
  const RowTallies& skipped() const { return table_->complaints().skipped(); }
  int64_t skipped_rows() const { return table_->complaints().skipped_rows(); }
  // Peculiar rows that were used, and rows that their state leaves out, by kind.
  const RowTallies& warnings() const { return table_->complaints().warnings(); }

 private:
  struct Pending {
    JobArrival job;
    int64_t line = 0;
    int64_t sequence = 0;  // kWindow only: the job's place in the file
  };

  TableSource(std::unique_ptr<TableReader> table, ShapeTable* shapes,
              const TableSourceOptions& options);

  bool NextRow(JobArrival* out);
  void NoteArrival();
  bool NextInFileOrder(JobArrival* out);
  bool NextInTimeOrder(JobArrival* out);
  bool NextInWindow(JobArrival* out);

  std::unique_ptr<TableReader> table_;
  const TableSourceOptions options_;
  JobReader jobs_;
  EarliestArrival earliest_;  // of the next row

  // `gang: false` only: the row whose pods are under way.
  JobArrival row_;
  int64_t row_pods_ = 0;
  int64_t next_pod_ = 0;

  // kSort: sorted. kWindow: a heap, the next job in front.
  std::vector<Pending> pending_;
  bool all_read_ = false;  // there are no more jobs than pending_ has
  size_t next_sorted_ = 0;
  int64_t next_sequence_ = 0;

  int64_t delivered_ = 0;
  int64_t last_line_ = 0;     // of the last job delivered, or in kSort and kWindow read
  int64_t last_time_ns_ = 0;  // the same
  bool ended_ = false;
  absl::Status status_;  // the error that ended the source
};

// All nodes of a table, in file order. Names are unique; nodes without GPUs have no model. Bad rows
// are an error that tells of all, in the words of TableSource. InvalidArgument, too, for a bad
// mapping or one without nodes.
absl::StatusOr<std::vector<NodeSpec>> ReadNodes(std::unique_ptr<ByteSource> bytes,
                                                const proto::TableMapping& mapping);

}  // namespace drasim

#endif  // DRASIM_TRACES_TABLE_SOURCE_H_
