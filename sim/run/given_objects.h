// The objects of manifests, as they were given, for a run that writes its end state as objects.
#ifndef DRASIM_SIM_RUN_GIVEN_OBJECTS_H_
#define DRASIM_SIM_RUN_GIVEN_OBJECTS_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace drasim {

namespace proto::kube {
class Node;
class Object;
class Pod;
}  // namespace proto::kube

struct GivenObjects {
  absl::flat_hash_map<std::string, std::shared_ptr<const proto::kube::Node>> nodes;  // by name
  // By the name of the pod in the run, which is not always its own: equal pods of one owner share
  // an object.
  absl::flat_hash_map<std::string, std::shared_ptr<const proto::kube::Pod>> pods;
  std::vector<std::shared_ptr<const proto::kube::Pod>> finished;   // Succeeded or Failed, in order
  std::vector<std::shared_ptr<const proto::kube::Object>> others;  // of all other kinds, in order
};

}  // namespace drasim

#endif  // DRASIM_SIM_RUN_GIVEN_OBJECTS_H_
