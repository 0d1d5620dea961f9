#include "policies/framework/registry.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "model/check.h"
#include "model/text/did_you_mean.h"

namespace drasim {
namespace {

template <typename Entries>
std::vector<std::string> Names(const Entries& entries) {
  std::vector<std::string> names;
  for (const auto& entry : entries) names.push_back(entry.first);
  return names;
}

template <typename Entries>
auto FindByName(const Entries& entries, absl::string_view name)
    -> decltype(&entries.front().second) {
  for (const auto& entry : entries) {
    if (entry.first == name) return &entry.second;
  }
  return nullptr;
}

absl::Status Unknown(absl::string_view kind, absl::string_view name,
                     const std::vector<std::string>& known) {
  return absl::NotFoundError(absl::StrCat("unknown ", kind, " '", name, "'", Suggest(name, known)));
}

}  // namespace

void Registry::AddPlugin(std::string name, PluginFactory factory) {
  DRASIM_CHECK(FindByName(plugins_, name) == nullptr);
  plugins_.emplace_back(std::move(name), std::move(factory));
}

void Registry::AddAllocator(std::string name, AllocatorFactory factory) {
  DRASIM_CHECK(FindByName(allocators_, name) == nullptr);
  allocators_.emplace_back(std::move(name), std::move(factory));
}

void Registry::AddPolicy(PolicyEntry entry) {
  for (const PolicyEntry& known : policies_) DRASIM_CHECK(known.name != entry.name);
  policies_.push_back(std::move(entry));
}

void Registry::AddQueue(QueueEntry entry) {
  for (const QueueEntry& known : queues_) DRASIM_CHECK(known.name != entry.name);
  queues_.push_back(std::move(entry));
}

absl::StatusOr<std::unique_ptr<QueuePolicy>> Registry::MakeQueue(
    absl::string_view name, const QueueContext& context) const {
  std::vector<std::string> known;
  for (const QueueEntry& entry : queues_) {
    if (entry.name == name) return entry.factory(context);
    known.push_back(entry.name);
  }
  return Unknown("queue", name, known);
}

absl::StatusOr<const PolicyEntry*> Registry::FindPolicy(absl::string_view name) const {
  std::vector<std::string> known;
  for (const PolicyEntry& entry : policies_) {
    if (entry.name == name) return &entry;
    known.push_back(entry.name);
  }
  return Unknown("policy", name, known);
}

absl::StatusOr<std::unique_ptr<Plugin>> Registry::MakePlugin(absl::string_view name,
                                                             const PolicyContext& context) const {
  if (const PluginFactory* factory = FindByName(plugins_, name)) return (*factory)(context);
  return Unknown("plugin", name, plugin_names());
}

absl::StatusOr<std::unique_ptr<DeviceAllocator>> Registry::MakeAllocator(
    absl::string_view name, const PolicyContext& context) const {
  if (const AllocatorFactory* factory = FindByName(allocators_, name)) return (*factory)(context);
  return Unknown("device chooser", name, allocator_names());
}

std::vector<std::string> Registry::plugin_names() const { return Names(plugins_); }
std::vector<std::string> Registry::allocator_names() const { return Names(allocators_); }

}  // namespace drasim
