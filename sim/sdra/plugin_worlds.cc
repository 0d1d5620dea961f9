#include "sim/sdra/plugin_worlds.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "model/proto/sdra_case.pb.h"

namespace drasim {
namespace {

using proto::kube::ResourceSlice;
using proto::kube::SdraCase;

constexpr char kPluginDriver[] = "gpu.example.com";
constexpr char kPluginNamespace[] = "default";

std::string PluginNode(int64_t node) { return absl::StrCat("node-", node); }
std::string PluginPod(int64_t pod) { return absl::StrCat("pod-", pod); }
std::string PluginClaim(int64_t pod) { return absl::StrCat("claim-", pod); }

ResourceSlice SliceOf(int64_t node, int64_t devices, int64_t generation) {
  ResourceSlice slice;
  slice.mutable_metadata()->set_name(absl::StrCat(PluginNode(node), "-slice"));
  auto* const spec = slice.mutable_spec();
  spec->set_driver(kPluginDriver);
  spec->set_node_name(PluginNode(node));
  spec->mutable_pool()->set_name(PluginNode(node));
  spec->mutable_pool()->set_generation(generation);
  spec->mutable_pool()->set_resource_slice_count(1);
  for (int64_t d = 0; d < devices; ++d) {
    auto* const device = spec->add_devices();
    device->set_name(absl::StrCat("gpu-", d));
    (*device->mutable_attributes())["index"].set_int_value(d);
    (*device->mutable_attributes())["model"].set_string_value(d % 2 == 0 ? "A100" : "H100");
    (*device->mutable_capacity())["memory"].set_value(d % 2 == 0 ? "40Gi" : "80Gi");
  }
  return slice;
}

// Every third claim prefers one large GPU to several small ones.
void AddPodWithClaim(int64_t pod, int64_t wanted, SdraCase* made) {
  auto* const claim = made->add_claims();
  claim->mutable_metadata()->set_name(PluginClaim(pod));
  claim->mutable_metadata()->set_namespace_(kPluginNamespace);
  claim->mutable_metadata()->set_uid(absl::StrCat("uid-", PluginClaim(pod)));
  auto* const request = claim->mutable_spec()->mutable_devices()->add_requests();
  request->set_name("gpus");
  if (pod % 3 == 0) {
    auto* const large = request->add_first_available();
    large->set_name("large");
    large->set_device_class_name("large");
    large->set_allocation_mode("ExactCount");
    large->set_count(1);
  }
  if (pod % 3 == 0) {
    auto* const any = request->add_first_available();
    any->set_name("any");
    any->set_device_class_name("gpu");
    any->set_allocation_mode("ExactCount");
    any->set_count(wanted);
  } else {
    request->mutable_exactly()->set_device_class_name("gpu");
    request->mutable_exactly()->set_allocation_mode("ExactCount");
    request->mutable_exactly()->set_count(wanted);
  }
  auto* const user = made->add_pods();
  user->mutable_metadata()->set_name(PluginPod(pod));
  user->mutable_metadata()->set_namespace_(kPluginNamespace);
  user->mutable_metadata()->set_uid(absl::StrCat("uid-", PluginPod(pod)));
  auto* const reference = user->mutable_spec()->add_resource_claims();
  reference->set_name("gpus");
  reference->set_resource_claim_name(PluginClaim(pod));
}

void AddClass(const std::string& name, const std::string& selector, SdraCase* made) {
  auto* const one = made->add_classes();
  one->mutable_metadata()->set_name(name);
  one->mutable_spec()->add_selectors()->mutable_cel()->set_expression(selector);
}

}  // namespace

CaseSet LifeCycleWorld(int64_t nodes, int64_t devices, int64_t wanted, int64_t pods) {
  SdraCase made;
  made.set_name("life-cycle");
  made.set_theme("life-cycle");
  for (int64_t n = 0; n < nodes; ++n) {
    made.add_nodes()->mutable_metadata()->set_name(PluginNode(n));
    *made.add_slices() = SliceOf(n, devices, 1);
  }
  AddClass("gpu", absl::StrCat("device.driver == '", kPluginDriver, "'"), &made);
  AddClass("large",
           absl::StrCat("device.capacity['", kPluginDriver,
                        "'].memory.compareTo(quantity('80Gi')) >= 0"),
           &made);
  for (int64_t p = 0; p < pods; ++p) AddPodWithClaim(p, wanted, &made);
  for (int64_t p = 0; p < pods; ++p) made.add_steps()->set_schedule(PluginPod(p));
  for (int64_t p = 0; p < pods; p += 2) made.add_steps()->set_release(PluginPod(p));
  const int64_t last = pods - 1;
  made.add_steps()->set_cycle(PluginPod(last));
  made.add_steps()->set_unreserve(PluginPod(last));
  made.add_steps()->set_wait("10s");
  *made.add_steps()->mutable_put_slice() = SliceOf(0, devices + 1, 2);
  if (nodes > 1) made.add_steps()->set_remove_node(PluginNode(nodes - 1));
  for (int64_t p = pods / 2; p < pods; ++p) made.add_steps()->set_schedule(PluginPod(p));
  CaseSet set;
  set.push_back({std::move(made), ""});
  return set;
}

}  // namespace drasim
