#include "policies/allocator/node_causes.h"

#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "policies/allocator/assignment_bound.h"
#include "policies/allocator/clause_verdicts.h"

namespace drasim {
namespace {

using proto::kube::DeviceClaim;

// Values of a constraint that are told.
constexpr size_t kValuesShown = 4;

}  // namespace

// The rest of a node's devices at the stage that leaves too few.
std::string NodeCauses::ShortageText(DeviceStage stage, const Range& before, const Range& after,
                                     const std::string& class_name) {
  const std::string b = before.Text();
  const std::string a = after.Text();
  switch (stage) {
    case DeviceStage::kNodes:
      return absl::StrCat(a, before.most == 1 ? " device" : " devices", " on the node");
    case DeviceStage::kClass:
      return absl::StrCat(b, " on the node, ", a, " of class ", class_name);
    case DeviceStage::kSelectors:
      return absl::StrCat(b, " of class ", class_name, ", ", a, " by its selectors");
    case DeviceStage::kSize:
      return absl::StrCat(b, " by class and selectors, ", a, " large enough");
    case DeviceStage::kTaints:
      return absl::StrCat(b, " suitable, ", a, " without a taint that it does not tolerate");
    case DeviceStage::kGates:
      return absl::StrCat(b, " suitable, ", a, " without a feature that is switched off");
    case DeviceStage::kFree:
      return absl::StrCat(b, " suitable, ", a, " free");
    case DeviceStage::kRoom:
      return absl::StrCat(b, " suitable, ", a, " with enough capacity left");
    case DeviceStage::kCounters:
      return absl::StrCat(b, " suitable and free, ", a, " with enough left of its counters");
    case DeviceStage::kLeft:
      break;
  }
  return "";
}

NodeCauses::NodeCauses(std::shared_ptr<HeldDevices> held,
                       std::shared_ptr<SelectorVerdicts> verdicts,
                       absl::Span<const proto::kube::DeviceClass* const> classes,
                       AskedClaims claims, absl::Span<const proto::kube::Node* const> nodes,
                       ClaimPlan* plan, DeviceChecks* checks, const DeviceSurvey* survey)
    : options_(held->pools().options()),
      catalog_(held->pools().catalog()),
      held_(std::move(held)),
      verdicts_(std::move(verdicts)),
      classes_(classes),
      claims_(claims),
      nodes_(nodes),
      plan_(*plan),
      checks_(*checks),
      survey_(*survey) {}

DeviceStage NodeCauses::ShortageOf(uint32_t request, size_t node, size_t* before,
                                   size_t* after) const {
  const RequestPlan& plan = plan_.request(request);
  const DeviceSurvey::Counts& counts = survey_.CountsOn(request, node);
  size_t total = 0;
  for (const size_t count : counts) total += count;
  *before = *after = total;
  const size_t matching = survey_.MatchingOn(request, node);
  // A request for all devices wants those that match, all of them.
  const size_t wanted = plan.all ? std::max<size_t>(matching, 1) : static_cast<size_t>(plan.count);
  if (total < wanted) return DeviceStage::kNodes;
  for (size_t i = static_cast<size_t>(DeviceStage::kClass);
       i < static_cast<size_t>(DeviceStage::kLeft); ++i) {
    if (counts[i] == 0) continue;
    *before = *after;
    *after -= counts[i];
    if (*after < wanted) return static_cast<DeviceStage>(i);
  }
  return DeviceStage::kLeft;
}

std::string NodeCauses::NodeName(size_t node) const { return nodes_[node]->metadata().name(); }

NodeCauses::NodeGroup& NodeCauses::GroupOf(const NodeKey& key, size_t node) {
  const auto found = node_groups_.try_emplace(key).first;
  keys_[node] = &found->first;
  NodeGroup& group = found->second;
  group.story.cause = std::get<0>(key);
  ++group.story.nodes;
  if (group.story.examples.size() < kDevicesShown) {
    group.story.examples.push_back(NodeName(node));
  }
  return group;
}

bool NodeCauses::NoteTooFew(size_t node) {
  for (size_t c = 0; c < plan_.claims().size(); ++c) {
    const PlannedClaim& claim = plan_.claims()[c];
    for (size_t g = 0; g < claim.groups.size(); ++g) {
      const RequestGroup& group = claim.groups[g];
      const bool enough =
          std::any_of(group.options.begin(), group.options.end(),
                      [&](uint32_t option) { return survey_.IsEnough(option, node); });
      if (enough) continue;
      std::string stages;
      std::vector<std::pair<size_t, size_t>> counts;
      for (const uint32_t option : group.options) {
        size_t before = 0;
        size_t after = 0;
        const DeviceStage stage = ShortageOf(option, node, &before, &after);
        stages.push_back(static_cast<char>('a' + static_cast<size_t>(stage)));
        counts.emplace_back(before, after);
      }
      NodeGroup& of = GroupOf({NodeStory::Cause::kTooFew, c, g, stages}, node);
      of.counts.resize(counts.size());
      for (size_t i = 0; i < counts.size(); ++i) {
        of.counts[i].first.Add(counts[i].first);
        of.counts[i].second.Add(counts[i].second);
      }
      return true;
    }
  }
  return false;
}

std::string NodeCauses::TooFewText(const NodeKey& key, const NodeGroup& found) const {
  const auto& [cause, c, g, stages] = key;
  const PlannedClaim& claim = plan_.claims()[c];
  const RequestGroup& group = claim.groups[g];
  std::vector<std::string> texts;
  for (size_t i = 0; i < group.options.size(); ++i) {
    const RequestPlan& plan = plan_.request(group.options[i]);
    const auto stage = static_cast<DeviceStage>(stages[i] - 'a');
    const std::string wanted =
        plan.all ? "wants all that match" : absl::StrCat("wants ", plan.count);
    texts.push_back(absl::StrCat(
        group.prioritized ? absl::StrCat(plan.name, " ") : "", wanted, ": ",
        ShortageText(stage, found.counts[i].first, found.counts[i].second,
                     plan.device_class == nullptr ? "" : plan.device_class->metadata().name())));
  }
  return absl::StrCat("claim ", claim.text(), ", request ", group.name, " ",
                      group.prioritized ? "has no alternative: " : "", absl::StrJoin(texts, "; "));
}

std::vector<DeviceClaim> NodeCauses::DevicesWithout(
    std::optional<std::pair<size_t, int>> left_out) const {
  std::vector<DeviceClaim> devices;
  for (size_t c = 0; c < claims_.size(); ++c) {
    devices.push_back(*claims_[c].devices);
    auto* constraints = devices.back().mutable_constraints();
    if (!left_out.has_value()) {
      constraints->Clear();
    } else if (left_out->first == c) {
      constraints->DeleteSubrange(left_out->second, 1);
    }
  }
  return devices;
}

bool NodeCauses::FitsWithout(std::optional<std::pair<size_t, int>> left_out, size_t node) {
  const int key =
      left_out.has_value() ? static_cast<int>(left_out->first) * 1000 + left_out->second : -1;
  std::unique_ptr<Relaxed>& relaxed = relaxed_[key];
  if (relaxed == nullptr) {
    relaxed = std::make_unique<Relaxed>();
    relaxed->devices = DevicesWithout(left_out);
    for (size_t c = 0; c < claims_.size(); ++c) {
      relaxed->claims.emplace_back(&relaxed->devices[c], claims_[c].ns, claims_[c].name);
    }
    relaxed->allocator = StructuredAllocator::Make(held_, verdicts_, classes_);
  }
  AllocationOutcome outcome = AllocationOutcome::kDoesNotFit;
  relaxed->allocator->DecideAll(absl::MakeConstSpan(&survey_.views()[node], 1), relaxed->claims,
                                absl::MakeSpan(&outcome, 1));
  return outcome == AllocationOutcome::kAllocated;
}

void NodeCauses::NoteJoint(size_t node) {
  bool constraints = false;
  for (const PlannedClaim& claim : plan_.claims()) {
    constraints |= !claim.constraints.empty();
  }
  if (constraints && FitsWithout(std::nullopt, node)) return NoteConstraint(node);
  AssignmentBound bound;
  std::set<uint32_t> devices;
  size_t wanted = 0;
  bool single = true;
  bool counters = false;
  for (const PlannedClaim& claim : plan_.claims()) {
    for (const RequestGroup& group : claim.groups) {
      single &= group.options.size() == 1 && !plan_.request(group.options[0]).admin;
      const uint32_t option = group.options[0];
      const std::vector<uint32_t> left = survey_.DevicesLeft(option, node);
      const int64_t count = plan_.request(option).all ? static_cast<int64_t>(left.size())
                                                      : plan_.request(option).count;
      bound.AddNeed(count, left);
      wanted += static_cast<size_t>(count);
      for (const uint32_t device : left) {
        devices.insert(device);
        counters |= checks_.KindOf(device).consumes_counters;
        const bool share =
            checks_.DeviceAt(device).multiple && options_.features.consumable_capacity;
        if (share) bound.SetSlots(device, count + kMaxClaimResults);
      }
    }
  }
  if (single && !bound.Fits()) {
    NodeGroup& group = GroupOf({NodeStory::Cause::kSameDevices, 0, 0, ""}, node);
    group.counts.resize(1);
    group.counts[0].first.Add(devices.size());
    group.counts[0].second.Add(wanted);
    return;
  }
  GroupOf({counters ? NodeStory::Cause::kCounters : NodeStory::Cause::kTogether, 0, 0, ""}, node);
}

void NodeCauses::NoteConstraint(size_t node) {
  for (size_t c = 0; c < plan_.claims().size(); ++c) {
    const PlannedClaim& claim = plan_.claims()[c];
    for (size_t i = 0; i < claim.constraints.size(); ++i) {
      const bool only = plan_.claims().size() == 1 && claim.constraints.size() == 1;
      if (!only && !FitsWithout(std::make_pair(c, static_cast<int>(i)), node)) continue;
      NodeGroup& group = GroupOf({NodeStory::Cause::kConstraint, c, i, ""}, node);
      if (group.story.detail.empty()) group.story.detail = ValuesText(c, i, node);
      return;
    }
  }
  GroupOf({NodeStory::Cause::kConstraint, plan_.claims().size(), 0, ""}, node);
}

std::string NodeCauses::ValuesText(size_t c, size_t constraint, size_t node) {
  const ConstraintPlan& plan = plan_.claims()[c].constraints[constraint];
  std::map<std::string, std::vector<std::string>> values;
  for (uint32_t request = 0; request < plan_.request_count(); ++request) {
    if (!plan.applies[request] || plan_.request(request).claim != c) continue;
    for (const uint32_t device : survey_.DevicesLeft(request, node)) {
      std::vector<std::string>& devices = values[ValueText(plan.attribute, device)];
      const std::string text = checks_.ShortText(device);
      if (std::find(devices.begin(), devices.end(), text) == devices.end()) {
        devices.push_back(text);
      }
    }
  }
  std::vector<std::string> texts;
  for (const auto& [value, devices] : values) {
    if (texts.size() == kValuesShown) break;
    texts.push_back(absl::StrCat(value, " on ", devices.size(),
                                 devices.size() == 1 ? " device (" : " devices (", devices[0],
                                 devices.size() > 1 ? ", ..." : "", ")"));
  }
  const size_t more = values.size() - texts.size();
  return absl::StrCat(absl::StrJoin(texts, ", "),
                      more > 0 ? absl::StrCat(" and ", more, " more values") : "");
}

std::string NodeCauses::ValueText(const std::string& attribute, uint32_t device) {
  DeviceColumns& columns = catalog_.columns();
  const DeviceRow row = checks_.KindOf(device).row;
  const size_t slash = attribute.find('/');
  const LayoutId layout = columns.layout(row);
  const TextId driver = columns.driver(row);
  const bool full = slash != std::string::npos;
  const TextId domain = full ? columns.texts().Intern(attribute.substr(0, slash)) : driver;
  const TextId id = columns.texts().Intern(full ? attribute.substr(slash + 1) : attribute);
  int slot = columns.ExactAttributeSlot(layout, domain, id, /*bare=*/!full);
  if (slot < 0 && full && domain == driver) {
    slot = columns.ExactAttributeSlot(layout, domain, id, /*bare=*/true);
  }
  return slot < 0 ? "none"
                  : DeviceValueText(columns, columns.values(row)[static_cast<size_t>(slot)]);
}

std::string NodeCauses::ConstraintText(const NodeKey& key, const NodeGroup& found) const {
  const size_t c = std::get<1>(key);
  if (c == plan_.claims().size()) {
    return "every request has enough devices, but they do not meet the constraints together";
  }
  const PlannedClaim& claim = plan_.claims()[c];
  const ConstraintPlan& constraint = claim.constraints[std::get<2>(key)];
  std::vector<std::string> names;
  int64_t wanted = 0;
  for (const RequestGroup& group : claim.groups) {
    const bool applies =
        std::any_of(group.options.begin(), group.options.end(),
                    [&constraint](uint32_t option) { return constraint.applies[option]; });
    if (!applies) continue;
    names.push_back(group.name);
    wanted += plan_.request(group.options[0]).count;
  }
  const std::string values = absl::StrCat(
      wanted, " of them with ", constraint.distinct ? "different values of " : "the same value of ",
      constraint.attribute, constraint.distinct ? " (distinctAttribute)" : " (matchAttribute)",
      "; the values left: ", found.story.detail);
  const std::string head = absl::StrCat("claim ", claim.text(), ", ");
  if (names.size() == 1) {
    return absl::StrCat(head, "request ", names[0], ": it has enough devices, but no ", values);
  }
  return absl::StrCat(head, "requests ", absl::StrJoin(names, ", "),
                      ": each has enough devices, but there are no ", values);
}

void NodeCauses::NoteError(size_t node, DeviceStory* story) {
  StructuredAllocator& allocator = *allocator_;
  SearchErrorStory error;
  error.node = NodeName(node);
  error.message = allocator.Decide(*nodes_[node], claims_).error;
  FindErrorDevice(node, &error);
  story->error = std::move(error);
}

void NodeCauses::FindErrorDevice(size_t node, SearchErrorStory* error) {
  for (uint32_t request = 0; request < plan_.request_count(); ++request) {
    for (const DeviceSegment& segment : survey_.views()[node]->segments) {
      for (uint32_t device = segment.begin; device < segment.end; ++device) {
        const bool allowed = survey_.views()[node]->Allows(segment, device);
        if (!allowed && plan_.VerdictOf(request, checks_.DeviceAt(device).kind) !=
                            KindVerdict::kSelectorError) {
          continue;
        }
        if (!plan_.request(request).all && checks_.IsHeld(request, device)) continue;
        for (const FailedCheck& check : checks_.OfKind(request, checks_.DeviceAt(device).kind)) {
          if (!check.error) continue;
          error->device = checks_.IdOf(device).Text();
          error->clause = check.AsLoss();
          return;
        }
      }
    }
  }
}

std::string NodeCauses::KeyText(const NodeKey& key) {
  const auto& [cause, claim, request, stages] = key;
  return absl::StrCat("devices ", static_cast<int>(cause), " ", claim, " ", request, " ", stages);
}

void NodeCauses::Judge(DeviceStory* story) {
  allocator_ = StructuredAllocator::Make(held_, verdicts_, classes_);
  std::vector<AllocationOutcome> outcomes(survey_.views().size());
  allocator_->DecideAll(survey_.views(), claims_, absl::MakeSpan(outcomes));
  keys_.assign(survey_.views().size(), nullptr);
  for (size_t node = 0; node < survey_.views().size(); ++node) {
    switch (outcomes[node]) {
      case AllocationOutcome::kAllocated:
        ++story->fitting;
        break;
      case AllocationOutcome::kError:
        if (!story->error.has_value()) NoteError(node, story);
        GroupOf({NodeStory::Cause::kError, 0, 0, ""}, node);
        break;
      case AllocationOutcome::kNodeError:
        GroupOf({NodeStory::Cause::kInvalidPool, 0, 0, ""}, node);
        break;
      case AllocationOutcome::kDoesNotFit:
        if (!NoteTooFew(node)) NoteJoint(node);
        break;
    }
  }
  for (auto& [key, group] : node_groups_) {
    group.story.text = TextOf(key, group);
    group.story.key = KeyText(key);
    story->nodes.push_back(group.story);
  }
  std::stable_sort(story->nodes.begin(), story->nodes.end(),
                   [](const NodeStory& a, const NodeStory& b) { return a.nodes > b.nodes; });
  std::map<std::string, size_t> places;
  for (size_t i = 0; i < story->nodes.size(); ++i) places[story->nodes[i].key] = i;
  for (const NodeKey* key : keys_) {
    story->cause_of_node.push_back(key == nullptr ? DeviceStory::kFits : places.at(KeyText(*key)));
  }
}

std::string NodeCauses::TextOf(const NodeKey& key, const NodeGroup& group) const {
  switch (group.story.cause) {
    case NodeStory::Cause::kTooFew:
      return TooFewText(key, group);
    case NodeStory::Cause::kConstraint:
      return ConstraintText(key, group);
    case NodeStory::Cause::kSameDevices:
      return absl::StrCat("every request has enough devices, but they are the same ones: ",
                          group.counts[0].second.Text(), " wanted in all, ",
                          group.counts[0].first.Text(), " left in all");
    case NodeStory::Cause::kCounters:
      return "every request has enough devices, but the counters of their pools do not suffice "
             "for all of them together";
    case NodeStory::Cause::kTogether:
      return "every request has enough devices, but no choice of them fits all requests";
    case NodeStory::Cause::kInvalidPool:
      return "a pool of the node is invalid, and the others have too few devices";
    case NodeStory::Cause::kError:
      break;
  }
  return "the search for devices ended with an error";
}

}  // namespace drasim
