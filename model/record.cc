#include "model/record.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "model/check.h"
#include "model/hash.h"

namespace drasim {

absl::string_view RecordKindName(RecordKind kind) {
  static constexpr absl::string_view kNames[kRecordKinds] = {
      "Invalid",        "PodArrived", "PodReserved", "PodBound",    "PodUnreserved",
      "AttemptFailed",  "PodDropped", "PodFinished", "RunEnded",    "PodEvicted",
      "PodFailed",      "PodDeleted", "NodeChanged", "PodAdmitted", "PodRejected",
      "DevicesChanged", "PodStarted"};
  const auto i = static_cast<size_t>(kind);
  return i < kRecordKinds ? kNames[i] : kNames[0];
}

absl::string_view AdmissionReason(AdmissionFailure failure) {
  switch (failure) {
    case AdmissionFailure::kNone:
      return "";
    case AdmissionFailure::kTopologyAffinity:
      return "TopologyAffinityError";
    case AdmissionFailure::kOutOfCpu:
      return "OutOfcpu";
    case AdmissionFailure::kOutOfMemory:
      return "OutOfmemory";
    case AdmissionFailure::kOutOfPods:
      return "OutOfpods";
    case AdmissionFailure::kPortsInUse:
      return "NodePorts";
    default:
      return "UnexpectedAdmissionError";
  }
}

absl::string_view AdmissionMessage(AdmissionFailure failure) {
  static constexpr absl::string_view kMessages[] = {
      "",
      "Allocate failed: fewer devices are available than requested",
      "Allocate failed: no plugin is registered for the resource",
      "Allocate failed: too many of the devices are unhealthy",
      "Allocate failed: the plugin refuses requests for more than one shared device",
      "Resources cannot be allocated with Topology locality",
      "Node didn't have enough resource: cpu, taken by a pod of another scheduler",
      "Node didn't have enough resource: memory, taken by a pod of another scheduler",
      "Node didn't have enough resource: pods, taken by a pod of another scheduler",
      "Allocate failed: a pod of another scheduler has taken the devices",
      "Node's host ports are taken by a pod of another scheduler"};
  const auto i = static_cast<size_t>(failure);
  return kMessages[i <= kLastAdmissionFailure ? i : 0];
}

void VerdictSummaryTable::SetReasons(std::vector<std::string> reasons,
                                     std::vector<ReasonKind> kinds) {
  reasons_ = std::move(reasons);
  kinds_ = std::move(kinds);
  DRASIM_CHECK(kinds_.empty() || kinds_.size() == reasons_.size());
  kinds_.resize(reasons_.size(), ReasonKind::kOther);
}

SummaryId VerdictSummaryTable::Intern(const Row& row) {
  auto [it, inserted] = index_.try_emplace(row, static_cast<uint32_t>(rows_.size()));
  if (inserted) {
    rows_.push_back(row);
    hashes_.push_back(HashOf(row));
  }
  return SummaryId(it->second);
}

bool VerdictSummaryTable::IsNegotiation(SummaryId id) const {
  const Row& row = rows_[id.value()];
  return !row.rejected.empty() &&
         std::none_of(row.rejected.begin(), row.rejected.end(),
                      [this](const auto& r) { return IsVerdict(kind(r.first)); });
}

uint64_t VerdictSummaryTable::HashOf(const Row& row) const {
  uint64_t hash = MixWord(kFnvOffset, row.nodes);
  for (const auto& [reason, nodes] : row.rejected) {
    hash = MixWord(Fnv1a(reasons_[reason - size_t{1}], hash), nodes);
  }
  return hash;
}

std::string VerdictSummaryTable::Text(SummaryId id) const {
  const Row& row = rows_[id.value()];
  std::string text = absl::StrCat("0/", row.nodes, " nodes are available");
  // kube-scheduler sorts the phrases as text.
  std::vector<std::string> phrases;
  for (const auto& [reason, nodes] : row.rejected) {
    phrases.push_back(absl::StrCat(nodes, " ", reasons_[reason - size_t{1}]));
  }
  std::sort(phrases.begin(), phrases.end());
  for (size_t i = 0; i < phrases.size(); ++i)
    absl::StrAppend(&text, i == 0 ? ": " : ", ", phrases[i]);
  text.push_back('.');
  return text;
}

void VerdictSummaryTable::Save(StateWriter& out) const {
  out.Section("summaries");
  out.U64(rows_.size());
  for (const Row& row : rows_) {
    out.U64(row.nodes);
    out.U64(row.rejected.size());
    for (const auto& [reason, nodes] : row.rejected) {
      out.U64(reason);
      out.U64(nodes);
    }
  }
}

absl::Status VerdictSummaryTable::Load(StateReader& in) {
  in.Section("summaries");
  rows_.clear();
  hashes_.clear();
  index_.clear();
  const size_t n = in.Count();
  for (size_t i = 0; i < n && in.status().ok(); ++i) {
    Row row;
    row.nodes = static_cast<uint32_t>(in.U64());
    const size_t m = in.Count();
    for (size_t j = 0; j < m && in.status().ok(); ++j) {
      const uint64_t reason = in.U64();
      if (reason == 0 || reason > reasons_.size()) {
        in.Fail("a summary names a reason that does not exist");
        return in.status();
      }
      row.rejected.emplace_back(static_cast<uint8_t>(reason), static_cast<uint32_t>(in.U64()));
    }
    if (in.status().ok()) Intern(row);
  }
  return in.status();
}

}  // namespace drasim
