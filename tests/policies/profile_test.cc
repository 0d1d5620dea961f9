// Profiles of KubeSchedulerConfigurations, and the lists of plugins by point.

#include "policies/framework/profile.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/state_io.h"
#include "policies/builtins.h"
#include "policies/framework/plugin.h"
#include "policies/framework/plugin_args.h"
#include "policies/framework/profile_spec.h"
#include "policies/framework/registry.h"
#include "tests/testing/assert_ok.h"
#include "tests/testing/cluster_builder.h"

namespace drasim {
namespace profile_test {

using testing::ElementsAre;
using testing::IsEmpty;
using Names = std::vector<std::string>;

// Serves at every point but QueueSort and Filter.
class Everywhere : public PreEnqueuePlugin,
                   public PreFilterPlugin,
                   public PostFilterPlugin,
                   public ScorePlugin,
                   public ReservePlugin,
                   public PermitPlugin,
                   public PreBindPlugin,
                   public BindPlugin,
                   public PostBindPlugin,
                   public RequeuePlugin {
 public:
  explicit Everywhere(std::string name) : name_(std::move(name)) {}
  absl::string_view name() const override { return name_; }
  std::vector<Reason> reasons() const override {
    return {{ReasonKind::kOther, "not here"}, {ReasonKind::kOther, "not there"}};
  }
  StepResult PreEnqueue(const PodContext&) override { return {}; }
  StepResult PreFilter(const PodContext&, const ClusterState&) override { return {}; }
  PostFilterResult PostFilter(const PodContext&, PostFilterHandle&) override { return {}; }
  void Score(const PodContext&, const ClusterState&, absl::Span<const NodeId>,
             absl::Span<int64_t>) override {}
  StepResult Reserve(const PodContext&, const ClusterState&, NodeId) override { return {}; }
  void Unreserve(const PodContext&, const ClusterState&, NodeId) override {}
  StepResult Permit(const PodContext&, const ClusterState&, NodeId) override { return {}; }
  StepResult PreBind(const PodContext&, const ClusterState&, NodeId) override { return {}; }
  StepResult Bind(const PodContext&, const ClusterState&, NodeId) override { return {}; }
  void PostBind(const PodContext&, const ClusterState&, NodeId) override {}

 private:
  std::string name_;
};

// Filters, and restricts single pods.
class Fence : public FilterPlugin, public NodeRestrictionPlugin {
 public:
  explicit Fence(std::string name) : name_(std::move(name)) {}
  absl::string_view name() const override { return name_; }
  std::vector<Reason> reasons() const override { return {{ReasonKind::kOther, "fenced"}}; }
  void Filter(const PodContext&, const ClusterState&, absl::Span<const NodeId>,
              absl::Span<ReasonIndex>) const override {}
  NodeRestriction Restriction(const PodContext&) override { return {}; }

 private:
  std::string name_;
};

// The number of times a plugin was made, and its arguments.
struct Made {
  int times = 0;
  bool had_args = false;
  VolumeBindingArgs args;
};

Registry RegistryWith(Made* made) {
  Registry registry;
  RegisterBuiltins(registry);
  for (const char* const name : {"EveryA", "EveryB"}) {
    registry.AddPlugin(name, [name, made](const PolicyContext& context) {
      ++made->times;
      if (context.args != nullptr) {
        made->had_args = true;
        made->args = ArgsOr<VolumeBindingArgs>(*context.args);
      }
      return std::make_unique<Everywhere>(name);
    });
  }
  for (const char* const name : {"FenceA", "FenceB"}) {
    registry.AddPlugin(name,
                       [name](const PolicyContext&) { return std::make_unique<Fence>(name); });
  }
  return registry;
}

template <typename Plugins>
Names NamesOf(const Plugins& plugins) {
  Names names;
  for (const auto* plugin : plugins) names.emplace_back(plugin->name());
  return names;
}

ProfileSpec WithEverything() {
  ProfileSpec spec;
  spec.scheduler_name = "gpu-scheduler";
  spec.percentage_of_nodes = 37;
  spec.pre_enqueue = {"EveryB", "EveryA"};
  spec.pre_filter = {"EveryA"};
  spec.filter = {"FenceB", "FenceA"};
  spec.post_filter = {"EveryB"};
  spec.pre_score = {"EveryA", "EveryB"};
  spec.score = {{"EveryB", 3}, {"EveryA", 0}};
  spec.reserve = {"EveryA", "EveryB"};
  spec.permit = {"EveryB"};
  spec.pre_bind = {"EveryA"};
  spec.bind = {"EveryB", "DefaultBinder"};
  spec.post_bind = {"EveryA"};
  return spec;
}

TEST(KubeProfileTest, PluginsServeWhereTheyAreListedAndInThatOrder) {
  Made made;
  const Registry registry = RegistryWith(&made);
  ASSERT_OK_AND_ASSIGN(const Profile profile,
                       Profile::MakeKube(registry, WithEverything(), PolicyContext()));
  EXPECT_EQ(made.times, 2);
  EXPECT_FALSE(made.had_args);
  EXPECT_EQ(profile.scheduler_name(), "gpu-scheduler");
  EXPECT_EQ(profile.percentage_of_nodes(), 37);
  EXPECT_THAT(NamesOf(profile.pre_enqueues()), ElementsAre("EveryB", "EveryA"));
  EXPECT_THAT(NamesOf(profile.queue_sorts()), ElementsAre("PrioritySort"));
  EXPECT_THAT(NamesOf(profile.pre_filters()), ElementsAre("EveryA"));
  EXPECT_THAT(NamesOf(profile.restrictions()), ElementsAre("FenceB", "FenceA"));
  EXPECT_THAT(NamesOf(profile.post_filters()), ElementsAre("EveryB"));
  EXPECT_THAT(NamesOf(profile.pre_scores()), ElementsAre("EveryA", "EveryB"));
  EXPECT_THAT(NamesOf(profile.reserves()), ElementsAre("EveryA", "EveryB"));
  EXPECT_THAT(NamesOf(profile.permits()), ElementsAre("EveryB"));
  EXPECT_THAT(NamesOf(profile.pre_binds()), ElementsAre("EveryA"));
  EXPECT_THAT(NamesOf(profile.binds()), ElementsAre("EveryB", "DefaultBinder"));
  EXPECT_THAT(NamesOf(profile.post_binds()), ElementsAre("EveryA"));
  ASSERT_EQ(profile.scores().size(), 2u);
  EXPECT_EQ(profile.scores()[0].plugin->name(), "EveryB");
  EXPECT_EQ(profile.scores()[0].weight, 3);
  EXPECT_EQ(profile.scores()[1].plugin->name(), "EveryA");
  EXPECT_EQ(profile.scores()[1].weight, 1);
  EXPECT_EQ(profile.allocator().name(), "best");
}

// Filters come first, whatever the order in which plugins were made.
TEST(KubeProfileTest, RejectorsAreTheFiltersAndThenAllOthersThatReject) {
  Made made;
  const Registry registry = RegistryWith(&made);
  ASSERT_OK_AND_ASSIGN(const Profile profile,
                       Profile::MakeKube(registry, WithEverything(), PolicyContext()));
  EXPECT_THAT(NamesOf(profile.requeues()), ElementsAre("FenceB", "FenceA", "EveryB", "EveryA"));
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(profile.RequeueIndex(profile.requeues()[i]), i);
  EXPECT_EQ(profile.RequeueIndex(profile.queue_sorts()[0]), 4u);
  // Reasons are numbered over all plugins.
  EXPECT_THAT(profile.reasons(),
              ElementsAre("not here", "not there", "not here", "not there", "fenced", "fenced"));
  EXPECT_EQ(profile.ReasonOf(profile.permits()[0], 2), 2);
  EXPECT_EQ(profile.ReasonOf(profile.pre_filters()[0], 1), 3);
  EXPECT_EQ(profile.ReasonOf(profile.requeues()[1], 1), 6);
  EXPECT_TRUE(profile.filters()[0].gives(5));
  EXPECT_FALSE(profile.filters()[0].gives(6));
  EXPECT_TRUE(profile.filters()[1].gives(6));
  VerdictSummaryTable::Row row;
  row.nodes = 3;
  row.rejected = {{6, 3}};
  EXPECT_EQ(profile.RejectorsOf(row), uint64_t{1} << 1);
}

TEST(KubeProfileTest, APluginGetsItsOwnArguments) {
  Made made;
  const Registry registry = RegistryWith(&made);
  ProfileSpec spec;
  spec.permit = {"EveryB"};
  VolumeBindingArgs args;
  args.bind_timeout_seconds = 17;
  spec.args["EveryB"] = args;
  spec.args["DefaultBinder"] = DefaultPreemptionArgs();
  ASSERT_TRUE(Profile::MakeKube(registry, spec, PolicyContext()).ok());
  EXPECT_TRUE(made.had_args);
  EXPECT_EQ(made.args.bind_timeout_seconds, 17);
  made = Made();
  spec.permit = {"EveryA"};
  ASSERT_TRUE(Profile::MakeKube(registry, spec, PolicyContext()).ok());
  EXPECT_EQ(made.times, 1);
  EXPECT_FALSE(made.had_args);
}

TEST(KubeProfileTest, SaysWhatIsWrong) {
  Made made;
  const Registry registry = RegistryWith(&made);
  const auto failure = [&registry](const ProfileSpec& spec) {
    const absl::Status status = Profile::MakeKube(registry, spec, PolicyContext()).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    return std::string(status.message());
  };
  ProfileSpec spec;
  spec.reserve = {"EvryA"};
  EXPECT_EQ(failure(spec), "unknown plugin 'EvryA' (did you mean 'EveryA'?)");
  spec = ProfileSpec();
  spec.queue_sort = "DefaultBinder";
  EXPECT_EQ(failure(spec), "plugin 'DefaultBinder' has no QueueSort extension point");
  spec = ProfileSpec();
  spec.score = {{"FenceA", 1}};
  EXPECT_EQ(failure(spec), "plugin 'FenceA' has no Score extension point");
  spec.score = {{"EveryA", 1}, {"EveryA", 2}};
  EXPECT_EQ(failure(spec), "plugin 'EveryA' is listed twice at Score");
  spec.score = {{"EveryA", -1}};
  EXPECT_EQ(failure(spec), "plugin 'EveryA': weight -1 is not a whole number from 0 to 1000000");
  spec = ProfileSpec();
  spec.filter = {"FenceA", "EveryA"};
  EXPECT_EQ(failure(spec), "plugin 'EveryA' has no Filter extension point");
}

TEST(ProfileTest, AnAddedPluginServesEverywhereButAtScoreAndGoesFirstIfAsked) {
  Made made;
  const Registry registry = RegistryWith(&made);
  const ProfileParts parts({}, 1, SimDuration());
  Profile profile = MakeTestProfile(registry, "best-fit", {}, parts);
  const size_t filters = profile.filters().size();
  const size_t reasons = profile.reasons().size();
  profile.AddPlugin(std::make_unique<Everywhere>("Late"));
  profile.AddPlugin(std::make_unique<Everywhere>("Early"), /*first=*/true);
  profile.AddPlugin(std::make_unique<Fence>("Fence"), /*first=*/true);
  EXPECT_THAT(NamesOf(profile.binds()), ElementsAre("Early", "DefaultBinder", "Late"));
  EXPECT_THAT(NamesOf(profile.post_binds()), ElementsAre("Early", "Late"));
  EXPECT_EQ(profile.scores().size(), 1u);
  EXPECT_EQ(profile.pre_scores().size(), 1u);
  // Its Filter is last all the same.
  ASSERT_EQ(profile.filters().size(), filters + 1);
  EXPECT_EQ(profile.filters().back().plugin->name(), "Fence");
  EXPECT_EQ(profile.filters().back().reason_base, reasons + 4);
  EXPECT_EQ(profile.RequeueIndex(profile.filters().back().plugin), filters);
  EXPECT_EQ(profile.requeues().size(), filters + 3);
}

TEST(ProfileTest, AHundredPluginsThatRejectAreTooMany) {
  Made made;
  const Registry registry = RegistryWith(&made);
  ProfileOptions options;
  options.policy = "best-fit";
  options.plugins = Names(100, "FenceA");
  const absl::Status status = Profile::Make(registry, options, PolicyContext()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "plugin 'FenceA': too many plugins that may reject a pod");
}

TEST(PluginTest, DefaultsAreThoseOfTheHeader) {
  const Fence fence("Fence");
  const ClusterBuilder builder;
  EXPECT_THAT(fence.ReasonTexts({}, builder.cluster(), NodeId(), 1), ElementsAre("fenced"));
  EXPECT_TRUE(fence.IsResolvable({}, builder.cluster(), NodeId(), 1));
  EXPECT_TRUE(fence.MayHelp({}, {}, builder.cluster()));
  EXPECT_EQ(fence.filter_reach(), Reach::kNode);
  Names names;
  for (int code = 0; code <= static_cast<int>(StepCode::kWait); ++code) {
    names.emplace_back(StepCodeName(static_cast<StepCode>(code)));
  }
  EXPECT_THAT(names, ElementsAre("Success", "Unschedulable", "UnschedulableAndUnresolvable",
                                 "Error", "Pending", "Skip", "Wait"));
}

}  // namespace profile_test
}  // namespace drasim
