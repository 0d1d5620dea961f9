// Pods and nodes from a delimited table, as a mapping describes it (see mapping.h).
#ifndef DRASIM_TRACES_TABLE_SOURCE_H_
#define DRASIM_TRACES_TABLE_SOURCE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/event_source.h"
#include "model/ids.h"
#include "model/node_spec.h"
#include "model/pod_shape.h"
#include "model/proto/mapping.pb.h"
#include "model/state_io.h"
#include "traces/byte_source.h"
#include "traces/name_set.h"
#include "traces/table_reader.h"

namespace drasim {

// What to do about rows that are not in order of arrival; many public lists are not.
enum class ArrivalOrder {
  // A row that arrives before the one ahead of it is bad. Streams: the source keeps no rows.
  kRequire,
  // All rows are read at the first Next and sorted; rows that arrive together keep the file's
  // order. Materialised:
  // the memory grows with the file.
  kSort,
  // Rows come as the file has them, whatever their times. Streams. For consumers that do not look
  // at times, or sort
  // themselves: this one breaks EventSource's promise that times never decrease.
  kKeep,
};

struct TableSourceOptions {
  bool lenient = false;  // bad rows are counted and skipped
  ArrivalOrder order = ArrivalOrder::kRequire;
};

// The pods of a table. Times are nanoseconds, as the file counts them: no origin is subtracted.
//
// A pod has a run time when its run_time column has a value, or else when both start and end have
// one. Names are unique: 10 to 20 bytes a pod are kept to see that, more for names that do not end
// in a number. Bad rows (see table_reader.h for the message): values that are missing, not numbers,
// negative, too large, with a unit; a wrong number of fields; a repeated name; an end before the
// start; an arrival out of order (kRequire); quotes that do not match; rows beyond 1 MiB. Damage of
// the file itself is an error even when lenient. Two mistakes in one row count once. Speed: 200
// MB/s and more from bytes to pods.
class TableSource final : public EventSource {
 public:
  // Reads the header. `mapping` is validated and not kept; `shapes` must outlive the source, and
  // its models be interned. InvalidArgument for a bad mapping, one without pods, or a header
  // without a needed column; else errors of the byte source.
  static absl::StatusOr<std::unique_ptr<TableSource>> Open(std::unique_ptr<ByteSource> bytes,
                                                           const proto::TableMapping& mapping,
                                                           ShapeTable* shapes,
                                                           const TableSourceOptions& options = {});
  ~TableSource() override;

  // Amortised O(bytes of the row).
  absl::StatusOr<bool> Next(PodArrival* out) override;
  void Save(StateWriter& out) const override;
  // Reads the input again up to the saved place, which interns the same shapes and counts the same
  // rows. DataLoss when the input is not the one that was saved.
  absl::Status Load(StateReader& in) override;

  int64_t delivered() const { return delivered_; }
  // Rows left out so far, by kind; empty unless lenient. Complete when Next has returned false.
  const RowTallies& skipped() const { return table_->skipped(); }
  int64_t skipped_rows() const { return table_->skipped_rows(); }
  // Peculiar rows that were used, by kind.
  const RowTallies& warnings() const { return table_->warnings(); }

 private:
  struct Columns;
  // The numbers of a shape, in base units.
  struct Request {
    int64_t cpu_milli = 0;
    int64_t memory_bytes = 0;
    int64_t gpu_count = 0;
    int64_t gpu_milli = 0;
    bool operator==(const Request&) const = default;
  };
  struct CachedShape {
    Request request;
    std::string gpu_model;  // as in the file
    ShapeId id;             // invalid: an empty slot
  };
  struct Sorted {
    PodArrival pod;
    int64_t line = 0;
  };
  static constexpr size_t kCachedShapes = 1024;

  TableSource(std::unique_ptr<TableReader> table, ShapeTable* shapes,
              const TableSourceOptions& options);

  void Bind(const proto::TableMapping& mapping);
  bool NextInFileOrder(PodArrival* out);
  bool NextInTimeOrder(PodArrival* out);
  bool ReadPod(PodArrival* out);
  bool ReadName(PodArrival* out);
  bool ReadTimes(PodArrival* out);
  bool ReadRunTime(PodArrival* out);
  bool ReadRequest(Request* request, absl::string_view* gpu_model);
  ShapeId Intern(const Request& request, absl::string_view gpu_model);

  std::unique_ptr<TableReader> table_;
  ShapeTable* const shapes_;
  const TableSourceOptions options_;
  std::unique_ptr<Columns> columns_;
  std::vector<CachedShape> cache_;  // kCachedShapes slots, by hash
  NameSet names_;

  std::vector<Sorted> sorted_;  // kSort only
  bool all_read_ = false;       // sorted_ is complete
  size_t next_sorted_ = 0;

  int64_t delivered_ = 0;
  int64_t last_line_ = 0;     // of the last pod delivered, or in kSort read
  int64_t last_time_ns_ = 0;  // the same
  bool ended_ = false;
  absl::Status status_;  // the error that ended the source
};

// All nodes of a table, in file order. Names are unique; nodes without GPUs have no model. Any bad
// row is an error, in the words of TableSource. InvalidArgument, too, for a bad mapping or one
// without nodes.
absl::StatusOr<std::vector<NodeSpec>> ReadNodes(std::unique_ptr<ByteSource> bytes,
                                                const proto::TableMapping& mapping);

}  // namespace drasim

#endif  // DRASIM_TRACES_TABLE_SOURCE_H_
