// A scheduler profile: the plugins of one run, made from a policy and its options.
#ifndef DRASIM_POLICIES_FRAMEWORK_PROFILE_H_
#define DRASIM_POLICIES_FRAMEWORK_PROFILE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/record.h"
#include "policies/framework/device_allocator.h"
#include "policies/framework/plugin.h"
#include "policies/framework/profile_spec.h"
#include "policies/framework/registry.h"

namespace drasim {

struct ProfileOptions {
  std::string policy;
  std::vector<ScoreChoice> score;    // replaces the policy's score plugins unless empty
  std::vector<std::string> plugins;  // run after the policy's
  std::string device_chooser;        // replaces the policy's unless empty
};

// Owns its plugins. The list of plugins is fixed after Make (and AddPlugin); their state changes
// with the run.
class Profile {
 public:
  struct FilterEntry {
    FilterPlugin* plugin;
    ReasonIndex reason_base;   // verdict r of the plugin is reason reason_base + r of the profile
    ReasonIndex reason_count;  // of the plugin

    bool gives(ReasonIndex reason) const {
      return reason > reason_base && reason - reason_base <= reason_count;
    }
  };
  struct ScoreEntry {
    ScorePlugin* plugin;
    int64_t weight;
  };

  // A policy of the registry: every plugin serves at all points that it implements, except that
  // only the listed ones score.
  static absl::StatusOr<Profile> Make(const Registry& registry, const ProfileOptions& options,
                                      const PolicyContext& context);
  // A profile of a KubeSchedulerConfiguration: the plugins of each point as the specification lists
  // them. Each plugin is made once, however many points name it, with its own arguments as
  // PolicyContext::args. InvalidArgument for an unknown plugin, and for one that lacks a point
  // where it is listed, or is listed there twice. `device_chooser`: of devices that the cluster may
  // have beside; empty: "best".
  static absl::StatusOr<Profile> MakeKube(const Registry& registry, const ProfileSpec& spec,
                                          const PolicyContext& context,
                                          const std::string& device_chooser = "");

  // The plugins of each point, in order.
  const std::vector<PreEnqueuePlugin*>& pre_enqueues() const { return pre_enqueues_; }
  const std::vector<QueueSortPlugin*>& queue_sorts() const { return queue_sorts_; }
  const std::vector<PreFilterPlugin*>& pre_filters() const { return pre_filters_; }
  const std::vector<FilterEntry>& filters() const { return filters_; }
  // Node restrictions of the plugins that filter.
  const std::vector<NodeRestrictionPlugin*>& restrictions() const { return restrictions_; }
  const std::vector<PostFilterPlugin*>& post_filters() const { return post_filters_; }
  const std::vector<ScorePlugin*>& pre_scores() const { return pre_scores_; }
  const std::vector<ScoreEntry>& scores() const { return scores_; }
  const std::vector<ReservePlugin*>& reserves() const { return reserves_; }
  const std::vector<PermitPlugin*>& permits() const { return permits_; }
  const std::vector<PreBindPlugin*>& pre_binds() const { return pre_binds_; }
  const std::vector<BindPlugin*>& binds() const { return binds_; }
  const std::vector<PostBindPlugin*>& post_binds() const { return post_binds_; }
  // All plugins that may reject a pod: first those of filters(), in that order.
  const std::vector<RequeuePlugin*>& requeues() const { return requeues_; }
  // Filters that fail because the profile leaves out their PreFilter, and score plugins that fail
  // for want of their PreScore: bits by place in filters() and scores().
  uint64_t unprepared_filters() const { return unprepared_filters_; }
  uint64_t unprepared_scores() const { return unprepared_scores_; }
  // The place of a plugin in that list, a bit of a set of rejectors; 63 plugins at most.
  // The size of the list for a plugin that is not in it. O(plugins).
  size_t RequeueIndex(const Plugin* plugin) const;

  // Settings of a KubeSchedulerConfiguration.
  const std::string& scheduler_name() const { return scheduler_name_; }
  int32_t percentage_of_nodes() const { return percentage_of_nodes_; }

  DeviceAllocator& allocator() const { return *allocator_; }
  // Adds a plugin after those of the policy, or before them (its Filter always runs last). For
  // extensions and tests; the profile must not be in use yet.
  void AddPlugin(std::unique_ptr<Plugin> plugin, bool first = false);
  // Lets a plugin of the profile score nodes, after those that do already.
  void AddScore(ScorePlugin* plugin, int64_t weight);
  // The profile's reason for reason `local` (1-based) of one of its plugins; kFits for kFits.
  ReasonIndex ReasonOf(const Plugin* plugin, ReasonIndex local) const;
  // The plugin that gives a reason of the profile, by name, and the reason's number there.
  // REQUIRES: the reason exists. O(plugins).
  struct ReasonSource {
    absl::string_view plugin;
    ReasonIndex local = kFits;
    bool operator==(const ReasonSource&) const = default;
  };
  ReasonSource SourceOf(ReasonIndex reason) const;
  // The filters that gave a summary's reasons: bit i stands for filters()[i] and requeues()[i].
  uint64_t RejectorsOf(const VerdictSummaryTable::Row& row) const;
  // Texts of reason indices 1, 2, ... over all plugins, and their kinds.
  const std::vector<std::string>& reasons() const { return reasons_; }
  const std::vector<ReasonKind>& reason_kinds() const { return reason_kinds_; }
  // Whether choosing a node, or devices of it, draws random numbers of the run.
  bool draws() const;

  void Save(StateWriter& out) const;
  absl::Status Load(StateReader& in);

 private:
  // Makes a plugin and owns it; it serves at no point yet.
  absl::StatusOr<Plugin*> Add(const Registry& registry, absl::string_view name,
                              const PolicyContext& context);
  void Own(std::unique_ptr<Plugin> plugin, bool first);
  // Puts the plugin into the list of every point that it implements, except Score.
  void ServeEverywhere(Plugin* plugin, bool first);
  void AddFilter(FilterPlugin* plugin);
  void ListRequeues();
  void ListUnprepared();
  absl::Status ChooseAllocator(const Registry& registry, const std::string& chooser,
                               const PolicyContext& context);

  std::vector<std::unique_ptr<Plugin>> plugins_;
  std::vector<ReasonIndex> reason_base_;  // beside plugins_
  std::vector<PreEnqueuePlugin*> pre_enqueues_;
  std::vector<QueueSortPlugin*> queue_sorts_;
  std::vector<PreFilterPlugin*> pre_filters_;
  std::vector<FilterEntry> filters_;
  std::vector<NodeRestrictionPlugin*> restrictions_;
  std::vector<PostFilterPlugin*> post_filters_;
  std::vector<ScorePlugin*> pre_scores_;
  std::vector<ScoreEntry> scores_;
  std::vector<ReservePlugin*> reserves_;
  std::vector<PermitPlugin*> permits_;
  std::vector<PreBindPlugin*> pre_binds_;
  std::vector<BindPlugin*> binds_;
  std::vector<PostBindPlugin*> post_binds_;
  std::vector<RequeuePlugin*> requeues_;
  uint64_t unprepared_filters_ = 0;
  uint64_t unprepared_scores_ = 0;
  std::unique_ptr<DeviceAllocator> own_allocator_;  // null: a plugin is the allocator
  DeviceAllocator* allocator_ = nullptr;
  std::string scheduler_name_;
  int32_t percentage_of_nodes_ = 0;
  std::vector<std::string> reasons_;
  std::vector<ReasonKind> reason_kinds_;  // beside reasons_
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_FRAMEWORK_PROFILE_H_
