// FitError: the words in which kube-scheduler says that no node takes a pod.
//
//   0/4 nodes are available: 1 Too many pods, 3 Insufficient cpu.
//
// Source: kubernetes/kubernetes pkg/scheduler/framework/types.go (FitError), 1.34.
#ifndef DRASIM_POLICIES_FRAMEWORK_FIT_ERROR_H_
#define DRASIM_POLICIES_FRAMEWORK_FIT_ERROR_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "absl/strings/string_view.h"

namespace drasim {

class FitError {
 public:
  // `nodes`: all nodes of the cluster.
  explicit FitError(size_t nodes) : nodes_(nodes) {}

  // Nodes with that reason; a node may have several.
  void Add(absl::string_view reason, int64_t nodes = 1);
  // A PreFilter plugin rejected the pod; reasons of nodes do not count then.
  void set_pre_filter(absl::string_view message) { pre_filter_ = std::string(message); }

  // Entries are sorted as texts: "10 x" precedes "2 y". O(reasons log reasons).
  std::string Text() const;

 private:
  size_t nodes_;
  std::string pre_filter_;
  std::map<std::string, int64_t, std::less<>> counts_;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_FRAMEWORK_FIT_ERROR_H_
