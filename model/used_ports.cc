#include "model/used_ports.h"

#include <algorithm>

#include "absl/strings/string_view.h"
#include "model/check.h"

namespace drasim {
namespace {

constexpr absl::string_view kEveryAddress = "0.0.0.0";

}  // namespace

bool PortsConflict(const HostPort& a, const HostPort& b) {
  return a.port == b.port && a.protocol == b.protocol &&
         (a.ip == b.ip || a.ip == kEveryAddress || b.ip == kEveryAddress);
}

bool AnyPortConflicts(absl::Span<const HostPort> a, absl::Span<const HostPort> b) {
  return std::any_of(a.begin(), a.end(), [b](const HostPort& one) {
    return std::any_of(b.begin(), b.end(),
                       [&one](const HostPort& other) { return PortsConflict(one, other); });
  });
}

void UsedPorts::Remember(NodeId node) {
  if (!marks_.empty()) before_.emplace_back(node, used_[node]);
}

void UsedPorts::Add(NodeId node, absl::Span<const HostPort> ports) {
  if (ports.empty()) return;
  Remember(node);
  std::vector<HostPort>& used = used_[node];
  for (const HostPort& port : ports) {
    if (std::find(used.begin(), used.end(), port) == used.end()) used.push_back(port);
  }
}

void UsedPorts::Remove(NodeId node, absl::Span<const HostPort> ports) {
  if (ports.empty()) return;
  Remember(node);
  std::vector<HostPort>& used = used_[node];
  for (const HostPort& port : ports) std::erase(used, port);
}

absl::Span<const HostPort> UsedPorts::On(NodeId node) const {
  const auto it = used_.find(node);
  if (it == used_.end()) return {};
  return it->second;
}

void UsedPorts::Rollback() {
  DRASIM_CHECK(!marks_.empty());
  const size_t mark = marks_.back();
  marks_.pop_back();
  while (before_.size() > mark) {
    auto& [node, ports] = before_.back();
    used_[node] = std::move(ports);
    before_.pop_back();
  }
}

void UsedPorts::KeepWhatIf() {
  DRASIM_CHECK(!marks_.empty());
  marks_.pop_back();
  if (marks_.empty()) before_.clear();
}

}  // namespace drasim
