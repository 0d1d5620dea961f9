// The objects of one cluster as kubectl printed them, indexed for drasim explain.
#ifndef DRASIM_SIM_EXPLAIN_CLUSTER_DUMP_H_
#define DRASIM_SIM_EXPLAIN_CLUSTER_DUMP_H_

#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/kube/reader.h"
#include "model/kube/rules.h"
#include "model/proto/kube.pb.h"

namespace drasim {

// "NAMESPACE/NAME"; an object without a namespace is in "default".
std::string KubeKey(absl::string_view ns, absl::string_view name);
std::string KubeKey(const proto::kube::ObjectMeta& meta);
inline std::string NamespaceOf(const proto::kube::ObjectMeta& meta) {
  return meta.namespace_().empty() ? std::string("default") : meta.namespace_();
}
inline bool IsBeingDeleted(const proto::kube::ObjectMeta& meta) {
  return !meta.deletion_timestamp().empty();
}

struct DumpPod {
  const proto::kube::Pod* object = nullptr;
  std::string key;
  std::string place;  // "FILE:LINE"
  KubeAmounts request;

  const proto::kube::PodSpec& spec() const { return object->spec(); }
  const proto::kube::PodStatus& status() const { return object->status(); }
  // Phase Succeeded or Failed: holds nothing any more.
  bool is_finished() const {
    return status().phase() == "Succeeded" || status().phase() == "Failed";
  }
  bool is_deleting() const { return IsBeingDeleted(object->metadata()); }
  int32_t priority() const { return spec().priority(); }
};

// "Running, being deleted"
std::string StateOfPod(const DumpPod& pod);

struct DumpNode {
  const proto::kube::Node* object = nullptr;
  std::vector<const DumpPod*> pods;  // bound here and not finished, in the order of the dump

  const std::string& name() const { return object->metadata().name(); }
};

class ClusterDump {
 public:
  // Errors and warnings are those of ExplainCluster, except for those about a pod.
  static absl::StatusOr<ClusterDump> Read(const std::vector<std::string>& paths,
                                          std::vector<std::string>* warnings);

  ClusterDump(const ClusterDump&) = delete;
  ClusterDump& operator=(const ClusterDump&) = delete;
  ClusterDump(ClusterDump&&) = default;
  ClusterDump& operator=(ClusterDump&&) = default;

  // In the order of the dump. Pods are as the API server admits them.
  const std::deque<proto::kube::Object>& objects() const { return objects_; }
  const std::deque<DumpNode>& nodes() const { return nodes_; }
  const std::deque<DumpPod>& pods() const { return pods_; }
  const std::vector<const proto::kube::ResourceClaim*>& claims() const { return claims_; }

  // Null if the dump has none. By KubeKey; nodes and classes by name.
  const DumpNode* FindNode(const std::string& name) const;
  const DumpPod* FindPod(const std::string& key) const;
  const proto::kube::ResourceClass* FindClass(const std::string& name) const;
  const proto::kube::ResourceClaim* FindClaim(const std::string& key) const;
  const proto::kube::ResourceClaimTemplate* FindTemplate(const std::string& key) const;
  const proto::kube::PodSchedulingContext* FindContext(const std::string& key) const;
  // Objects of resource.k8s.io of structured DRA, as v1 has them.
  const std::deque<proto::kube::Object>& structured() const { return structured_; }
  const proto::kube::ResourceClaimV1* FindStructuredClaim(const std::string& key) const;
  // Including claims and templates of versions that are not read.
  bool HasStructuredClaim(const std::string& key) const {
    return structured_claims_.count(key) > 0;
  }
  bool HasStructuredTemplate(const std::string& key) const {
    return structured_templates_.count(key) > 0;
  }
  // Claims of any version.
  bool has_claims() const { return !claims_.empty() || !structured_claims_.empty(); }
  // Whether the dump has classic DRA objects other than claims.
  bool has_classic_objects() const {
    return !classes_.empty() || !templates_.empty() || !contexts_.empty();
  }
  // Parameters of a driver, ConfigMaps included. `kind_known`: whether the dump has any of the
  // kind.
  bool HasParameters(const std::string& kind, const std::string& key, bool* kind_known) const;

  bool HasNamespace(const std::string& name) const { return read_namespaces_.count(name) > 0; }

 private:
  ClusterDump() = default;
  absl::Status ReadFile(const std::string& path, std::vector<std::string>* warnings);
  // Keeps an object, unless it has no name or one that another has.
  void KeepNamed(proto::kube::Object object, const std::string& place,
                 std::vector<std::string>* odd, size_t* problems);
  void Keep(const proto::kube::Object& object, const std::string& place);
  void KeepStructured(proto::kube::Object object);
  // Remembers structured claims; warns once per kind about other objects that may matter.
  void KeepSkipped(const std::vector<KubeSkipped>& skipped, const std::string& file,
                   std::vector<std::string>* odd);
  void AdmitPods();
  // Warns of pods on nodes that the dump does not have.
  void JoinPodsToNodes(std::vector<std::string>* warnings);

  std::deque<proto::kube::Object> objects_;  // a deque keeps addresses
  std::map<std::string, std::string> seen_;  // kind and key to where it was read
  std::deque<DumpNode> nodes_;
  std::deque<DumpPod> pods_;
  std::vector<const proto::kube::ResourceClaim*> claims_;
  std::map<std::string, DumpNode*> nodes_by_name_;
  std::map<std::string, DumpPod*> pods_by_key_;
  std::map<std::string, const proto::kube::ResourceClass*> classes_;
  std::map<std::string, const proto::kube::ResourceClaim*> claims_by_key_;
  std::map<std::string, const proto::kube::ResourceClaimTemplate*> templates_;
  std::map<std::string, const proto::kube::PodSchedulingContext*> contexts_;
  std::deque<proto::kube::Object> structured_;  // a deque keeps addresses
  std::map<std::string, const proto::kube::ResourceClaimV1*> structured_by_key_;
  std::set<std::string> structured_claims_;
  std::set<std::string> structured_templates_;
  std::map<std::string, std::set<std::string>> parameters_;  // keys by kind
  std::set<std::string> read_namespaces_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_EXPLAIN_CLUSTER_DUMP_H_
