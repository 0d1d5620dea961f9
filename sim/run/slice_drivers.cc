#include "sim/run/slice_drivers.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "model/key_error.h"
#include "model/kube/slice_reader.h"
#include "model/proto/kube.pb.h"
#include "model/status_macros.h"
#include "policies/drivers/driver_classes.h"
#include "policies/drivers/node_hardware.h"
#include "policies/drivers/slice_publishers.h"
#include "sim/scenario/name_pattern.h"
#include "traces/byte_source.h"

namespace drasim {
namespace {

using proto::kube::ResourceSlice;
using Objects = std::vector<std::shared_ptr<const proto::kube::Object>>;

constexpr size_t kMostSliceBytes = size_t{256} << 20;

std::string KeyOfDriver(size_t driver) {
  return absl::StrCat("front_end.structured.drivers.", driver);
}

absl::StatusOr<std::vector<ResourceSlice>> SlicesOfFile(const std::string& path,
                                                        std::vector<std::string>* warnings) {
  if (path.empty()) return std::vector<ResourceSlice>();
  ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, OpenByteSource(path));
  ASSIGN_OR_RETURN(const std::string text, ReadAll(*source, kMostSliceBytes));
  ASSIGN_OR_RETURN(PublishedSlices published, ReadResourceSlices(text, path));
  for (std::string& warning : published.warnings) warnings->push_back(std::move(warning));
  return std::move(published.slices);
}

absl::StatusOr<PublishingDriver> MakeDriver(const proto::SliceDriver& given, const std::string& key,
                                            const ClusterState& cluster,
                                            const std::string& plugin_nodes,
                                            std::vector<std::string>* warnings) {
  PublishingDriver driver;
  driver.options = given;
  driver.options.clear_nodes();
  const bool of_file = given.kind() == "slices";
  driver.name = !given.name().empty() || of_file ? given.name() : given.kind();
  for (size_t n = 0; n < cluster.node_count(); ++n) {
    const NodeId node(n);
    const std::string& name = cluster.node_spec(node).name;
    const bool has_plugin = given.kind() == "gpu.nvidia.com" && !plugin_nodes.empty() &&
                            MatchesPattern(plugin_nodes, name);
    if (!has_plugin && (given.nodes().empty() || MatchesPattern(given.nodes(), name))) {
      driver.nodes.push_back(node);
    }
  }
  if (driver.nodes.empty()) {
    return KeyError(
        absl::StrCat(key, ".nodes"),
        absl::StrCat("found '", given.nodes(), "', which matches no node of the cluster"));
  }
  absl::StatusOr<std::vector<ResourceSlice>> slices = SlicesOfFile(given.slices(), warnings);
  if (!slices.ok()) return KeyError(absl::StrCat(key, ".slices"), slices.status().message());
  absl::StatusOr<std::unique_ptr<SlicePublisher>> publisher =
      MakeSlicePublisher(driver.options, *slices);
  if (!publisher.ok()) return BelowKey(key, publisher.status());
  driver.publisher = *std::move(publisher);
  return driver;
}

// Two drivers would publish one pool.
absl::Status CheckDisjoint(const std::vector<PublishingDriver>& drivers,
                           const ClusterState& cluster) {
  for (size_t i = 0; i < drivers.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (drivers[i].name != drivers[j].name) continue;
      std::vector<NodeId> both;
      std::set_intersection(drivers[i].nodes.begin(), drivers[i].nodes.end(),
                            drivers[j].nodes.begin(), drivers[j].nodes.end(),
                            std::back_inserter(both));
      if (both.empty()) continue;
      return KeyError(absl::StrCat(KeyOfDriver(i), ".nodes"),
                      absl::StrCat("found node '", cluster.node_spec(both[0]).name,
                                   "', which drivers.", j, " of the same name serves, too"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<PublishingDriver>> MakeSliceDrivers(
    absl::Span<const proto::SliceDriver> drivers, const ClusterState& cluster,
    const std::string& plugin_nodes, std::vector<std::string>* warnings) {
  std::vector<PublishingDriver> made;
  for (size_t i = 0; i < drivers.size(); ++i) {
    ASSIGN_OR_RETURN(PublishingDriver driver,
                     MakeDriver(drivers[i], KeyOfDriver(i), cluster, plugin_nodes, warnings));
    made.push_back(std::move(driver));
  }
  RETURN_IF_ERROR(CheckDisjoint(made, cluster));
  return made;
}

absl::StatusOr<Objects> PublishAll(const std::vector<PublishingDriver>& drivers,
                                   const ClusterState& cluster, std::set<std::string> known) {
  Objects objects;
  const auto add = [&objects](std::vector<ResourceSlice> slices) {
    for (ResourceSlice& slice : slices) {
      auto object = std::make_shared<proto::kube::Object>();
      *object->mutable_resource_slice() = std::move(slice);
      objects.push_back(std::move(object));
    }
  };
  for (size_t i = 0; i < drivers.size(); ++i) {
    for (const NodeId node : drivers[i].nodes) {
      absl::StatusOr<std::vector<ResourceSlice>> slices =
          drivers[i].publisher->Publish(HardwareOf(cluster.node_spec(node)), /*generation=*/1);
      if (!slices.ok()) return BelowKey(KeyOfDriver(i), slices.status());
      add(*std::move(slices));
    }
    add(drivers[i].publisher->NetworkSlices());
  }
  for (const PublishingDriver& driver : drivers) {
    for (proto::kube::DeviceClass& made : ClassesOfDriver(driver.options)) {
      if (!known.insert(made.metadata().name()).second) continue;
      auto object = std::make_shared<proto::kube::Object>();
      *object->mutable_device_class() = std::move(made);
      objects.push_back(std::move(object));
    }
  }
  return objects;
}

}  // namespace drasim
