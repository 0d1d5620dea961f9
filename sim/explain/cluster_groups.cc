#include "sim/explain/cluster_groups.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "model/kube/rules.h"
#include "policies/framework/fit_error.h"

namespace drasim {
namespace {

constexpr size_t kMostExamples = 3;
constexpr size_t kMostPatterns = 3;
constexpr size_t kMostHolders = 5;

// The pattern of a node's name: without the digits at the end of the host, or without the part
// behind its last dash. "gpu-03.example.com" -> "gpu-*.example.com".
std::string PatternOf(absl::string_view name) {
  const size_t dot = name.find('.');
  const absl::string_view domain = dot == absl::string_view::npos ? "" : name.substr(dot);
  absl::string_view host = name.substr(0, dot);
  size_t end = host.size();
  while (end > 0 && absl::ascii_isdigit(static_cast<unsigned char>(host[end - 1]))) --end;
  if (end == host.size()) {
    const size_t dash = host.rfind('-');
    if (dash == absl::string_view::npos) return std::string(name);
    end = dash + 1;
  }
  if (end == 0) return std::string(name);
  return absl::StrCat(host.substr(0, end), "*", domain);
}

// Few names as they are; of many, their patterns, or the common prefix of these, or nothing.
std::vector<std::string> PatternsOf(const std::vector<std::string>& names) {
  if (names.size() <= kMostExamples) return names;
  std::map<std::string, std::vector<std::string>> by_pattern;
  for (const std::string& name : names) by_pattern[PatternOf(name)].push_back(name);
  if (by_pattern.size() <= kMostPatterns) {
    std::vector<std::string> patterns;
    for (const auto& [pattern, alike] : by_pattern) {
      patterns.push_back(alike.size() == 1 ? alike[0] : pattern);
    }
    return patterns;
  }
  const std::string& first = by_pattern.begin()->first;
  const std::string& last = by_pattern.rbegin()->first;
  const auto differ = std::mismatch(first.begin(), first.end(), last.begin(), last.end()).first;
  const std::string common(first.begin(), differ);
  if (common.size() < 2) return {};
  return {common + "*"};
}

std::vector<LackInGroup> LacksOf(const std::vector<const DumpVerdict*>& nodes) {
  std::vector<LackInGroup> lacks;
  for (const DumpVerdict* verdict : nodes) {
    const DumpRejection& rejection = verdict->rejections.front();
    lacks.resize(rejection.lacked.size());
    for (size_t i = 0; i < lacks.size(); ++i) {
      const LackedResource& lacked = rejection.lacked[i];
      LackInGroup& lack = lacks[i];
      lack.reason = rejection.reasons[i];
      lack.resource = lacked.resource;
      lack.kind = lacked.kind();
      lack.wanted = lacked.wanted;
      lack.most_free = std::max(lack.most_free, lacked.free);
      lack.most_allocatable = std::max(lack.most_allocatable, lacked.allocatable);
    }
  }
  return lacks;
}

VerdictGroup MakeGroup(std::vector<const DumpVerdict*> nodes) {
  std::stable_sort(nodes.begin(), nodes.end(), [](const DumpVerdict* a, const DumpVerdict* b) {
    return a->rejections.front().distance < b->rejections.front().distance;
  });
  const DumpRejection& nearest = nodes.front()->rejections.front();
  VerdictGroup group;
  group.shown.plugin = nearest.plugin;
  group.shown.lacks_pods = nearest.lacks_pods;
  group.shown.reasons = nearest.reasons;
  group.shown.detail = nearest.detail;
  group.shown.lacks = LacksOf(nodes);
  group.shown.nodes = nodes.size();
  std::vector<std::string> names;
  for (const DumpVerdict* verdict : nodes) {
    names.push_back(verdict->node->name());
    if (group.shown.examples.size() < kMostExamples) group.shown.examples.push_back(names.back());
  }
  std::sort(names.begin(), names.end());
  group.shown.patterns = PatternsOf(names);
  group.nodes = std::move(nodes);
  return group;
}

bool IsFitOf(const DumpVerdict& verdict) {
  return !verdict.rejections.empty() && !verdict.rejections.front().lacked.empty();
}

HolderList HoldersOfResource(const DumpVerdict& verdict, const LackedResource& lacked) {
  const DumpNode& node = *verdict.node;
  const std::string& resource = lacked.resource;
  std::vector<const DumpPod*> pods;
  for (const DumpPod* pod : node.pods) {
    if (AmountOf(pod->request, resource) > 0) pods.push_back(pod);
  }
  const int64_t held = lacked.allocatable - lacked.idle;
  const int64_t nominated = std::max<int64_t>(0, lacked.idle) - std::max<int64_t>(0, lacked.free);
  std::stable_sort(pods.begin(), pods.end(), [&resource](const DumpPod* a, const DumpPod* b) {
    return AmountOf(a->request, resource) > AmountOf(b->request, resource);
  });
  HolderList list;
  list.subject = absl::StrCat(resource == "pods" ? "pod slots" : resource, " on ", node.name());
  list.summary = absl::StrCat(
      ShortAmountText(resource, held, true), " of ",
      ShortAmountText(resource, lacked.allocatable, false), " held, ",
      nominated > 0 ? absl::StrCat(ShortAmountText(resource, nominated, true), " nominated, ") : "",
      ShortAmountText(resource, std::max<int64_t>(0, lacked.free), false), " free");
  for (const DumpPod* pod : pods) {
    if (list.holders.size() == kMostHolders) break;
    list.holders.push_back({pod->key,
                            ShortAmountText(resource, AmountOf(pod->request, resource), true),
                            StateOfPod(*pod)});
  }
  list.others = pods.size() - list.holders.size();
  return list;
}

}  // namespace

std::string FitErrorText(absl::Span<const DumpVerdict> verdicts, const std::string& pre_filter) {
  FitError error(verdicts.size());
  if (!pre_filter.empty()) {
    error.set_pre_filter(pre_filter);
    return error.Text();
  }
  for (const DumpVerdict& verdict : verdicts) {
    for (const std::string& reason : verdict.rejections.front().reasons) error.Add(reason);
  }
  return error.Text();
}

std::vector<VerdictGroup> GroupVerdicts(absl::Span<const DumpVerdict> verdicts) {
  using Key = std::tuple<int, std::vector<std::string>, std::string>;
  std::map<Key, std::vector<const DumpVerdict*>> alike;
  for (const DumpVerdict& verdict : verdicts) {
    if (verdict.rejections.empty()) continue;
    const DumpRejection& first = verdict.rejections.front();
    alike[{first.place, first.reasons, first.alike}].push_back(&verdict);
  }
  std::vector<VerdictGroup> groups;
  for (auto& [key, nodes] : alike) groups.push_back(MakeGroup(std::move(nodes)));
  const auto order = [&verdicts](const VerdictGroup& group) {
    const DumpRejection& first = group.nodes.front()->rejections.front();
    return std::make_tuple(-first.place, first.hopeless, group.shown.reasons.size(),
                           -static_cast<int64_t>(group.shown.nodes),
                           group.nodes.front() - verdicts.data());
  };
  std::stable_sort(
      groups.begin(), groups.end(),
      [&order](const VerdictGroup& a, const VerdictGroup& b) { return order(a) < order(b); });
  return groups;
}

std::vector<HolderList> HoldersOfNode(const DumpVerdict& verdict) {
  std::vector<HolderList> lists;
  if (verdict.rejections.empty()) return lists;
  const DumpRejection& first = verdict.rejections.front();
  for (const LackedResource& lacked : first.lacked) {
    if (lacked.kind() == NodeLack::kFull) {
      lists.push_back(HoldersOfResource(verdict, lacked));
    }
  }
  if (first.in_the_way.empty()) return lists;
  HolderList list;
  list.subject = absl::StrCat("in the way on ", verdict.node->name());
  list.summary = first.detail;
  for (const DumpPod* pod : first.in_the_way) {
    if (list.holders.size() < kMostHolders)
      list.holders.push_back({pod->key, "", StateOfPod(*pod)});
  }
  list.others = first.in_the_way.size() - list.holders.size();
  lists.push_back(std::move(list));
  return lists;
}

std::vector<std::string> ShortageNotes(absl::Span<const DumpVerdict> verdicts) {
  std::set<std::string> resources;
  int place = 0;  // of NodeResourcesFit
  for (const DumpVerdict& verdict : verdicts) {
    if (!IsFitOf(verdict)) continue;
    place = verdict.rejections.front().place;
    for (const LackedResource& lacked : verdict.rejections.front().lacked) {
      if (lacked.resource != "pods") resources.insert(lacked.resource);
    }
  }
  std::vector<std::string> notes;
  for (const std::string& resource : resources) {
    int64_t wanted = 0;
    int64_t largest = 0;
    size_t nodes = 0;
    KubeAmounts together;
    bool lacked_everywhere = true;
    for (const DumpVerdict& verdict : verdicts) {
      // Only nodes that the rules before this one allow.
      if (!verdict.rejections.empty() && verdict.rejections.front().place < place) continue;
      const LackedResource* found = nullptr;
      for (const DumpRejection& rejection : verdict.rejections) {
        for (const LackedResource& lacked : rejection.lacked) {
          if (lacked.resource == resource) found = &lacked;
        }
      }
      if (found == nullptr) {
        lacked_everywhere = false;
        break;
      }
      wanted = found->wanted;
      largest = std::max(largest, found->allocatable);
      if (found->allocatable > 0) ++nodes;
      AddAmounts({{resource, std::max<int64_t>(0, found->free)}}, &together);
    }
    if (!lacked_everywhere) continue;
    const std::string want = ShortAmountText(resource, wanted, true);
    if (largest < wanted) {
      notes.push_back(largest == 0
                          ? absl::StrCat("no node that the other rules allow has any ", resource)
                          : absl::StrCat("no node that the other rules allow is large enough: the "
                                         "largest has ",
                                         ShortAmountText(resource, largest, false), " ", resource,
                                         ", the pod wants ", want));
    } else if (AmountOf(together, resource) >= wanted) {
      notes.push_back(absl::StrCat(
          "fragmentation: ", ShortAmountText(resource, AmountOf(together, resource), false), " ",
          resource, " are free on the ", nodes,
          " nodes that have some and that the other rules allow, but no single node has ", want));
    }
  }
  return notes;
}

}  // namespace drasim
