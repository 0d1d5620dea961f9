#include "policies/framework/profile.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "model/check.h"
#include "model/status_macros.h"

namespace drasim {
namespace {

// The order of kube-scheduler's default profile, then the direct front end's own filter.
constexpr const char* kDefaultPlugins[] = {"NodeUnschedulable", "TaintToleration", "NodeAffinity",
                                           "NodeResourcesFit",  "GpuShareFit",     "GroupLimit",
                                           "PrioritySort",      "DefaultBinder"};

// Reason indices end below kNotThere of the scheduling cycle.
constexpr size_t kMostReasons = 255;
// Bits of a set of rejectors; the last one stands for plugins that are not in the list.
constexpr std::ptrdiff_t kMostRequeues = 63;

// Appends the plugin to the list of its point, or puts it first.
template <typename Point>
void Serve(Plugin* plugin, bool first, std::vector<Point*>* list) {
  Point* const point = dynamic_cast<Point*>(plugin);
  if (point != nullptr) list->insert(first ? list->begin() : list->end(), point);
}

absl::Status CheckWeight(const ScoreChoice& choice) {
  if (choice.weight >= 0 && choice.weight <= 1'000'000) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("plugin '", choice.plugin, "': weight ",
                                                 choice.weight,
                                                 " is not a whole number from 0 to 1000000"));
}

int64_t WeightOf(const ScoreChoice& choice) { return choice.weight == 0 ? 1 : choice.weight; }

absl::Status LacksPoint(absl::string_view plugin, absl::string_view point) {
  return absl::InvalidArgumentError(
      absl::StrCat("plugin '", plugin, "' has no ", point, " extension point"));
}

}  // namespace

absl::StatusOr<Plugin*> Profile::Add(const Registry& registry, absl::string_view name,
                                     const PolicyContext& context) {
  ASSIGN_OR_RETURN(std::unique_ptr<Plugin> made, registry.MakePlugin(name, context));
  const auto rejects = [](const auto& plugin) {
    return dynamic_cast<const RequeuePlugin*>(plugin.get()) != nullptr;
  };
  if (reasons_.size() + made->reasons().size() >= kMostReasons ||
      (rejects(made) && absl::c_count_if(plugins_, rejects) >= kMostRequeues)) {
    return absl::InvalidArgumentError(
        absl::StrCat("plugin '", name, "': too many plugins that may reject a pod"));
  }
  Plugin* const plugin = made.get();
  Own(std::move(made), false);
  return plugin;
}

void Profile::Own(std::unique_ptr<Plugin> plugin, bool first) {
  const auto base = static_cast<ReasonIndex>(reasons_.size());
  reason_base_.insert(first ? reason_base_.begin() : reason_base_.end(), base);
  for (const Reason& reason : plugin->reasons()) {
    reasons_.push_back(ListedText(reason.text));
    reason_kinds_.push_back(reason.kind);
  }
  DRASIM_CHECK_LT(reasons_.size(), kMostReasons);
  plugins_.insert(first ? plugins_.begin() : plugins_.end(), std::move(plugin));
}

void Profile::AddFilter(FilterPlugin* plugin) {
  size_t i = 0;
  while (plugins_[i].get() != static_cast<Plugin*>(plugin)) ++i;
  filters_.push_back({plugin, reason_base_[i], static_cast<ReasonIndex>(plugin->reasons().size())});
}

void Profile::ServeEverywhere(Plugin* plugin, bool first) {
  if (auto* const filter = dynamic_cast<FilterPlugin*>(plugin)) AddFilter(filter);
  Serve(plugin, first, &pre_enqueues_);
  Serve(plugin, first, &queue_sorts_);
  Serve(plugin, first, &pre_filters_);
  Serve(plugin, first, &restrictions_);
  Serve(plugin, first, &post_filters_);
  Serve(plugin, first, &reserves_);
  Serve(plugin, first, &permits_);
  Serve(plugin, first, &pre_binds_);
  Serve(plugin, first, &binds_);
  Serve(plugin, first, &post_binds_);
}

void Profile::AddPlugin(std::unique_ptr<Plugin> plugin, bool first) {
  Plugin* const added = plugin.get();
  Own(std::move(plugin), first);
  ServeEverywhere(added, first);
  ListRequeues();
}

void Profile::AddScore(ScorePlugin* plugin, int64_t weight) { scores_.push_back({plugin, weight}); }

void Profile::ListRequeues() {
  requeues_.clear();
  for (const FilterEntry& filter : filters_) requeues_.push_back(filter.plugin);
  for (const auto& plugin : plugins_) {
    auto* const requeue = dynamic_cast<RequeuePlugin*>(plugin.get());
    if (requeue != nullptr && RequeueIndex(requeue) == requeues_.size()) {
      requeues_.push_back(requeue);
    }
  }
  DRASIM_CHECK_LE(requeues_.size(), size_t{kMostRequeues});
}

void Profile::ListUnprepared() {
  const auto lists = [](const auto& plugins, const Plugin* wanted) {
    return std::any_of(plugins.begin(), plugins.end(),
                       [wanted](const Plugin* plugin) { return plugin == wanted; });
  };
  unprepared_filters_ = 0;
  for (size_t f = 0; f < filters_.size(); ++f) {
    const FilterPlugin* const plugin = filters_[f].plugin;
    if (plugin->WithoutPreFilter().empty() || lists(pre_filters_, plugin)) continue;
    unprepared_filters_ |= uint64_t{1} << f;
  }
  unprepared_scores_ = 0;
  for (size_t s = 0; s < scores_.size(); ++s) {
    const ScorePlugin* const plugin = scores_[s].plugin;
    if (plugin->WithoutPreScore().empty() || lists(pre_scores_, plugin)) continue;
    unprepared_scores_ |= uint64_t{1} << s;
  }
}

size_t Profile::RequeueIndex(const Plugin* plugin) const {
  size_t i = 0;
  while (i < requeues_.size() && static_cast<const Plugin*>(requeues_[i]) != plugin) ++i;
  return i;
}

ReasonIndex Profile::ReasonOf(const Plugin* plugin, ReasonIndex local) const {
  for (size_t i = 0; i < plugins_.size() && local != kFits; ++i) {
    if (plugins_[i].get() == plugin) return static_cast<ReasonIndex>(reason_base_[i] + local);
  }
  return kFits;
}

Profile::ReasonSource Profile::SourceOf(ReasonIndex reason) const {
  // The source is the last plugin whose reasons begin before this one.
  size_t source = plugins_.size();
  for (size_t i = 0; i < plugins_.size(); ++i) {
    if (reason_base_[i] >= reason || plugins_[i]->reasons().empty()) continue;
    if (source == plugins_.size() || reason_base_[i] > reason_base_[source]) source = i;
  }
  DRASIM_CHECK(source < plugins_.size());
  return {plugins_[source]->name(), static_cast<ReasonIndex>(reason - reason_base_[source])};
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
  std::vector<std::string> names;
  // First, for nothing else matters to such pods.
  if (context.holds) names.emplace_back("PodHold");
  names.insert(names.end(), std::begin(kDefaultPlugins), std::end(kDefaultPlugins));
  // Its reasons would be in the way of clusters without MIG.
  if (context.mig) names.emplace_back("MigFit");
  for (const std::string& name : names) {
    ASSIGN_OR_RETURN(Plugin* const plugin, profile.Add(registry, name, context));
    profile.ServeEverywhere(plugin, false);
  }
  for (const ScoreChoice& choice : options.score.empty() ? policy->score : options.score) {
    ASSIGN_OR_RETURN(Plugin* const plugin, profile.Add(registry, choice.plugin, context));
    profile.ServeEverywhere(plugin, false);
    auto* const score = dynamic_cast<ScorePlugin*>(plugin);
    if (score == nullptr) return LacksPoint(choice.plugin, "Score");
    RETURN_IF_ERROR(CheckWeight(choice));
    profile.pre_scores_.push_back(score);
    profile.scores_.push_back({score, WeightOf(choice)});
  }
  for (const std::string& name : options.plugins) {
    ASSIGN_OR_RETURN(Plugin* const plugin, profile.Add(registry, name, context));
    profile.ServeEverywhere(plugin, false);
  }
  profile.ListRequeues();
  RETURN_IF_ERROR(profile.ChooseAllocator(
      registry, options.device_chooser.empty() ? policy->allocator : options.device_chooser,
      context));
  return profile;
}

absl::Status Profile::ChooseAllocator(const Registry& registry, const std::string& chooser,
                                      const PolicyContext& context) {
  for (const ScoreEntry& entry : scores_) {
    if (chooser.empty() && allocator_ == nullptr) allocator_ = entry.plugin->device_allocator();
  }
  if (allocator_ != nullptr) return absl::OkStatus();
  ASSIGN_OR_RETURN(own_allocator_,
                   registry.MakeAllocator(chooser.empty() ? "best" : chooser, context));
  allocator_ = own_allocator_.get();
  return absl::OkStatus();
}

absl::StatusOr<Profile> Profile::MakeKube(const Registry& registry, const ProfileSpec& spec,
                                          const PolicyContext& context,
                                          const std::string& device_chooser) {
  Profile profile;
  profile.scheduler_name_ = spec.scheduler_name;
  profile.percentage_of_nodes_ = spec.percentage_of_nodes;
  std::map<std::string, Plugin*> made;
  PolicyContext own = context;
  const auto make = [&](const std::string& name) -> absl::StatusOr<Plugin*> {
    Plugin*& plugin = made[name];
    if (plugin != nullptr) return plugin;
    const auto args = spec.args.find(name);
    own.args = args == spec.args.end() ? nullptr : &args->second;
    absl::StatusOr<Plugin*> added = profile.Add(registry, name, own);
    if (!added.ok()) return absl::InvalidArgumentError(added.status().message());
    return plugin = *added;
  };
  const auto list = [&]<typename Point>(const std::vector<std::string>& names,
                                        absl::string_view point,
                                        std::vector<Point*>* plugins) -> absl::Status {
    for (const std::string& name : names) {
      ASSIGN_OR_RETURN(Plugin* const plugin, make(name));
      auto* const found = dynamic_cast<Point*>(plugin);
      if (found == nullptr) return LacksPoint(name, point);
      if (absl::c_linear_search(*plugins, found)) {
        return absl::InvalidArgumentError(
            absl::StrCat("plugin '", name, "' is listed twice at ", point));
      }
      plugins->push_back(found);
    }
    return absl::OkStatus();
  };
  std::vector<FilterPlugin*> filters;
  RETURN_IF_ERROR(list(spec.pre_enqueue, "PreEnqueue", &profile.pre_enqueues_));
  RETURN_IF_ERROR(list({spec.queue_sort}, "QueueSort", &profile.queue_sorts_));
  RETURN_IF_ERROR(list(spec.pre_filter, "PreFilter", &profile.pre_filters_));
  RETURN_IF_ERROR(list(spec.filter, "Filter", &filters));
  RETURN_IF_ERROR(list(spec.post_filter, "PostFilter", &profile.post_filters_));
  RETURN_IF_ERROR(list(spec.pre_score, "PreScore", &profile.pre_scores_));
  std::vector<ScorePlugin*> scores;
  for (const ScoreChoice& choice : spec.score) {
    RETURN_IF_ERROR(list({choice.plugin}, "Score", &scores));
    RETURN_IF_ERROR(CheckWeight(choice));
    profile.scores_.push_back({scores.back(), WeightOf(choice)});
  }
  RETURN_IF_ERROR(list(spec.reserve, "Reserve", &profile.reserves_));
  RETURN_IF_ERROR(list(spec.permit, "Permit", &profile.permits_));
  RETURN_IF_ERROR(list(spec.pre_bind, "PreBind", &profile.pre_binds_));
  RETURN_IF_ERROR(list(spec.bind, "Bind", &profile.binds_));
  RETURN_IF_ERROR(list(spec.post_bind, "PostBind", &profile.post_binds_));
  for (FilterPlugin* const filter : filters) {
    profile.AddFilter(filter);
    Serve(filter, false, &profile.restrictions_);
  }
  profile.ListRequeues();
  profile.ListUnprepared();
  RETURN_IF_ERROR(profile.ChooseAllocator(registry, device_chooser, context));
  return profile;
}

bool Profile::draws() const {
  return allocator_->draws() ||
         std::any_of(scores_.begin(), scores_.end(),
                     [](const ScoreEntry& entry) { return entry.plugin->score_draws(); });
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
