// ClusterObjects: the objects beside nodes and pods that scheduling depends on.
#ifndef DRASIM_MODEL_CLUSTER_OBJECTS_H_
#define DRASIM_MODEL_CLUSTER_OBJECTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "model/label_selector.h"
#include "model/volume_objects.h"

namespace drasim {

struct NamespaceObject {
  std::string name;
  Labels labels;
  bool operator==(const NamespaceObject&) const = default;
};

// A Service, ReplicationController, ReplicaSet or StatefulSet: whose selector finds a pod's group.
struct GroupObject {
  std::string kind;
  std::string ns;
  std::string name;
  LabelSelector selector;
  bool operator==(const GroupObject&) const = default;
};

// policy/v1 PodDisruptionBudget.
struct DisruptionBudget {
  std::string ns;
  std::string name;
  LabelSelector selector;                   // one that selects everything counts as none (1.34)
  int32_t disruptions_allowed = 0;          // status
  std::vector<std::string> disrupted_pods;  // names, sorted
  bool operator==(const DisruptionBudget&) const = default;
};

struct ClusterObjects {
  std::vector<NamespaceObject> namespaces;  // sorted by name
  std::vector<GroupObject> groups;          // in the order given
  std::vector<DisruptionBudget> budgets;    // in the order given
  VolumeObjects volumes;
  bool operator==(const ClusterObjects&) const = default;
};

}  // namespace drasim

#endif  // DRASIM_MODEL_CLUSTER_OBJECTS_H_
