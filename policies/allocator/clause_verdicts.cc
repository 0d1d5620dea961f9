#include "policies/allocator/clause_verdicts.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "model/text/did_you_mean.h"
#include "policies/cel/compile.h"

namespace drasim {
namespace {

using cel::DeviceLookup;
using cel::LiteralKind;
using FoundKind = DeviceValue::Kind;

std::string ListItemText(const DeviceColumns& columns, FoundKind kind, int64_t bits) {
  switch (kind) {
    case FoundKind::kBool:
      return bits != 0 ? "true" : "false";
    case FoundKind::kInt:
      return absl::StrCat(bits);
    case FoundKind::kString:
      return absl::StrCat("\"", columns.texts().Text(TextId(static_cast<uint32_t>(bits))), "\"");
    case FoundKind::kVersion:
      return columns.texts().Text(columns.version(bits).text);
    case FoundKind::kQuantity:
      return columns.quantity(bits).ToString();
    default:
      return "a value of no known type";
  }
}

absl::string_view TypeName(FoundKind kind) {
  switch (kind) {
    case FoundKind::kBool:
      return "a bool";
    case FoundKind::kInt:
      return "an int";
    case FoundKind::kString:
      return "a string";
    case FoundKind::kVersion:
      return "a version";
    case FoundKind::kQuantity:
      return "a quantity";
    case FoundKind::kNone:
      return "of no known type";
    default:
      return "a list";
  }
}

absl::string_view TypeName(LiteralKind kind) {
  switch (kind) {
    case LiteralKind::kNull:
      return "null";
    case LiteralKind::kBool:
      return "a bool";
    case LiteralKind::kInt:
    case LiteralKind::kUint:
      return "an int";
    case LiteralKind::kDouble:
      return "a double";
    case LiteralKind::kString:
      return "a string";
    case LiteralKind::kBytes:
      return "bytes";
  }
  return "";
}

// Whether CEL compares values of the two kinds with each other.
bool Compares(FoundKind value, LiteralKind literal) {
  switch (value) {
    case FoundKind::kBool:
      return literal == LiteralKind::kBool;
    case FoundKind::kInt:
      return literal == LiteralKind::kInt || literal == LiteralKind::kUint ||
             literal == LiteralKind::kDouble;
    case FoundKind::kString:
      return literal == LiteralKind::kString;
    default:
      return false;
  }
}

// The value that stands for a missing one without making the comparison an error.
absl::string_view Fallback(const std::optional<LiteralKind>& compared) {
  if (!compared.has_value()) return "";
  switch (*compared) {
    case LiteralKind::kBool:
      return "false";
    case LiteralKind::kInt:
      return "0";
    case LiteralKind::kString:
      return "\"\"";
    default:
      return "";
  }
}

std::string MendOfType(FoundKind kind, LiteralKind compared) {
  if (kind == FoundKind::kQuantity) {
    return "compare it with .compareTo(quantity(\"...\")), which is -1, 0 or 1";
  }
  if (kind == FoundKind::kVersion) {
    return "compare it with .compareTo(semver(\"...\")), which is -1, 0 or 1";
  }
  return absl::StrCat("compare it with ", TypeName(kind), " instead of ", TypeName(compared));
}

}  // namespace

std::string DeviceValueText(const DeviceColumns& columns, const DeviceValue& value) {
  const FoundKind element = DeviceColumns::ElementKind(value.kind);
  if (element == FoundKind::kNone) return ListItemText(columns, value.kind, value.bits);
  std::vector<std::string> items;
  for (const int64_t item : columns.list(value.bits)) {
    items.push_back(ListItemText(columns, element, item));
  }
  return absl::StrCat("[", absl::StrJoin(items, ", "), "]");
}

ClauseVerdicts::Selector& ClauseVerdicts::SelectorOf(absl::string_view expression) {
  std::unique_ptr<Selector>& selector = selectors_[expression];
  if (selector != nullptr) return *selector;
  selector = std::make_unique<Selector>();
  const auto add = [&](cel::Clause clause) {
    absl::StatusOr<cel::Program> program = cel::Compile(clause.expression, {});
    if (!program.ok()) return false;
    Compiled& compiled = selector->clauses.emplace_back();
    compiled.lookups = cel::LookupsOf(clause.expression);
    compiled.clause = std::move(clause);
    compiled.program = std::make_unique<cel::Program>(*std::move(program));
    compiled.selector = std::make_unique<cel::DeviceSelector>(compiled.program.get(), &columns_);
    return true;
  };
  for (cel::Clause& clause : cel::SplitClauses(expression)) {
    if (add(std::move(clause))) continue;
    // A clause that is nothing by itself: the whole is explained.
    selector->clauses.clear();
    add({std::string(expression), std::string(expression)});
    break;
  }
  return *selector;
}

const ClauseFailure& ClauseVerdicts::Explain(absl::string_view expression, DeviceRow row) {
  Selector& selector = SelectorOf(expression);
  std::unique_ptr<ClauseFailure>& failure = selector.failures[row];
  if (failure == nullptr) failure = std::make_unique<ClauseFailure>(Find(&selector, row));
  return *failure;
}

ClauseFailure ClauseVerdicts::Find(Selector* selector, DeviceRow row) {
  ClauseFailure failure;
  failure.clauses = selector->clauses.size();
  size_t failed = selector->clauses.size();
  for (size_t i = 0; i < selector->clauses.size(); ++i) {
    const cel::Evaluation answer = selector->clauses[i].selector->Explain(row);
    if (answer.verdict == cel::Verdict::kTrue) continue;
    if (answer.verdict == cel::Verdict::kFalse) {
      // It decides, whatever errors came before it.
      failure.error.clear();
      failed = i;
      break;
    }
    if (failed < selector->clauses.size()) continue;
    failed = i;
    failure.error = answer.error;
  }
  if (failed == selector->clauses.size()) return failure;
  failure.clause = failed;
  failure.text = selector->clauses[failed].clause.text;
  Describe(selector->clauses[failed], row, &failure);
  return failure;
}

void ClauseVerdicts::DescribeMissing(const DeviceLookup& lookup, const Compiled& compiled,
                                     DeviceRow row, ClauseFailure* failure) const {
  const bool capacity = lookup.kind == DeviceLookup::Kind::kCapacity;
  const absl::string_view kind = capacity ? "capacity" : "attribute";
  const DeviceTexts& texts = columns_.texts();
  const DeviceColumns::Layout& layout = columns_.layout_at(columns_.layout(row));
  // The same name elsewhere, the same kind first; otherwise similar names of the domain.
  std::optional<DeviceLookup> elsewhere;
  std::vector<std::string> ids;
  for (const DeviceColumns::Name& name : layout.names) {
    const std::string& domain = texts.Text(name.domain);
    if (texts.Text(name.id) == lookup.id) {
      if (elsewhere.has_value() && name.capacity != capacity) continue;
      elsewhere = DeviceLookup();
      elsewhere->kind =
          name.capacity ? DeviceLookup::Kind::kCapacity : DeviceLookup::Kind::kAttribute;
      elsewhere->domain = domain;
      elsewhere->id = lookup.id;
      if (name.capacity == capacity) break;
    } else if (name.capacity == capacity && domain == lookup.domain) {
      ids.push_back(texts.Text(name.id));
    }
  }
  if (!failure->found.empty()) failure->found += ", ";
  absl::StrAppend(&failure->found, "no ", kind, " ", lookup.domain, "/", lookup.id);
  if (elsewhere.has_value()) {
    const bool other_kind = elsewhere->kind != lookup.kind;
    absl::StrAppend(&failure->found, ", but ",
                    other_kind ? (capacity ? "an attribute " : "a capacity ") : "",
                    elsewhere->domain, "/", elsewhere->id);
    failure->mend = absl::StrCat("write ", elsewhere->Text());
    return;
  }
  if (const std::string similar = Suggest(lookup.id, ids); !similar.empty()) {
    failure->found += similar;
    return;
  }
  if (failure->error.empty() || lookup.guarded) return;
  failure->mend = absl::StrCat("guard it: has(", lookup.Text(), ") && ", compiled.clause.text);
  if (const absl::string_view fallback = Fallback(lookup.compared); !fallback.empty()) {
    absl::StrAppend(&failure->mend, ", or device.", capacity ? "capacity" : "attributes", "[\"",
                    lookup.domain, "\"].?", lookup.id, ".orValue(", fallback, ")");
  }
}

void ClauseVerdicts::Describe(const Compiled& compiled, DeviceRow row,
                              ClauseFailure* failure) const {
  const std::string& problem = columns_.problem(row);
  if (!problem.empty()) {
    failure->found = problem;
    return;
  }
  const DeviceTexts& texts = columns_.texts();
  const LayoutId layout = columns_.layout(row);
  for (const DeviceLookup& lookup : compiled.lookups) {
    std::string text;
    switch (lookup.kind) {
      case DeviceLookup::Kind::kDriver:
        text = absl::StrCat("device.driver is \"", texts.Text(columns_.driver(row)), "\"");
        break;
      case DeviceLookup::Kind::kMultiple:
        text = absl::StrCat("device.allowMultipleAllocations is ",
                            columns_.allow_multiple_allocations(row) ? "true" : "false");
        break;
      case DeviceLookup::Kind::kAttribute:
      case DeviceLookup::Kind::kCapacity: {
        const TextId domain = texts.Find(lookup.domain);
        const TextId id = texts.Find(lookup.id);
        int slot = -1;
        if (domain.valid() && id.valid()) {
          slot = lookup.kind == DeviceLookup::Kind::kCapacity
                     ? columns_.CapacitySlot(layout, domain, id)
                     : columns_.AttributeSlot(layout, domain, id);
        }
        if (slot < 0) {
          DescribeMissing(lookup, compiled, row, failure);
          continue;
        }
        const DeviceValue value = columns_.values(row)[static_cast<size_t>(slot)];
        text = absl::StrCat(lookup.id, " is ", DeviceValueText(columns_, value));
        if (lookup.compared.has_value() && !Compares(value.kind, *lookup.compared)) {
          absl::StrAppend(&text, ", ", TypeName(value.kind), ", compared with ",
                          TypeName(*lookup.compared));
          if (failure->mend.empty()) failure->mend = MendOfType(value.kind, *lookup.compared);
        } else if (absl::StartsWith(failure->error, "no such overload")) {
          absl::StrAppend(&text, ", ", TypeName(value.kind));
        }
        break;
      }
    }
    absl::StrAppend(&failure->found, failure->found.empty() ? "" : ", ", text);
  }
}

}  // namespace drasim
