#include "gui/session/block_columns.h"

#include <sys/types.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "model/device_set.h"
#include "model/ids.h"
#include "model/status_macros.h"
#include "sim/record/ledger_frame.h"

namespace drasim::gui {
namespace {

// Times of a damaged ledger may leave the clock's range; they then wrap around.
SimTime After(SimTime time, int64_t delta_ns) {
  return SimTime(
      static_cast<int64_t>(static_cast<uint64_t>(time.ns()) + static_cast<uint64_t>(delta_ns)));
}

}  // namespace

absl::StatusOr<std::unique_ptr<BlockFile>> BlockFile::Open(std::string path) {
  std::FILE* const file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) {
    return absl::NotFoundError(
        absl::StrCat(path, ": cannot open the ledger: ", std::strerror(errno)));
  }
  return std::unique_ptr<BlockFile>(new BlockFile(file, std::move(path)));
}

BlockFile::~BlockFile() { std::fclose(file_); }

uint64_t BlockFile::bytes() {
  fseeko(file_, 0, SEEK_END);
  return static_cast<uint64_t>(std::max<off_t>(ftello(file_), 0));
}

absl::Status BlockFile::Damaged(const LedgerPlace& place) const {
  return absl::DataLossError(
      absl::StrCat(path_, ": damaged at byte ", place.offset, ": an unreadable block"));
}

absl::Status BlockFile::Read(const LedgerPlace& place) {
  std::string head(kFrameHeaderBytes, '\0');
  const uint64_t size = bytes();
  if (place.offset >= size || fseeko(file_, static_cast<off_t>(place.offset), SEEK_SET) != 0 ||
      std::fread(head.data(), 1, head.size(), file_) != head.size()) {
    return Damaged(place);
  }
  const uint64_t length = ReadLittleEndian(absl::string_view(head).substr(0, 4));
  const uint64_t crc = ReadLittleEndian(absl::string_view(head).substr(4, 4));
  if (length > size - place.offset ||
      static_cast<unsigned char>(head[8]) != static_cast<unsigned char>(FrameType::kBlock)) {
    return Damaged(place);
  }
  payload_.resize(length);
  if (std::fread(payload_.data(), 1, length, file_) != length ||
      FrameCrc(FrameType::kBlock, payload_) != crc || !block_.ParseFromString(payload_)) {
    return Damaged(place);
  }
  const int records = static_cast<int>(block_.kind().size());
  if (block_.time_delta_ns_size() != records && block_.time_delta_ns_size() != 0) {
    return Damaged(place);
  }
  return absl::OkStatus();
}

absl::Status BlockFile::ReadTimes(const LedgerPlace& block, std::vector<SimTime>* times) {
  RETURN_IF_ERROR(Read(block));
  SimTime time = block.time;
  times->assign(block_.kind().size(), time);
  for (int i = 0; i < block_.time_delta_ns_size(); ++i) {
    time = After(time, block_.time_delta_ns(i));
    (*times)[static_cast<size_t>(i)] = time;
  }
  return absl::OkStatus();
}

absl::Status BlockFile::ReadNodeChanges(const LedgerPlace& block, size_t nodes,
                                        std::vector<NodeChange>* changes) {
  RETURN_IF_ERROR(Read(block));
  const std::string& kinds = block_.kind();
  const auto is_change = [](char kind) {
    return kind == static_cast<char>(RecordKind::kNodeChanged) ||
           kind == static_cast<char>(RecordKind::kDevicesChanged);
  };
  size_t last = kinds.size();
  while (last > 0 && !is_change(kinds[last - 1])) --last;
  SimTime time = block.time;
  int next_node = 0;
  int next_detail = 0;
  for (size_t i = 0; i < last; ++i) {
    const auto kind = static_cast<RecordKind>(static_cast<unsigned char>(kinds[i]));
    if (block_.time_delta_ns_size() > 0) {
      time = After(time, block_.time_delta_ns(static_cast<int>(i)));
    }
    Record record;
    record.time = time;
    record.kind = kind;
    if (NamesNode(kind)) {
      if (next_node >= block_.node_size() || next_node >= block_.devices_size()) {
        return Damaged(block);
      }
      record.node = NodeId(block_.node(next_node) - 1);
      record.devices = DeviceSet::FromBits(block_.devices(next_node++));
    }
    const bool has_detail =
        NamesNode(kind) ? HasDetailBesideNode(kind)
                        : kind == RecordKind::kPodArrived || kind == RecordKind::kAttemptFailed;
    if (has_detail) {
      if (next_detail >= block_.detail_size()) return Damaged(block);
      record.detail = block_.detail(next_detail++);
    }
    if (!is_change(kinds[i]) || record.node.value() >= nodes) continue;
    changes->push_back({block.records + i + 1, record});
  }
  return absl::OkStatus();
}

}  // namespace drasim::gui
