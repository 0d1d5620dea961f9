// The objects of a workload on their way into the cluster: names, namespaces, and what the harness
// adds to templates.
#ifndef DRASIM_SIM_PERF_PERF_OBJECTS_H_
#define DRASIM_SIM_PERF_PERF_OBJECTS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/kube/admission.h"
#include "model/proto/kube.pb.h"
#include "sim/perf/perf_action.h"
#include "sim/perf/perf_cluster.h"
#include "sim/perf/perf_templates.h"

namespace drasim::perf {

class PerfObjects {
 public:
  // Both must outlive it. `folder`: of the configuration, below the templates' root.
  PerfObjects(PerfCluster* cluster, PerfTemplates* templates, absl::string_view folder);

  // The series of an operation's template number `i`, with the built-in object where it names none.
  absl::StatusOr<ObjectSeries> SeriesOf(const PerfAction& action, size_t i) const;

  // A namespace exists once something is made in it.
  void AddNamespace(const std::string& name, const proto::kube::Namespace* given);
  absl::Status AddNodes(const PerfAction& action);
  absl::StatusOr<std::string> AddNode(const proto::kube::Node& given, const PerfAction& action,
                                      int64_t index);
  // The pods of createPods, with their volumes.
  absl::StatusOr<std::vector<JobId>> AddPods(const PerfAction& action);
  absl::StatusOr<JobId> AddPod(const proto::kube::Pod& given, const std::string& ns);
  // An object of another kind. Returns its key for RemoveOther; empty for those of structured DRA,
  // which stay.
  absl::StatusOr<std::string> AddOther(const proto::kube::Object& given, const std::string& ns);
  void RemoveOther(const std::string& key);
  // Object number `index` of updateAny.
  absl::Status Update(const PerfAction& action, ObjectSeries* series, int64_t index);

  // Hands changed objects beside nodes and pods to the cluster.
  void Flush();

 private:
  std::string NameOf(const proto::kube::ObjectMeta& meta);
  // As the API server would store it.
  proto::kube::Pod Admitted(const proto::kube::Pod& given, const std::string& ns);
  absl::Status AddVolumes(const PerfAction& action);

  PerfCluster& cluster_;
  PerfTemplates& templates_;
  std::string folder_;
  ApiAdmission admission_;
  std::map<std::string, int64_t> generated_;  // by generateName
  std::set<std::string> namespaces_;
  std::map<std::string, std::shared_ptr<const proto::kube::Object>> others_;  // by key
  int64_t volumes_ = 0;
  bool changed_ = false;
  bool volumes_changed_ = false;
};

}  // namespace drasim::perf

#endif  // DRASIM_SIM_PERF_PERF_OBJECTS_H_
