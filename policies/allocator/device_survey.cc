#include "policies/allocator/device_survey.h"

#include <algorithm>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace drasim {

absl::string_view DeviceStageName(DeviceStage stage) {
  constexpr absl::string_view kNames[] = {"nodes", "class", "selectors", "size",     "taints",
                                          "gates", "free",  "room",      "counters", "left"};
  return kNames[static_cast<size_t>(stage)];
}

DeviceSurvey::DeviceSurvey(NodePools* pools, ClaimPlan* plan, DeviceChecks* checks,
                           std::vector<const NodeView*> views, bool list_devices)
    : catalog_(pools->catalog()),
      options_(pools->options()),
      rules_(pools->rules()),
      plan_(*plan),
      checks_(*checks),
      views_(std::move(views)),
      lists_devices_(list_devices),
      requests_(plan->request_count()) {
  for (RequestWork& work : requests_) {
    work.first.assign(catalog_.devices().size(), kNotSeen);
    work.kind_losses.resize(catalog_.kinds().size());
  }
  for (size_t n = 0; n < views_.size(); ++n) LookAt(n);
}

void DeviceSurvey::AddExample(uint32_t device, DeviceLoss* loss) const {
  ++loss->devices;
  if (loss->examples.size() < kDevicesShown) loss->examples.push_back(checks_.ShortText(device));
}

DeviceLoss* DeviceSurvey::LossOf(const FailedCheck& check, RequestWork* work) {
  DeviceLoss& loss = work->losses[IndexOf(check.stage)][{check.why, check.found}];
  if (loss.why.empty()) {
    loss = check.AsLoss();
    loss.devices = 0;
  }
  loss.error |= check.error;
  return &loss;
}

void DeviceSurvey::NoteDevice(uint32_t request, uint32_t device, const PoolView& pool,
                              DeviceStage stage) {
  RequestWork& work = requests_[request];
  ++work.lost[IndexOf(stage)];
  if (stage == DeviceStage::kLeft) return;
  const uint32_t kind = checks_.DeviceAt(device).kind;
  const std::vector<FailedCheck>& checks = checks_.OfKind(request, kind);
  if (!checks.empty()) {
    DeviceLoss*& loss = work.kind_losses[kind];
    if (loss == nullptr) loss = LossOf(checks.front(), &work);
    AddExample(device, loss);
  } else {
    AddExample(device, LossOf(checks_.Of(request, device, pool).front(), &work));
  }
}

void DeviceSurvey::LookAt(size_t node) {
  const NodeView& view = *views_[node];
  for (RequestWork& work : requests_) {
    work.on_nodes.emplace_back();
    work.matching.push_back(0);
  }
  for (const DeviceSegment& segment : view.segments) {
    const bool operates = view.FitsOperations(segment, options_.features.optional_node_operations);
    for (uint32_t device = segment.begin; device < segment.end; ++device) {
      if (!view.Allows(segment, device)) {
        if (operates) NoteErrorElsewhere(device);
        continue;
      }
      if (!operates) {
        unfit_operations_.insert(device);
        continue;
      }
      for (uint32_t request = 0; request < requests_.size(); ++request) {
        LookAtDevice(request, device, *segment.pool, node);
      }
    }
  }
  for (const PoolView* pool : view.pools) {
    if (pool->incomplete || pool->invalid) troubled_.emplace(pool->pool, pool);
  }
}

void DeviceSurvey::NoteErrorElsewhere(uint32_t device) {
  if (!lists_devices_) return;
  for (uint32_t request = 0; request < requests_.size(); ++request) {
    if (plan_.VerdictOf(request, checks_.DeviceAt(device).kind) != KindVerdict::kSelectorError)
      continue;
    requests_[request].devices.push_back({checks_.IdOf(device).Text(), DeviceStage::kNodes,
                                          /*error=*/true, checks_.IsHeld(request, device)});
  }
}

void DeviceSurvey::LookAtDevice(uint32_t request, uint32_t device, const PoolView& pool,
                                size_t node) {
  if (plan_.request(request).device_class == nullptr) return;
  RequestWork& work = requests_[request];
  uint8_t& first = work.first[device];
  if (first == kNotSeen) {
    const DeviceStage stage = checks_.StageOf(request, device, pool);
    first = static_cast<uint8_t>(stage);
    NoteDevice(request, device, pool, stage);
    if (lists_devices_) {
      const std::vector<FailedCheck>& checks =
          checks_.OfKind(request, checks_.DeviceAt(device).kind);
      const bool error = std::any_of(checks.begin(), checks.end(),
                                     [](const FailedCheck& check) { return check.error; });
      work.devices.push_back(
          {checks_.IdOf(device).Text(), stage, error, checks_.IsHeld(request, device)});
    }
  }
  ++work.on_nodes[node][first];
  const KindVerdict verdict = plan_.VerdictOf(request, checks_.DeviceAt(device).kind);
  const bool counts = verdict == KindVerdict::kCandidate || verdict == KindVerdict::kRefused;
  if (counts && (rules_.all_by_size || !checks_.LacksRoom(request, device).has_value())) {
    ++work.matching[node];
  }
}

bool DeviceSurvey::IsEnough(uint32_t request, size_t node) const {
  const RequestWork& work = requests_[request];
  const RequestPlan& plan = plan_.request(request);
  const size_t left = work.on_nodes[node][IndexOf(DeviceStage::kLeft)];
  if (plan.all) return work.matching[node] > 0 && left >= work.matching[node];
  return static_cast<int64_t>(left) >= plan.count;
}

std::vector<uint32_t> DeviceSurvey::DevicesLeft(uint32_t request, size_t node) const {
  std::vector<uint32_t> left;
  const NodeView& view = *views_[node];
  for (const DeviceSegment& segment : view.segments) {
    for (uint32_t device = segment.begin; device < segment.end; ++device) {
      if (!view.Allows(segment, device)) continue;
      if (requests_[request].first[device] == IndexOf(DeviceStage::kLeft)) left.push_back(device);
    }
  }
  return left;
}

StageStory DeviceSurvey::NodesStage(size_t* published, size_t* pool_count) const {
  StageStory stage;
  std::map<uint32_t, DeviceLoss> by_pool;
  for (const auto& [index, view] : troubled_) by_pool[index] = TroubleOf(index, *view);
  DeviceLoss elsewhere;
  elsewhere.why = "for other nodes";
  DeviceLoss operations;
  operations.why = "of a driver that skips node operations";
  operations.found = "the nodes do not declare the feature DRAOptionalNodeOperations";
  const RequestWork* const work = requests_.empty() ? nullptr : &requests_[0];
  for (uint32_t index = 0; index < catalog_.pools().size(); ++index) {
    const std::vector<uint32_t>& slices = catalog_.pools()[index].slices;
    const int64_t latest = LatestGeneration(index);
    bool has_devices = false;
    for (const uint32_t slice_index : slices) {
      const CatalogSlice& slice = catalog_.slices()[slice_index];
      // A node may go by an older generation while the latest one is for other nodes.
      const bool is_older = slice.slice->spec().pool().generation() < latest;
      for (uint32_t device = slice.first_device; device < slice.end_device; ++device) {
        if (is_older && !IsSeen(device)) continue;
        has_devices = true;
        ++*published;
        if (work != nullptr && IsSeen(device)) {
          ++stage.left;
        } else if (unfit_operations_.count(device) > 0) {
          AddExample(device, &operations);
        } else if (const auto trouble = by_pool.find(index); trouble != by_pool.end()) {
          AddExample(device, &trouble->second);
        } else {
          AddExample(device, &elsewhere);
        }
      }
    }
    if (has_devices) ++*pool_count;
  }
  for (auto& [index, loss] : by_pool) stage.losses.push_back(std::move(loss));
  for (DeviceLoss* loss : {&operations, &elsewhere}) {
    if (loss->devices > 0) stage.losses.push_back(std::move(*loss));
  }
  return stage;
}

bool DeviceSurvey::IsSeen(uint32_t device) const {
  return std::any_of(requests_.begin(), requests_.end(),
                     [device](const RequestWork& work) { return work.first[device] != kNotSeen; });
}

int64_t DeviceSurvey::LatestGeneration(uint32_t pool) const {
  int64_t latest = 0;
  for (const uint32_t slice : catalog_.pools()[pool].slices) {
    latest = std::max(latest, catalog_.slices()[slice].slice->spec().pool().generation());
  }
  return latest;
}

DeviceLoss DeviceSurvey::TroubleOf(uint32_t index, const PoolView& view) const {
  const CatalogPool& pool = catalog_.pools()[index];
  DeviceLoss loss;
  if (view.invalid) {
    loss.why = absl::StrCat("in pool ", pool.Text(), ", which is invalid");
    loss.found = view.invalid_reason;
    return loss;
  }
  const int64_t latest = LatestGeneration(index);
  int64_t count = 0;
  size_t older = 0;
  std::vector<std::string> there;
  for (const uint32_t slice_index : pool.slices) {
    const proto::kube::ResourceSlice& slice = *catalog_.slices()[slice_index].slice;
    if (slice.spec().pool().generation() < latest) {
      ++older;
      continue;
    }
    count = slice.spec().pool().resource_slice_count();
    there.push_back(slice.metadata().name());
  }
  loss.why = absl::StrCat("in pool ", pool.Text(), ", which is incomplete");
  loss.transient = true;
  const size_t more = there.size() > kDevicesShown ? there.size() - kDevicesShown : 0;
  const std::string total = absl::StrCat(there.size());
  there.resize(there.size() - more);
  loss.found = absl::StrCat(
      total, " of ", count, " slices of generation ", latest, total == "1" ? " is" : " are",
      " there (", absl::StrJoin(there, ", "), more > 0 ? absl::StrCat(" and ", more, " more") : "",
      ")",
      older > 0 ? absl::StrCat("; ", older,
                               older == 1 ? " of an older one is" : " of older ones are", " left")
                : "");
  return loss;
}

void DeviceSurvey::SortLosses(StageStory* stage) {
  std::stable_sort(stage->losses.begin(), stage->losses.end(),
                   [](const DeviceLoss& a, const DeviceLoss& b) { return a.devices > b.devices; });
}

std::optional<NearDevice> DeviceSurvey::NearestOf(uint32_t request) {
  std::optional<std::tuple<size_t, size_t, size_t>> best;
  NearDevice nearest;
  std::vector<bool> seen(catalog_.devices().size());
  size_t order = 0;
  for (const NodeView* view : views_) {
    for (const DeviceSegment& segment : view->segments) {
      for (uint32_t device = segment.begin; device < segment.end; ++device) {
        const uint8_t first = requests_[request].first[device];
        if (seen[device] || first == kNotSeen) continue;
        seen[device] = true;
        if (first == IndexOf(DeviceStage::kLeft)) continue;
        size_t fails = checks_.OfKind(request, checks_.DeviceAt(device).kind).size();
        const bool is_held = checks_.IsHeld(request, device);
        fails += is_held ? 1U : 0U;
        fails += checks_.LacksRoom(request, device).has_value() ? 1U : 0U;
        const std::tuple<size_t, size_t, size_t> rank = {std::max<size_t>(fails, 1),
                                                         kStages - first, order++};
        if (best.has_value() && !(rank < *best)) continue;
        best = rank;
        nearest.device = checks_.IdOf(device).Text();
        nearest.fails.clear();
        for (const FailedCheck& check : checks_.Of(request, device, *segment.pool)) {
          nearest.fails.push_back(check.AsLoss());
        }
      }
    }
  }
  if (!best.has_value()) return std::nullopt;
  return nearest;
}

RequestStory DeviceSurvey::StoryOf(uint32_t request) {
  const RequestPlan& plan = plan_.request(request);
  RequestWork& work = requests_[request];
  RequestStory story;
  story.name = plan.result_name;
  story.all = plan.all;
  story.wanted = plan.count;
  story.admin = plan.admin;
  story.error = plan.error;
  const PlannedClaim& claim = plan_.claims()[plan.claim];
  const auto& proto = claim.claim.devices->requests(static_cast<int>(plan.group));
  if (plan.parent.empty()) {
    story.device_class = proto.exactly().device_class_name();
  } else {
    const std::vector<uint32_t>& options = claim.groups[plan.group].options;
    const auto at = std::find(options.begin(), options.end(), request) - options.begin();
    story.device_class = proto.first_available(static_cast<int>(at)).device_class_name();
  }
  if (!story.error.empty()) return story;
  story.stages.push_back(NodesStage(&story.published, &story.pools));
  size_t left = story.stages.back().left;
  SortLosses(&story.stages.back());
  for (size_t i = IndexOf(DeviceStage::kClass); i < IndexOf(DeviceStage::kLeft); ++i) {
    StageStory& stage = story.stages.emplace_back();
    stage.stage = static_cast<DeviceStage>(i);
    left -= work.lost[i];
    stage.left = left;
    for (auto& [key, loss] : work.losses[i]) stage.losses.push_back(loss);
    SortLosses(&stage);
  }
  for (size_t node = 0; node < views_.size(); ++node) {
    story.nodes_enough += IsEnough(request, node) ? 1U : 0U;
    story.most_on_node =
        std::max(story.most_on_node, work.on_nodes[node][IndexOf(DeviceStage::kLeft)]);
  }
  if (story.nodes_enough == 0) story.nearest = NearestOf(request);
  story.devices = std::move(work.devices);
  return story;
}

std::vector<ClaimStory> DeviceSurvey::MakeClaims() {
  std::vector<ClaimStory> claims;
  for (const PlannedClaim& claim : plan_.claims()) {
    ClaimStory& story = claims.emplace_back();
    story.claim = claim.text();
    story.error = claim.error;
    for (const RequestGroup& group : claim.groups) {
      GroupStory& of_group = story.requests.emplace_back();
      of_group.name = group.name;
      of_group.error = group.error;
      of_group.prioritized = group.prioritized;
      for (const uint32_t option : group.options) of_group.options.push_back(StoryOf(option));
    }
  }
  return claims;
}

}  // namespace drasim
