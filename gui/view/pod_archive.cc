#include "gui/view/pod_archive.h"

#include <utility>

#include "gui/view/wants_text.h"
#include "model/check.h"
#include "model/shape_table.h"

namespace drasim::view {
namespace {

// An AdmissionFailure, or one above these for a summary; 0: no refusal.
uint32_t VerdictKey(const PodCourse& pod) {
  if (pod.rejected_last) return static_cast<uint32_t>(pod.rejected);
  return pod.last_failure.valid() ? kLastAdmissionFailure + 1 + pod.last_failure.value() : 0;
}

}  // namespace

PodTexts PodTexts::Of(const ClusterState& cluster) {
  PodTexts texts;
  const ShapeTable& shapes = cluster.shapes();
  for (size_t s = 0; s < shapes.size(); ++s) {
    texts.wants.push_back(WantsText(shapes.row(ShapeId(s))));
    texts.gpu_milli.push_back(shapes.row(ShapeId(s)).wanted_gpu_milli());
  }
  for (size_t n = 0; n < cluster.node_count(); ++n) {
    texts.nodes.push_back(cluster.node_spec(NodeId(n)).name);
  }
  return texts;
}

uint32_t VerdictNumbers::Number(const PodCourse& pod, const VerdictSummaryTable& summaries,
                                std::vector<PodVerdict>* verdicts) {
  const auto [entry, is_new] = numbers_.try_emplace(VerdictKey(pod), next_);
  if (is_new) {
    ++next_;
    PodVerdict& verdict = verdicts->emplace_back();
    verdict.text = pod.rejected_last ? std::string(AdmissionMessage(pod.rejected))
                                     : summaries.Text(pod.last_failure);
    const bool negotiates = !pod.rejected_last && summaries.IsNegotiation(pod.last_failure);
    verdict.kind = negotiates ? WaitKind::kDriver : WaitKind::kNoRoom;
  }
  return entry->second;
}

std::optional<uint32_t> VerdictNumbers::Find(const PodCourse& pod) const {
  const auto found = numbers_.find(VerdictKey(pod));
  if (found == numbers_.end()) return std::nullopt;
  return found->second;
}

void PodArchive::Reserve(size_t pods) {
  rows_.reserve(pods);
  name_begin_.reserve(pods + 1);
  row_of_number_.reserve(pods);
}

uint32_t PodArchive::InternTenant(absl::string_view name) {
  const auto [entry, is_new] =
      tenant_index_.try_emplace(std::string(name), static_cast<uint32_t>(texts_.tenants.size()));
  if (is_new) texts_.tenants.emplace_back(name);
  return entry->second;
}

void PodArchive::Append(PodRow row, absl::string_view name, const VerdictSummaryTable& summaries) {
  DRASIM_CHECK(row.has_ended());
  DRASIM_CHECK(!Find(row.number).has_value());
  if (row_of_number_.size() <= row.number) row_of_number_.resize(row.number + size_t{1}, kNoRow);
  row_of_number_[row.number] = static_cast<uint32_t>(rows_.size());
  row.verdict = verdict_numbers_.Number(row, summaries, &texts_.verdicts);
  rows_.push_back(row);
  names_.append(name.data(), name.size());
  name_begin_.push_back(names_.size());
}

std::optional<size_t> PodArchive::Find(uint64_t number) const {
  if (number >= row_of_number_.size() || row_of_number_[number] == kNoRow) return std::nullopt;
  return row_of_number_[number];
}

}  // namespace drasim::view
