// Profiles: the choice of a pod's profile, and the common numbers of reasons.
#include "sim/core/profiles.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/gpu_model_table.h"
#include "policies/builtins.h"
#include "policies/framework/plugin.h"
#include "policies/framework/profile_spec.h"

namespace drasim {
namespace profiles_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Rejects nothing, for reasons of its own.
class NamedFilter : public FilterPlugin {
 public:
  NamedFilter(std::string name, std::vector<std::string> texts)
      : name_(std::move(name)), texts_(std::move(texts)) {}
  absl::string_view name() const override { return name_; }
  std::vector<Reason> reasons() const override {
    std::vector<Reason> reasons;
    for (const std::string& text : texts_) reasons.push_back({ReasonKind::kOther, text});
    return reasons;
  }
  void Filter(const PodContext&, const ClusterState&, absl::Span<const NodeId>,
              absl::Span<ReasonIndex>) const override {}

 private:
  std::string name_;
  std::vector<std::string> texts_;
};

struct FilterTexts {
  std::string plugin;
  std::vector<std::string> texts;
};

std::unique_ptr<Profile> ProfileOfTexts(const std::string& name,
                                        const std::vector<FilterTexts>& filters) {
  ProfileSpec spec;
  spec.scheduler_name = name;
  spec.queue_sort = "PrioritySort";
  Registry registry;
  RegisterBuiltins(registry);
  absl::StatusOr<Profile> made = Profile::MakeKube(registry, spec, PolicyContext());
  EXPECT_TRUE(made.ok()) << made.status();
  auto profile = std::make_unique<Profile>(*std::move(made));
  for (const FilterTexts& filter : filters) {
    profile->AddPlugin(std::make_unique<NamedFilter>(filter.plugin, filter.texts));
  }
  return profile;
}

TEST(ProfilesTest, NamesChoose) {
  const std::vector<std::string> names = {"a", "default-scheduler", "b"};
  EXPECT_EQ(FindProfile(names, "a"), 0u);
  EXPECT_EQ(FindProfile(names, "b"), 2u);
  EXPECT_EQ(FindProfile(names, ""), 1u);
  EXPECT_EQ(FindProfile(names, "c"), std::nullopt);
  EXPECT_EQ(FindProfile({"a", "b"}, ""), 0u);
  EXPECT_EQ(FindProfile({"a", "b"}, "default-scheduler"), std::nullopt);
}

TEST(ProfilesTest, ShapesChoose) {
  GpuModelTable models;
  ShapeTable shapes(&models);
  const auto shape_of = [&](const std::string& scheduler) {
    PodShape shape;
    shape.identity.scheduler_name = scheduler;
    return shapes.Intern(shape);
  };
  const auto a = ProfileOfTexts("a", {});
  const auto b = ProfileOfTexts("b", {});
  absl::StatusOr<Profiles> profiles = Profiles::Make({a.get(), b.get()}, &shapes);
  ASSERT_TRUE(profiles.ok());
  EXPECT_EQ(profiles->Of(shape_of("b")), b.get());
  EXPECT_EQ(profiles->Of(shape_of("a")), a.get());
  EXPECT_EQ(profiles->Of(shape_of("")), a.get());
  EXPECT_EQ(profiles->Of(shape_of("c")), nullptr);
  EXPECT_EQ(profiles->IndexOf(shape_of("b")), 1u);
  Profiles only(b.get());
  EXPECT_EQ(only.Of(shape_of("a")), b.get());
}

// By plugin and number, whatever the texts.
TEST(ProfilesTest, EqualReasonsHaveOneNumber) {
  GpuModelTable models;
  ShapeTable shapes(&models);
  const auto a = ProfileOfTexts("a", {{"P", {"x", "y"}}, {"Q", {"x"}}});
  const auto b = ProfileOfTexts("b", {{"R", {"z"}}, {"P", {"x", "y"}}});
  EXPECT_EQ(a->SourceOf(2), (Profile::ReasonSource{"P", 2}));
  EXPECT_EQ(a->SourceOf(3), (Profile::ReasonSource{"Q", 1}));
  absl::StatusOr<Profiles> profiles = Profiles::Make({a.get(), b.get()}, &shapes);
  ASSERT_TRUE(profiles.ok());
  EXPECT_THAT(profiles->reasons(), ElementsAre("x", "y", "x", "z"));
  EXPECT_EQ(profiles->reason_kinds().size(), 4u);
  for (ReasonIndex own = 0; own <= 3; ++own) EXPECT_EQ(profiles->CommonReason(0, own), own);
  EXPECT_EQ(profiles->CommonReason(1, kFits), kFits);
  EXPECT_EQ(profiles->CommonReason(1, 1), 4);
  EXPECT_EQ(profiles->CommonReason(1, 2), 1);
  EXPECT_EQ(profiles->CommonReason(1, 3), 2);
  VerdictSummaryTable::Row row;
  row.rejected = {{1, 5}};
  EXPECT_EQ(profiles->RejectorsOf(0, row), 1u);
  EXPECT_EQ(profiles->RejectorsOf(1, row), 2u);
  row.rejected = {{4, 5}};
  EXPECT_EQ(profiles->RejectorsOf(1, row), 1u);
}

TEST(ProfilesTest, OneProfileKeepsItsNumbers) {
  const auto a = ProfileOfTexts("a", {{"P", {"x", "y"}}, {"Q", {"x"}}});
  const Profiles only(a.get());
  EXPECT_THAT(only.reasons(), ElementsAre("x", "y", "x"));
  EXPECT_EQ(only.CommonReason(0, 3), 3);
}

TEST(ProfilesTest, TooManyReasonsAreRefused) {
  GpuModelTable models;
  ShapeTable shapes(&models);
  const std::vector<std::string> texts(110, "no");
  const auto a = ProfileOfTexts("a", {{"P", texts}});
  const auto b = ProfileOfTexts("b", {{"Q", texts}});
  const auto c = ProfileOfTexts("c", {{"R", texts}});
  EXPECT_TRUE(Profiles::Make({a.get(), b.get()}, &shapes).ok());
  EXPECT_THAT(Profiles::Make({a.get(), b.get(), c.get()}, &shapes).status().message(),
              HasSubstr("found profiles with 330 different reasons"));
}

}  // namespace profiles_test
}  // namespace drasim
