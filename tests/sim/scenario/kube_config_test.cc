#include "sim/scenario/kube_config.h"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/assert_ok.h"
#include "tests/testing/data_text.h"
#include "tests/testing/shared_data.h"
#include "traces/byte_source.h"

namespace drasim {
namespace {

using ::testing::ElementsAre;

constexpr char kHeader[] =
    "apiVersion: kubescheduler.config.k8s.io/v1\n"
    "kind: KubeSchedulerConfiguration\n";
constexpr char kSharedCases[] = "expected/kube/shared_cases.jsonl.gz";

absl::StatusOr<KubeConfig> ReadBody(absl::string_view body) {
  return ReadKubeConfig(absl::StrCat(kHeader, body), "k.yaml");
}

std::vector<std::string> NamesOf(const std::vector<ScoreChoice>& choices) {
  std::vector<std::string> names;
  for (const ScoreChoice& choice : choices) {
    names.push_back(absl::StrCat(choice.plugin, " ", choice.weight));
  }
  return names;
}

TEST(KubeConfigTest, TheDefaultProfileHasKubernetesPlugins) {
  const ProfileSpec spec = DefaultProfileSpec();
  EXPECT_EQ(spec.scheduler_name, "default-scheduler");
  EXPECT_EQ(spec.percentage_of_nodes, 0);
  EXPECT_EQ(spec.queue_sort, "PrioritySort");
  EXPECT_THAT(spec.pre_enqueue, ElementsAre("SchedulingGates"));
  EXPECT_THAT(spec.pre_filter,
              ElementsAre("NodeAffinity", "NodePorts", "NodeResourcesFit", "VolumeRestrictions",
                          "NodeVolumeLimits", "VolumeBinding", "VolumeZone", "PodTopologySpread",
                          "InterPodAffinity", "DynamicResources"));
  EXPECT_THAT(
      spec.filter,
      ElementsAre("NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity", "NodePorts",
                  "NodeResourcesFit", "VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding",
                  "VolumeZone", "PodTopologySpread", "InterPodAffinity", "DynamicResources"));
  EXPECT_THAT(spec.post_filter, ElementsAre("DynamicResources", "DefaultPreemption"));
  EXPECT_THAT(spec.pre_score, ElementsAre("TaintToleration", "NodeAffinity", "NodeResourcesFit",
                                          "VolumeBinding", "PodTopologySpread", "InterPodAffinity",
                                          "NodeResourcesBalancedAllocation"));
  EXPECT_THAT(NamesOf(spec.score),
              ElementsAre("TaintToleration 3", "NodeAffinity 2", "NodeResourcesFit 1",
                          "VolumeBinding 1", "PodTopologySpread 2", "InterPodAffinity 2",
                          "NodeResourcesBalancedAllocation 1", "ImageLocality 1"));
  EXPECT_THAT(spec.reserve, ElementsAre("VolumeBinding"));
  EXPECT_THAT(spec.bind, ElementsAre("DefaultBinder"));
  EXPECT_EQ(ArgsOr<NodeResourcesFitArgs>(spec.args.at("NodeResourcesFit")), NodeResourcesFitArgs());
  EXPECT_EQ(ArgsOr<DefaultPreemptionArgs>(spec.args.at("DefaultPreemption")),
            DefaultPreemptionArgs());
}

TEST(KubeConfigTest, ListsFollowPointsAndMultiPoint) {
  // Columns: body; "filter" or "score"; the list.
  for (const auto& [body, point, list] : TestRows<3>("ListsFollowPointsAndMultiPoint")) {
    ASSERT_OK_AND_ASSIGN(const KubeConfig config, ReadBody(body));
    const ProfileSpec& spec = config.profiles[0];
    EXPECT_EQ(absl::StrJoin(point == "filter" ? spec.filter : NamesOf(spec.score), ", "), list)
        << body;
  }
}

TEST(KubeConfigTest, RefusesWhatKubernetesRefuses) {
  // Columns: body; the message.
  for (const auto& [body, message] : TestRows<2>("RefusesWhatKubernetesRefuses")) {
    EXPECT_EQ(ReadBody(body).status().message(), message) << body;
  }
}

TEST(KubeConfigTest, SpeaksVersionOneOnly) {
  const absl::Status status =
      ReadKubeConfig(R"({"apiVersion": "kubescheduler.config.k8s.io/v1beta3", )"
                     R"("kind": "KubeSchedulerConfiguration"})",
                     "k.json")
          .status();
  EXPECT_EQ(status.message(),
            "k.json:1:16: apiVersion: found the text 'kubescheduler.config.k8s.io/v1beta3', "
            "expected kubescheduler.config.k8s.io/v1");
  EXPECT_FALSE(ReadKubeConfig("", "k.yaml").ok());
  EXPECT_FALSE(ReadKubeConfig(absl::StrCat(kHeader, "---\n", kHeader), "k.yaml").ok());
}

TEST(KubeConfigTest, ReadsTheRestOfTheConfiguration) {
  ASSERT_OK_AND_ASSIGN(const KubeConfig config, ReadBody(TestText("TheRest")));
  EXPECT_EQ(config.percentage_of_nodes, 30);
  EXPECT_EQ(config.initial_backoff, SimDuration::Seconds(2));
  EXPECT_EQ(config.max_backoff, SimDuration::Seconds(7));
  ASSERT_EQ(config.profiles.size(), 2u);
  EXPECT_EQ(config.profiles[0].percentage_of_nodes, 0) << "the profile's own zero is adaptive";
  EXPECT_EQ(config.profiles[1].percentage_of_nodes, 30);
  EXPECT_THAT(config.without_effect,
              ElementsAre("parallelism", "leaderElection", "clientConnection", "enableProfiling",
                          "bindTimeoutSeconds"));

  const auto fit = ArgsOr<NodeResourcesFitArgs>(config.profiles[1].args.at("NodeResourcesFit"));
  EXPECT_EQ(fit.strategy, NodeResourcesFitArgs::Strategy::kRequestedToCapacityRatio);
  EXPECT_EQ(fit.resources, (WeightedResources{{"cpu", 1}, {"example.com/gpu", 5}}));
  EXPECT_EQ(fit.shape, (std::vector<std::pair<int32_t, int32_t>>{{0, 0}, {100, 10}}));
  EXPECT_THAT(fit.ignored_resources, ElementsAre("example.com/b")) << "the extenders' list wins";
  const auto affinity = ArgsOr<NodeAffinityArgs>(config.profiles[1].args.at("NodeAffinity"));
  EXPECT_TRUE(affinity.has_required);
  ASSERT_EQ(affinity.required.size(), 1u);
  EXPECT_EQ(affinity.required[0].requirements[0].key, "pool");
  ASSERT_EQ(affinity.preferred.size(), 1u);
  EXPECT_EQ(affinity.preferred[0].weight, 9);
  const auto spread =
      ArgsOr<PodTopologySpreadArgs>(config.profiles[1].args.at("PodTopologySpread"));
  EXPECT_FALSE(spread.system_defaults);
  ASSERT_EQ(spread.default_constraints.size(), 1u);
  EXPECT_EQ(spread.default_constraints[0].max_skew, 4);
  EXPECT_FALSE(spread.default_constraints[0].hard);

  ASSERT_EQ(config.extenders.size(), 2u);
  EXPECT_EQ(config.extenders[0].url_prefix, "http://strict") << "ignorable ones go last";
  EXPECT_EQ(config.extenders[0].http_timeout, SimDuration::Seconds(5));
  EXPECT_EQ(config.extenders[0].weight, 3);
  EXPECT_EQ(config.extenders[1].http_timeout, SimDuration(1'500'000'000));
  EXPECT_TRUE(config.extenders[1].tls.insecure);
  EXPECT_TRUE(config.extenders[1].enable_https);
  ASSERT_EQ(config.extenders[1].managed_resources.size(), 2u);
  EXPECT_TRUE(config.extenders[1].managed_resources[1].ignored_by_scheduler);
}

// The configurations that the scheduler of 1.34.1 was given, with what it made of them.
TEST(KubeConfigTest, AgreesWithKubeScheduler) {
  DRASIM_NEEDS_SHARED_DATA(kSharedCases);
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<ByteSource> source,
                       OpenByteSource(SharedPath(kSharedCases)));
  ASSERT_OK_AND_ASSIGN(const std::string text, ReadAll(*source, size_t{1} << 30));
  int configs = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    if (!absl::StrContains(line, "\"config\"")) continue;
    google::protobuf::Struct parsed;
    ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(std::string(line), &parsed).ok());
    const auto& given = parsed.fields().at("case").struct_value().fields();
    const auto& answer = parsed.fields().at("answer").struct_value().fields();
    if (!given.contains("config")) continue;
    ++configs;
    const std::string& id = given.at("id").string_value();
    std::string json;
    ASSERT_TRUE(google::protobuf::util::MessageToJsonString(given.at("config"), &json).ok());
    const absl::StatusOr<KubeConfig> config = ReadKubeConfig(json, "k.json");
    if (answer.contains("configError")) {
      // Upstream prints no more of a duplicate name.
      const std::string error = absl::StrReplaceAll(
          answer.at("configError").string_value(),
          {{"schedulerName: Duplicate value: {}", "schedulerName: Duplicate value: \"a\""}});
      EXPECT_FALSE(config.ok()) << id;
      if (absl::StartsWith(error, "strict decoding error")) continue;  // our words there
      EXPECT_TRUE(absl::EndsWith(config.status().message(), error))
          << id << "\n"
          << config.status().message() << "\n"
          << error;
      continue;
    }
    ASSERT_TRUE(config.ok()) << id << ": " << config.status();
    const auto& filters = answer.at("filterPlugins").struct_value().fields();
    EXPECT_EQ(config->profiles.size(), filters.size()) << id;
    for (const ProfileSpec& spec : config->profiles) {
      std::vector<std::string> expected;
      for (const auto& name : filters.at(spec.scheduler_name).list_value().values()) {
        expected.push_back(name.string_value());
      }
      EXPECT_EQ(spec.filter, expected) << id;
    }
  }
  EXPECT_GT(configs, 200);
}

}  // namespace
}  // namespace drasim
