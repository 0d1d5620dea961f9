// The rules of structured DRA written down once more, plainly and without state: what random tests
// hold the allocator against.
//
// Written from the description of release 1.37.2, not from policies/allocator. Everything is looked
// up by name, amounts are thousandths in int64, and every question is answered from the list of
// devices taken so far. Releases before 1.36 and the stable variant list pools and slices as they
// come; the random order of pools of 1.34 and 1.35 is not imitated.
#ifndef DRASIM_TESTS_POLICIES_ALLOCATOR_NAIVE_RULES_H_
#define DRASIM_TESTS_POLICIES_ALLOCATOR_NAIVE_RULES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/proto/resource.pb.h"
#include "tests/policies/allocator/random_world.h"

namespace drasim {

using NaiveCounter = std::pair<std::string, std::string>;  // set, name

struct NaivePool {
  std::string driver;
  std::string name;
  bool incomplete = false;
  bool invalid = false;
  bool conditions = false;
  std::vector<const proto::kube::ResourceSlice*> slices;  // with devices for the node
  std::vector<const proto::kube::ResourceSlice*> others;  // for other nodes
  std::map<NaiveCounter, int64_t> totals;
};

// A request or subrequest.
struct NaiveRequest {
  size_t claim = 0;
  std::string group;  // name of the request
  std::string sub;    // empty: no subrequest
  std::string class_name;
  std::vector<std::string> selectors;
  bool all = false;
  int64_t count = 0;
  bool admin = false;
  std::vector<proto::kube::DeviceToleration> tolerations;
  std::map<std::string, int64_t> capacity;
  std::vector<proto::kube::DerivedAttribute> derived;
  bool ResultNameIs(const std::string& name) const {
    return name == (sub.empty() ? group : group + "/" + sub);
  }
};

struct NaiveDevice {
  const NaivePool* pool = nullptr;
  const proto::kube::ResourceSlice* slice = nullptr;
  const proto::kube::Device* device = nullptr;
};

struct NaiveTaken {
  const NaiveRequest* request = nullptr;
  NaiveDevice device;
};

enum class NaiveVerdict : uint8_t { kNo, kYes, kError };

class NaiveRules {
 public:
  explicit NaiveRules(const RandomWorld& world);

  const std::vector<NaivePool>& pools() const { return pools_; }
  // By claim, request and alternative.
  const std::vector<std::vector<std::vector<NaiveRequest>>>& requests() const { return requests_; }
  // All devices of complete and valid pools, in the order of the search.
  const std::vector<NaiveDevice>& devices() const { return devices_; }
  bool sorted() const { return sorted_; }
  // Whether a request, a class or a gate makes every search an error; mode All apart.
  bool has_bad_request() const { return bad_request_; }

  // Class, selectors, node and static capacity.
  NaiveVerdict Selectable(const NaiveRequest& request, const NaiveDevice& device) const;
  // Devices that mode All wants. Nullopt: an error.
  std::optional<std::vector<NaiveDevice>> ListAll(const NaiveRequest& request) const;

  bool IsShared(const NaiveDevice& device) const;
  bool IsTainted(const NaiveRequest& request, const NaiveDevice& device) const;
  bool IsDedicated(const NaiveDevice& device) const;
  // Thousandths that the request takes of each capacity. Nullopt: the device cannot serve it.
  std::optional<std::map<std::string, int64_t>> Demand(const NaiveRequest& request,
                                                       const proto::kube::Device& device) const;
  // Whether the constraints of the claim hold for the devices taken for it, in that order.
  // kError: a derived attribute cannot be computed.
  NaiveVerdict ConstraintsHold(size_t claim, const std::vector<NaiveTaken>& taken) const;
  // Whether counters and compatibility groups allow all that is taken.
  bool CountersAllow(const std::vector<NaiveTaken>& taken) const;
  // Whether capacities suffice for all that is taken.
  bool CapacitiesSuffice(const std::vector<NaiveTaken>& taken) const;

 private:
  using Slices = std::vector<const proto::kube::ResourceSlice*>;

  void AddPools();
  void AddRequests();
  template <typename Request>
  void AddRequest(const Request& given, NaiveRequest request,
                  std::vector<NaiveRequest>* alternatives);
  bool IsIgnored(const proto::kube::ResourceSlice& slice) const;
  bool IsRelevant(const proto::kube::ResourceSlice& slice) const;
  std::optional<NaivePool> PoolOf(const Slices& relevant) const;
  bool FillPool(const Slices& relevant, NaivePool* pool) const;
  // The values of an attribute for a constraint. Empty: absent. Nullopt: an error.
  std::optional<std::set<std::string>> ValuesOf(const std::string& attribute,
                                                const NaiveTaken& taken) const;
  bool CountersSuffice(const NaivePool& pool, const std::vector<NaiveTaken>& taken) const;
  std::vector<const proto::kube::Device*> Charged(const NaivePool& pool,
                                                  const std::vector<NaiveTaken>& taken) const;
  bool GroupsAgree(const NaivePool& pool, const std::vector<NaiveTaken>& taken) const;
  bool IsHeld(const NaivePool& pool, const std::string& device) const;
  bool IsHeldInShares(const NaivePool& pool, const std::string& device) const;

  const RandomWorld& world_;
  DraFeatures features_;
  bool sorted_ = false;
  bool bad_request_ = false;
  std::vector<NaivePool> pools_;
  std::vector<NaiveDevice> devices_;
  std::vector<std::vector<std::vector<NaiveRequest>>> requests_;
};

}  // namespace drasim

#endif  // DRASIM_TESTS_POLICIES_ALLOCATOR_NAIVE_RULES_H_
