#include "model/kube/gpu_annotations.h"

#include <cstddef>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "model/proto/kube.pb.h"
#include "model/resource_request.h"
#include "model/text/shown_text.h"

namespace drasim {
namespace {

constexpr char kGpuCount[] = "alibabacloud.com/gpu-count";
constexpr char kGpuMilli[] = "alibabacloud.com/gpu-milli";
constexpr char kGpuModels[] = "alibabacloud.com/gpu-card-model";
constexpr char kGpuIndex[] = "alibabacloud.com/gpu-index";

// Null without the annotation, or when it is empty.
const std::string* AnnotationOf(const proto::kube::ObjectMeta& meta, const char* key) {
  const auto found = meta.annotations().find(key);
  return found == meta.annotations().end() || found->second.empty() ? nullptr : &found->second;
}

void Complain(const char* key, absl::string_view found, absl::string_view expected,
              std::vector<KubeProblem>* problems) {
  problems->push_back({absl::StrCat("annotations[", key, "]"),
                       absl::StrCat("found '", ShownText(found), "', expected ", expected)});
}

// 0 without the annotation.
int32_t NumberUpTo(const proto::kube::ObjectMeta& meta, const char* key, int32_t most,
                   std::vector<KubeProblem>* problems) {
  const std::string* const text = AnnotationOf(meta, key);
  if (text == nullptr) return 0;
  int32_t number = 0;
  if (absl::SimpleAtoi(*text, &number) && number >= 0 && number <= most) return number;
  Complain(key, *text, absl::StrCat("a number from 0 to ", most), problems);
  return 0;
}

void SetOrRemove(const char* key, const std::string& value, proto::kube::ObjectMeta* meta) {
  if (value.empty()) {
    meta->mutable_annotations()->erase(key);
  } else {
    (*meta->mutable_annotations())[key] = value;
  }
}

}  // namespace

GpuAnnotations ReadGpuAnnotations(const proto::kube::ObjectMeta& meta,
                                  std::vector<KubeProblem>* problems) {
  GpuAnnotations gpus;
  gpus.count = NumberUpTo(meta, kGpuCount, kMaxDevicesPerNode, problems);
  const int32_t milli = NumberUpTo(meta, kGpuMilli, kDeviceMilli, problems);
  if (gpus.count > 0) gpus.milli = milli == 0 ? kDeviceMilli : milli;
  if (const std::string* models = AnnotationOf(meta, kGpuModels)) gpus.models = *models;
  const std::string* const index = AnnotationOf(meta, kGpuIndex);
  if (index == nullptr) return gpus;
  for (const absl::string_view text : absl::StrSplit(*index, '-')) {
    uint32_t device = 0;
    if (absl::SimpleAtoi(text, &device) && device < uint32_t{kMaxDevicesPerNode} &&
        !gpus.devices.Contains(device)) {
      gpus.devices.Add(device);
      continue;
    }
    Complain(kGpuIndex, *index, "different numbers of GPUs with - between them", problems);
    gpus.devices = DeviceSet();
    break;
  }
  return gpus;
}

void SetGpuAnnotations(const GpuAnnotations& gpus, proto::kube::ObjectMeta* meta) {
  SetOrRemove(kGpuCount, gpus.count > 0 ? absl::StrCat(gpus.count) : "", meta);
  SetOrRemove(kGpuMilli, gpus.count > 0 ? absl::StrCat(gpus.milli) : "", meta);
  SetOrRemove(kGpuModels, gpus.models, meta);
  SetGpuIndex(gpus.devices, meta);
}

void SetGpuIndex(DeviceSet devices, proto::kube::ObjectMeta* meta) {
  std::string index;
  for (const size_t device : devices) absl::StrAppend(&index, index.empty() ? "" : "-", device);
  SetOrRemove(kGpuIndex, index, meta);
}

}  // namespace drasim
