#include "sim/record/ledger_writer.h"

#include <sys/types.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "model/status_macros.h"
#include "sim/record/ledger_checkpoint.h"
#include "sim/record/ledger_extender_calls.h"
#include "sim/record/ledger_keyframe.h"
#include "sim/record/ledger_shapes.h"
#include "sim/record/pod_log.h"
#include "sim/record/version.h"

namespace drasim {
namespace {

void ToProto(const PodShape& shape, proto::LedgerShape* out) {
  out->set_cpu_milli(shape.request.cpu_milli);
  out->set_memory_bytes(shape.request.memory_bytes);
  out->set_gpu_count(shape.request.gpu_count);
  out->set_gpu_milli(shape.request.gpu_milli);
  out->set_gpu_spec(shape.request.gpu_spec);
  for (const auto& [name, amount] : shape.request.extended) {
    proto::LedgerAmount* extended = out->add_extended();
    extended->set_name(name);
    extended->set_amount(amount);
  }
  out->set_group(shape.constraints.group);
  out->set_max_per_node(shape.constraints.max_per_node);
  out->set_gang_remainder(shape.gang_remainder);
  for (const auto& [name, count] : shape.request.mig) {
    proto::LedgerAmount* mig = out->add_mig();
    mig->set_name(name);
    mig->set_amount(count);
  }
  out->set_nominal_milli(shape.request.nominal_milli);
  out->set_demand_gpus(shape.demand.gpus);
  out->set_demand_milli(shape.demand.milli);
  out->set_demand_memory_mib(shape.demand.memory_mib);
  out->set_function(shape.device_plugin.function);
  for (const ClaimEntry& entry : shape.claims) {
    proto::LedgerClaim* claim = out->add_claims();
    claim->set_name(entry.name);
    claim->set_claim(entry.claim);
    claim->set_from_template(entry.from_template);
    claim->set_mig_profile(entry.mig_profile);
    claim->set_gpus(entry.gpus);
  }
  for (const ContainerRequest& c : shape.device_plugin.containers) {
    proto::LedgerContainer* container = out->add_containers();
    container->set_init(c.init);
    container->set_restartable(c.restartable);
    for (const auto& [name, amount] : c.extended) {
      proto::LedgerAmount* extended = container->add_extended();
      extended->set_name(name);
      extended->set_amount(amount);
    }
  }
  for (const auto& [key, value] : shape.constraints.node_selector) {
    proto::LedgerLabel* label = out->add_node_selector();
    label->set_key(key);
    label->set_value(value);
  }
  out->set_hold(static_cast<uint32_t>(shape.constraints.hold));
  out->set_never_preempts(shape.constraints.never_preempts);
  for (const NodeTerm& term : shape.constraints.node_terms) {
    proto::LedgerNodeTerm* p = out->add_node_terms();
    for (const NodeRequirement& requirement : term.requirements) {
      proto::LedgerNodeRequirement* r = p->add_requirements();
      r->set_of_name(requirement.of_name);
      r->set_key(requirement.key);
      r->set_op(static_cast<uint32_t>(requirement.op));
      for (const std::string& value : requirement.values) r->add_values(value);
    }
  }
  for (const Toleration& t : shape.constraints.tolerations) {
    proto::LedgerToleration* p = out->add_tolerations();
    p->set_key(t.key);
    p->set_value(t.value);
    p->set_effect(t.effect);
    p->set_exists(t.exists);
  }
  AddKubeShape(shape, out);
}

std::string MakeHeader(absl::string_view scenario_yaml, const ClusterState& cluster,
                       absl::Span<const uint32_t> ranks, const VerdictSummaryTable& summaries,
                       const LayoutLookup& layouts) {
  proto::LedgerHeader header;
  header.set_version(kLedgerVersion);
  header.set_drasim_version(std::string(kDrasimVersion));
  header.set_scenario_yaml(std::string(scenario_yaml));
  for (size_t i = 0; i < cluster.node_count(); ++i) {
    const NodeSpec& spec = cluster.node_spec(NodeId(i));
    proto::LedgerNode* node = header.add_nodes();
    node->set_name(spec.name);
    node->set_cpu_milli(spec.cpu_milli);
    node->set_memory_bytes(spec.memory_bytes);
    node->set_pods(spec.pods);
    node->set_gpu_count(spec.gpu_count);
    node->set_gpu_model(spec.gpu_model);
    for (const std::string& model : spec.gpu_models) node->add_gpu_models(model);
    for (const auto& [name, amount] : spec.extended) {
      proto::LedgerAmount* extended = node->add_extended();
      extended->set_name(name);
      extended->set_amount(amount);
    }
    for (const auto& [key, value] : spec.labels) {
      proto::LedgerLabel* label = node->add_labels();
      label->set_key(key);
      label->set_value(value);
    }
    for (const Taint& taint : spec.taints) {
      proto::LedgerTaint* p = node->add_taints();
      p->set_key(taint.key);
      p->set_value(taint.value);
      p->set_effect(taint.effect);
    }
    for (size_t g = 0; layouts != nullptr && g < cluster.node(NodeId(i)).gpu_count; ++g) {
      node->add_layouts(InstancesOf(cluster, layouts, NodeId(i), g));
    }
    node->set_absent(spec.absent);
    node->set_unschedulable(spec.unschedulable);
  }
  for (const std::string& reason : summaries.reasons()) header.add_reasons(reason);
  for (const ReasonKind kind : summaries.kinds()) {
    header.mutable_reason_kinds()->push_back(static_cast<char>(kind));
  }
  header.set_mig(cluster.any_mig());
  header.set_mig_driver_branch(cluster.models().mig_driver_branch());
  header.mutable_ranks()->Add(ranks.begin(), ranks.end());
  return header.SerializeAsString();
}

void ToProto(const VerdictSummaryTable::Row& row, proto::LedgerSummary* out) {
  out->set_nodes(row.nodes);
  for (const auto& [reason, nodes] : row.rejected) {
    out->add_reason(reason);
    out->add_rejected(nodes);
  }
}

absl::StatusOr<uint64_t> EndOfFrame(const std::string& path, uint64_t begin) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) {
    return absl::NotFoundError(
        absl::StrCat(path, ": cannot open the ledger: ", std::strerror(errno)));
  }
  std::string length(4, '\0');
  const bool found = fseeko(file, static_cast<off_t>(begin), SEEK_SET) == 0 &&
                     std::fread(length.data(), 1, length.size(), file) == length.size();
  std::fclose(file);
  if (!found) {
    return absl::DataLossError(absl::StrCat(path, ": damaged at byte ", begin, ": no frame there"));
  }
  return begin + kFrameHeaderBytes + ReadLittleEndian(length);
}

// The claim changes of the frames, all of which were written before a checkpoint after `records`
// records.
absl::Status ReplayClaims(LedgerReader& reader, const LedgerIndex& index, uint64_t records,
                          ClaimLog* claims) {
  uint64_t before = 0;  // records before the last change
  for (const LedgerPlace& place : index.claims) {
    ASSIGN_OR_RETURN(const std::string payload,
                     reader.ReadPayload(FrameType::kClaims, place.offset));
    std::vector<LoggedClaimChange> changes;
    if (!UnpackClaims(payload, reader.cluster().node_count(), &changes)) {
      return absl::DataLossError(absl::StrCat(reader.path(), ": damaged at byte ", place.offset,
                                              ": changes of claims are unreadable"));
    }
    for (const LoggedClaimChange& logged : changes) {
      if (logged.records > before) claims->OnRecord();
      before = logged.records;
      claims->Add(logged.records, logged.change);
    }
  }
  if (records > before) claims->OnRecord();
  claims->PassWritten();
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<LedgerPosition> FindLastCheckpoint(LedgerReader& reader, const LedgerPace& pace) {
  LedgerPosition position;
  const auto layouts = [&](NodeId node, size_t gpu) { return reader.LayoutOf(node, gpu); };
  position.digest = LedgerDigest(reader.cluster(), reader.summaries(), pace, layouts);
  ASSIGN_OR_RETURN(position.index, reader.ReadIndex());
  ASSIGN_OR_RETURN(position.checkpoints, reader.ListCheckpoints());
  if (position.checkpoints.empty()) return position;
  const LedgerReader::Checkpoint last = position.checkpoints.back();
  ASSIGN_OR_RETURN(position.bytes, EndOfFrame(reader.path(), last.offset));
  position.index.CutAt(position.bytes);
  LedgerDigest& digest = position.digest;
  Record record;
  for (uint64_t i = 0; i < last.records; ++i) {
    ASSIGN_OR_RETURN(const bool more, reader.Next(&record));
    if (!more) {
      return absl::DataLossError(absl::StrCat(reader.path(), ": damaged: ", i,
                                              " records lead to a checkpoint that counts ",
                                              last.records));
    }
    if (record.pod.valid()) position.last_pod = record.pod.value();
    digest.OnRecord(record, reader.cluster());
    if (!reader.at_block_end()) continue;
    // The writer's steps after a block (WriteDigest), without the frames.
    digest.EndBlock(reader.cluster(), layouts);
    if (digest.IsSeriesDue()) digest.PassSeries();
    while (digest.DuePods() > 0) digest.PassPods(digest.DuePods());
    if (digest.IsKeyframeDue()) {
      digest.PassKeyframe(reader.cluster().shapes().size(), reader.summaries().size());
    }
  }
  RETURN_IF_ERROR(ReplayClaims(reader, position.index, last.records, &position.claims));
  position.last_time_ns = digest.time().ns();
  // A checkpoint follows a whole block, so the reader has exactly the definitions of the records
  // before it.
  position.shapes = reader.cluster().shapes().size();
  position.summaries = reader.summaries().size();
  position.header = reader.header().SerializeAsString();
  return position;
}

absl::StatusOr<std::unique_ptr<LedgerWriter>> LedgerWriter::Create(
    const std::string& path, absl::string_view scenario_yaml, const ClusterState& cluster,
    absl::Span<const uint32_t> ranks, const VerdictSummaryTable& summaries, const LedgerPace& pace,
    LayoutLookup layouts) {
  std::unique_ptr<LedgerWriter> writer(new LedgerWriter(&cluster, &summaries, std::move(layouts)));
  writer->digest_ = LedgerDigest(cluster, summaries, pace, [&](NodeId node, size_t gpu) {
    return writer->StaticInstances(node, gpu);
  });
  if (absl::Status s = writer->file_.Open(path, ".partial"); !s.ok()) return s;
  writer->status_ = writer->file_.Write(kLedgerMagic);
  writer->offset_ = kLedgerMagic.size();
  writer->WriteFrame(FrameType::kHeader,
                     MakeHeader(scenario_yaml, cluster, ranks, summaries, writer->layouts_));
  if (!writer->status_.ok()) return writer->status_;
  return writer;
}

absl::StatusOr<std::unique_ptr<LedgerWriter>> LedgerWriter::Continue(
    const LedgerPosition& position, absl::string_view scenario_yaml, const ClusterState& cluster,
    absl::Span<const uint32_t> ranks, const VerdictSummaryTable& summaries, LayoutLookup layouts) {
  if (position.header != MakeHeader(scenario_yaml, cluster, ranks, summaries, layouts)) {
    return absl::FailedPreconditionError(
        "the ledger began with another scenario, or with other nodes, than there are now");
  }
  std::unique_ptr<LedgerWriter> writer(new LedgerWriter(&cluster, &summaries, std::move(layouts)));
  writer->index_ = position.index;
  writer->digest_ = position.digest;
  writer->digest_.set_summaries(&summaries);
  writer->claims_ = position.claims;
  writer->records_ = position.digest.records();
  writer->time_before_block_ = SimTime(position.last_time_ns);
  writer->offset_ = position.bytes;
  writer->last_time_ns_ = position.last_time_ns;
  writer->last_pod_ = position.last_pod;
  writer->shapes_written_ = position.shapes;
  writer->summaries_written_ = position.summaries;
  return writer;
}

absl::Status LedgerWriter::Reopen(const std::string& path) {
  status_ = file_.Reopen(path, offset_, ".partial");
  return status_;
}

void LedgerWriter::WriteIndexed(FrameType type, uint64_t records, SimTime time,
                                absl::string_view payload) {
  index_.ListOf(type)->push_back({records, time, offset_});
  WriteFrame(type, payload);
}

void LedgerWriter::WriteFrame(FrameType type, absl::string_view payload) {
  if (!status_.ok()) return;
  const uint64_t bytes = kFrameHeaderBytes + payload.size();
  if (offset_ > max_bytes_ || bytes > max_bytes_ - offset_) {
    std::string seconds;
    AppendSeconds(SimTime(last_time_ns_), &seconds);
    status_ = absl::ResourceExhaustedError(
        absl::StrCat(file_.temporary(), ": the ledger would exceed output.max_ledger (", max_bytes_,
                     " bytes) at record ", records_, ", ", seconds, " s into the run"));
    return;
  }
  status_ = file_.Write(FrameHead(type, payload));
  if (status_.ok()) status_ = file_.Write(payload);
  if (status_.ok()) status_ = file_.Flush();
  offset_ += bytes;
}

void LedgerWriter::OnRecord(const Record& record, const ClusterState& cluster) {
  if (EndsBlock(record.time) || extender_calls_.size() >= kExtenderBytesPerBlock) FlushBlock();
  if (block_records_ == 0) block_begin_ = record.time;
  ++block_records_;
  using Block = proto::LedgerBlock;
  columns_.Column(Block::kKindFieldNumber).U64(static_cast<uint64_t>(record.kind));
  columns_.Column(Block::kTimeDeltaNsFieldNumber).I64(record.time.ns() - last_time_ns_);
  any_time_ |= record.time.ns() != last_time_ns_;
  last_time_ns_ = record.time.ns();
  const int64_t pod = record.pod.valid() ? record.pod.value() : last_pod_;
  columns_.Column(Block::kPodDeltaFieldNumber).I64(pod - last_pod_);
  last_pod_ = pod;
  if (record.kind == RecordKind::kAttemptFailed) {
    columns_.Column(Block::kDetailFieldNumber).U64(record.detail);
  } else if (NamesNode(record.kind)) {
    block_.add_node(record.node.value() + 1);
    block_.add_devices(record.devices.bits());
    if (HasDetailBesideNode(record.kind))
      columns_.Column(Block::kDetailFieldNumber).U64(record.detail);
    if (MayGiveDevices(record.kind)) AddGrants(cluster.pod_grants(record.pod));
    if (HasPreemptor(record)) {
      block_.add_preemptor(record.preemptor.valid() ? record.preemptor.value() + uint64_t{1} : 0);
      any_preemptor_ |= record.preemptor.valid();
    }
    if (record.kind == RecordKind::kDevicesChanged) AddDeviceChange(record, cluster);
  } else if (record.kind == RecordKind::kPodArrived) {
    const absl::string_view name = cluster.pod_name(record.pod);
    block_.add_pod_name(name.data(), name.size());
    columns_.Column(Block::kDetailFieldNumber).U64(record.detail);
    block_.add_pod_priority(cluster.pod_priority(record.pod));
    any_priority_ |= cluster.pod_priority(record.pod) != 0;
    if (jobs_ != nullptr) AddOwner(record.pod);
  }
  ++records_;
  claims_.OnRecord();
  digest_.OnRecord(record, cluster);
  if (block_records_ >= digest_.pace().records_per_block) FlushBlock();
}

bool LedgerWriter::EndsBlock(SimTime time) const {
  const LedgerPace& pace = digest_.pace();
  const SimDuration span = time - block_begin_;
  return block_records_ >= pace.least_records_per_block &&
         span.ns() > time.ns() / pace.parts_of_time;
}

std::optional<uint64_t> LedgerWriter::StaticInstances(NodeId node, size_t gpu) const {
  if (layouts_ == nullptr) return std::nullopt;
  return InstancesOf(*cluster_, layouts_, node, gpu);
}

void LedgerWriter::AddDeviceChange(const Record& record, const ClusterState& cluster) {
  const auto kind = static_cast<DeviceChangeKind>(record.detail);
  if (kind == DeviceChangeKind::kAllocatable) {
    for (size_t e = 0; e < cluster.extended_names().size(); ++e) {
      block_.add_allocatable(cluster.extended_capacity(record.node, e));
    }
  } else if (kind == DeviceChangeKind::kLayoutChanged && layouts_ != nullptr) {
    for (const size_t gpu : record.devices) {
      block_.add_layouts(InstancesOf(cluster, layouts_, record.node, gpu));
    }
  }
}

void LedgerWriter::AddOwner(PodId pod) {
  const JobId job = jobs_->job_of(pod);
  const TenantId tenant = jobs_->row(job).tenant;
  block_.add_job(int64_t{job.value()} - last_job_);
  last_job_ = job.value();
  const auto [row, added] = tenant_rows_.RowOf(tenant);
  if (added) block_.add_tenants(jobs_->tenant_name(tenant));
  block_.add_tenant(row);
}

void LedgerWriter::AddGrants(absl::Span<const DeviceGrant> grants) {
  block_.add_grants(static_cast<uint32_t>(grants.size()));
  any_grants_ |= !grants.empty();
  for (const DeviceGrant& g : grants) block_.add_grant(GrantWord(g));
}

void LedgerWriter::AppendDefinitions() {
  for (; shapes_written_ < cluster_->shapes().size(); ++shapes_written_) {
    ToProto(cluster_->shapes().row(ShapeId(shapes_written_)), block_.add_shapes());
  }
  for (; summaries_written_ < summaries_->size(); ++summaries_written_) {
    ToProto(summaries_->row(SummaryId(summaries_written_)), block_.add_summaries());
  }
}

void LedgerWriter::WriteKeyframe() {
  proto::LedgerDefinitions definitions;
  definitions.set_records(records_);
  definitions.set_time_ns(last_time_ns_);
  definitions.set_first_shape(digest_.keyframe_shapes());
  definitions.set_first_summary(digest_.keyframe_summaries());
  for (size_t i = digest_.keyframe_shapes(); i < shapes_written_; ++i) {
    ToProto(cluster_->shapes().row(ShapeId(i)), definitions.add_shapes());
  }
  for (size_t i = digest_.keyframe_summaries(); i < summaries_written_; ++i) {
    ToProto(summaries_->row(SummaryId(i)), definitions.add_summaries());
  }
  const SimTime time(last_time_ns_);
  WriteIndexed(FrameType::kDefinitions, records_, time, definitions.SerializeAsString());
  const LiveState& live = digest_.live();
  KeyframeHead head;
  head.records = records_;
  head.time = time;
  head.pods = static_cast<uint64_t>(live.counter(RunCounter::kPodsArrived));
  head.last_pod = last_pod_;
  head.shapes = shapes_written_;
  head.summaries = summaries_written_;
  if (!claims_.live().claims().empty()) {
    WriteIndexed(FrameType::kLiveClaims, records_, time,
                 PackLiveClaims(records_, time, claims_.live()));
  }
  WriteIndexed(FrameType::kKeyframe, records_, time,
               PackKeyframe(head, *cluster_, live, jobs_, layouts_, &scratch_));
  digest_.PassKeyframe(shapes_written_, summaries_written_);
}

void LedgerWriter::WriteClaims() {
  if (!claims_.has_unwritten()) return;
  const SimTime time(last_time_ns_);
  const std::vector<ClientCalls> calls = calls_ ? calls_() : std::vector<ClientCalls>();
  WriteIndexed(FrameType::kClaims, records_, time, claims_.Pack(records_, time, calls));
  claims_.PassWritten();
}

void LedgerWriter::WriteExtenderCalls() {
  if (extender_calls_.empty()) return;
  const SimTime time(last_time_ns_);
  WriteIndexed(FrameType::kExtenderCalls, records_, time,
               PackExtenderCalls(records_, time, extender_calls_));
  extender_calls_.clear();
}

void LedgerWriter::WriteDigest(bool all) {
  const SimTime time(last_time_ns_);
  if (digest_.IsSeriesDue() || (all && digest_.has_series())) {
    WriteIndexed(FrameType::kSeries, records_, time, digest_.PackSeries());
    digest_.PassSeries();
  }
  while (digest_.DuePods() > 0 || (all && digest_.pods() > 0)) {
    const size_t pods = digest_.DuePods() > 0 ? digest_.DuePods() : digest_.pods();
    WriteIndexed(FrameType::kPods, records_, time,
                 digest_.PackPods(pods, *cluster_, jobs_, &scratch_));
    digest_.PassPods(pods);
  }
  if (digest_.IsKeyframeDue()) WriteKeyframe();
}

void LedgerWriter::FlushBlock() {
  if (block_records_ == 0) {
    WriteClaims();
    return WriteExtenderCalls();
  }
  const uint64_t first_record = records_ - block_records_;
  const SimTime time_before = time_before_block_;
  block_.set_first_record(first_record);
  block_.set_time_before_ns(time_before.ns());
  if (!any_priority_) block_.clear_pod_priority();
  if (!any_grants_) block_.clear_grants();
  if (!any_preemptor_) block_.clear_preemptor();
  if (block_.tenants_size() == 1) block_.clear_tenant();
  AppendDefinitions();
  buffer_.clear();
  block_.AppendToString(&buffer_);
  if (!any_time_) columns_.Column(proto::LedgerBlock::kTimeDeltaNsFieldNumber).Clear();
  buffer_ += columns_.Take();
  WriteIndexed(FrameType::kBlock, first_record, time_before, buffer_);
  block_.Clear();
  block_records_ = 0;
  time_before_block_ = SimTime(last_time_ns_);
  any_time_ = false;
  any_priority_ = false;
  any_grants_ = false;
  any_preemptor_ = false;
  last_job_ = 0;
  tenant_rows_.Clear();
  WriteClaims();
  WriteExtenderCalls();
  digest_.EndBlock(*cluster_,
                   [this](NodeId node, size_t gpu) { return StaticInstances(node, gpu); });
  WriteDigest(/*all=*/false);
}

absl::Status LedgerWriter::AddCheckpoint(const SavedState& state) {
  FlushBlock();
  const uint64_t base = index_.checkpoints.empty() ? 0 : index_.checkpoints.back().offset;
  WriteIndexed(FrameType::kCheckpoint, records_, SimTime(), PackCheckpoint(records_, state, base));
  return status_;
}

absl::Status LedgerWriter::Seal(uint64_t fingerprint) {
  FlushBlock();
  WriteDigest(/*all=*/true);
  index_.records = records_;
  index_.end = SimTime(last_time_ns_);
  const uint64_t end_offset = offset_;
  WriteFrame(FrameType::kEnd, PackEnd(index_, fingerprint));
  if (!status_.ok()) return status_;
  std::string trailer;
  AppendLittleEndian(end_offset, 8, &trailer);
  absl::StrAppend(&trailer, kLedgerTrailer);
  status_ = file_.Write(trailer);
  if (status_.ok()) status_ = file_.Finish();
  return status_;
}

absl::Status LedgerWriter::Finish(uint64_t fingerprint) {
  if (absl::Status s = Seal(fingerprint); !s.ok()) return s;
  return Commit();
}

absl::Status LedgerWriter::Abandon() {
  FlushBlock();
  WriteDigest(/*all=*/true);
  return status_;
}

}  // namespace drasim
