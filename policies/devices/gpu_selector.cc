#include "policies/devices/gpu_selector.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "model/check.h"
#include "model/quantity.h"
#include "model/status_macros.h"

namespace drasim {
namespace {

constexpr int kMaxSelectorDepth = 3;  // levels of expressions

// "8.0", "v535.104.05": up to three numbers.
bool ReadGpuVersion(absl::string_view text, std::array<int64_t, 3>* out) {
  absl::ConsumePrefix(&text, "v");
  *out = {0, 0, 0};
  size_t i = 0;
  for (const absl::string_view number : absl::StrSplit(text, '.')) {
    if (i == out->size() || !absl::SimpleAtoi(number, &(*out)[i]) || (*out)[i] < 0) return false;
    ++i;
  }
  return true;
}

}  // namespace

struct GpuSelector::Known {
  const char* name;
  Property property;
  bool compares;  // has a value and an operator
};

const GpuSelector::Known GpuSelector::kProperties[] = {
    {"index", Property::kIndex, false},
    {"uuid", Property::kUuid, false},
    {"migEnabled", Property::kMigEnabled, false},
    {"memory", Property::kMemory, true},
    {"productName", Property::kProductName, false},
    {"brand", Property::kBrand, false},
    {"architecture", Property::kArchitecture, false},
    {"cudaComputeCapability", Property::kComputeCapability, true},
    {"driverVersion", Property::kDriverVersion, true},
    {"cudaDriverVersion", Property::kCudaVersion, true},
};

absl::StatusOr<GpuSelector> GpuSelector::Read(const ParameterFields& fields) {
  if (!fields.HasPrefix("selector.")) return GpuSelector();
  return ReadAt(fields, "selector.", 0);
}

absl::StatusOr<GpuSelector> GpuSelector::ReadAt(const ParameterFields& fields,
                                                const std::string& prefix, int depth) {
  GpuSelector selector;
  std::vector<absl::string_view> found;  // heads of the paths below the prefix
  for (const auto& [path, text] : fields.all()) {
    if (!absl::StartsWith(path, prefix)) continue;
    const absl::string_view head = absl::string_view(path).substr(prefix.size());
    const absl::string_view word = head.substr(0, head.find('.'));
    if (std::find(found.begin(), found.end(), word) == found.end()) found.push_back(word);
  }
  if (found.size() != 1) {
    return fields.Wrong(prefix.substr(0, prefix.size() - 1),
                        absl::StrCat("one property or expression, not ", found.size()));
  }
  const std::string path = absl::StrCat(prefix, found[0]);
  for (const Known& known : kProperties) {
    if (found[0] != known.name) continue;
    RETURN_IF_ERROR(selector.ReadProperty(fields, path, known));
    return selector;
  }
  if (found[0] != "andExpression" && found[0] != "orExpression") {
    return fields.Wrong(path, "a property of a GPU, andExpression or orExpression");
  }
  if (depth == kMaxSelectorDepth) {
    return fields.Wrong(path, absl::StrCat("at most ", kMaxSelectorDepth, " levels"));
  }
  selector.op_ = found[0] == "andExpression" ? Op::kAnd : Op::kOr;
  for (size_t i = 0; fields.HasPrefix(absl::StrCat(path, ".", i, ".")); ++i) {
    ASSIGN_OR_RETURN(GpuSelector part, ReadAt(fields, absl::StrCat(path, ".", i, "."), depth + 1));
    selector.parts_.push_back(std::move(part));
  }
  if (selector.parts_.empty()) return fields.Wrong(path, "a list");
  return selector;
}

absl::Status GpuSelector::ReadProperty(const ParameterFields& fields, const std::string& path,
                                       const Known& known) {
  op_ = Op::kProperty;
  property_ = known.property;
  if (known.compares) {
    const std::string value = absl::StrCat(path, ".value");
    const std::string* text = fields.Find(value);
    if (text == nullptr) return fields.Wrong(value, "a value");
    text_ = *text;
    operator_.clear();
    RETURN_IF_ERROR(fields.ReadWord(
        absl::StrCat(path, ".operator"),
        {"Equals", "LessThan", "LessThanOrEqualTo", "GreaterThan", "GreaterThanOrEqualTo"},
        &operator_));
    if (operator_.empty()) return fields.Wrong(absl::StrCat(path, ".operator"), "an operator");
    if (property_ == Property::kMemory) {
      const absl::StatusOr<int64_t> bytes = ParseUnits(text_);
      if (!bytes.ok()) return fields.Wrong(value, "a quantity of bytes");
      number_ = *bytes;
      return absl::OkStatus();
    }
    std::array<int64_t, 3> version;
    if (!ReadGpuVersion(text_, &version)) return fields.Wrong(value, "a version like \"8.0\"");
    return absl::OkStatus();
  }
  const std::string* text = fields.Find(path);
  if (text == nullptr) return fields.Wrong(path, "a value");
  text_ = *text;
  if (property_ == Property::kIndex) {
    return fields.ReadInt(path, 0, std::numeric_limits<int32_t>::max(), &number_);
  }
  if (property_ == Property::kMigEnabled) {
    bool enabled = false;
    absl::Status read = fields.ReadBool(path, &enabled);
    number_ = enabled ? 1 : 0;
    return read;
  }
  if (property_ != Property::kUuid) text_ = absl::AsciiStrToLower(text_);
  return absl::OkStatus();
}

bool GpuSelector::Compared(int order) const {
  if (operator_ == "Equals") return order == 0;
  if (operator_ == "LessThan") return order < 0;
  if (operator_ == "LessThanOrEqualTo") return order <= 0;
  if (operator_ == "GreaterThan") return order > 0;
  return order >= 0;
}

bool GpuSelector::MatchesVersion(absl::string_view version) const {
  std::array<int64_t, 3> found;
  std::array<int64_t, 3> wanted;
  if (version.empty() || !ReadGpuVersion(version, &found)) return false;
  DRASIM_CHECK(ReadGpuVersion(text_, &wanted));
  return Compared(found == wanted ? 0 : (found < wanted ? -1 : 1));
}

bool GpuSelector::Matches(const GpuKind& kind, int index) const {
  const auto matches = [&kind, index](const GpuSelector& part) {
    return part.Matches(kind, index);
  };
  if (op_ == Op::kAll) return true;
  if (op_ == Op::kAnd) return std::all_of(parts_.begin(), parts_.end(), matches);
  if (op_ == Op::kOr) return std::any_of(parts_.begin(), parts_.end(), matches);
  const auto glob = [this](absl::string_view text) {
    return !text.empty() && GlobMatches(text_, absl::AsciiStrToLower(text));
  };
  switch (property_) {
    case Property::kIndex:
      return number_ == index;
    case Property::kUuid:
      return text_ == absl::StrCat("gpu-", index);
    case Property::kMigEnabled:
      return number_ == 0 || kind.table != nullptr;
    case Property::kMemory: {
      const int64_t bytes = kind.memory_mib << 20;
      return bytes > 0 && Compared(bytes < number_ ? -1 : (bytes > number_ ? 1 : 0));
    }
    case Property::kProductName:
      // The driver itself says "NVIDIA A100-SXM4-80GB".
      return glob(kind.product) || glob(kind.model) ||
             (!kind.product.empty() && glob(absl::StrCat("NVIDIA ", kind.product)));
    case Property::kBrand:
      return glob(kind.brand);
    case Property::kArchitecture:
      return glob(kind.architecture);
    case Property::kComputeCapability:
      return MatchesVersion(kind.compute_capability);
    case Property::kDriverVersion:
      return MatchesVersion(kind.driver_version);
    case Property::kCudaVersion:
      return MatchesVersion(kind.cuda_version);
  }
  DRASIM_UNREACHABLE("a property of a GPU selector");
}

DeviceSet GpuSelector::DevicesOf(const GpuKind& kind) const {
  if (empty()) return DeviceSet::All();
  DeviceSet devices;
  for (int index = 0; index < kMaxDevicesPerNode; ++index) {
    if (Matches(kind, index)) devices.Add(static_cast<size_t>(index));
  }
  return devices;
}

bool GlobMatches(absl::string_view pattern, absl::string_view text) {
  // The earliest match of each literal leaves the most text for the next ones.
  for (const absl::string_view literal : absl::StrSplit(pattern, '*')) {
    const size_t at = text.find(literal);
    if (at == absl::string_view::npos) return false;
    text.remove_prefix(at + literal.size());
  }
  return true;
}

}  // namespace drasim
