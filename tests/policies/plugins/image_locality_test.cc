// ImageLocality: the cases of upstream's image_locality_test.go under the formula of 1.34.
#include "policies/plugins/image_locality.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "model/node_spec.h"
#include "tests/testing/plugin_rig.h"

namespace drasim {
namespace {

using Scores = std::vector<int64_t>;

constexpr int64_t kMib = int64_t{1} << 20;

NodeImage Image(const std::string& name, int64_t mebibytes) { return {{name}, mebibytes * kMib}; }

PodShape PodOfImages(const std::vector<std::string>& images) {
  PodShape shape = TestShape(1, 0);
  shape.constraints.images = images;
  return shape;
}

// The scores of nodes with these images.
Scores ScoresWith(const std::vector<std::vector<NodeImage>>& nodes,
                  const std::vector<std::string>& wanted) {
  ClusterBuilder builder;
  for (const std::vector<NodeImage>& images : nodes) {
    NodeSpec spec = TestNode(absl::StrCat("n", builder.cluster().node_count()), 1000, 0);
    spec.images = images;
    builder.AddNode(spec);
  }
  ImageLocality plugin;
  return RawScores(plugin, builder, PodOfImages(wanted));
}

TEST(ImageLocalityTest, ScoresAsUpstreamsTestsDo) {
  const NodeImage gcr40 = Image("gcr.io/40:latest", 40);
  const NodeImage gcr140 = Image("gcr.io/140:latest", 140);
  const NodeImage gcr300 = Image("gcr.io/300:latest", 300);
  const NodeImage gcr250 = Image("gcr.io/250:latest", 250);
  const NodeImage gcr10 = Image("gcr.io/10:latest", 10);
  const NodeImage gcr2000 = Image("gcr.io/2000:latest", 2000);
  const std::vector<NodeImage> first = {gcr40, gcr300, gcr2000};
  const std::vector<NodeImage> second = {gcr250, gcr10};
  EXPECT_EQ(ScoresWith({first, second}, {"gcr.io/40:latest", "gcr.io/250:latest"}), (Scores{0, 5}));
  EXPECT_EQ(ScoresWith({first, second}, {"gcr.io/40:latest", "gcr.io/300:latest"}), (Scores{7, 0}));
  EXPECT_EQ(ScoresWith({first, second}, {"gcr.io/10:latest", "gcr.io/2000:latest"}),
            (Scores{49, 0}));
  EXPECT_EQ(ScoresWith({first, second, {}}, {"gcr.io/10:latest", "gcr.io/2000:latest"}),
            (Scores{32, 0, 0}));
  EXPECT_EQ(ScoresWith({first, second}, {"gcr.io/250:latest"}), (Scores{0, 10}));
  EXPECT_EQ(ScoresWith({first, second}, {"gcr.io/2000:latest"}), (Scores{100, 0}));
  EXPECT_EQ(ScoresWith({first, second}, {"gcr.io/40:latest"}), (Scores{0, 0}));
  // An image of every node counts in full: 100 (140 - 23) / 977.
  EXPECT_EQ(ScoresWith({{gcr140}, {gcr140}}, {"gcr.io/140:latest"}), (Scores{11, 11}));
}

TEST(ImageLocalityTest, CountsAnImageOncePerNodeAndOncePerContainer) {
  const NodeImage twice = {{"a:1", "a@sha256:1", "a:1"}, 600 * kMib};
  // Half of 600 for one container; for two 600 of at most 2000.
  EXPECT_EQ(ScoresWith({{twice}, {}}, {"a:1"}), (Scores{28, 0}));
  EXPECT_EQ(ScoresWith({{twice}, {}}, {"a@sha256:1"}), (Scores{28, 0}));
  EXPECT_EQ(ScoresWith({{twice}, {}}, {"a:1", "a:1"}), (Scores{29, 0}));
  EXPECT_EQ(ScoresWith({{twice, Image("a:1", 900)}, {}}, {"a:1"}), (Scores{28, 0}));
}

// Images of volumes add to the score, but not to what is the most.
TEST(ImageLocalityTest, CountsImagesOfVolumesWithoutRaisingTheMost) {
  ClusterBuilder builder;
  for (const int64_t mebibytes : {400, 1500}) {
    NodeSpec spec = TestNode(absl::StrCat("n", mebibytes), 1000, 0);
    spec.images = {Image(absl::StrCat("data", mebibytes, ":1"), mebibytes)};
    builder.AddNode(spec);
  }
  ImageLocality plugin;
  PodShape shape = PodOfImages({"absent:1"});
  shape.constraints.volume_images = {"data400:1", "data1500:1"};
  // 100 (200 - 23) / 977 and 100 (750 - 23) / 977.
  EXPECT_EQ(RawScores(plugin, builder, shape), (Scores{18, 74}));
  shape.constraints.volume_images.push_back("data1500:1");
  EXPECT_EQ(RawScores(plugin, builder, shape), (Scores{18, 100}));
}

TEST(ImageLocalityTest, TakesTheSizeThatTheFirstNodeReports) {
  EXPECT_EQ(
      ScoresWith({{}, {Image("a:1", 400)}, {Image("a:1", 900)}, {Image("a:1", 100)}}, {"a:1"}),
      (Scores{0, 28, 28, 28}));
}

TEST(ImageLocalityTest, CutsEachImagesShareToBytes) {
  // The least amount that scores 34, of an image that one node of three has.
  const int64_t share = 23 * kMib + (int64_t{977} * kMib * 34 + 99) / 100;
  const NodeImage image = {{"a:1"}, 3 * share - 1};
  EXPECT_EQ(ScoresWith({{image}, {}, {}}, {"a:1"}), (Scores{33, 0, 0}));
  const NodeImage larger = {{"a:1"}, 3 * share};
  EXPECT_EQ(ScoresWith({{larger}, {}, {}}, {"a:1"}), (Scores{34, 0, 0}));
}

TEST(ImageLocalityTest, NothingWantedOrNothingThere) {
  EXPECT_EQ(ScoresWith({{Image("a:1", 900)}}, {}), Scores{0});
  EXPECT_EQ(ScoresWith({{}}, {"a:1"}), Scores{0});
  EXPECT_EQ(ScoresWith({{Image("a:1", 900)}}, {"b:1"}), Scores{0});
}

TEST(ImageLocalityTest, NoticesNodesThatComeAndGo) {
  ClusterBuilder builder;
  NodeSpec spec = TestNode("a", 1000, 0);
  spec.images = {Image("a:1", 600)};
  const NodeId a = builder.AddNode(spec);
  ImageLocality plugin;
  const PodShape pod = PodOfImages({"a:1"});
  EXPECT_EQ(RawScores(plugin, builder, pod), Scores{59});
  builder.AddNode(TestNode("b", 1000, 0));
  EXPECT_EQ(RawScores(plugin, builder, pod), (Scores{28, 0}));
  builder.cluster().SetAvailable(a, false);
  EXPECT_EQ(RawScores(plugin, builder, pod), (Scores{0, 0}));
  builder.cluster().SetAvailable(a, true);
  EXPECT_EQ(RawScores(plugin, builder, pod), (Scores{28, 0}));
}

}  // namespace
}  // namespace drasim
