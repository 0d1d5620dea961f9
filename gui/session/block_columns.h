// Blocks of a ledger without a cluster: the times of records, and changes of nodes. A block is read
// in a fraction of the time that its records take.
#ifndef DRASIM_GUI_SESSION_BLOCK_COLUMNS_H_
#define DRASIM_GUI_SESSION_BLOCK_COLUMNS_H_

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/proto/ledger.pb.h"
#include "model/record.h"
#include "model/time.h"
#include "sim/record/ledger_index.h"

namespace drasim::gui {

// A record of kind kNodeChanged or kDevicesChanged.
struct NodeChange {
  uint64_t number = 0;  // of the record, from 1
  Record record;
};

class BlockFile {
 public:
  // The file of a ledger, not a folder. NotFound.
  static absl::StatusOr<std::unique_ptr<BlockFile>> Open(std::string path);
  ~BlockFile();
  BlockFile(const BlockFile&) = delete;
  BlockFile& operator=(const BlockFile&) = delete;

  uint64_t bytes();
  // The times of the block's records. DataLoss.
  absl::Status ReadTimes(const LedgerPlace& block, std::vector<SimTime>* times);
  // Adds the changes of nodes. Nodes beyond `nodes` are left out. DataLoss.
  absl::Status ReadNodeChanges(const LedgerPlace& block, size_t nodes,
                               std::vector<NodeChange>* changes);

 private:
  BlockFile(std::FILE* file, std::string path) : file_(file), path_(std::move(path)) {}
  absl::Status Read(const LedgerPlace& place);
  absl::Status Damaged(const LedgerPlace& place) const;

  std::FILE* file_;
  std::string path_;
  std::string payload_;
  proto::LedgerBlock block_;
};

}  // namespace drasim::gui

#endif  // DRASIM_GUI_SESSION_BLOCK_COLUMNS_H_
