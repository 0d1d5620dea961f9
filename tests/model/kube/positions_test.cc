#include "model/kube/positions.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "model/kube/reader.h"
#include "tests/model/kube/manifests.h"
#include "tests/testing/data_text.h"

namespace drasim {
namespace kube_positions_test {

KubePositions PositionsOf(const std::string& text) {
  return KubePositions(text, "f.yaml", kube_manifests::ReadManifest(text).objects);
}

const std::string& TwoText() { return TestText("Two"); }

TEST(KubePositionsTest, FollowsPathsToValues) {
  KubePositions positions = PositionsOf(TwoText());
  EXPECT_EQ(positions.Locate(0, ""), "f.yaml:1:1");
  EXPECT_EQ(positions.Locate(0, "metadata.name"), "f.yaml:3:18");
  EXPECT_EQ(positions.Locate(0, "data[x]"), "f.yaml:5:6");
  EXPECT_EQ(positions.Locate(1, "kind"), "f.yaml:13:7");
  EXPECT_EQ(positions.Locate(1, "metadata.annotations[example.com/a.b]"), "f.yaml:17:22");
  EXPECT_EQ(positions.Locate(1, "spec.containers[1].name"), "f.yaml:21:11");
  EXPECT_EQ(positions.Locate(1, "spec.containers[1].resources.limits[cpu]"), "f.yaml:23:21");
}

TEST(KubePositionsTest, GoesAsFarAsTheTextGoes) {
  KubePositions positions = PositionsOf(TwoText());
  EXPECT_EQ(positions.Locate(1, "spec.containers[0].resources.limits[cpu]"), "f.yaml:20:5");
  EXPECT_EQ(positions.Locate(1, "spec.containers[7].name"), "f.yaml:20:3");
  EXPECT_EQ(positions.Locate(1, "status.phase"), "f.yaml:12:1");
}

TEST(KubePositionsTest, FindsObjectsInListsAndInOneLine) {
  KubePositions nested = PositionsOf(TestText("FindsObjectsInListsAndInOneLine"));
  EXPECT_EQ(nested.Locate(0, "metadata.name"), "f.yaml:9:22");
  EXPECT_EQ(nested.Locate(1, "metadata.name"), "f.yaml:10:22");
  EXPECT_EQ(nested.Locate(2, "metadata.name"), "f.yaml:11:54");

  const auto map = [](absl::string_view kind, absl::string_view name) {
    return absl::StrCat(R"({"apiVersion":"v1","kind":")", kind, R"(","metadata":{"name":")", name,
                        R"("}})");
  };
  const std::string line =
      absl::StrCat(R"({"apiVersion":"v1","kind":"List","items":[)", map("Secret", "s"), ",",
                   map("ConfigMap", "a"), ",", map("ConfigMap", "b"), "]}\n");
  KubePositions json = PositionsOf(line);
  EXPECT_EQ(json.Locate(0, "metadata.name"), absl::StrCat("f.yaml:1:", line.find("\"a\"") + 1));
  EXPECT_EQ(json.Locate(1, "metadata.name"), absl::StrCat("f.yaml:1:", line.find("\"b\"") + 1));
}

}  // namespace kube_positions_test
}  // namespace drasim
