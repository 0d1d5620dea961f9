#include "sim/dra/structured/pool_sync.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/kube/name.h"
#include "model/kube/objects.h"
#include "model/proto/resource.pb.h"
#include "sim/dra/api/api_types.h"

namespace drasim {
namespace pool_sync_test {

using proto::kube::ResourceSlice;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

ResourceSlice Slice(int index, int count, absl::string_view device, int64_t generation = 1) {
  ResourceSlice slice;
  slice.mutable_metadata()->set_name(absl::StrCat("slice-", index));
  proto::kube::ResourceSliceSpec* const spec = slice.mutable_spec();
  spec->set_driver("gpu.example.com");
  spec->set_node_name("node-0");
  spec->mutable_pool()->set_name("node-0");
  spec->mutable_pool()->set_generation(generation);
  spec->mutable_pool()->set_resource_slice_count(count);
  spec->add_devices()->set_name(std::string(device));
  return slice;
}

class PoolSyncTest : public ::testing::Test {
 protected:
  void Has(ResourceSlice slice) {
    auto object = std::make_shared<ResourceSliceObject>();
    object->meta.name = names_.Intern(slice.metadata().name());
    object->meta.uid = present_.size() + 1;
    object->meta.version = 7;
    object->object = SharedMessage<ResourceSlice>(std::move(slice));
    present_.push_back(std::move(object));
  }

  // "PUT slice-0 of 2: a, generation 3"
  std::vector<std::string> Calls(std::vector<ResourceSlice> wanted) {
    std::vector<std::string> lines;
    for (const ApiRequest& call : PoolCalls(std::move(wanted), present_, names_)) {
      if (call.verb == Verb::kDelete) {
        lines.push_back(absl::StrCat("DELETE ", call.name.text(), " uid ", call.uid));
        continue;
      }
      const auto slice = As<ResourceSliceObject>(call.object);
      const bool is_new = call.verb == Verb::kCreate;
      EXPECT_EQ(slice->meta.version, is_new ? 0U : 7U);
      lines.push_back(absl::StrCat(is_new ? "POST " : "PUT ", slice->meta.name.text(), " of ",
                                   slice->object->spec().pool().resource_slice_count(), ": ",
                                   slice->object->spec().devices(0).name(), ", generation ",
                                   slice->object->spec().pool().generation()));
    }
    return lines;
  }

  NamePool names_;
  std::vector<Ref<ResourceSliceObject>> present_;
};

TEST_F(PoolSyncTest, NewPoolBeginsAsItsDriverSays) {
  EXPECT_THAT(
      Calls({Slice(0, 2, "a", 4), Slice(1, 2, "b", 4)}),
      ElementsAre("POST slice-0 of 2: a, generation 4", "POST slice-1 of 2: b, generation 4"));
}

TEST_F(PoolSyncTest, NothingDiffers) {
  Has(Slice(1, 2, "b", 3));
  Has(Slice(0, 2, "a", 3));
  EXPECT_THAT(Calls({Slice(0, 2, "a"), Slice(1, 2, "b")}), IsEmpty());
}

TEST_F(PoolSyncTest, OneChangeKeepsTheGeneration) {
  Has(Slice(0, 2, "a", 3));
  Has(Slice(1, 2, "b", 3));
  EXPECT_THAT(Calls({Slice(0, 2, "a"), Slice(1, 2, "x")}),
              ElementsAre("PUT slice-1 of 2: x, generation 3"));
}

TEST_F(PoolSyncTest, TwoChangesRewriteAll) {
  Has(Slice(0, 3, "a", 3));
  Has(Slice(1, 3, "b", 3));
  Has(Slice(2, 3, "c", 3));
  EXPECT_THAT(Calls({Slice(0, 3, "x"), Slice(1, 3, "b"), Slice(2, 3, "z")}),
              ElementsAre("PUT slice-0 of 3: x, generation 4", "PUT slice-1 of 3: b, generation 4",
                          "PUT slice-2 of 3: z, generation 4"));
}

TEST_F(PoolSyncTest, NewSlicesComeLast) {
  Has(Slice(1, 1, "b", 3));
  EXPECT_THAT(
      Calls({Slice(0, 2, "a"), Slice(1, 2, "b")}),
      ElementsAre("PUT slice-1 of 2: b, generation 4", "POST slice-0 of 2: a, generation 4"));
}

TEST_F(PoolSyncTest, SlicesThatAreNotWantedGoFirst) {
  Has(Slice(0, 3, "a", 3));
  Has(Slice(1, 3, "b", 3));
  Has(Slice(2, 3, "c", 3));
  EXPECT_THAT(Calls({Slice(0, 2, "a"), Slice(1, 2, "b")}),
              ElementsAre("DELETE slice-2 uid 3", "PUT slice-0 of 2: a, generation 4",
                          "PUT slice-1 of 2: b, generation 4"));
  // The only slice left is the only one that changes.
  EXPECT_THAT(Calls({Slice(0, 1, "a")}), ElementsAre("DELETE slice-1 uid 2", "DELETE slice-2 uid 3",
                                                     "PUT slice-0 of 1: a, generation 3"));
}

// A plugin that died while it rewrote its pool.
TEST_F(PoolSyncTest, OlderGenerationsGo) {
  Has(Slice(0, 2, "a", 4));
  Has(Slice(1, 2, "b", 3));
  EXPECT_THAT(Calls({Slice(0, 2, "a"), Slice(1, 2, "b")}),
              ElementsAre("DELETE slice-1 uid 2", "PUT slice-0 of 2: a, generation 5",
                          "POST slice-1 of 2: b, generation 5"));
}

}  // namespace pool_sync_test
}  // namespace drasim
