// DeviceStory: why claims get no devices on some nodes, as data. DeviceExplainer makes it.
#ifndef DRASIM_POLICIES_ALLOCATOR_DEVICE_STORY_H_
#define DRASIM_POLICIES_ALLOCATOR_DEVICE_STORY_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace drasim {

inline constexpr size_t kDevicesShown = 3;

enum class DeviceStage : uint8_t {
  kNodes,      // for one of the nodes, in a pool that is complete and valid
  kClass,      // the class' selectors
  kSelectors,  // the request's selectors
  kSize,       // capacities as they are when nothing is taken
  kTaints,     // tolerations of the request
  kGates,      // features that are switched off
  kFree,       // not held alone by another claim
  kRoom,       // capacity that shares of other claims leave
  kCounters,   // shared counters of the pool, with what is held
  kLeft,       // passes all of them
};
absl::string_view DeviceStageName(DeviceStage stage);

// Devices that a stage keeps out for the same reason.
struct DeviceLoss {
  DeviceStage stage = DeviceStage::kNodes;
  std::string why;                    // the clause, the taint, the counter; "held by claim ml/a"
  std::string found;                  // 'model is "A100"'; may be empty
  std::string mend;                   // a change that would help; often empty
  bool error = false;                 // looking at the device ends the search, for every node
  bool transient = false;             // of a pool that its driver is still changing
  size_t devices = 0;                 // 0: of a pool that has none for now
  std::vector<std::string> examples;  // "pool/device"; kDevicesShown at most
};

struct StageStory {
  DeviceStage stage = DeviceStage::kNodes;
  size_t left = 0;
  std::vector<DeviceLoss> losses;  // most devices first
};

// The device that fails the fewest checks, and of these the one that gets farthest.
struct NearDevice {
  std::string device;  // "driver/pool/device"
  std::vector<DeviceLoss> fails;
};

struct DeviceVerdict {
  std::string device;  // "driver/pool/device"
  DeviceStage lost_at = DeviceStage::kLeft;
  bool error = false;
  bool held = false;  // alone, by another claim: the search does not look at it
};

// A request, or an alternative of a prioritised list.
struct RequestStory {
  std::string name;  // "gpu", "gpu/large"
  std::string device_class;
  int64_t wanted = 0;  // all: devices that match
  bool all = false;
  bool admin = false;
  std::string error;     // upstream's words: the request is not valid
  size_t published = 0;  // devices of all pools
  size_t pools = 0;
  std::vector<StageStory> stages;     // each but kLeft, in order; the last one has the devices left
  size_t nodes_enough = 0;            // nodes that have as many as are wanted, for it alone
  size_t most_on_node = 0;            // devices left on one node
  std::optional<NearDevice> nearest;  // absent if enough nodes have enough
  std::vector<DeviceVerdict> devices;  // on request, in the order of nodes and of the search

  size_t left() const { return stages.empty() ? 0 : stages.back().left; }
};

struct GroupStory {
  std::string name;
  bool prioritized = false;
  std::string error;                  // upstream's words: the request is not valid
  std::vector<RequestStory> options;  // one unless prioritised
};

struct ClaimStory {
  std::string claim;  // "namespace/name"
  std::string error;  // upstream's words: the constraints are not valid
  std::vector<GroupStory> requests;
};

// Nodes that lack the same.
struct NodeStory {
  enum class Cause : uint8_t {
    kTooFew,       // devices for one request
    kConstraint,   // they would do without a constraint
    kSameDevices,  // requests compete for devices
    kCounters,     // counters do not suffice for all of them
    kTogether,     // no combination fits, for none of these reasons alone
    kInvalidPool,
    kError,
  };
  Cause cause = Cause::kTooFew;
  std::string text;    // "claim ml/a, request gpu: 1 of 2 devices left, the others are not free"
  std::string detail;  // kConstraint: the values seen on the first example
  size_t nodes = 0;
  std::vector<std::string> examples;
  std::string key;  // the same for nodes that lack the same, whatever the numbers are
};

// An error ends the search for devices, for all nodes.
struct SearchErrorStory {
  std::string message;               // upstream's words
  std::string node;                  // on which it was met
  std::string device;                // "driver/pool/device"; empty: it is not about a device
  std::optional<DeviceLoss> clause;  // of a selector
};

struct DeviceStory {
  std::vector<ClaimStory> claims;
  std::vector<NodeStory> nodes;  // most nodes first
  size_t node_count = 0;
  size_t fitting = 0;
  static constexpr size_t kFits = ~size_t{0};
  std::vector<size_t> cause_of_node;      // by node: its place in `nodes`, or kFits
  std::optional<SearchErrorStory> error;  // of the first node that has one
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_ALLOCATOR_DEVICE_STORY_H_
