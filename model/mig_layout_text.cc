// MIG layouts as text: parser of requests, and drawings.
#include <algorithm>
#include <bit>
#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "model/mig_layout.h"
#include "model/text/did_you_mean.h"

namespace drasim {
namespace {

constexpr int32_t kMaxCount = 1000;  // far above any fitting count; keeps sums small
constexpr size_t kMostColumns = 78;  // of a drawing, for terminals with 80
constexpr size_t kWidestUnit = 18;   // columns; a wider unit adds nothing

bool HasProfile(const MigProduct& product, absl::string_view name) {
  for (const MigProfile& profile : product.profiles) {
    if (absl::EqualsIgnoreCase(profile.name, name)) return true;
    for (const std::string& other : profile.names) {
      if (absl::EqualsIgnoreCase(other, name)) return true;
    }
  }
  return false;
}

absl::Status NoSuchProfile(const MigTable& table, absl::string_view name,
                           absl::Span<const MigProduct> others) {
  const std::string& group = table.product().group;
  std::vector<std::string> known;
  for (const MigProfile& profile : table.profiles()) known.push_back(profile.name);
  const std::string listed = absl::StrJoin(known, ", ");
  if (HasProfile(table.product(), name)) {
    return absl::InvalidArgumentError(absl::StrCat("profile '", name, "' of ", group,
                                                   " is ruled out here; what is left is ", listed));
  }
  std::vector<std::string> owners;
  for (const MigProduct& other : others) {
    if (HasProfile(other, name)) owners.push_back(other.group);
  }
  if (!owners.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("profile '", name, "' is one of ",
                                                   absl::StrJoin(owners, ", "), ", not of ", group,
                                                   "; ", group, " has ", listed));
  }
  return absl::InvalidArgumentError(absl::StrCat("unknown profile '", name, "' of ", group,
                                                 "; it has ", listed, Suggest(name, known)));
}

absl::Status AddPlacement(const MigTable& table, size_t profile, absl::string_view text,
                          MigRequest* request) {
  int32_t start = 0;
  const int placement = absl::SimpleAtoi(text, &start) ? table.FindPlacement(profile, start) : -1;
  if (placement < 0) {
    const MigProfile& asked = table.profiles()[profile];
    return absl::InvalidArgumentError(absl::StrCat("start of ", asked.name, ": found '", text,
                                                   "', expected one of ",
                                                   absl::StrJoin(asked.starts, ", ")));
  }
  request->placements.push_back(static_cast<uint8_t>(placement));
  return absl::OkStatus();
}

absl::Status AddCount(const MigTable& table, size_t profile, absl::string_view text,
                      MigRequest* request) {
  int32_t count = 0;
  int32_t& sum = request->counts[profile];
  if (!absl::SimpleAtoi(text, &count) || count < 1 || count > kMaxCount - sum) {
    return absl::InvalidArgumentError(
        absl::StrCat("count of ", table.profiles()[profile].name, ": found '", text,
                     "', expected at least 1, and at most ", kMaxCount, " in all"));
  }
  sum += count;
  return absl::OkStatus();
}

absl::Status ParseEntry(const MigTable& table, absl::string_view entry,
                        absl::Span<const MigProduct> others, MigRequest* request) {
  const size_t mark = entry.find_first_of(":@");
  const absl::string_view name = absl::StripAsciiWhitespace(entry.substr(0, mark));
  if (name.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "entry of a layout: found '", entry,
        "', expected a profile, or a profile with ':' and a count or '@' and a start"));
  }
  const int found = table.FindProfile(name);
  if (found < 0) return NoSuchProfile(table, name, others);
  const auto profile = static_cast<size_t>(found);
  if (mark == absl::string_view::npos) return AddCount(table, profile, "1", request);
  const absl::string_view number = absl::StripAsciiWhitespace(entry.substr(mark + 1));
  if (number.find_first_of(":@") != absl::string_view::npos) {
    return absl::InvalidArgumentError(
        absl::StrCat("entry of a layout: found '", entry, "', expected one count or one start"));
  }
  return entry[mark] == ':' ? AddCount(table, profile, number, request)
                            : AddPlacement(table, profile, number, request);
}

// Writes `text` centred between the border at column `begin` and the one at `end`. REQUIRES: it
// fits.
void WriteCentred(absl::string_view text, size_t begin, size_t end, std::string* line) {
  const size_t at = begin + 1 + (end - begin - 1 - text.size()) / 2;
  line->replace(at, text.size(), text.data(), text.size());
}

std::string FreeText(const MigTable& table, MigState state) {
  return absl::StrCat("free: ", table.free_units(state), " of ", table.product().units, " units (",
                      table.usable_units(state), " usable), ", table.free_compute(state), " of ",
                      table.product().compute_slices, " compute slices (",
                      table.usable_compute(state), " usable)\n");
}

}  // namespace

absl::StatusOr<MigRequest> ParseLayout(const MigTable& table, absl::string_view text,
                                       absl::Span<const MigProduct> others) {
  MigRequest request;
  request.counts.assign(table.profiles().size(), 0);
  for (const absl::string_view entry : absl::StrSplit(text, ',')) {
    if (absl::Status s = ParseEntry(table, absl::StripAsciiWhitespace(entry), others, &request);
        !s.ok()) {
      return s;
    }
  }
  return request;
}

// Names wider than their box become letters, which a legend explains.
std::string DrawLayout(const MigTable& table, MigState state) {
  const auto units = static_cast<size_t>(table.product().units);
  const size_t cell = std::min(kWidestUnit, kMostColumns / units);
  std::string ruler(units * cell + 1, ' ');
  std::string border = ruler;
  std::string boxes = ruler;
  for (size_t u = 0; u < units; ++u) {
    WriteCentred(absl::StrCat(u), u * cell, (u + 1) * cell, &ruler);
    if (((table.units_used(state) >> u) & 1) == 0) {
      WriteCentred(".", u * cell, (u + 1) * cell, &boxes);
    }
  }
  std::vector<MigPlacement> instances;
  for (uint64_t rest = table.set(state); rest != 0; rest &= rest - 1) {
    instances.push_back(table.placements()[static_cast<size_t>(std::countr_zero(rest))]);
  }
  std::sort(instances.begin(), instances.end(),
            [](const MigPlacement& a, const MigPlacement& b) { return a.start < b.start; });
  std::vector<uint8_t> legend;  // profiles, in the order of their letters
  for (const MigPlacement& instance : instances) {
    const MigProfile& profile = table.profiles()[instance.profile];
    const size_t begin = instance.start * cell;
    const size_t end = begin + static_cast<size_t>(profile.size) * cell;
    border.replace(begin, end - begin, end - begin, '-');
    border[begin] = border[end] = '+';
    boxes[begin] = boxes[end] = '|';
    if (profile.name.size() < end - begin) {
      WriteCentred(profile.name, begin, end, &boxes);
      continue;
    }
    auto at = std::find(legend.begin(), legend.end(), instance.profile);
    if (at == legend.end()) at = legend.insert(at, instance.profile);
    const char letter = static_cast<char>('a' + (at - legend.begin()));
    WriteCentred(absl::string_view(&letter, 1), begin, end, &boxes);
  }
  std::string drawing;
  for (const std::string* line : {&ruler, &border, &boxes, &border}) {
    const absl::string_view trimmed = absl::StripTrailingAsciiWhitespace(*line);
    // An empty GPU has no borders.
    if (!trimmed.empty()) absl::StrAppend(&drawing, trimmed, "\n");
  }
  for (size_t i = 0; i < legend.size(); ++i) {
    absl::StrAppend(&drawing, std::string(1, static_cast<char>('a' + i)), " = ",
                    table.profiles()[legend[i]].name, "\n");
  }
  return absl::StrCat(drawing, FreeText(table, state));
}

std::string PlacementText(const MigTable& table, const MigPlacement& placement) {
  return absl::StrCat(table.profiles()[placement.profile].name, "@", int{placement.start});
}

std::string PlacementsText(const MigTable& table, uint64_t set) {
  std::vector<MigPlacement> placements;
  for (; set != 0; set &= set - 1) {
    placements.push_back(table.placements()[static_cast<size_t>(std::countr_zero(set))]);
  }
  std::sort(placements.begin(), placements.end(),
            [](const MigPlacement& a, const MigPlacement& b) { return a.start < b.start; });
  return absl::StrJoin(placements, ",", [&table](std::string* out, const MigPlacement& placement) {
    absl::StrAppend(out, PlacementText(table, placement));
  });
}

std::string MigLayoutText(const MigTable& table, MigState state) {
  return PlacementsText(table, table.set(state));
}

}  // namespace drasim
