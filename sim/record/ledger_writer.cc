#include "sim/record/ledger_writer.h"

#include <sys/types.h>
#include <zlib.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "sim/record/ledger_frame.h"
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
}

std::string MakeHeader(absl::string_view scenario_yaml, const ClusterState& cluster,
                       absl::Span<const uint32_t> ranks, const VerdictSummaryTable& summaries) {
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
    node->set_absent(spec.absent);
    node->set_unschedulable(spec.unschedulable);
  }
  for (const std::string& reason : summaries.reasons()) header.add_reasons(reason);
  header.set_mig(cluster.any_mig());
  header.set_mig_driver_branch(cluster.models().mig_driver_branch());
  header.mutable_ranks()->Add(ranks.begin(), ranks.end());
  return header.SerializeAsString();
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

}  // namespace

absl::StatusOr<LedgerPosition> FindLastCheckpoint(LedgerReader& reader) {
  LedgerPosition position;
  absl::StatusOr<std::vector<LedgerReader::Checkpoint>> found = reader.ListCheckpoints();
  if (!found.ok()) return found.status();
  position.checkpoints = *std::move(found);
  if (position.checkpoints.empty()) return position;
  const LedgerReader::Checkpoint last = position.checkpoints.back();
  absl::StatusOr<uint64_t> end = EndOfFrame(reader.path(), last.offset);
  if (!end.ok()) return end.status();
  position.bytes = *end;
  Record record;
  for (uint64_t i = 0; i < last.records; ++i) {
    const absl::StatusOr<bool> more = reader.Next(&record);
    if (!more.ok()) return more.status();
    if (!*more) {
      return absl::DataLossError(absl::StrCat(reader.path(), ": damaged: ", i,
                                              " records lead to a checkpoint that counts ",
                                              last.records));
    }
    if (record.pod.valid()) position.last_pod = record.pod.value();
  }
  if (last.records > 0) position.last_time_ns = record.time.ns();
  // A checkpoint follows a whole block, so the reader has exactly the definitions of the records
  // before it.
  position.shapes = reader.cluster().shapes().size();
  position.summaries = reader.summaries().size();
  position.header = reader.header().SerializeAsString();
  return position;
}

absl::StatusOr<std::unique_ptr<LedgerWriter>> LedgerWriter::Create(
    const std::string& path, absl::string_view scenario_yaml, const ClusterState& cluster,
    absl::Span<const uint32_t> ranks, const VerdictSummaryTable& summaries) {
  std::unique_ptr<LedgerWriter> writer(new LedgerWriter(&cluster, &summaries));
  if (absl::Status s = writer->file_.Open(path, ".partial"); !s.ok()) return s;
  writer->status_ = writer->file_.Write(kLedgerMagic);
  writer->offset_ = kLedgerMagic.size();
  writer->WriteFrame(static_cast<int>(FrameType::kHeader),
                     MakeHeader(scenario_yaml, cluster, ranks, summaries));
  if (!writer->status_.ok()) return writer->status_;
  return writer;
}

absl::StatusOr<std::unique_ptr<LedgerWriter>> LedgerWriter::Continue(
    const LedgerPosition& position, absl::string_view scenario_yaml, const ClusterState& cluster,
    absl::Span<const uint32_t> ranks, const VerdictSummaryTable& summaries) {
  if (position.header != MakeHeader(scenario_yaml, cluster, ranks, summaries)) {
    return absl::FailedPreconditionError(
        "the ledger began with another scenario, or with other nodes, than there are now");
  }
  std::unique_ptr<LedgerWriter> writer(new LedgerWriter(&cluster, &summaries));
  for (const LedgerReader::Checkpoint& checkpoint : position.checkpoints) {
    writer->end_.add_checkpoint_records(checkpoint.records);
    writer->end_.add_checkpoint_offset(checkpoint.offset);
    writer->records_ = checkpoint.records;
  }
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

void LedgerWriter::WriteFrame(int type, absl::string_view payload) {
  if (!status_.ok()) return;
  const std::string frame = MakeFrame(static_cast<FrameType>(type), payload);
  if (offset_ > max_bytes_ || frame.size() > max_bytes_ - offset_) {
    std::string seconds;
    AppendSeconds(SimTime(last_time_ns_), &seconds);
    status_ = absl::ResourceExhaustedError(
        absl::StrCat(file_.temporary(), ": the ledger would exceed output.max_ledger (", max_bytes_,
                     " bytes) at record ", records_, ", ", seconds, " s into the run"));
    return;
  }
  status_ = file_.Write(frame);
  if (status_.ok()) status_ = file_.Flush();
  offset_ += frame.size();
}

void LedgerWriter::OnRecord(const Record& record, const ClusterState& cluster) {
  block_.mutable_kind()->push_back(static_cast<char>(record.kind));
  block_.add_time_delta_ns(record.time.ns() - last_time_ns_);
  any_time_ |= record.time.ns() != last_time_ns_;
  last_time_ns_ = record.time.ns();
  if (record.pod.valid()) {
    block_.add_pod_delta(int64_t{record.pod.value()} - last_pod_);
    last_pod_ = record.pod.value();
  } else {
    block_.add_pod_delta(0);
  }
  if (NamesNode(record.kind)) {
    block_.add_node(record.node.value() + 1);
    block_.add_devices(record.devices.bits());
    if (HasDetailBesideNode(record.kind)) block_.add_detail(record.detail);
    if (MayGiveDevices(record.kind)) AddGrants(cluster.pod_grants(record.pod));
    if (record.kind == RecordKind::kDevicesChanged &&
        record.detail == static_cast<uint32_t>(DeviceChangeKind::kAllocatable)) {
      for (size_t e = 0; e < cluster.extended_names().size(); ++e) {
        block_.add_allocatable(cluster.extended_capacity(record.node, e));
      }
    }
  } else if (record.kind == RecordKind::kPodArrived) {
    const absl::string_view name = cluster.pod_name(record.pod);
    block_.add_pod_name(name.data(), name.size());
    block_.add_detail(record.detail);
    block_.add_pod_priority(cluster.pod_priority(record.pod));
    any_priority_ |= cluster.pod_priority(record.pod) != 0;
  } else if (record.kind == RecordKind::kAttemptFailed) {
    block_.add_detail(record.detail);
  }
  ++records_;
  if (block_.kind().size() >= kRecordsPerBlock) FlushBlock();
}

void LedgerWriter::AddGrants(absl::Span<const DeviceGrant> grants) {
  block_.add_grants(static_cast<uint32_t>(grants.size()));
  any_grants_ |= !grants.empty();
  for (const DeviceGrant& g : grants) {
    block_.add_grant(uint32_t{g.device} << 24 | uint32_t{g.placement} << 16 |
                     static_cast<uint16_t>(g.milli));
  }
}

void LedgerWriter::AppendDefinitions() {
  for (; shapes_written_ < cluster_->shapes().size(); ++shapes_written_) {
    ToProto(cluster_->shapes().row(ShapeId(shapes_written_)), block_.add_shapes());
  }
  for (; summaries_written_ < summaries_->size(); ++summaries_written_) {
    const VerdictSummaryTable::Row& row = summaries_->row(SummaryId(summaries_written_));
    proto::LedgerSummary* summary = block_.add_summaries();
    summary->set_nodes(row.nodes);
    for (const auto& [reason, nodes] : row.rejected) {
      summary->add_reason(reason);
      summary->add_rejected(nodes);
    }
  }
}

void LedgerWriter::FlushBlock() {
  if (block_.kind().empty()) return;
  block_.set_first_record(records_ - block_.kind().size());
  if (!any_time_) block_.clear_time_delta_ns();
  if (!any_priority_) block_.clear_pod_priority();
  if (!any_grants_) block_.clear_grants();
  AppendDefinitions();
  buffer_.clear();
  block_.AppendToString(&buffer_);
  WriteFrame(static_cast<int>(FrameType::kBlock), buffer_);
  block_.Clear();
  any_time_ = false;
  any_priority_ = false;
  any_grants_ = false;
}

absl::Status LedgerWriter::AddCheckpoint(const std::string& state) {
  FlushBlock();
  proto::LedgerCheckpoint checkpoint;
  checkpoint.set_records(records_);
  checkpoint.set_state_bytes(state.size());
  uLongf size = compressBound(state.size());
  std::string packed(size, '\0');
  const int code = compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
                             reinterpret_cast<const Bytef*>(state.data()), state.size(), 1);
  if (code != Z_OK)
    return absl::InternalError(absl::StrCat("zlib could not compress a checkpoint: ", code));
  packed.resize(size);
  checkpoint.set_state(std::move(packed));
  end_.add_checkpoint_records(records_);
  end_.add_checkpoint_offset(offset_);
  WriteFrame(static_cast<int>(FrameType::kCheckpoint), checkpoint.SerializeAsString());
  return status_;
}

absl::Status LedgerWriter::Seal(uint64_t fingerprint) {
  FlushBlock();
  end_.set_records(records_);
  end_.set_fingerprint(fingerprint);
  const uint64_t end_offset = offset_;
  WriteFrame(static_cast<int>(FrameType::kEnd), end_.SerializeAsString());
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
  return status_;
}

}  // namespace drasim
