#include "model/node_order.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "model/check.h"
#include "model/label_selector.h"

namespace drasim {

namespace {

absl::string_view FirstLabel(const NodeSpec& spec, const std::string& beta,
                             const std::string& key) {
  const std::string* value = LabelOf(spec.labels, beta);
  if (value == nullptr) value = LabelOf(spec.labels, key);
  return value == nullptr ? absl::string_view() : absl::string_view(*value);
}

// Equal for nodes of one zone, empty for nodes without zone and region.
std::string ZoneOf(const NodeSpec& spec) {
  static const auto& kBetaRegion = *new std::string("failure-domain.beta.kubernetes.io/region");
  static const auto& kRegion = *new std::string("topology.kubernetes.io/region");
  static const auto& kBetaZone = *new std::string("failure-domain.beta.kubernetes.io/zone");
  static const auto& kZone = *new std::string("topology.kubernetes.io/zone");
  if (spec.labels.empty()) return "";
  const absl::string_view region = FirstLabel(spec, kBetaRegion, kRegion);
  const absl::string_view zone = FirstLabel(spec, kBetaZone, kZone);
  if (region.empty() && zone.empty()) return "";
  return absl::StrCat(region.size(), ":", region, zone);
}

}  // namespace

void NodeOrder::Append(NodeId node, std::string zone) {
  auto it = std::find_if(zones_.begin(), zones_.end(),
                         [&zone](const Zone& known) { return known.key == zone; });
  if (it == zones_.end()) it = zones_.insert(zones_.end(), Zone{zone, {}});
  it->nodes.push_back(node);
  zone_of_[node] = std::move(zone);
}

void NodeOrder::Take(NodeId node) {
  const auto zone_of = zone_of_.find(node);
  DRASIM_CHECK(zone_of != zone_of_.end());
  const auto it = std::find_if(zones_.begin(), zones_.end(),
                               [&](const Zone& zone) { return zone.key == zone_of->second; });
  it->nodes.erase(std::find(it->nodes.begin(), it->nodes.end(), node));
  if (it->nodes.empty()) zones_.erase(it);
  zone_of_.erase(zone_of);
}

void NodeOrder::Add(NodeId node, const NodeSpec& spec) {
  DRASIM_CHECK(!zone_of_.contains(node));
  Append(node, ZoneOf(spec));
  stale_ = true;
}

void NodeOrder::Remove(NodeId node) {
  Take(node);
  stale_ = true;
}

void NodeOrder::Update(NodeId node, const NodeSpec& spec) {
  std::string zone = ZoneOf(spec);
  if (zone_of_.at(node) == zone) return;
  Take(node);
  Append(node, std::move(zone));
}

absl::Span<const NodeId> NodeOrder::list() const {
  if (!stale_) return list_;
  stale_ = false;
  list_.clear();
  list_.reserve(zone_of_.size());
  for (size_t turn = 0; list_.size() < zone_of_.size(); ++turn) {
    for (const Zone& zone : zones_) {
      if (turn < zone.nodes.size()) list_.push_back(zone.nodes[turn]);
    }
  }
  return list_;
}

std::vector<NodeId> NodeOrder::by_zone() const {
  std::vector<NodeId> nodes;
  for (const Zone& zone : zones_) nodes.insert(nodes.end(), zone.nodes.begin(), zone.nodes.end());
  return nodes;
}

}  // namespace drasim
