#include "traces/name_set.h"

namespace drasim {
namespace {

constexpr int kPrefixShift = 48;
constexpr int kDigitsShift = 44;

}  // namespace

bool NameSet::Insert(absl::string_view name) {
  uint64_t value = 0;
  uint64_t power = 1;
  size_t digits = 0;
  while (digits < kMaxDigits && digits < name.size()) {
    const unsigned digit = static_cast<unsigned char>(name[name.size() - 1 - digits]) - 48u;
    if (digit > 9) break;
    value += digit * power;
    power *= 10;
    ++digits;
  }
  uint64_t prefix = 0;
  if (digits == 0 || !FindPrefix(name.substr(0, name.size() - digits), &prefix)) {
    return others_.insert(std::string(name)).second;
  }
  const uint64_t key =
      prefix << kPrefixShift | static_cast<uint64_t>(digits) << kDigitsShift | value;
  return numbered_.insert(key).second;
}

bool NameSet::FindPrefix(absl::string_view prefix, uint64_t* id) {
  if (has_last_prefix_ && prefix == last_prefix_) {
    *id = last_prefix_id_;
    return true;
  }
  auto found = prefixes_.find(prefix);
  if (found == prefixes_.end()) {
    if (prefixes_.size() == kMaxPrefixes) return false;
    const uint64_t fresh = prefixes_.size();
    found = prefixes_.emplace(std::string(prefix), fresh).first;
  }
  *id = found->second;
  last_prefix_ = found->first;
  last_prefix_id_ = *id;
  has_last_prefix_ = true;
  return true;
}

}  // namespace drasim
