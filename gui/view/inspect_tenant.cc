#include "gui/view/inspect_tenant.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "model/text/did_you_mean.h"
#include "model/text/shown_text.h"

namespace drasim::view {

std::vector<WantsGroup> GroupByWants(const PodTable& pods, const std::vector<size_t>& some) {
  struct Gathered {
    WantsGroup group;
    std::vector<SimDuration> waits;
  };
  std::map<std::string, Gathered> by_wants;
  for (const size_t pod : some) {
    Gathered& gathered = by_wants[pods.wants(pod)];
    ++gathered.group.pods;
    const PodPhase phase = pods.row(pod).phase;
    if (phase == PodPhase::kBound) ++gathered.group.running;
    if (phase == PodPhase::kPending || phase == PodPhase::kAssumed) ++gathered.group.waiting;
    const std::optional<SimDuration> wait = pods.FirstWaitOf(pod);
    if (wait.has_value()) gathered.waits.push_back(*wait);
  }
  std::vector<WantsGroup> groups;
  for (auto& [wants, gathered] : by_wants) {
    gathered.group.wants = wants;
    gathered.group.waits = WaitFiguresOf(&gathered.waits);
    groups.push_back(std::move(gathered.group));
  }
  std::stable_sort(groups.begin(), groups.end(), [](const WantsGroup& a, const WantsGroup& b) {
    return a.waits.mean > b.waits.mean;
  });
  return groups;
}

std::vector<size_t> LongestWaits(const PodTable& pods, const std::vector<size_t>& some,
                                 size_t limit) {
  struct Wait {
    SimDuration length;
    uint32_t number = 0;
    size_t pod = 0;
  };
  std::vector<Wait> waits;
  for (const size_t pod : some) {
    const SimDuration wait = pods.WaitOf(pod);
    if (wait > SimDuration()) waits.push_back({wait, pods.row(pod).number, pod});
  }
  const size_t count = std::min(limit, waits.size());
  std::partial_sort(waits.begin(), waits.begin() + static_cast<std::ptrdiff_t>(count), waits.end(),
                    [](const Wait& a, const Wait& b) {
                      return a.length != b.length ? a.length > b.length : a.number < b.number;
                    });
  std::vector<size_t> longest;
  for (size_t i = 0; i < count; ++i) longest.push_back(waits[i].pod);
  return longest;
}

absl::StatusOr<TenantInspection> InspectTenant(const PodTable& pods, absl::string_view name) {
  const TenantTable table(pods);
  std::vector<std::string> known;
  for (size_t t = 0; t < table.rows(); ++t) {
    known.push_back(table.row(t).name);
    if (known.back() != name) continue;
    TenantInspection result;
    result.figures = table.row(t);
    std::vector<size_t> own;
    std::vector<size_t> waiting;
    for (size_t p = 0; p < pods.rows(); ++p) {
      if (pods.row(p).tenant != table.tenant(t)) continue;
      own.push_back(p);
      const PodPhase phase = pods.row(p).phase;
      if (phase == PodPhase::kPending || phase == PodPhase::kAssumed) waiting.push_back(p);
    }
    result.by_wants = GroupByWants(pods, own);
    for (const size_t pod : LongestWaits(pods, waiting, kInspectedWaits)) {
      result.longest_waits.push_back(
          {std::string(pods.name(pod)), pods.wants(pod), pods.WaitOf(pod)});
    }
    return result;
  }
  return absl::NotFoundError(
      absl::StrCat("no pod has the tenant '", ShownText(name), "'", Suggest(name, known)));
}

}  // namespace drasim::view
