#include "sim/run/slice_drivers.h"

#include <algorithm>
#include <cstddef>
#include <map>
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
#include "sim/dra/structured/driver_plugins.h"
#include "sim/dra/structured/slice_remover.h"
#include "sim/scenario/binding_options.h"
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
  ClearBinding(&driver.options);
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

bool StartsUp(const PublishingDriver& driver) { return driver.options.publish() == "start-up"; }

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

absl::StatusOr<std::vector<SharedSlice>> PublishSlices(const std::vector<PublishingDriver>& drivers,
                                                       const ClusterState& cluster) {
  std::vector<SharedSlice> published;
  const auto add = [&published](std::vector<ResourceSlice> slices) {
    for (ResourceSlice& slice : slices) {
      published.push_back(std::make_shared<const ResourceSlice>(std::move(slice)));
    }
  };
  for (size_t i = 0; i < drivers.size(); ++i) {
    for (const NodeId node : drivers[i].nodes) {
      // Its GPUs are looked at in any case.
      absl::StatusOr<std::vector<ResourceSlice>> slices =
          drivers[i].publisher->Publish(HardwareOf(cluster.node_spec(node)), /*generation=*/1);
      if (!slices.ok()) return BelowKey(KeyOfDriver(i), slices.status());
      if (StartsUp(drivers[i]) || !cluster.node(node).available) continue;
      add(*std::move(slices));
    }
    add(drivers[i].publisher->NetworkSlices());
  }
  return published;
}

Objects ClassesOfDrivers(const std::vector<PublishingDriver>& drivers,
                         std::set<std::string> known) {
  Objects classes;
  for (const PublishingDriver& driver : drivers) {
    for (proto::kube::DeviceClass& made : ClassesOfDriver(driver.options)) {
      if (!known.insert(made.metadata().name()).second) continue;
      auto object = std::make_shared<proto::kube::Object>();
      *object->mutable_device_class() = std::move(made);
      classes.push_back(std::move(object));
    }
  }
  return classes;
}

namespace {

// The most taints of a device that an API server takes (pkg/apis/resource/types.go).
constexpr size_t kMostTaints = 16;

bool IsAbout(const NodeEventSpec& event, const PublishingDriver& driver, uint32_t number) {
  return event.action == NodeTransition::Action::kDevices &&
         (event.driver == DeviceTransition::kEveryDriver || event.driver == number) &&
         (event.config.empty() || driver.options.mig() == "static");
}

// Every device with a taint more, after which the API server takes fewer of them, in the layout.
absl::Status CheckPublishable(const PublishingDriver& driver, const std::string& layout,
                              NodeHardware hardware) {
  hardware.layout = layout;
  for (size_t i = 0; i < driver.publisher->DeviceCount(hardware); ++i) {
    hardware.conditions[i].taints.push_back(driver.publisher->unhealthy().taint);
  }
  return driver.publisher->Publish(hardware, /*generation=*/1).status();
}

absl::Status CheckEventOn(const NodeEventSpec& event, const std::string& key,
                          const PublishingDriver& driver, const NodeSpec& node, bool* known) {
  const NodeHardware hardware = HardwareOf(node);
  const size_t count = driver.publisher->DeviceCount(hardware);
  for (const int32_t device : event.devices) {
    if (static_cast<size_t>(device) < count) continue;
    return KeyError(absl::StrCat(key, ".devices"),
                    absl::StrCat("found ", device, ", expected below ", count, ", the devices of ",
                                 driver.options.kind(), " on node '", node.name, "'"));
  }
  *known |= count > 0;
  const absl::Status status = CheckPublishable(driver, event.config, hardware);
  if (status.ok()) return status;
  return KeyError(absl::StrCat(key, event.config.empty() ? "" : ".config"), status.message());
}

absl::Status CheckEvents(const std::vector<PublishingDriver>& drivers,
                         const std::vector<uint32_t>& numbers,
                         absl::Span<const NodeEventSpec> events, const ClusterState& cluster) {
  size_t taints = 2;  // of broken devices and of layouts
  for (size_t i = 0; i < events.size(); ++i) {
    const NodeEventSpec& event = events[i];
    if (event.action != NodeTransition::Action::kDevices) continue;
    const std::string key = absl::StrCat("cluster.events[", i, "]");
    taints += event.device_action == DeviceTransition::Action::kTainted ? 1 : 0;
    if (taints > kMostTaints) {
      return KeyError(key, absl::StrCat("expected at most ", kMostTaints - 2,
                                        " events of action device-taint"));
    }
    bool known = false;
    for (size_t d = 0; d < drivers.size(); ++d) {
      if (!IsAbout(event, drivers[d], numbers[d])) continue;
      for (const NodeId node : drivers[d].nodes) {
        const NodeSpec& spec = cluster.node_spec(node);
        if (!MatchesPattern(event.nodes, spec.name)) continue;
        RETURN_IF_ERROR(CheckEventOn(event, key, drivers[d], spec, &known));
      }
    }
    if (known) continue;
    return KeyError(key, event.config.empty() ? "expected nodes on which a driver publishes devices"
                                              : "expected nodes with a driver with mig: static");
  }
  return absl::OkStatus();
}

}  // namespace

ClientOptions ClientOf(const std::string& name, const ConnectionOptions& connection) {
  ClientOptions client;
  client.name = name;
  client.qps = connection.qps;
  client.burst = connection.burst;
  client.read_latency = connection.read_latency;
  client.write_latency = connection.write_latency;
  client.watch_latency = connection.watch_latency;
  return client;
}

absl::StatusOr<std::vector<std::unique_ptr<PlanePart>>> MakePublishingParts(
    const std::vector<PublishingDriver>& drivers, absl::Span<const NodeEventSpec> events,
    const StructuredDraSpec& spec, const ControlPlaneOptions& plane, const ClusterState& cluster) {
  std::vector<std::unique_ptr<PlanePart>> parts;
  std::map<std::string, uint32_t> first;  // number by name
  std::vector<uint32_t> numbers;
  for (const PublishingDriver& driver : drivers) {
    const auto number = static_cast<uint32_t>(numbers.size());
    numbers.push_back(first.try_emplace(driver.name, number).first->second);
  }
  RETURN_IF_ERROR(CheckEvents(drivers, numbers, events, cluster));
  if (drivers.empty()) return parts;
  const auto add_remover = [&parts](const char* name, const ConnectionOptions& connection) {
    auto remover = std::make_unique<SliceRemover>(ClientOf(name, connection));
    SliceRemover* const added = remover.get();
    parts.push_back(std::move(remover));
    return added;
  };
  SliceRemover* const collector = add_remover("garbage-collector-slices", plane.controller_manager);
  SliceRemover* const kubelets = add_remover("kubelet-slices", plane.kubelets);
  for (size_t d = 0; d < drivers.size(); ++d) {
    const PublishingDriver& driver = drivers[d];
    DriverPluginsOptions options;
    options.driver = driver.name;
    std::string name = driver.name.empty() ? "slices" : driver.name;
    if (numbers[d] != d) absl::StrAppend(&name, "-", d);
    options.connection = ClientOf(name, spec.driver_connection);
    options.number = numbers[d];
    options.nodes = driver.nodes;
    options.start_up = StartsUp(driver);
    options.start_delay = spec.driver_start;
    options.sync_delay = spec.sync_delay;
    options.wiping_delay = spec.wiping_delay;
    for (const NodeEventSpec& event : events) options.taints.push_back(event.taint);
    if (driver.options.mig() == "static") options.layouts = ConfigsOf(events);
    options.seed = plane.seed;
    parts.push_back(std::make_unique<DriverPlugins>(std::move(options), driver.publisher.get(),
                                                    &cluster, collector, kubelets));
  }
  return parts;
}

}  // namespace drasim
