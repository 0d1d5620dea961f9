#include "policies/framework/profile.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "model/check.h"
#include "model/status_macros.h"

namespace drasim {
namespace {

// The order of kube-scheduler's default profile, then the direct front end's own filter.
constexpr const char* kDefaultPlugins[] = {"NodeUnschedulable", "TaintToleration", "NodeAffinity",
                                           "NodeResourcesFit",  "GpuShareFit",     "GroupLimit",
                                           "PrioritySort",      "DefaultBinder"};

}  // namespace

absl::Status Profile::Add(const Registry& registry, absl::string_view name,
                          const PolicyContext& context) {
  ASSIGN_OR_RETURN(std::unique_ptr<Plugin> made, registry.MakePlugin(name, context));
  AddPlugin(std::move(made));
  return absl::OkStatus();
}

void Profile::AddPlugin(std::unique_ptr<Plugin> plugin, bool first) {
  const auto base = static_cast<ReasonIndex>(reasons_.size());
  reason_base_.insert(first ? reason_base_.begin() : reason_base_.end(), base);
  for (const Reason& reason : plugin->reasons()) {
    reasons_.push_back(ListedText(reason.text));
    reason_kinds_.push_back(reason.kind);
  }
  DRASIM_CHECK_LT(reasons_.size(), 255u);
  const auto count = static_cast<ReasonIndex>(reasons_.size() - base);
  if ((plugin->points() & kFilter) != 0) filters_.push_back({plugin.get(), base, count});
  plugins_.insert(first ? plugins_.begin() : plugins_.end(), std::move(plugin));
}

ReasonIndex Profile::ReasonOf(const Plugin* plugin, ReasonIndex local) const {
  for (size_t i = 0; i < plugins_.size() && local != kFits; ++i) {
    if (plugins_[i].get() == plugin) return static_cast<ReasonIndex>(reason_base_[i] + local);
  }
  return kFits;
}

uint64_t Profile::RejectorsOf(const VerdictSummaryTable::Row& row) const {
  uint64_t mask = 0;
  for (size_t i = 0; i < filters_.size(); ++i) {
    for (const auto& [reason, nodes] : row.rejected) {
      if (filters_[i].gives(reason)) mask |= uint64_t{1} << i;
    }
  }
  return mask;
}

absl::StatusOr<Profile> Profile::Make(const Registry& registry, const ProfileOptions& options,
                                      const PolicyContext& context) {
  ASSIGN_OR_RETURN(const PolicyEntry* policy, registry.FindPolicy(options.policy));
  Profile profile;
  // First, for nothing else matters to such pods.
  if (context.holds) {
    RETURN_IF_ERROR(profile.Add(registry, "PodHold", context));
  }
  for (const char* name : kDefaultPlugins) {
    RETURN_IF_ERROR(profile.Add(registry, name, context));
  }
  // Its reasons would be in the way of clusters without MIG.
  if (context.mig) {
    RETURN_IF_ERROR(profile.Add(registry, "MigFit", context));
  }
  const std::vector<ScoreChoice>& score = options.score.empty() ? policy->score : options.score;
  for (const ScoreChoice& choice : score) {
    RETURN_IF_ERROR(profile.Add(registry, choice.plugin, context));
    Plugin* plugin = profile.plugins_.back().get();
    if ((plugin->points() & kScore) == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("plugin '", choice.plugin, "' has no Score extension point"));
    }
    if (choice.weight < 0 || choice.weight > 1'000'000) {
      return absl::InvalidArgumentError(absl::StrCat("plugin '", choice.plugin, "': weight ",
                                                     choice.weight,
                                                     " is not a whole number from 0 to 1000000"));
    }
    profile.scores_.push_back({plugin, choice.weight == 0 ? 1 : choice.weight});
  }
  for (const std::string& name : options.plugins) {
    RETURN_IF_ERROR(profile.Add(registry, name, context));
  }
  const std::string& chooser =
      options.device_chooser.empty() ? policy->allocator : options.device_chooser;
  for (const ScoreEntry& entry : profile.scores_) {
    if (chooser.empty() && profile.allocator_ == nullptr) {
      profile.allocator_ = entry.plugin->device_allocator();
    }
  }
  if (profile.allocator_ == nullptr) {
    ASSIGN_OR_RETURN(profile.own_allocator_,
                     registry.MakeAllocator(chooser.empty() ? "best" : chooser, context));
    profile.allocator_ = profile.own_allocator_.get();
  }
  return profile;
}

bool Profile::draws() const {
  return allocator_->draws() ||
         std::any_of(scores_.begin(), scores_.end(),
                     [](const ScoreEntry& entry) { return entry.plugin->score_draws(); });
}

std::vector<Plugin*> Profile::plugins_at(uint32_t points) const {
  std::vector<Plugin*> found;
  for (const auto& plugin : plugins_) {
    if ((plugin->points() & points) != 0) found.push_back(plugin.get());
  }
  return found;
}

void Profile::Save(StateWriter& out) const {
  out.Section("profile");
  for (const auto& plugin : plugins_) {
    out.Section(plugin->name());
    plugin->Save(out);
  }
}

absl::Status Profile::Load(StateReader& in) {
  in.Section("profile");
  for (const auto& plugin : plugins_) {
    in.Section(plugin->name());
    RETURN_IF_ERROR(plugin->Load(in));
  }
  return in.status();
}

}  // namespace drasim
