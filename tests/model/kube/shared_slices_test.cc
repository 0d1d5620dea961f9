// ResourceSlices that real clusters and drivers' documentation show.
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/kube/reader.h"
#include "model/kube/slice_reader.h"
#include "model/kube/writer.h"
#include "tests/testing/data_text.h"
#include "tests/testing/shared_data.h"

namespace drasim {
namespace {

std::string FileText(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::filesystem::path> SliceFiles() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(SharedPath("slices"))) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

void ExpectReadsBack(const proto::kube::ResourceSlice& slice) {
  KubeReadOptions options;
  options.validate = false;
  proto::kube::Object object;
  *object.mutable_resource_slice() = slice;
  for (const KubeTextFormat format : {KubeTextFormat::kYaml, KubeTextFormat::kJson}) {
    const absl::StatusOr<KubeManifest> again =
        ReadKubeObjects(PrintKubeObject(object, format), "again", options);
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_THAT(again->warnings, testing::IsEmpty());
    ASSERT_EQ(again->objects.size(), 1u);
    EXPECT_EQ(again->objects[0].object.DebugString(), object.DebugString());
  }
}

// The content of each file in numbers and, in lines below, what it lacks.
TEST(SharedSlicesTest, EveryFileLoads) {
  DRASIM_NEEDS_SHARED_DATA("slices");
  std::string told;
  for (const std::filesystem::path& path : SliceFiles()) {
    const std::string name = path.filename().string();
    const absl::StatusOr<PublishedSlices> read = ReadResourceSlices(FileText(path), name);
    ASSERT_TRUE(read.ok()) << read.status();
    size_t devices = 0;
    size_t values = 0;
    for (const proto::kube::ResourceSlice& slice : read->slices) {
      ExpectReadsBack(slice);
      for (const proto::kube::Device& device : slice.spec().devices()) {
        ++devices;
        values += device.attributes().size() + device.capacity().size();
      }
    }
    absl::StrAppend(&told, name, ": ", read->slices.size(), " slices, ", devices, " devices, ",
                    values, " attributes and capacities\n");
    for (const std::string& warning : read->warnings) absl::StrAppend(&told, "  ", warning, "\n");
  }
  EXPECT_EQ(told, TestText("EveryFileLoads"));
}

}  // namespace
}  // namespace drasim
