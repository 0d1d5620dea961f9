// Validation of what drivers and administrators publish in resource.k8s.io/v1: ResourceSlice,
// DeviceClass, DeviceTaintRule, and parts that claims share with them. The rules, paths and texts
// are the API server's (kubernetes/kubernetes pkg/apis/resource/validation, release 1.37, with the
// fields of all feature gates).
//
// Left to other code: the compilation and cost of CEL expressions, and what concerns several slices
// of a pool (counter sets that no slice has, device names in two slices), which the API server does
// not see either and the allocator takes for an invalid pool.
//
// Cost: O(object x log) each; lists over their limit are not looked into.
#ifndef DRASIM_MODEL_KUBE_VALIDATE_DEVICE_H_
#define DRASIM_MODEL_KUBE_VALIDATE_DEVICE_H_

#include <cstddef>
#include <string>

#include "model/kube/api_check.h"
#include "model/proto/kube.pb.h"

namespace drasim {

// The longest CEL expression, in bytes.
inline constexpr size_t kMaxCelBytes = size_t{10} << 10U;

void CheckResourceSlice(const proto::kube::ResourceSlice& slice, ApiCheck* check);
void CheckDeviceClass(const proto::kube::DeviceClass& device_class, ApiCheck* check);
void CheckDeviceTaintRule(const proto::kube::DeviceTaintRule& rule, ApiCheck* check);

// --- Parts that claims have, too ---

using RepeatedTexts = google::protobuf::RepeatedPtrField<std::string>;

void CheckDeviceSelectors(
    const std::string& path,
    const google::protobuf::RepeatedPtrField<proto::kube::DeviceSelector>& selectors,
    ApiCheck* check);
// `opaque` of a configuration, at `path`.
void CheckOpaque(const std::string& path, const proto::kube::OpaqueDeviceConfiguration* opaque,
                 ApiCheck* check);
// The two lists, fields of `path`: both or none, without duplicates or common entries.
void CheckBindingConditions(const std::string& path, const RepeatedTexts& conditions,
                            const RepeatedTexts& failures, ApiCheck* check);
void CheckSkippedOperations(const std::string& path, const RepeatedTexts& operations,
                            ApiCheck* check);

}  // namespace drasim

#endif  // DRASIM_MODEL_KUBE_VALIDATE_DEVICE_H_
