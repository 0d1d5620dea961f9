#include "policies/drivers/file_publisher.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/testing/assert_ok.h"

namespace drasim {
namespace {

using proto::kube::ResourceSlice;

ResourceSlice FileSlice(const std::string& name, const std::string& driver, const std::string& pool,
                        const std::string& node) {
  ResourceSlice slice;
  slice.mutable_metadata()->set_name(name);
  slice.mutable_metadata()->set_uid("uid");
  slice.mutable_spec()->set_driver(driver);
  slice.mutable_spec()->mutable_pool()->set_name(pool);
  slice.mutable_spec()->mutable_pool()->set_generation(3);
  slice.mutable_spec()->mutable_pool()->set_resource_slice_count(1);
  if (node.empty()) {
    slice.mutable_spec()->set_all_nodes(true);
  } else {
    slice.mutable_spec()->set_node_name(node);
  }
  proto::kube::Device* device = slice.mutable_spec()->add_devices();
  device->set_name("dev-" + name);
  (*device->mutable_attributes())["uuid"].set_string_value(
      "GPU-2fa81118-5a5f-aa66-7660-471eed407181");
  return slice;
}

std::vector<ResourceSlice> SomeSlices() {
  return {FileSlice("a", "gpu.example.com", "model", "model"),
          FileSlice("b", "nic.example.com", "rack/model/nics", "model"),
          FileSlice("c", "nic.example.com", "nics", "model"),
          FileSlice("d", "gpu.example.com", "other", "other"),
          FileSlice("e", "net.example.com", "fabric", "")};
}

proto::SliceDriver FileOptions() {
  proto::SliceDriver options;
  options.set_kind("slices");
  options.set_slices("slices.yaml");
  return options;
}

NodeHardware LabelledNode(const std::string& name, const std::string& product) {
  NodeHardware node;
  node.name = name;
  node.labels = {{"product", product}};
  return node;
}

TEST(FilePublisherTest, NodesOfTheFileHaveItsSlices) {
  ASSERT_OK_AND_ASSIGN(const auto publisher, FilePublisher::Make(FileOptions(), SomeSlices()));
  ASSERT_OK_AND_ASSIGN(const std::vector<ResourceSlice> own,
                       publisher->Publish(LabelledNode("model", "x"), 1));
  ASSERT_EQ(own.size(), 3u);
  for (size_t i = 0; i < own.size(); ++i) {
    EXPECT_EQ(own[i].DebugString(), SomeSlices()[i].DebugString());
  }
  ASSERT_OK_AND_ASSIGN(const std::vector<ResourceSlice> none,
                       publisher->Publish(LabelledNode("new", "x"), 1));
  EXPECT_TRUE(none.empty());
  ASSERT_EQ(publisher->NetworkSlices().size(), 1u);
  EXPECT_EQ(publisher->NetworkSlices()[0].metadata().name(), "e");
}

TEST(FilePublisherTest, TheFirstTemplateThatMatchesIsAdaptedToTheNode) {
  proto::SliceDriver options = FileOptions();
  options.add_templates()->set_node("model");
  options.mutable_templates(0)->set_label("product");
  options.mutable_templates(0)->set_value("x");
  options.add_templates()->set_node("other");
  ASSERT_OK_AND_ASSIGN(const auto publisher, FilePublisher::Make(options, SomeSlices()));
  ASSERT_OK_AND_ASSIGN(const std::vector<ResourceSlice> like_model,
                       publisher->Publish(LabelledNode("new", "x"), 2));
  ASSERT_EQ(like_model.size(), 3u);
  EXPECT_EQ(like_model[0].spec().pool().name(), "new");
  EXPECT_EQ(like_model[1].spec().pool().name(), "rack/new/nics");
  EXPECT_EQ(like_model[2].spec().pool().name(), "nics/new");
  EXPECT_EQ(like_model[0].spec().node_name(), "new");
  EXPECT_EQ(like_model[0].spec().pool().generation(), 4);
  EXPECT_EQ(like_model[0].metadata().uid(), "");
  EXPECT_NE(like_model[0].metadata().name(), "a");
  EXPECT_NE(like_model[1].metadata().name(), like_model[2].metadata().name());
  const std::string uuid = like_model[0].spec().devices(0).attributes().at("uuid").string_value();
  EXPECT_EQ(uuid.substr(0, 4), "GPU-");
  EXPECT_EQ(uuid.size(), 40u);
  EXPECT_NE(uuid, "GPU-2fa81118-5a5f-aa66-7660-471eed407181");
  ASSERT_OK_AND_ASSIGN(const std::vector<ResourceSlice> like_other,
                       publisher->Publish(LabelledNode("new", "y"), 1));
  ASSERT_EQ(like_other.size(), 1u);
  EXPECT_EQ(like_other[0].spec().devices(0).name(), "dev-d");
}

TEST(FilePublisherTest, ANameChoosesOneDriver) {
  proto::SliceDriver options = FileOptions();
  options.set_name("nic.example.com");
  ASSERT_OK_AND_ASSIGN(const auto publisher, FilePublisher::Make(options, SomeSlices()));
  ASSERT_OK_AND_ASSIGN(const std::vector<ResourceSlice> own,
                       publisher->Publish(LabelledNode("model", "x"), 1));
  ASSERT_EQ(own.size(), 2u);
  EXPECT_TRUE(publisher->NetworkSlices().empty());
}

TEST(FilePublisherTest, MistakesAreErrorsOfTheirKey) {
  proto::SliceDriver options = FileOptions();
  options.set_name("none.example.com");
  EXPECT_EQ(FilePublisher::Make(options, SomeSlices()).status().message(),
            "name: found 'none.example.com', of which slices.yaml has no slices");
  options.clear_name();
  options.add_templates()->set_node("missing");
  EXPECT_EQ(FilePublisher::Make(options, SomeSlices()).status().message(),
            "templates.0.node: found 'missing', expected a node of slices.yaml");
  options.clear_slices();
  EXPECT_EQ(FilePublisher::Make(options, {}).status().message(),
            "slices: expected a file of ResourceSlices, for the kind slices");
}

}  // namespace
}  // namespace drasim
