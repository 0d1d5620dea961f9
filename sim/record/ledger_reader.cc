#include "sim/record/ledger_reader.h"

#include <sys/stat.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "model/device_set.h"
#include "model/state_io.h"
#include "sim/record/ledger_frame.h"

namespace drasim {
namespace {

constexpr uint64_t kMaxStateBytes = uint64_t{1} << 33;

PodShape FromProto(const proto::LedgerShape& p) {
  PodShape shape;
  shape.request.cpu_milli = p.cpu_milli();
  shape.request.memory_bytes = p.memory_bytes();
  shape.request.gpu_count = p.gpu_count();
  shape.request.gpu_milli = p.gpu_milli();
  shape.request.gpu_spec = p.gpu_spec();
  for (const proto::LedgerLabel& label : p.node_selector()) {
    shape.constraints.node_selector.emplace_back(label.key(), label.value());
  }
  std::sort(shape.constraints.node_selector.begin(), shape.constraints.node_selector.end());
  for (const proto::LedgerToleration& t : p.tolerations()) {
    shape.constraints.tolerations.push_back({t.key(), t.value(), t.effect(), t.exists()});
  }
  for (const proto::LedgerAmount& a : p.extended()) {
    shape.request.extended.emplace_back(a.name(), a.amount());
  }
  shape.constraints.group = p.group();
  shape.constraints.max_per_node = p.max_per_node();
  shape.gang_remainder = p.gang_remainder();
  for (const proto::LedgerAmount& a : p.mig()) {
    shape.request.mig.emplace_back(a.name(), static_cast<int32_t>(a.amount()));
  }
  shape.request.nominal_milli = p.nominal_milli();
  shape.demand.gpus = p.demand_gpus();
  shape.demand.milli = p.demand_milli();
  shape.demand.memory_mib = p.demand_memory_mib();
  shape.device_plugin.function = p.function();
  for (const proto::LedgerClaim& claim : p.claims()) {
    shape.claims.push_back(
        {claim.name(), claim.claim(), claim.from_template(), claim.mig_profile(), claim.gpus()});
  }
  for (const proto::LedgerContainer& c : p.containers()) {
    ContainerRequest container = {c.init(), c.restartable(), {}};
    for (const proto::LedgerAmount& a : c.extended()) {
      container.extended.emplace_back(a.name(), a.amount());
    }
    shape.device_plugin.containers.push_back(std::move(container));
  }
  // Checked already: SoundConstraints.
  shape.constraints.hold = static_cast<PodHold>(p.hold());
  shape.constraints.never_preempts = p.never_preempts();
  for (const proto::LedgerNodeTerm& t : p.node_terms()) {
    NodeTerm& term = shape.constraints.node_terms.emplace_back();
    for (const proto::LedgerNodeRequirement& r : t.requirements()) {
      NodeRequirement& requirement = term.requirements.emplace_back();
      requirement.of_name = r.of_name();
      requirement.key = r.key();
      requirement.op = static_cast<NodeOperator>(r.op());
      requirement.values.assign(r.values().begin(), r.values().end());
    }
  }
  return shape;
}

bool SoundConstraints(const proto::LedgerShape& p) {
  return p.hold() < kPodHolds &&
         std::all_of(p.node_terms().begin(), p.node_terms().end(), [](const auto& term) {
           return std::all_of(term.requirements().begin(), term.requirements().end(),
                              [](const auto& r) { return r.op() < kNodeOperators; });
         });
}

bool Sound(const PodShape& shape) {
  const bool sound_mig =
      shape.request.nominal_milli >= 0 && shape.request.nominal_milli <= int64_t{1} << 40 &&
      shape.demand.gpus >= 0 && shape.demand.gpus <= 1 << 20 && shape.demand.milli >= 0 &&
      shape.demand.milli <= kDeviceMilli && shape.demand.memory_mib >= 0 &&
      (shape.request.mig.empty() || shape.request.gpu_count == 0) &&
      shape.request.mig.size() <= 64 &&
      std::all_of(shape.request.mig.begin(), shape.request.mig.end(),
                  [](const auto& mig) { return mig.second > 0 && mig.second <= 1024; });
  return sound_mig && shape.request.cpu_milli >= 0 && shape.request.memory_bytes >= 0 &&
         shape.request.gpu_count >= 0 && shape.request.gpu_milli >= 0 &&
         shape.request.gpu_milli <= kDeviceMilli &&
         (shape.request.gpu_count == 0) == (shape.request.gpu_milli == 0) &&
         shape.constraints.max_per_node >= 0 &&
         shape.constraints.max_per_node <= std::numeric_limits<uint16_t>::max() &&
         std::all_of(shape.request.extended.begin(), shape.request.extended.end(),
                     [](const auto& amount) { return amount.second > 0; });
}

}  // namespace

LedgerReader::~LedgerReader() { std::fclose(file_); }

absl::Status LedgerReader::Damaged(absl::string_view what) const {
  return absl::DataLossError(absl::StrCat(path_, ": damaged at byte ", frame_offset_, ": ", what));
}

absl::StatusOr<std::unique_ptr<LedgerReader>> LedgerReader::Open(const std::string& path) {
  std::string file_path = path;
  struct stat info;
  if (stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) {
    file_path = absl::StrCat(path, "/ledger");
    const std::string partial = absl::StrCat(file_path, ".partial");
    // For a folder with neither file, the error names the file that a run leaves.
    if (stat(file_path.c_str(), &info) != 0 && stat(partial.c_str(), &info) == 0) {
      file_path = partial;
    }
  }
  std::FILE* file = std::fopen(file_path.c_str(), "rb");
  if (file == nullptr) {
    return absl::NotFoundError(
        absl::StrCat(file_path, ": cannot open the ledger: ", std::strerror(errno)));
  }
  return Start(file, file_path);
}

absl::StatusOr<std::unique_ptr<LedgerReader>> LedgerReader::FromMemory(absl::string_view bytes) {
  if (bytes.empty()) return absl::InvalidArgumentError("memory: not a drasim ledger (empty)");
  std::FILE* file = fmemopen(const_cast<char*>(bytes.data()), bytes.size(), "rb");
  if (file == nullptr) return absl::InternalError("cannot open memory as a file");
  return Start(file, "memory");
}

absl::StatusOr<std::unique_ptr<LedgerReader>> LedgerReader::Start(std::FILE* file,
                                                                  std::string path) {
  std::unique_ptr<LedgerReader> reader(new LedgerReader(file, std::move(path)));
  fseeko(file, 0, SEEK_END);
  const off_t size = ftello(file);
  std::rewind(file);
  reader->size_ = size > 0 ? static_cast<uint64_t>(size) : 0;
  std::string magic(kLedgerMagic.size(), '\0');
  if (std::fread(magic.data(), 1, magic.size(), file) != magic.size() || magic != kLedgerMagic) {
    return absl::InvalidArgumentError(absl::StrCat(reader->path_, ": not a drasim ledger"));
  }
  if (absl::Status s = reader->LoadHeader(); !s.ok()) return s;
  return reader;
}

absl::StatusOr<bool> LedgerReader::ReadFrame(int* type, std::string* payload) {
  frame_offset_ = static_cast<uint64_t>(ftello(file_));
  std::string head(kFrameHeaderBytes, '\0');
  if (std::fread(head.data(), 1, head.size(), file_) != head.size()) return false;
  const uint64_t length = ReadLittleEndian(absl::string_view(head).substr(0, 4));
  if (length > size_ - frame_offset_) return false;
  payload->resize(length);
  if (std::fread(payload->data(), 1, length, file_) != length) return false;
  *type = static_cast<unsigned char>(head[8]);
  const uint64_t crc = ReadLittleEndian(absl::string_view(head).substr(4, 4));
  if (crc != FrameCrc(static_cast<FrameType>(*type), *payload)) {
    // At the very end a wrong sum is a torn write; elsewhere it is damage.
    if (static_cast<uint64_t>(ftello(file_)) == size_) return false;
    return Damaged("a frame's checksum does not match");
  }
  return true;
}

absl::Status LedgerReader::LoadHeader() {
  int type = 0;
  std::string payload;
  absl::StatusOr<bool> frame = ReadFrame(&type, &payload);
  if (!frame.ok()) return frame.status();
  if (!*frame || type != static_cast<int>(FrameType::kHeader) ||
      !header_.ParseFromString(payload)) {
    return Damaged("no readable header");
  }
  if (header_.version() != kLedgerVersion) {
    return absl::InvalidArgumentError(absl::StrCat(path_, ": ledger format ", header_.version(),
                                                   "; this drasim reads format ", kLedgerVersion));
  }
  if (header_.mig()) {
    for (const proto::LedgerNode& node : header_.nodes()) {
      bool known = node.gpu_count() == 0 || node.gpu_models_size() > 0 ||
                   models_.Intern(node.gpu_model()).ok();
      for (const std::string& model : node.gpu_models()) {
        known = known && models_.Intern(model).ok();
      }
      if (!known) return Damaged("more GPU models than can be");
    }
    if (absl::Status s = mig_.Attach(&models_, header_.mig_driver_branch()); !s.ok()) {
      return Damaged(s.message());
    }
  }
  for (const proto::LedgerNode& node : header_.nodes()) {
    NodeSpec spec;
    spec.name = node.name();
    spec.cpu_milli = node.cpu_milli();
    spec.memory_bytes = node.memory_bytes();
    spec.pods = node.pods();
    spec.gpu_count = node.gpu_count();
    spec.gpu_model = node.gpu_model();
    spec.gpu_models.assign(node.gpu_models().begin(), node.gpu_models().end());
    for (const proto::LedgerAmount& a : node.extended()) {
      if (a.amount() < 0) return Damaged("a node has less than nothing of a resource");
      spec.extended.emplace_back(a.name(), a.amount());
    }
    spec.absent = node.absent();
    spec.unschedulable = node.unschedulable();
    absl::StatusOr<NodeId> added = cluster_->AddNode(spec);
    if (!added.ok()) return Damaged(added.status().message());
  }
  if (header_.reasons_size() > 254) return Damaged("more reasons than can be");
  summaries_.SetReasons({header_.reasons().begin(), header_.reasons().end()});
  return absl::OkStatus();
}

absl::Status LedgerReader::AddDefinitions() {
  for (const proto::LedgerShape& p : block_.shapes()) {
    if (!SoundConstraints(p)) return Damaged("a pod shape is unsound");
    const PodShape shape = FromProto(p);
    const size_t before = shapes_->size();
    if (!Sound(shape) || shapes_->Intern(shape).value() != before)
      return Damaged("a pod shape is unsound or repeated");
  }
  for (const proto::LedgerSummary& p : block_.summaries()) {
    VerdictSummaryTable::Row row;
    row.nodes = p.nodes();
    if (p.reason_size() != p.rejected_size())
      return Damaged("a summary's columns differ in length");
    for (int i = 0; i < p.reason_size(); ++i) {
      if (p.reason(i) == 0 || p.reason(i) > summaries_.reasons().size())
        return Damaged("an unknown reason");
      row.rejected.emplace_back(static_cast<uint8_t>(p.reason(i)), p.rejected(i));
    }
    summaries_.Intern(row);
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> LedgerReader::LoadBlock() {
  while (!complete_) {
    int type = 0;
    std::string payload;
    absl::StatusOr<bool> frame = ReadFrame(&type, &payload);
    if (!frame.ok() || !*frame) return frame;
    if (type == static_cast<int>(FrameType::kCheckpoint)) continue;
    if (type == static_cast<int>(FrameType::kEnd)) {
      if (!end_.ParseFromString(payload)) return Damaged("the end frame is unreadable");
      if (end_.records() != records_)
        return Damaged("the end frame counts other records than were read");
      complete_ = true;
      break;
    }
    if (type != static_cast<int>(FrameType::kBlock) || !block_.ParseFromString(payload)) {
      return Damaged("an unknown or unreadable frame");
    }
    if (block_.first_record() != records_) return Damaged("a block does not follow the one before");
    const int n = static_cast<int>(block_.kind().size());
    if (block_.pod_delta_size() != n ||
        (block_.time_delta_ns_size() != n && block_.time_delta_ns_size() != 0) ||
        block_.devices_size() != block_.node_size() ||
        (block_.pod_priority_size() != block_.pod_name_size() && block_.pod_priority_size() != 0)) {
      return Damaged("a block's columns differ in length");
    }
    if (absl::Status s = AddDefinitions(); !s.ok()) return s;
    in_block_ = 0;
    next_node_ = next_detail_ = next_arrival_ = 0;
    next_grants_ = next_grant_ = next_allocatable_ = 0;
    if (n > 0) return true;
  }
  return false;
}

absl::Status LedgerReader::DecodeRecord(Record* record) {
  const auto i = static_cast<int>(in_block_++);
  const auto kind = static_cast<unsigned char>(block_.kind()[static_cast<size_t>(i)]);
  if (kind == 0 || kind >= kRecordKinds) return Damaged("an unknown kind of record");
  *record = Record();
  record->kind = static_cast<RecordKind>(kind);
  if (block_.time_delta_ns_size() > 0 &&
      __builtin_add_overflow(time_ns_, block_.time_delta_ns(i), &time_ns_)) {
    return Damaged("a time beyond the clock's range");
  }
  record->time = SimTime(time_ns_);
  if (__builtin_add_overflow(pod_, block_.pod_delta(i), &pod_)) return Damaged("an impossible pod");
  switch (record->kind) {
    case RecordKind::kPodArrived:
    case RecordKind::kAttemptFailed:
      if (next_detail_ >= block_.detail_size()) return Damaged("a detail is missing");
      record->detail = block_.detail(next_detail_++);
      break;
    default: {
      if (!NamesNode(record->kind)) break;
      if (next_node_ >= block_.node_size()) return Damaged("a node is missing");
      record->node = NodeId(block_.node(next_node_) - 1);
      record->devices = DeviceSet::FromBits(block_.devices(next_node_++));
      const bool nowhere = record->kind == RecordKind::kPodDeleted && !record->node.valid();
      if (record->node.value() >= cluster_->node_count() && !nowhere)
        return Damaged("a node that does not exist");
      if (HasDetailBesideNode(record->kind)) {
        if (next_detail_ >= block_.detail_size()) return Damaged("a detail is missing");
        record->detail = block_.detail(next_detail_++);
      }
      if (MayGiveDevices(record->kind)) {
        if (absl::Status s = DecodeGrants(); !s.ok()) return s;
      }
      break;
    }
  }
  if (record->kind == RecordKind::kRunEnded || record->kind == RecordKind::kNodeChanged ||
      record->kind == RecordKind::kDevicesChanged) {
    return absl::OkStatus();
  }
  const auto pods = static_cast<int64_t>(cluster_->pod_count());
  const int64_t limit = record->kind == RecordKind::kPodArrived ? pods : pods - 1;
  if (pod_ < 0 || pod_ > limit || (record->kind == RecordKind::kPodArrived && pod_ != pods)) {
    return Damaged("a pod that does not exist");
  }
  record->pod = PodId(static_cast<size_t>(pod_));
  return absl::OkStatus();
}

absl::Status LedgerReader::DecodeGrants() {
  grants_.clear();
  if (block_.grants_size() == 0) return absl::OkStatus();
  if (next_grants_ >= block_.grants_size()) return Damaged("a number of grants is missing");
  const uint32_t n = block_.grants(next_grants_++);
  if (n > static_cast<uint32_t>(block_.grant_size() - next_grant_)) {
    return Damaged("a grant is missing");
  }
  for (uint32_t i = 0; i < n; ++i) {
    const uint32_t word = block_.grant(next_grant_++);
    grants_.push_back({static_cast<uint8_t>(word >> 24), static_cast<uint8_t>(word >> 16),
                       static_cast<int16_t>(static_cast<uint16_t>(word))});
  }
  return absl::OkStatus();
}

absl::Status LedgerReader::ChangeDevices(const Record& record) {
  if (record.detail == 0 || record.detail > kLastDeviceChange) {
    return Damaged("an unknown change of devices");
  }
  if (record.detail != static_cast<uint32_t>(DeviceChangeKind::kAllocatable)) {
    return absl::OkStatus();
  }
  for (size_t e = 0; e < cluster_->extended_names().size(); ++e) {
    if (next_allocatable_ >= block_.allocatable_size()) return Damaged("an amount is missing");
    const int64_t amount = block_.allocatable(next_allocatable_++);
    if (amount < 0 || amount > int64_t{1} << 60) return Damaged("an impossible amount");
    cluster_->SetExtendedCapacity(record.node, e, amount);
  }
  return absl::OkStatus();
}

// A pod was rejected by its node, or got devices there.
absl::Status LedgerReader::ApplyAdmission(const Record& record) {
  const PodId pod = record.pod;
  if (cluster_->pod_phase(pod) != PodPhase::kBound || cluster_->pod_node(pod) != record.node) {
    return Damaged("a pod is admitted where it is not");
  }
  if (record.kind == RecordKind::kPodRejected) {
    const uint32_t failure = record.detail & ~kGivenUp;
    if (failure == 0 || failure > kLastAdmissionFailure) {
      return Damaged("an unknown failure of admission");
    }
    if ((record.detail & kGivenUp) != 0) {
      cluster_->Fail(pod);
    } else {
      cluster_->Evict(pod);
    }
    return absl::OkStatus();
  }
  if (!cluster_->pod_devices(pod).empty() || !cluster_->pod_grants(pod).empty() ||
      !cluster_->CanGrant(record.node, record.devices, grants_)) {
    return Damaged("a pod is given devices that are not free");
  }
  cluster_->Grant(pod, record.devices, grants_);
  return absl::OkStatus();
}

absl::Status LedgerReader::ChangeNode(const Record& record) {
  switch (static_cast<NodeChangeKind>(record.detail)) {
    case NodeChangeKind::kAvailable:
      cluster_->SetAvailable(record.node, true);
      return absl::OkStatus();
    case NodeChangeKind::kUnavailable:
      if (!cluster_->pods_on(record.node).empty()) return Damaged("a node goes with its pods");
      cluster_->SetAvailable(record.node, false);
      return absl::OkStatus();
    case NodeChangeKind::kCordoned:
    case NodeChangeKind::kUncordoned:
      cluster_->SetSchedulable(record.node,
                               record.detail == static_cast<uint32_t>(NodeChangeKind::kUncordoned));
      return absl::OkStatus();
  }
  return Damaged("an unknown change of a node");
}

absl::Status LedgerReader::ApplyPlacement(const Record& record) {
  const PodId pod = record.pod;
  const PodPhase phase = cluster_->pod_phase(pod);
  if (phase == PodPhase::kPending) {
    if (!cluster_->CanPlace(cluster_->pod_shape_id(pod), record.node, record.devices, grants_)) {
      return Damaged("a pod is put where it does not fit");
    }
    cluster_->Assume(pod, record.node, record.devices, grants_);
  } else if (record.kind == RecordKind::kPodReserved || phase != PodPhase::kAssumed) {
    return Damaged("a pod is bound twice");
  }
  if (cluster_->pod_node(pod) != record.node || cluster_->pod_devices(pod) != record.devices) {
    return Damaged("a pod is bound elsewhere than it was reserved");
  }
  if (record.kind == RecordKind::kPodBound) cluster_->Bind(pod);
  return absl::OkStatus();
}

absl::Status LedgerReader::Apply(Record* record) {
  const PodId pod = record->pod;
  const auto in_phase = [&](PodPhase phase) { return cluster_->pod_phase(pod) == phase; };
  const auto is_there = [&] {
    return cluster_->pod_node(pod) == record->node && cluster_->pod_devices(pod) == record->devices;
  };
  switch (record->kind) {
    case RecordKind::kPodArrived: {
      if (record->detail >= shapes_->size()) return Damaged("a pod of an unknown shape");
      if (next_arrival_ >= block_.pod_name_size()) return Damaged("a pod without a name");
      const int32_t priority =
          block_.pod_priority_size() > 0 ? block_.pod_priority(next_arrival_) : 0;
      cluster_->AddPod(block_.pod_name(next_arrival_++), ShapeId(record->detail), priority,
                       record->time);
      return absl::OkStatus();
    }
    case RecordKind::kPodReserved:
    case RecordKind::kPodBound:
      return ApplyPlacement(*record);
    case RecordKind::kPodUnreserved:
      if (!in_phase(PodPhase::kAssumed) || !is_there()) {
        return Damaged("a pod is released that holds nothing there");
      }
      cluster_->Forget(pod);
      return absl::OkStatus();
    case RecordKind::kPodFinished:
    case RecordKind::kPodFailed:
    case RecordKind::kPodEvicted:
      if (!in_phase(PodPhase::kBound) || !is_there())
        return Damaged("a pod ends that does not run there");
      if (record->kind == RecordKind::kPodFinished) {
        cluster_->Finish(pod);
      } else if (record->kind == RecordKind::kPodFailed) {
        cluster_->Fail(pod);
      } else {
        cluster_->Evict(pod);
      }
      return absl::OkStatus();
    case RecordKind::kPodDeleted:
      if (!in_phase(PodPhase::kPending) && (!in_phase(PodPhase::kBound) || !is_there())) {
        return Damaged("a pod is deleted that is not there");
      }
      cluster_->Delete(pod);
      return absl::OkStatus();
    case RecordKind::kNodeChanged:
      return ChangeNode(*record);
    case RecordKind::kDevicesChanged:
      return ChangeDevices(*record);
    case RecordKind::kPodAdmitted:
    case RecordKind::kPodRejected:
      return ApplyAdmission(*record);
    case RecordKind::kPodStarted:
      if (!in_phase(PodPhase::kBound) || !is_there())
        return Damaged("a pod starts that is not there");
      return absl::OkStatus();
    case RecordKind::kPodDropped:
      if (!in_phase(PodPhase::kPending)) return Damaged("a pod is dropped that does not wait");
      cluster_->Drop(pod);
      return absl::OkStatus();
    case RecordKind::kAttemptFailed:
      if (record->detail >= summaries_.size()) return Damaged("an unknown summary");
      return absl::OkStatus();
    case RecordKind::kRunEnded:
      return absl::OkStatus();
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> LedgerReader::Next(Record* record) {
  if (in_block_ >= block_.kind().size()) {
    absl::StatusOr<bool> more = LoadBlock();
    if (!more.ok() || !*more) return more;
  }
  if (absl::Status s = DecodeRecord(record); !s.ok()) return s;
  if (absl::Status s = Apply(record); !s.ok()) return s;
  ++records_;
  return true;
}

// Reads the index in the end frame, by way of the trailer. False when the ledger has no readable
// one.
bool LedgerReader::ReadIndex(std::vector<Checkpoint>* found) {
  const size_t trailer_bytes = 8 + kLedgerTrailer.size();
  if (size_ < trailer_bytes) return false;
  std::string trailer(trailer_bytes, '\0');
  fseeko(file_, static_cast<off_t>(size_ - trailer_bytes), SEEK_SET);
  if (std::fread(trailer.data(), 1, trailer.size(), file_) != trailer.size()) return false;
  const uint64_t end_offset = ReadLittleEndian(absl::string_view(trailer).substr(0, 8));
  if (absl::string_view(trailer).substr(8) != kLedgerTrailer || end_offset >= size_) return false;
  fseeko(file_, static_cast<off_t>(end_offset), SEEK_SET);
  int type = 0;
  std::string payload;
  absl::StatusOr<bool> frame = ReadFrame(&type, &payload);
  proto::LedgerEnd end;
  if (!frame.ok() || !*frame || type != static_cast<int>(FrameType::kEnd) ||
      !end.ParseFromString(payload) ||
      end.checkpoint_records_size() != end.checkpoint_offset_size()) {
    return false;
  }
  for (int i = 0; i < end.checkpoint_records_size(); ++i) {
    found->push_back({end.checkpoint_records(i), end.checkpoint_offset(i)});
  }
  return true;
}

absl::StatusOr<std::vector<LedgerReader::Checkpoint>> LedgerReader::ListCheckpoints() {
  const off_t resume = ftello(file_);
  const uint64_t frame_offset = frame_offset_;
  std::vector<Checkpoint> found;
  const bool indexed = ReadIndex(&found);
  frame_offset_ = frame_offset;
  if (indexed) {
    fseeko(file_, resume, SEEK_SET);
    return found;
  }
  uint64_t offset = kLedgerMagic.size();
  // Frame headers alone give the type, so a scan seeks from frame to frame and reads only the
  // payloads of checkpoints.
  while (offset + kFrameHeaderBytes <= size_) {
    fseeko(file_, static_cast<off_t>(offset), SEEK_SET);
    std::string head(kFrameHeaderBytes, '\0');
    if (std::fread(head.data(), 1, head.size(), file_) != head.size()) break;
    const uint64_t length = ReadLittleEndian(absl::string_view(head).substr(0, 4));
    const int type = static_cast<unsigned char>(head[8]);
    if (type < 1 || type > 4 || length > size_ - offset - kFrameHeaderBytes) break;
    if (type == static_cast<int>(FrameType::kCheckpoint)) {
      // The record count is the first field (tag 8), a varint; the megabytes after it stay unread.
      std::string prefix(std::min<uint64_t>(length, 16), '\0');
      if (std::fread(prefix.data(), 1, prefix.size(), file_) != prefix.size()) break;
      uint64_t records = 0;
      if (!prefix.empty() && prefix[0] == 8) {
        StateReader varint(absl::string_view(prefix).substr(1));
        records = varint.U64();
      }
      found.push_back({records, offset});
    }
    offset += kFrameHeaderBytes + length;
    if (type == static_cast<int>(FrameType::kEnd)) break;
  }
  fseeko(file_, resume, SEEK_SET);
  return found;
}

absl::StatusOr<std::string> LedgerReader::ReadCheckpoint(const Checkpoint& checkpoint) {
  const off_t resume = ftello(file_);
  const uint64_t frame_offset = frame_offset_;
  if (checkpoint.offset >= size_) return Damaged("a checkpoint lies behind the end");
  fseeko(file_, static_cast<off_t>(checkpoint.offset), SEEK_SET);
  int type = 0;
  std::string payload;
  absl::StatusOr<bool> frame = ReadFrame(&type, &payload);
  proto::LedgerCheckpoint message;
  absl::Status status;
  if (!frame.ok()) {
    status = frame.status();
  } else if (!*frame || type != static_cast<int>(FrameType::kCheckpoint) ||
             !message.ParseFromString(payload)) {
    status = Damaged("no checkpoint there");
  } else if (message.state_bytes() > kMaxStateBytes ||
             message.state_bytes() > 1100 * (message.state().size() + 64)) {
    // zlib cannot expand more than about 1030 times, so a larger claim is damage.
    status = Damaged("a checkpoint claims an impossible size");
  }
  std::string state;
  if (status.ok()) {
    uLongf size = message.state_bytes();
    state.resize(size);
    const int code =
        uncompress(reinterpret_cast<Bytef*>(state.data()), &size,
                   reinterpret_cast<const Bytef*>(message.state().data()), message.state().size());
    if (code != Z_OK || size != message.state_bytes())
      status = Damaged("a checkpoint does not unpack");
  }
  fseeko(file_, resume, SEEK_SET);
  frame_offset_ = frame_offset;
  if (!status.ok()) return status;
  return state;
}

}  // namespace drasim
