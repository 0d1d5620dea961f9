#include "sim/run/device_plan.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/btree_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "model/device_set.h"
#include "model/key_error.h"
#include "model/mig_fragmentation.h"
#include "model/status_macros.h"
#include "model/text/did_you_mean.h"
#include "model/text/embedded_mig.h"
#include "model/text/mig_catalogue.h"
#include "sim/run/dra_plan.h"
#include "sim/scenario/name_pattern.h"
#include "traces/byte_source.h"

namespace drasim {
namespace {

constexpr absl::string_view kMigPrefix = "nvidia.com/mig-";
constexpr absl::string_view kSharedSuffix = ".shared";
constexpr int64_t kMostInstancesAsked = 1024;
constexpr size_t kMaxConfigBytes = 16u << 20;

void AddAmount(const std::string& name, int64_t amount, NodeSpec* node) {
  for (auto& [known, sum] : node->extended) {
    if (known != name) continue;
    sum += amount;
    return;
  }
  node->extended.emplace_back(name, amount);
  std::sort(node->extended.begin(), node->extended.end());
}

// Describes GPUs of the node.
absl::Status DescribeGpus(const DeviceGroupSpec& group, const std::string& key,
                          std::vector<bool>* described, NodeSpec* node) {
  std::vector<int32_t> indices = group.indices;
  if (indices.empty()) {
    const int32_t count = group.count > 0 ? group.count : node->gpu_count;
    for (int32_t i = 0; i < node->gpu_count && static_cast<int32_t>(indices.size()) < count; ++i) {
      if (!(*described)[static_cast<size_t>(i)]) indices.push_back(i);
    }
  }
  for (int32_t index : indices) {
    if (index < 0 || index >= node->gpu_count) {
      return KeyError(absl::StrCat(key, ".indices"),
                      absl::StrCat("found ", index, ", expected below ", node->gpu_count,
                                   ", the GPUs of node '", node->name, "'"));
    }
    const auto i = static_cast<size_t>(index);
    if ((*described)[i]) {
      return KeyError(absl::StrCat(key, ".indices"),
                      absl::StrCat("found ", index,
                                   ", which another group describes, too, expected each GPU once"));
    }
    (*described)[i] = true;
    const std::string product = node->devices[i].product;
    node->devices[i] = group.device;
    if (node->devices[i].product.empty()) node->devices[i].product = product;
  }
  return absl::OkStatus();
}

// Whether NVIDIA's device plugin provides the resource.
bool IsNvidiaDevice(absl::string_view resource) {
  const absl::string_view plain = absl::StripSuffix(resource, kSharedSuffix);
  return plain == kGpuResource || absl::StartsWith(plain, kMigPrefix);
}

// Whether a shape requests resources of NVIDIA's device plugin.
bool AnyNvidiaDevice(const ShapeTable& shapes) {
  for (size_t s = 0; s < shapes.size(); ++s) {
    for (const auto& [name, amount] : shapes.row(ShapeId(s)).request.extended) {
      if (IsNvidiaDevice(name)) return true;
    }
  }
  return false;
}

// Calls visit(shape, pods) for each group of each job.
template <typename Visit>
void ForEachGroup(const std::vector<JobArrival>& jobs, Visit visit) {
  for (const JobArrival& job : jobs) {
    visit(job.shape, job.pods);
    for (const PodGroup& group : job.more_pods) visit(group.shape, group.pods);
  }
}

}  // namespace

absl::Status DevicePlan::DescribeNodes(std::vector<NodeSpec>* nodes) const {
  const std::string& gpu_model = spec_->cluster.gpu_model;
  const std::vector<DeviceGroupSpec>& groups = spec_->front_end.devices;
  std::vector<size_t> matched(groups.size());
  for (NodeSpec& node : *nodes) {
    if (!gpu_model.empty() && node.gpu_count > 0) {
      node.gpu_model = gpu_model;
      node.gpu_models.clear();
    }
    if (groups.empty() && !spec_->front_end.has_node_agent) continue;
    node.devices.assign(static_cast<size_t>(node.gpu_count), DeviceSpec());
    for (size_t g = 0; g < node.devices.size(); ++g) node.devices[g].product = GpuModelOf(node, g);
    std::vector<bool> described(static_cast<size_t>(node.gpu_count));
    for (size_t i = 0; i < groups.size(); ++i) {
      const DeviceGroupSpec& group = groups[i];
      if (!group.nodes.empty() && !MatchesPattern(group.nodes, node.name)) continue;
      ++matched[i];
      if (group.gpu) {
        const std::string key = absl::StrCat("cluster.devices[", i, "]");
        RETURN_IF_ERROR(DescribeGpus(group, key, &described, &node));
        continue;
      }
      const int32_t count =
          group.count > 0 ? group.count : static_cast<int32_t>(group.indices.size());
      for (int32_t n = 0; n < count; ++n) node.devices.push_back(group.device);
      AddAmount(group.device.resource, count, &node);
    }
  }
  for (size_t i = 0; i < matched.size(); ++i) {
    if (matched[i] > 0) continue;
    return KeyError(absl::StrCat("cluster.devices[", i, "].nodes"),
                    absl::StrCat("found '", groups[i].nodes, "', which matches no node"));
  }
  return absl::OkStatus();
}

absl::Status DevicePlan::AttachTables(GpuModelTable* models) {
  models_ = models;
  // A claim may request an instance even if nothing else in the scenario mentions MIG.
  const bool claims = spec_->front_end.dra();
  if (!spec_->front_end.uses_mig && !claims) return absl::OkStatus();
  RETURN_IF_ERROR(tables_.Attach(models, spec_->front_end.mig.driver_branch));
  if (!spec_->front_end.uses_mig) return absl::OkStatus();
  if (!tables_.tables().empty()) return absl::OkStatus();
  std::vector<std::string> names;
  for (size_t m = 0; m < models->size(); ++m) names.push_back(models->name(ModelId(m)));
  const absl::Status unknown = UnknownMigProduct(names.empty() ? "" : names[0]);
  return KeyError("cluster", absl::StrCat("no GPU model of its nodes (", absl::StrJoin(names, ", "),
                                          ") is a MIG product; ", unknown.message()));
}

const MigTable* DevicePlan::TableOf(const NodeSpec& node, size_t gpu) const {
  const ModelId model = models_->Find(GpuModelOf(node, gpu));
  return model.valid() ? models_->mig(model) : nullptr;
}

absl::StatusOr<const MigTable*> DevicePlan::OnlyTable() const {
  const std::string& product = spec_->front_end.lowering.product;
  if (!product.empty()) {
    const MigProduct* const named = FindMigProduct(product);
    if (named == nullptr) return UnknownMigProduct(product);
    for (const auto& table : tables_.tables()) {
      if (table->product().group == named->group) return table.get();
    }
    return KeyError("front_end.lowering.product",
                    absl::StrCat("found '", product, "', which no node of the cluster has"));
  }
  if (tables_.tables().size() == 1) return tables_.tables()[0].get();
  std::vector<std::string> groups;
  for (const auto& table : tables_.tables()) groups.push_back(table->product().group);
  return KeyError("front_end.lowering.product",
                  absl::StrCat("expected one of ", absl::StrJoin(groups, ", ")));
}

absl::StatusOr<Lowering> DevicePlan::MakeLowering() const {
  const LoweringSpec& spec = spec_->front_end.lowering;
  const DevicePluginConfig& plugin = spec_->front_end.options.plugin;
  LoweringOptions options;
  options.rule = spec.rule;
  options.device_plugin = spec_->front_end.device_plugin();
  options.ignore_gpu_model = spec.ignore_gpu_model;
  options.profiles = spec.profiles;
  if (options.rule == LoweringRule::kMigSmallest) {
    ASSIGN_OR_RETURN(options.table, OnlyTable());
  }
  for (const DevicePluginConfig::Replicas& r : plugin.resources) {
    options.replicas.emplace_back(r.name, r.replicas);
  }
  if (options.device_plugin && options.rule == LoweringRule::kMigSmallest &&
      plugin.mig_strategy != MigStrategy::kMixed) {
    return KeyError("front_end.device_plugin.mig_strategy",
                    "expected mixed with front_end.lowering.rule: mig-smallest, whose pods ask for "
                    "nvidia.com/mig-* resources");
  }
  options.renamed = plugin.rename_by_default;
  absl::StatusOr<Lowering> lowering = Lowering::Make(std::move(options));
  if (lowering.ok()) return lowering;
  const bool profile = absl::IsNotFound(lowering.status());
  return KeyError(absl::StrCat("front_end.lowering.", profile ? "profiles" : "rule"),
                  lowering.status().message());
}

// GPU milli of one `nvidia.com/gpu`: with strategy single, those of an instance of the only profile
// in the first configuration.
int64_t DevicePlan::GpuResourceMilli(const DevicePluginConfig& plugin) const {
  if (plugin.mig_strategy != MigStrategy::kSingle) return kDeviceMilli;
  const MigSpec& mig = spec_->front_end.mig;
  for (const MigPartedConfig& config : configs_) {
    if (mig.configs.empty() || config.name != mig.configs[0].config) continue;
    for (const MigPartedGroup& group : config.groups) {
      if (!group.mig_devices.empty()) return InstanceMilli(group.mig_devices[0].first);
    }
  }
  return kDeviceMilli;
}

// The smallest share of a GPU among profiles with that name, or with that name of their resource.
int64_t DevicePlan::InstanceMilli(absl::string_view name) const {
  int64_t least = 0;
  for (const auto& table : tables_.tables()) {
    for (const MigProfile& p : table->profiles()) {
      if (p.name != name && MigResourceName(p.name) != name) continue;
      const int64_t milli = MilliOfUnits(p.size, table->product().units);
      least = least == 0 ? milli : std::min(least, milli);
    }
  }
  return least;
}

// Sets the GPU milli behind extended resources that are GPUs or parts of GPUs.
void DevicePlan::SetNominal(const DevicePluginConfig& plugin, ResourceRequest* request) const {
  if (request->nominal_milli > 0) return;
  for (const auto& [name, amount] : request->extended) {
    const absl::string_view plain = absl::StripSuffix(name, ".shared");
    int64_t milli = 0;
    if (plain == kGpuResource) milli = GpuResourceMilli(plugin);
    if (absl::StartsWith(plain, kMigPrefix)) milli = InstanceMilli(plain);
    for (const DevicePluginConfig::Replicas& r : plugin.resources) {
      if (r.name == plain) milli /= r.replicas;
    }
    request->nominal_milli += milli * amount;
  }
}

std::string DevicePlan::ProfileOfResource(absl::string_view resource) const {
  for (const auto& table : tables_.tables()) {
    for (const MigProfile& p : table->profiles()) {
      if (MigResourceName(p.name) == resource) return p.name;
    }
  }
  return "";
}

// `extended` is Kubernetes' count of a pod's devices over its containers: the sum of those that run
// together, or the number of an init container if that is larger.
absl::Status DevicePlan::ToDevices(const std::set<std::string>& reported, PodShape* shape) const {
  const auto asks = [](absl::string_view name, absl::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat("a pod asks for ", name, what));
  };
  const auto too_many = [&asks](absl::string_view name, int64_t amount, int64_t most) {
    return asks(name, absl::StrCat(": found ", amount, ", expected at most ", most));
  };
  ResourceRequest& request = shape->request;
  const LoweringSpec& lowering = spec_->front_end.lowering;
  const bool claims = dra_ != nullptr;
  std::vector<std::pair<std::string, int64_t>> counted;
  std::set<std::string> taken;
  std::map<std::string, int32_t> instances;
  int64_t whole = 0;
  int64_t shares = 0;
  for (const auto& [name, amount] : request.extended) {
    if (reported.count(name) > 0) {
      counted.emplace_back(name, amount);
      continue;
    }
    const absl::string_view plain = absl::StripSuffix(name, kSharedSuffix);
    if (plain == kGpuResource) {
      if (amount > kMaxDevicesPerNode) return too_many(name, amount, kMaxDevicesPerNode);
      (plain == name ? whole : shares) += amount;
    } else if (absl::StartsWith(plain, kMigPrefix)) {
      const std::string profile = ProfileOfResource(plain);
      if (profile.empty()) {
        return asks(name, tables_.tables().empty()
                              ? ", expected GPUs that this front end partitions: a MIG product in "
                                "the cluster and front_end.lowering.rule: mig-smallest"
                              : ", expected the profile of a GPU of the cluster");
      }
      if (amount > kMostInstancesAsked) return too_many(name, amount, kMostInstancesAsked);
      // A share of an instance becomes a whole instance: only the device plugin shares instances.
      instances[profile] += static_cast<int32_t>(amount);
      request.nominal_milli += InstanceMilli(plain) * amount;
    } else {
      if (claims) {
        return asks(name, ", which no node has and no driver of front_end.dra.drivers serves");
      }
      counted.emplace_back(name, amount);
      continue;
    }
    taken.insert(name);
  }
  if (taken.empty()) return absl::OkStatus();
  const std::string& first = *taken.begin();
  const bool devices = request.gpu_count > 0 || !request.mig.empty();
  if (devices) return asks(first, " and for gpus or mig beside it, expected one of them");
  if (whole > 0 && shares > 0) {
    return asks(first, " and for replicas of it at once, expected one of them");
  }
  if (!instances.empty() && (shares > 0 || (whole > 0 && !claims))) {
    return asks(first, " and for MIG instances at once, expected one of them");
  }
  if (shares > 0 && lowering.shared_replicas == 0 && lowering.rule != LoweringRule::kWholeGpu) {
    return asks(first,
                ", a replica of a shared GPU, expected front_end.lowering.shared_replicas: how "
                "many replicas each GPU has");
  }
  request.extended = std::move(counted);
  request.mig.assign(instances.begin(), instances.end());
  request.gpu_count = static_cast<int32_t>(whole + shares);
  if (request.gpu_count > 0) {
    const int32_t replicas = shares > 0 ? std::max(1, lowering.shared_replicas) : 1;
    request.gpu_milli = kDeviceMilli / replicas;
  }
  bool any_left = false;
  for (ContainerRequest& container : shape->device_plugin.containers) {
    std::erase_if(container.extended,
                  [&taken](const auto& amount) { return taken.count(amount.first) > 0; });
    any_left = any_left || !container.extended.empty();
  }
  if (!any_left) shape->device_plugin.containers.clear();
  return absl::OkStatus();
}

absl::Status DevicePlan::LowerJobs(const std::vector<NodeSpec>& nodes, ShapeTable* shapes,
                                   std::vector<JobArrival>* jobs) {
  const bool plugin = spec_->front_end.device_plugin();
  const LoweringSpec& spec = spec_->front_end.lowering;
  const bool claims = dra_ != nullptr;
  const bool from_plugin = !plugin && (claims || AnyNvidiaDevice(*shapes));
  if (!plugin && !from_plugin && !spec.ignore_gpu_model && spec.rule == LoweringRule::kNone) {
    return absl::OkStatus();
  }
  // Amounts that stay as they are.
  std::set<std::string> reported;
  if (spec.as_extended_resources) {
    std::vector<std::string> profiles;
    for (const auto& table : tables_.tables()) {
      for (const MigProfile& p : table->profiles()) profiles.push_back(p.name);
    }
    RETURN_IF_ERROR(dra_->ServeProfiles(profiles));
  }
  if (claims) {
    ASSIGN_OR_RETURN(reported, dra_->ServedResources(nodes));
  }
  for (const NodeSpec& node : nodes) {
    for (const auto& [name, amount] : node.extended) reported.insert(name);
  }
  ASSIGN_OR_RETURN(const Lowering lowering, MakeLowering());
  if (!spec_->front_end.mig.configs.empty()) {
    RETURN_IF_ERROR(ReadConfigs());
  }
  const auto lowered_of = [&](PodShape pod) -> absl::StatusOr<PodShape> {
    if (from_plugin) {
      RETURN_IF_ERROR(ToDevices(reported, &pod));
    }
    absl::StatusOr<PodShape> made = lowering.Lower(pod);
    if (!claims || !made.ok()) return made;
    return spec.as_extended_resources ? dra_->ToResources(*made) : dra_->ToClaims(*made);
  };
  const bool any_gpus =
      absl::c_any_of(nodes, [](const NodeSpec& node) { return node.gpu_count > 0; });
  std::vector<ShapeId> lowered(shapes->size());
  const auto lower = [&](ShapeId* shape, const std::string& name) -> absl::Status {
    ShapeId& known = lowered[shape->value()];
    if (!known.valid()) {
      absl::StatusOr<PodShape> made = lowered_of(shapes->row(*shape));
      if (!made.ok()) {
        return KeyError("front_end.lowering",
                        absl::StrCat("job '", name, "': ", made.status().message()));
      }
      // Devices that are no GPUs of the nodes are not counted as such.
      const bool counts = spec_->front_end.kind == FrontEndKind::kDraStructured && any_gpus;
      if (plugin || counts) SetNominal(spec_->front_end.options.plugin, &made->request);
      known = shapes->Intern(*made);
    }
    *shape = known;
    return absl::OkStatus();
  };
  for (JobArrival& job : *jobs) {
    if (claims) dra_->ServeNamespaceOf(job.name);
    RETURN_IF_ERROR(lower(&job.shape, job.name));
    for (PodGroup& group : job.more_pods) {
      RETURN_IF_ERROR(lower(&group.shape, job.name));
    }
  }
  return absl::OkStatus();
}

absl::Status DevicePlan::ReadConfigs() {
  if (!configs_.empty()) return absl::OkStatus();
  const std::string& file = spec_->front_end.mig.config_file;
  if (file.empty()) {
    ASSIGN_OR_RETURN(configs_,
                     ParseMigParted(EmbeddedMigPartedConfig(), "mig_parted_default.yaml"));
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, OpenByteSource(file));
  ASSIGN_OR_RETURN(const std::string text, ReadAll(*source, kMaxConfigBytes));
  ASSIGN_OR_RETURN(configs_, ParseMigParted(text, file));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<GpuLayout>> DevicePlan::LayoutOf(const std::string& config,
                                                            const NodeSpec& node) const {
  const auto it = std::find_if(configs_.begin(), configs_.end(),
                               [&](const MigPartedConfig& c) { return c.name == config; });
  if (it == configs_.end()) {
    std::vector<std::string> names;
    for (const MigPartedConfig& c : configs_) names.push_back(c.name);
    return absl::NotFoundError(absl::StrCat(
        "found '", config, "', expected the name of a MIG configuration", Suggest(config, names)));
  }
  std::vector<const MigTable*> gpus(static_cast<size_t>(node.gpu_count));
  for (size_t g = 0; g < gpus.size(); ++g) gpus[g] = TableOf(node, g);
  absl::StatusOr<NodeMigLayout> laid_out = LayOutNode(*it, gpus);
  if (!laid_out.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(laid_out.status().message(), " (node '", node.name, "')"));
  }
  std::vector<GpuLayout> layouts(gpus.size());
  for (size_t g = 0; g < gpus.size(); ++g) {
    layouts[g].mig_enabled = laid_out->mig_enabled[g];
    layouts[g].state = laid_out->states[g];
    if (!layouts[g].mig_enabled) continue;
    const PermutationSearch made =
        ApplyByPermutations(*gpus[g], MultisetOf(*gpus[g], layouts[g].state));
    layouts[g].created = made.created;
    layouts[g].destroyed = made.destroyed;
  }
  return layouts;
}

absl::Status DevicePlan::AssignLayouts(const std::vector<NodeSpec>& nodes,
                                       std::vector<std::vector<GpuLayout>>* layouts) const {
  const MigSpec& mig = spec_->front_end.mig;
  std::vector<size_t> matched(mig.configs.size());
  for (size_t n = 0; n < nodes.size(); ++n) {
    for (size_t i = 0; i < mig.configs.size(); ++i) {
      const MigSpec::Assignment& assignment = mig.configs[i];
      if (!assignment.nodes.empty() && !MatchesPattern(assignment.nodes, nodes[n].name)) {
        continue;
      }
      ++matched[i];
      absl::StatusOr<std::vector<GpuLayout>> layout = LayoutOf(assignment.config, nodes[n]);
      if (!layout.ok()) {
        if (!absl::IsNotFound(layout.status())) return layout.status();
        return KeyError(absl::StrCat("cluster.mig.configs[", i, "].config"),
                        layout.status().message());
      }
      (*layouts)[n] = *std::move(layout);
      break;
    }
  }
  for (size_t i = 0; i < matched.size(); ++i) {
    if (matched[i] > 0) continue;
    return KeyError(
        absl::StrCat("cluster.mig.configs[", i, "].nodes"),
        absl::StrCat("found '", mig.configs[i].nodes,
                     "', expected a pattern that matches a node that no earlier entry matches"));
  }
  return absl::OkStatus();
}

absl::Status DevicePlan::PlanByDemand(const ShapeTable& shapes, const std::vector<JobArrival>& jobs,
                                      const std::vector<NodeSpec>& nodes,
                                      std::vector<std::vector<GpuLayout>>* layouts) const {
  ASSIGN_OR_RETURN(const MigTable* const only, OnlyTable());
  const MigTable& table = *only;
  MigDemand demand;
  demand.instances.assign(table.profiles().size(), 0);
  ForEachGroup(jobs, [&](ShapeId id, int64_t pods) {
    for (const auto& [name, amount] : shapes.row(id).request.extended) {
      const absl::string_view plain = absl::StripSuffix(name, ".shared");
      if (plain == kGpuResource) demand.whole_gpus += pods * amount;
      for (size_t p = 0; p < table.profiles().size(); ++p) {
        if (MigResourceName(table.profiles()[p].name) == plain) {
          demand.instances[p] += pods * amount;
        }
      }
    }
  });
  // Replicas count as the devices that provide them.
  for (const DevicePluginConfig::Replicas& r : spec_->front_end.options.plugin.resources) {
    const auto devices = [&r](int64_t n) { return (n + r.replicas - 1) / r.replicas; };
    if (r.name == kGpuResource) demand.whole_gpus = devices(demand.whole_gpus);
    for (size_t p = 0; p < table.profiles().size(); ++p) {
      if (MigResourceName(table.profiles()[p].name) == r.name) {
        demand.instances[p] = devices(demand.instances[p]);
      }
    }
  }
  std::vector<int32_t> gpus;  // with the table, by node
  for (const NodeSpec& node : nodes) {
    int32_t count = 0;
    for (size_t g = 0; g < static_cast<size_t>(node.gpu_count); ++g) {
      count += TableOf(node, g) == &table ? 1 : 0;
    }
    gpus.push_back(count);
  }
  const std::vector<NodeLayout> planned = PlanLayouts(table, gpus, demand);
  for (size_t n = 0; n < nodes.size(); ++n) {
    if (!planned[n].mig_enabled) continue;
    GpuLayout layout;
    layout.mig_enabled = true;
    const PermutationSearch made = ApplyByPermutations(table, planned[n].counts);
    layout.state = made.state != kNoMigState ? made.state : FindLayout(table, planned[n].counts);
    layout.created = made.created;
    layout.destroyed = made.destroyed;
    for (size_t g = 0; g < (*layouts)[n].size(); ++g) {
      if (TableOf(nodes[n], g) == &table) (*layouts)[n][g] = layout;
    }
  }
  return absl::OkStatus();
}

bool DevicePlan::IsRepartitioned(const std::string& node, const std::string& config) const {
  const std::vector<NodeEventSpec>& events = spec_->cluster.events;
  return std::any_of(events.begin(), events.end(), [&](const NodeEventSpec& event) {
    return event.config == config && MatchesPattern(event.nodes, node);
  });
}

absl::Status DevicePlan::LayOut(const GpuModelTable& models, const ShapeTable& shapes,
                                const std::vector<JobArrival>& jobs,
                                const std::vector<std::string>& configs,
                                std::vector<NodeSpec>* nodes) {
  models_ = &models;
  if (!spec_->front_end.has_node_agent) return absl::OkStatus();
  const MigSpec& mig = spec_->front_end.mig;
  const DeviceFrontEndOptions& options = spec_->front_end.options;
  const bool everywhere = spec_->front_end.device_plugin();
  const std::string& some = spec_->front_end.plugin_nodes;
  std::vector<std::vector<GpuLayout>> layouts(nodes->size());
  for (size_t n = 0; n < nodes->size(); ++n) {
    layouts[n].resize(static_cast<size_t>((*nodes)[n].gpu_count));
  }
  if (!mig.configs.empty() || !configs.empty() || !mig.config_file.empty()) {
    RETURN_IF_ERROR(ReadConfigs());
  }
  RETURN_IF_ERROR(AssignLayouts(*nodes, &layouts));
  if (mig.by_demand) {
    RETURN_IF_ERROR(PlanByDemand(shapes, jobs, *nodes, &layouts));
  }
  for (const std::string& config : configs) {
    std::vector<std::vector<GpuLayout>>& of_node = event_layouts_.emplace_back();
    for (const NodeSpec& node : *nodes) {
      // The layout need not be possible on nodes without such an event.
      if (!IsRepartitioned(node.name, config)) {
        of_node.emplace_back(static_cast<size_t>(node.gpu_count));
        continue;
      }
      absl::StatusOr<std::vector<GpuLayout>> layout = LayoutOf(config, node);
      if (!layout.ok()) {
        return KeyError("cluster.events", layout.status().message());
      }
      of_node.push_back(*std::move(layout));
    }
  }
  amounts_may_grow_ = !event_layouts_.empty() || options.repartitioning.every > SimDuration();
  bool any_plugin = some.empty();
  for (size_t n = 0; n < nodes->size(); ++n) {
    const bool plugin = everywhere || (!some.empty() && MatchesPattern(some, (*nodes)[n].name));
    any_plugin |= plugin;
    RETURN_IF_ERROR(AddFrontEndNode(options, plugin, layouts[n], &(*nodes)[n]));
  }
  if (!any_plugin) {
    return KeyError("front_end.structured.device_plugin_nodes",
                    absl::StrCat("found '", some, "', which matches no node of the cluster"));
  }
  return absl::OkStatus();
}

absl::Status DevicePlan::AddFrontEndNode(const DeviceFrontEndOptions& options, bool plugin,
                                         const std::vector<GpuLayout>& layout, NodeSpec* node) {
  FrontEndNode made;
  const auto gpu_count = static_cast<size_t>(node->gpu_count);
  for (size_t d = 0; d < node->devices.size(); ++d) {
    const DeviceSpec& spec = node->devices[d];
    made.numa_nodes = std::max(made.numa_nodes, spec.numa_node + 1);
    (d < gpu_count ? made.gpu_specs : made.others).push_back(spec);
  }
  for (size_t g = 0; g < gpu_count && plugin; ++g) {
    const MigTable* const table = TableOf(*node, g);
    PluginGpu gpu;
    gpu.product = made.gpu_specs[g].product;
    gpu.table = table;
    gpu.mig_enabled = layout[g].mig_enabled;
    gpu.layout = layout[g].state;
    gpu.numa_node = made.gpu_specs[g].numa_node;
    if (table != nullptr) gpu.memory_mib = table->product().memory_mib;
    made.gpus.push_back(std::move(gpu));
  }
  if (!plugin) made.gpu_specs.clear();
  absl::StatusOr<std::vector<PluginResource>> resources =
      AdvertisedResources(made.gpus, options.plugin);
  if (!resources.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("node '", node->name, "': ", resources.status().message()));
  }
  for (const auto& [name, amount] : node->extended) {
    if (!plugin || (!absl::StartsWith(name, kMigPrefix) && !absl::StartsWith(name, kGpuResource))) {
      continue;
    }
    return absl::InvalidArgumentError(
        absl::StrCat("node '", node->name, "': found an amount of ", name,
                     " of its own, expected none: the device plugin says how much there is"));
  }
  for (const PluginResource& resource : *resources) {
    AddAmount(resource.name, resource.allocatable(), node);
  }
  if (plugin && gpu_count > 0) AddPossibleResources(options, node);
  for (auto& label : GpuFeatureLabels(made.gpus, options.plugin)) {
    node->labels.push_back(std::move(label));
  }
  std::sort(node->labels.begin(), node->labels.end());
  front_end_nodes_.push_back(std::move(made));
  return absl::OkStatus();
}

// Resources that the node may report later need their columns from the start.
void DevicePlan::AddPossibleResources(const DeviceFrontEndOptions& options, NodeSpec* node) const {
  const std::string shared = options.plugin.rename_by_default ? ".shared" : "";
  AddAmount(std::string(kGpuResource), 0, node);
  if (!amounts_may_grow_) return;
  const MigTable* last = nullptr;
  for (size_t g = 0; g < static_cast<size_t>(node->gpu_count); ++g) {
    const MigTable* const table = TableOf(*node, g);
    if (table == nullptr || table == last) continue;
    last = table;
    for (const MigProfile& p : table->profiles()) {
      AddAmount(MigResourceName(p.name), 0, node);
      if (!shared.empty()) AddAmount(absl::StrCat(MigResourceName(p.name), shared), 0, node);
    }
  }
  if (last != nullptr && !shared.empty()) {
    AddAmount(absl::StrCat(kGpuResource, shared), 0, node);
  }
}

std::unique_ptr<DeviceFrontEnd> DevicePlan::MakeFrontEnd(const ClusterState* cluster) {
  if (!spec_->front_end.has_node_agent) return nullptr;
  return std::make_unique<DeviceFrontEnd>(cluster, spec_->front_end.options, front_end_nodes_,
                                          event_layouts_);
}

std::vector<TypicalRequest> TypicalRequests(const ShapeTable& shapes,
                                            const std::vector<JobArrival>& jobs, double percent) {
  std::vector<std::pair<int64_t, uint32_t>> counted(shapes.size());
  int64_t total = 0;
  for (size_t s = 0; s < counted.size(); ++s) counted[s].second = static_cast<uint32_t>(s);
  ForEachGroup(jobs, [&](ShapeId id, int64_t pods) {
    counted[id.value()].first += pods;
    total += pods;
  });
  std::stable_sort(counted.begin(), counted.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<TypicalRequest> typical;
  int64_t covered = 0;
  size_t taken = 0;
  while (taken < counted.size() && counted[taken].first > 0 &&
         static_cast<double>(covered) < percent * static_cast<double>(total) / 100) {
    covered += counted[taken++].first;
  }
  for (size_t i = 0; i < taken; ++i) {
    const PodShape& shape = shapes.row(ShapeId(size_t{counted[i].second}));
    const ResourceRequest& wanted = shape.request;
    TypicalRequest request;
    request.cpu_milli = wanted.cpu_milli;
    request.memory_bytes = wanted.memory_bytes;
    request.weight = static_cast<double>(counted[i].first) / static_cast<double>(covered);
    if (!wanted.mig.empty()) request.mig_profile = wanted.mig[0].first;
    for (const ClaimEntry& claim : shape.claims) {
      if (!claim.mig_profile.empty()) request.mig_profile = claim.mig_profile;
      if (claim.mig_profile.empty() && claim.gpus > 0) request.whole_gpus = claim.gpus;
    }
    if (wanted.is_share()) request.share_milli = wanted.gpu_milli;
    if (wanted.gpu_count > 0 && !wanted.is_share()) request.whole_gpus = wanted.gpu_count;
    for (const auto& [name, amount] : wanted.extended) {
      const absl::string_view plain = absl::StripSuffix(name, ".shared");
      if (plain == kGpuResource) {
        // A replica is a part of a GPU.
        const int64_t milli = wanted.nominal_milli / amount;
        if (milli >= kDeviceMilli) {
          request.whole_gpus = static_cast<int32_t>(amount);
        } else {
          request.share_milli = static_cast<int32_t>(milli);
        }
      } else if (absl::StartsWith(plain, kMigPrefix)) {
        // "1g.10gb.me" is "1g.10gb+me".
        std::string profile(plain.substr(kMigPrefix.size()));
        const size_t suffix = profile.find(".me");
        if (suffix != std::string::npos) profile[suffix] = '+';
        const size_t graphics = profile.find(".gfx");
        if (graphics != std::string::npos) profile[graphics] = '+';
        request.mig_profile = std::move(profile);
      }
    }
    typical.push_back(std::move(request));
  }
  return typical;
}

std::vector<std::pair<std::string, int64_t>> DevicePlan::MigMix(
    const ShapeTable& shapes, const std::vector<JobArrival>& jobs) const {
  // The kubelet's choice among a device plugin's instances goes by no mix.
  const bool by_resource = spec_->front_end.kind == FrontEndKind::kDraStructured;
  absl::btree_map<std::string, int64_t> counted;
  ForEachGroup(jobs, [&](ShapeId id, int64_t pods) {
    for (const auto& [name, count] : shapes.row(id).request.mig) counted[name] += pods * count;
    for (const ClaimEntry& claim : shapes.row(id).claims) {
      if (claim.mig_profile.empty()) continue;
      counted[claim.mig_profile] += pods * std::max<int64_t>(1, claim.gpus);
    }
    for (const auto& [name, amount] : shapes.row(id).request.extended) {
      const std::string profile = by_resource ? ProfileOfResource(name) : "";
      if (!profile.empty()) counted[profile] += pods * amount;
    }
  });
  int64_t total = 0;
  for (const auto& [name, count] : counted) total += count;
  std::vector<std::pair<std::string, int64_t>> mix;
  for (const auto& [name, count] : counted) mix.emplace_back(name, count * kMfiScale / total);
  return mix;
}

}  // namespace drasim
