// ReasonKind: kinds of reasons for which nodes and scheduling attempts reject pods.
//
// A reason has an index (within its plugin or profile), a kind and a text. Code uses only index and
// kind; the text is for people and may change at any time. A test replaces every text and demands
// the same decisions (tests/sim/app/reason_texts_test.cc).
#ifndef DRASIM_MODEL_REASON_KIND_H_
#define DRASIM_MODEL_REASON_KIND_H_

#include <cstdint>

namespace drasim {

// Values are part of the ledger's format: never renumber.
enum class ReasonKind : uint8_t {
  kOther = 0,  // unknown, apart from the text

  // The node lacks an amount of something.
  kCpu = 1,
  kMemory = 2,
  kPodSlots = 3,
  kExtendedResource = 4,
  kGpu = 5,
  kMigSlots = 6,
  kGroupLimit = 7,  // the node's limit on pods of the group
  // The node lacks a property that the pod requires.
  kCordoned = 8,
  kUntoleratedTaint = 9,
  kNodeAffinity = 10,
  kNoGpu = 11,
  kGpuModel = 12,
  kNoMig = 13,
  kMigProfile = 14,
  // The pod is kept off every node.
  kPodHold = 15,

  kPlacementRule = 16,  // the scheduling policy refuses the node's devices
  kClaim = 17,          // the pod's resource claims cannot be served

  // No verdict: the attempt was one step of the negotiation for the pod's claims.
  kWaitsForDriver = 18,   // a driver has an allocation to make
  kNegotiationStep = 19,  // any other step; the next attempt may have any result
  kStaleObject = 20,      // the scheduler's view was out of date, or a call failed

  // The node's pods, those of its topology domains, or volumes are in the way.
  kHostPorts = 21,
  kTopologySpread = 22,
  kPodAffinity = 23,  // and anti-affinity
  kVolume = 24,
};
inline constexpr uint8_t kReasonKinds = 25;

// True for a Filter's reasons, which concern only the node or the pod. False for placement rules,
// which belong to a scheduling policy.
constexpr bool IsFilterKind(ReasonKind kind) {
  return (kind >= ReasonKind::kCpu && kind <= ReasonKind::kPodHold) ||
         kind >= ReasonKind::kHostPorts;
}

// True when the attempt found no place for the pod at present.
constexpr bool IsVerdict(ReasonKind kind) {
  return kind < ReasonKind::kWaitsForDriver || kind > ReasonKind::kStaleObject;
}

}  // namespace drasim

#endif  // DRASIM_MODEL_REASON_KIND_H_
