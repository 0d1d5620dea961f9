#include "sim/record/ledger_reader.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "model/device_set.h"
#include "model/status_macros.h"
#include "sim/record/ledger_checkpoint.h"
#include "sim/record/ledger_keyframe.h"
#include "sim/record/ledger_shapes.h"

namespace drasim {
namespace {

// The remedy where there is no ledger.
constexpr char kWriteOne[] = "; `drasim run --out DIR` writes one";

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
  SetKubeShape(p, &shape);
  return shape;
}

bool SoundConstraints(const proto::LedgerShape& p) {
  return p.hold() < kPodHolds && IsSoundKubeShape(p) &&
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

// A ledger does not say which resources classes serve: a pod may have any that its node reports
// none of by a claim (KEP 5004).
void LetClaimsServe(ClusterState* cluster) {
  for (size_t column = 0; column < cluster->extended_names().size(); ++column) {
    cluster->ServeByClaims(column, true);
  }
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
    const int error = errno;
    return absl::NotFoundError(absl::StrCat(file_path,
                                            ": cannot open the ledger: ", std::strerror(error),
                                            error == ENOENT ? kWriteOne : ""));
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
    return absl::InvalidArgumentError(
        absl::StrCat(reader->path_, ": not a drasim ledger", kWriteOne));
  }
  if (absl::Status s = reader->LoadHeader(); !s.ok()) return s;
  return reader;
}

absl::StatusOr<bool> LedgerReader::ReadFrame(int* type, std::string* payload, bool skip) {
  frame_offset_ = static_cast<uint64_t>(ftello(file_));
  std::string head(kFrameHeaderBytes, '\0');
  if (std::fread(head.data(), 1, head.size(), file_) != head.size()) return false;
  const uint64_t length = ReadLittleEndian(absl::string_view(head).substr(0, 4));
  if (length > size_ - frame_offset_) return false;
  if (skip && IsBesideRecords(static_cast<FrameType>(static_cast<unsigned char>(head[8])))) {
    if (length > size_ - frame_offset_ - kFrameHeaderBytes) return false;
    *type = static_cast<unsigned char>(head[8]);
    payload->clear();
    fseeko(file_, static_cast<off_t>(length), SEEK_CUR);
    return true;
  }
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
    return absl::InvalidArgumentError(absl::StrCat(
        path_, ": ledger format ", header_.version(), "; this drasim reads format ", kLedgerVersion,
        ": ",
        header_.version() < kLedgerVersion ? "repeat the run with it" : "use a newer drasim"));
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
    for (const proto::LedgerLabel& label : node.labels()) {
      spec.labels.emplace_back(label.key(), label.value());
    }
    for (const proto::LedgerTaint& taint : node.taints()) {
      spec.taints.push_back({taint.key(), taint.value(), taint.effect()});
    }
    spec.absent = node.absent();
    spec.unschedulable = node.unschedulable();
    absl::StatusOr<NodeId> added = cluster_->AddNode(spec);
    if (!added.ok()) return Damaged(added.status().message());
  }
  LetClaimsServe(cluster_.get());
  RETURN_IF_ERROR(ResetLayouts());
  if (header_.reasons_size() > 254) return Damaged("more reasons than can be");
  std::vector<ReasonKind> kinds;
  for (const char byte : header_.reason_kinds()) {
    const auto kind = static_cast<unsigned char>(byte);
    if (kind >= kReasonKinds) return Damaged("an unknown kind of reason");
    kinds.push_back(static_cast<ReasonKind>(kind));
  }
  if (!kinds.empty() && kinds.size() != static_cast<size_t>(header_.reasons_size())) {
    return Damaged("reasons and their kinds differ in number");
  }
  summaries_.SetReasons({header_.reasons().begin(), header_.reasons().end()}, std::move(kinds));
  first_frame_ = static_cast<uint64_t>(ftello(file_));
  return absl::OkStatus();
}

// The layouts of the header.
absl::Status LedgerReader::ResetLayouts() {
  layouts_.Clear();
  for (int n = 0; n < header_.nodes_size(); ++n) {
    const proto::LedgerNode& node = header_.nodes(n);
    if (node.layouts_size() == 0) continue;
    if (!layouts_.known()) layouts_.Begin(*cluster_);
    if (node.layouts_size() != node.gpu_count()) return Damaged("a GPU without a layout");
    for (int g = 0; g < node.layouts_size(); ++g) {
      if (!layouts_.Set(*cluster_, NodeId(static_cast<size_t>(n)), static_cast<size_t>(g),
                        node.layouts(g))) {
        return Damaged("an impossible layout");
      }
    }
  }
  return absl::OkStatus();
}

// After a jump the table may have the rows already; then they are compared.
template <typename Source>
absl::Status LedgerReader::AddDefinitions(const Source& source) {
  for (const proto::LedgerShape& p : source.shapes()) {
    if (!SoundConstraints(p)) return Damaged("a pod shape is unsound");
    const PodShape shape = FromProto(p);
    if (!Sound(shape) || shapes_->Intern(shape).value() != shapes_seen_)
      return Damaged("a pod shape is unsound or repeated");
    ++shapes_seen_;
  }
  for (const proto::LedgerSummary& p : source.summaries()) {
    VerdictSummaryTable::Row row;
    row.nodes = p.nodes();
    if (p.reason_size() != p.rejected_size())
      return Damaged("a summary's columns differ in length");
    for (int i = 0; i < p.reason_size(); ++i) {
      if (p.reason(i) == 0 || p.reason(i) > summaries_.reasons().size())
        return Damaged("an unknown reason");
      row.rejected.emplace_back(static_cast<uint8_t>(p.reason(i)), p.rejected(i));
    }
    if (summaries_.Intern(row).value() != summaries_seen_) return Damaged("a summary is repeated");
    ++summaries_seen_;
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> LedgerReader::LoadBlock() {
  while (!complete_) {
    int type = 0;
    std::string payload;
    ASSIGN_OR_RETURN(const bool whole, ReadFrame(&type, &payload, skips_frames_));
    if (!whole) {
      // A second try must not take the middle of a torn frame for one.
      fseeko(file_, static_cast<off_t>(frame_offset_), SEEK_SET);
      return false;
    }
    if (IsBesideRecords(static_cast<FrameType>(type))) continue;
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
        (block_.pod_priority_size() != block_.pod_name_size() && block_.pod_priority_size() != 0) ||
        (block_.job_size() != block_.pod_name_size() && block_.job_size() != 0) ||
        (block_.tenant_size() != block_.job_size() && block_.tenant_size() != 0)) {
      return Damaged("a block's columns differ in length");
    }
    if (absl::Status s = AddDefinitions(block_); !s.ok()) return s;
    in_block_ = 0;
    next_node_ = next_detail_ = next_arrival_ = 0;
    next_grants_ = next_grant_ = next_allocatable_ = next_preemptor_ = next_layout_ = 0;
    job_ = 0;
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
      if (HasPreemptor(*record)) RETURN_IF_ERROR(DecodePreemptor(record));
      break;
    }
  }
  if (record->kind == RecordKind::kRunEnded || record->kind == RecordKind::kNodeChanged ||
      record->kind == RecordKind::kDevicesChanged) {
    return absl::OkStatus();
  }
  const auto arrived = static_cast<int64_t>(pods());
  const int64_t limit = record->kind == RecordKind::kPodArrived ? arrived : arrived - 1;
  if (pod_ < 0 || pod_ > limit || (record->kind == RecordKind::kPodArrived && pod_ != arrived)) {
    return Damaged("a pod that does not exist");
  }
  if (record->kind == RecordKind::kPodArrived) {
    record->pod = PodId(cluster_->pod_count());
    return absl::OkStatus();
  }
  const std::optional<PodId> row = FindPod(static_cast<uint64_t>(pod_));
  if (row.has_value()) {
    record->pod = *row;
  } else if (record->kind != RecordKind::kAttemptFailed) {
    return Damaged("a record of a pod that has ended");
  }
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
    grants_.push_back(GrantOfWord(block_.grant(next_grant_++)));
  }
  return absl::OkStatus();
}

absl::Status LedgerReader::DecodePreemptor(Record* record) {
  if (block_.preemptor_size() == 0) return absl::OkStatus();
  if (next_preemptor_ >= block_.preemptor_size()) return Damaged("a preemptor is missing");
  const uint64_t preemptor = block_.preemptor(next_preemptor_++);
  if (preemptor > pods()) return Damaged("a preemptor that does not exist");
  if (preemptor == 0) return absl::OkStatus();
  record->preemptor = FindPod(preemptor - 1).value_or(PodId());
  return absl::OkStatus();
}

absl::Status LedgerReader::ChangeDevices(const Record& record) {
  if (record.detail == 0 || record.detail > kLastDeviceChange) {
    return Damaged("an unknown change of devices");
  }
  const auto kind = static_cast<DeviceChangeKind>(record.detail);
  if (kind == DeviceChangeKind::kLayoutChanged && layouts_.known()) return ChangeLayouts(record);
  if (kind != DeviceChangeKind::kAllocatable) return absl::OkStatus();
  for (size_t e = 0; e < cluster_->extended_names().size(); ++e) {
    if (next_allocatable_ >= block_.allocatable_size()) return Damaged("an amount is missing");
    const int64_t amount = block_.allocatable(next_allocatable_++);
    if (amount < 0 || amount > int64_t{1} << 60) return Damaged("an impossible amount");
    cluster_->SetExtendedCapacity(record.node, e, amount);
  }
  return absl::OkStatus();
}

absl::Status LedgerReader::ChangeLayouts(const Record& record) {
  for (const size_t gpu : record.devices) {
    if (gpu >= cluster_->node(record.node).gpu_count) return Damaged("a GPU that does not exist");
    if (next_layout_ >= block_.layouts_size()) return Damaged("a layout is missing");
    if (!layouts_.Set(*cluster_, record.node, gpu, block_.layouts(next_layout_++))) {
      return Damaged("an impossible layout");
    }
  }
  return absl::OkStatus();
}

// A pod was rejected by its node, or got devices there.
absl::Status LedgerReader::ApplyAdmission(const Record& record) {
  const PodId pod = record.pod;
  const bool conflict = IsConflict(record);
  if (conflict ? cluster_->pod_phase(pod) != PodPhase::kPending
               : cluster_->pod_phase(pod) != PodPhase::kBound ||
                     cluster_->pod_node(pod) != record.node) {
    return Damaged("a pod is admitted where it is not");
  }
  if (record.kind == RecordKind::kPodRejected) {
    const uint32_t failure = record.detail & ~kGivenUp;
    if (failure == 0 || failure > kLastAdmissionFailure) {
      return Damaged("an unknown failure of admission");
    }
    if ((record.detail & kGivenUp) != 0) {
      cluster_->Fail(pod);
    } else if (!conflict) {
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

absl::Status LedgerReader::AddArrival(const Record& record) {
  if (record.detail >= shapes_->size()) return Damaged("a pod of an unknown shape");
  if (next_arrival_ >= block_.pod_name_size()) return Damaged("a pod without a name");
  const int arrival = next_arrival_++;
  if (block_.job_size() > 0) {
    const uint32_t tenant = block_.tenant_size() > 0 ? block_.tenant(arrival) : 0;
    if (__builtin_add_overflow(job_, block_.job(arrival), &job_) || job_ < 0 ||
        job_ >= int64_t{JobId::kInvalid} ||
        tenant >= static_cast<uint32_t>(block_.tenants_size())) {
      return Damaged("a pod of an unknown owner");
    }
    owners_.Add(JobId(static_cast<size_t>(job_)), block_.tenants(static_cast<int>(tenant)));
  } else {
    owners_.Add(JobId(), "");
  }
  const int32_t priority = block_.pod_priority_size() > 0 ? block_.pod_priority(arrival) : 0;
  cluster_->AddPod(block_.pod_name(arrival), ShapeId(record.detail), priority, record.time);
  return absl::OkStatus();
}

absl::Status LedgerReader::Apply(Record* record) {
  const PodId pod = record->pod;
  const auto in_phase = [&](PodPhase phase) { return cluster_->pod_phase(pod) == phase; };
  const auto is_there = [&] {
    return cluster_->pod_node(pod) == record->node && cluster_->pod_devices(pod) == record->devices;
  };
  switch (record->kind) {
    case RecordKind::kPodArrived:
      return AddArrival(*record);
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

absl::StatusOr<bool> LedgerReader::HasNext() {
  if (in_block_ < block_.kind().size()) return true;
  return LoadBlock();
}

absl::StatusOr<bool> LedgerReader::NextTime(SimTime* time) {
  ASSIGN_OR_RETURN(const bool more, HasNext());
  if (!more) return false;
  int64_t time_ns = time_ns_;
  if (block_.time_delta_ns_size() > 0 &&
      __builtin_add_overflow(time_ns_, block_.time_delta_ns(static_cast<int>(in_block_)),
                             &time_ns)) {
    return Damaged("a time beyond the clock's range");
  }
  *time = SimTime(time_ns);
  return true;
}

absl::StatusOr<bool> LedgerReader::Next(Record* record) {
  absl::StatusOr<bool> more = HasNext();
  if (!more.ok() || !*more) return more;
  if (absl::Status s = DecodeRecord(record); !s.ok()) return s;
  if (absl::Status s = Apply(record); !s.ok()) return s;
  ++records_;
  return true;
}

// Reads the index in the end frame, by way of the trailer. False when the ledger has no readable
// one.
bool LedgerReader::ReadEnd(LedgerIndex* index) {
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
  return frame.ok() && *frame && type == static_cast<int>(FrameType::kEnd) &&
         UnpackEnd(payload, size_, index);
}

// Frame headers alone give the type, so a walk seeks from frame to frame and reads only the first
// bytes of payloads.
void LedgerReader::WalkFrames(LedgerIndex* index) {
  uint64_t offset = kLedgerMagic.size();
  while (offset + kFrameHeaderBytes <= size_) {
    fseeko(file_, static_cast<off_t>(offset), SEEK_SET);
    std::string head(kFrameHeaderBytes, '\0');
    if (std::fread(head.data(), 1, head.size(), file_) != head.size()) break;
    const uint64_t length = ReadLittleEndian(absl::string_view(head).substr(0, 4));
    const int type = static_cast<unsigned char>(head[8]);
    if (type < 1 || type > kLastFrameType || length > size_ - offset - kFrameHeaderBytes) break;
    if (type == static_cast<int>(FrameType::kEnd)) {
      index->complete = true;
      break;
    }
    std::vector<LedgerPlace>* const list = index->ListOf(static_cast<FrameType>(type));
    if (list != nullptr) {
      std::string prefix(std::min<uint64_t>(length, 24), '\0');
      if (std::fread(prefix.data(), 1, prefix.size(), file_) != prefix.size()) break;
      LedgerPlace place;
      ReadMoment(prefix, &place);
      if (type == static_cast<int>(FrameType::kCheckpoint)) place.time = SimTime();
      place.offset = offset;
      list->push_back(place);
    }
    offset += kFrameHeaderBytes + length;
  }
}

// After a walk: the number of records of the whole ledger, and its end.
absl::Status LedgerReader::CountLastBlock(LedgerIndex* index) {
  if (index->blocks.empty()) return absl::OkStatus();
  const LedgerPlace& last = index->blocks.back();
  ASSIGN_OR_RETURN(const std::string payload, ReadPayload(FrameType::kBlock, last.offset));
  proto::LedgerBlock block;
  if (!block.ParseFromString(payload)) return Damaged("an unknown or unreadable frame");
  int64_t time_ns = last.time.ns();
  for (const int64_t delta : block.time_delta_ns()) {
    if (__builtin_add_overflow(time_ns, delta, &time_ns)) {
      return Damaged("a time beyond the clock's range");
    }
  }
  index->records = last.records + block.kind().size();
  index->end = SimTime(time_ns);
  return absl::OkStatus();
}

absl::StatusOr<LedgerIndex> LedgerReader::ReadIndex() {
  const off_t resume = ftello(file_);
  const uint64_t frame_offset = frame_offset_;
  LedgerIndex index;
  if (!ReadEnd(&index)) {
    index = LedgerIndex();
    WalkFrames(&index);
    // A reader ends before a torn or damaged last block, whose own count cannot be trusted.
    while (!CountLastBlock(&index).ok()) index.blocks.pop_back();
  }
  frame_offset_ = frame_offset;
  fseeko(file_, resume, SEEK_SET);
  return index;
}

absl::StatusOr<std::vector<LedgerReader::Checkpoint>> LedgerReader::ListCheckpoints() {
  ASSIGN_OR_RETURN(const LedgerIndex index, ReadIndex());
  std::vector<Checkpoint> found;
  for (const LedgerPlace& place : index.checkpoints) {
    found.push_back({place.records, place.offset});
  }
  return found;
}

absl::StatusOr<std::string> LedgerReader::ReadPayload(FrameType type, uint64_t offset) {
  const off_t resume = ftello(file_);
  const uint64_t frame_offset = frame_offset_;
  if (offset >= size_) return Damaged("a frame lies behind the end");
  fseeko(file_, static_cast<off_t>(offset), SEEK_SET);
  int found = 0;
  std::string payload;
  absl::StatusOr<bool> frame = ReadFrame(&found, &payload);
  absl::Status status = frame.status();
  if (status.ok() && (!*frame || found != static_cast<int>(type))) {
    status = Damaged("no frame of that type there");
  }
  fseeko(file_, resume, SEEK_SET);
  frame_offset_ = frame_offset;
  if (!status.ok()) return status;
  return payload;
}

absl::Status LedgerReader::ReadDefinitions(uint64_t offset) {
  ASSIGN_OR_RETURN(const std::string payload, ReadPayload(FrameType::kDefinitions, offset));
  proto::LedgerDefinitions definitions;
  if (!definitions.ParseFromString(payload) || definitions.first_shape() > shapes_->size() ||
      definitions.first_summary() > summaries_.size()) {
    return Damaged("definitions do not follow those before");
  }
  const size_t shapes_seen = shapes_seen_;
  const size_t summaries_seen = summaries_seen_;
  shapes_seen_ = definitions.first_shape();
  summaries_seen_ = definitions.first_summary();
  const absl::Status status = AddDefinitions(definitions);
  shapes_seen_ = shapes_seen;
  summaries_seen_ = summaries_seen;
  return status;
}

// A cluster with the nodes of the header and no pods, before the first record.
absl::Status LedgerReader::ResetCluster() {
  auto fresh = std::make_unique<ClusterState>(&models_, shapes_.get());
  for (size_t n = 0; n < cluster_->node_count(); ++n) {
    const absl::StatusOr<NodeId> added = fresh->AddNode(cluster_->node_spec(NodeId(n)));
    if (!added.ok()) return Damaged(added.status().message());
  }
  LetClaimsServe(fresh.get());
  cluster_ = std::move(fresh);
  owners_.Clear();
  RETURN_IF_ERROR(ResetLayouts());
  block_.Clear();
  in_block_ = 0;
  complete_ = false;
  end_.Clear();
  records_ = 0;
  time_ns_ = 0;
  pod_ = 0;
  shapes_seen_ = 0;
  summaries_seen_ = 0;
  pods_before_ = 0;
  number_of_row_.clear();
  row_of_number_.clear();
  return absl::OkStatus();
}

absl::Status LedgerReader::Rewind() {
  RETURN_IF_ERROR(ResetCluster());
  fseeko(file_, static_cast<off_t>(first_frame_), SEEK_SET);
  return absl::OkStatus();
}

absl::Status LedgerReader::Jump(const LedgerPlace& keyframe, LiveState* live) {
  RETURN_IF_ERROR(ResetCluster());
  if (keyframe.offset >= size_) return Damaged("a keyframe lies behind the end");
  fseeko(file_, static_cast<off_t>(keyframe.offset), SEEK_SET);
  int type = 0;
  std::string payload;
  ASSIGN_OR_RETURN(const bool whole, ReadFrame(&type, &payload));
  if (!whole || type != static_cast<int>(FrameType::kKeyframe)) {
    return Damaged("no keyframe there");
  }
  // Every pod and every record takes a byte at least.
  const KeyframeBounds bounds = {size_, summaries_.size()};
  *live = LiveState(*cluster_, &summaries_);
  KeyframeHead head;
  std::vector<uint32_t> numbers;
  const absl::Status status =
      UnpackKeyframe(payload, bounds, &head, cluster_.get(), live, &owners_, &layouts_, &numbers);
  if (!status.ok()) return Damaged(status.message());
  if (head.records != keyframe.records) return Damaged("a keyframe stands at another record");
  records_ = head.records;
  time_ns_ = head.time.ns();
  pod_ = head.last_pod;
  shapes_seen_ = head.shapes;
  summaries_seen_ = head.summaries;
  pods_before_ = head.pods;
  row_of_number_.assign(head.pods, kNoRow);
  for (size_t row = 0; row < numbers.size(); ++row) {
    row_of_number_[numbers[row]] = static_cast<uint32_t>(row);
  }
  number_of_row_ = std::move(numbers);
  return absl::OkStatus();
}

uint64_t LedgerReader::NumberOf(PodId pod) const {
  const size_t row = pod.value();
  if (row < number_of_row_.size()) return number_of_row_[row];
  return pods_before_ + (row - number_of_row_.size());
}

std::optional<PodId> LedgerReader::FindPod(uint64_t number) const {
  if (number < pods_before_) {
    const uint32_t row = row_of_number_[number];
    return row == kNoRow ? std::nullopt : std::optional<PodId>(PodId(row));
  }
  const uint64_t row = number - pods_before_ + number_of_row_.size();
  if (row >= cluster_->pod_count()) return std::nullopt;
  return PodId(static_cast<size_t>(row));
}

// The state of the checkpoint at `offset`, built on those that it refers to. Moves the position.
absl::Status LedgerReader::BuildState(uint64_t offset, SavedState* state) {
  std::vector<proto::LedgerCheckpoint> chain;  // the checkpoint, its base, the base of that, ...
  uint64_t at = offset;
  do {
    if (at >= size_) return Damaged("a checkpoint lies behind the end");
    fseeko(file_, static_cast<off_t>(at), SEEK_SET);
    int type = 0;
    std::string payload;
    ASSIGN_OR_RETURN(const bool whole, ReadFrame(&type, &payload));
    if (!whole || type != static_cast<int>(FrameType::kCheckpoint) ||
        !chain.emplace_back().ParseFromString(payload)) {
      return Damaged("no checkpoint there");
    }
    const uint64_t base = chain.back().base_offset();
    if (base >= at || chain.size() > kMostCheckpointsPerChain) {
      return Damaged("a checkpoint builds on one that is not before it");
    }
    at = base;
  } while (at != 0);
  frame_offset_ = offset;
  StateImage image;
  for (; !chain.empty(); chain.pop_back()) {
    SavedState link;
    if (const absl::Status s = UnpackCheckpoint(chain.back(), &link); !s.ok()) {
      return Damaged(s.message());
    }
    if (!image.Apply(std::move(link))) {
      return Damaged("a checkpoint does not fit those before it");
    }
  }
  *state = image.Whole();
  return absl::OkStatus();
}

absl::StatusOr<SavedState> LedgerReader::ReadSavedState(const Checkpoint& checkpoint) {
  const off_t resume = ftello(file_);
  const uint64_t frame_offset = frame_offset_;
  SavedState state;
  const absl::Status status = BuildState(checkpoint.offset, &state);
  fseeko(file_, resume, SEEK_SET);
  frame_offset_ = frame_offset;
  if (!status.ok()) return status;
  return state;
}

absl::StatusOr<std::string> LedgerReader::ReadCheckpoint(const Checkpoint& checkpoint) {
  ASSIGN_OR_RETURN(SavedState state, ReadSavedState(checkpoint));
  return std::move(state.text);
}

}  // namespace drasim
