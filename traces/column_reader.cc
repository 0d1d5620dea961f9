#include "traces/column_reader.h"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "absl/algorithm/container.h"
#include "absl/container/btree_map.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "model/device_set.h"
#include "model/number_text.h"
#include "model/proto/mapping.pb.h"
#include "model/quantity.h"
#include "model/resource_request.h"
#include "model/status_macros.h"
#include "traces/date_time.h"

namespace drasim {
namespace {

constexpr int64_t kMaxInt32 = std::numeric_limits<int32_t>::max();
constexpr int64_t kMinInt32 = std::numeric_limits<int32_t>::min();

struct Unit {
  absl::string_view name;
  int64_t scale;  // base units in one
  absl::string_view noun;
};

constexpr Unit kCpuUnits[] = {
    {"milli", 1, "milli-CPU"}, {"cores", 1000, "cores"}, {"percent", 10, "percent of a core"}};
constexpr Unit kMemoryUnits[] = {{"bytes", 1, "bytes"},
                                 {"KiB", int64_t{1} << 10, "KiB"},
                                 {"MiB", int64_t{1} << 20, "MiB"},
                                 {"GiB", int64_t{1} << 30, "GiB"}};
constexpr Unit kGpuShareUnits[] = {{"milli", 1, "milli of a GPU"},
                                   {"percent", 10, "percent of a GPU"},
                                   {"fraction", 1000, "GPUs"}};
// No unit means GPUs, too.
constexpr Unit kGpuAmountUnits[] = {{"", 1000, "GPUs"},
                                    {"fraction", 1000, "GPUs"},
                                    {"milli", 1, "milli of a GPU"},
                                    {"percent", 10, "percent of a GPU"}};
constexpr absl::string_view kDateTimeUnit = "datetime";
constexpr absl::string_view kQuantityUnit = "quantity";
// Largest factor of a column, and the decimals that it may have. Doubles are exact that far.
constexpr int64_t kMaxColumnFactor = 1'000'000'000'000'000;
constexpr int64_t kFactorDecimals = 1'000'000'000;
// Largest scale that ParseNearest takes.
constexpr int64_t kMaxColumnScale = 50'000'000'000'000'000;
constexpr Unit kTimeUnits[] = {{"ns", 1, "ns"},
                               {"us", 1'000, "us"},
                               {"ms", 1'000'000, "ms"},
                               {"s", 1'000'000'000, "s"},
                               {"min", 60'000'000'000, "min"},
                               {"h", 3'600'000'000'000, "h"},
                               {kDateTimeUnit, 1, ""}};

struct KindRule {
  absl::Span<const Unit> units;  // empty: a whole number
  int64_t min = 0;
  int64_t max = kMaxInt64;
  // With unit quantity: base units in one, and their noun. Empty: there is no such unit.
  int64_t quantity_scale = 1;
  absl::string_view quantity_noun = {};
};

KindRule RuleOf(ColumnKind kind) {
  KindRule rule;
  switch (kind) {
    case ColumnKind::kCpu:
      rule.units = kCpuUnits;
      rule.quantity_scale = 1000;
      rule.quantity_noun = "cores";
      break;
    case ColumnKind::kMemory:
      rule.units = kMemoryUnits;
      rule.quantity_scale = 1;
      rule.quantity_noun = "bytes";
      break;
    case ColumnKind::kGpuShare:
      rule.units = kGpuShareUnits;
      rule.quantity_scale = 1000;
      rule.quantity_noun = "GPUs";
      rule.max = kDeviceMilli;
      break;
    case ColumnKind::kGpuAmount:
      rule.units = kGpuAmountUnits;
      rule.quantity_scale = 1000;
      rule.quantity_noun = "GPUs";
      rule.max = kMaxInt32 * kDeviceMilli;
      break;
    case ColumnKind::kTime:
      rule.units = kTimeUnits;
      break;
    case ColumnKind::kLength:
      // Without the last, datetime.
      rule.units = absl::MakeConstSpan(kTimeUnits).first(std::size(kTimeUnits) - 1);
      break;
    case ColumnKind::kCount:
      rule.max = kMaxInt32;
      break;
    case ColumnKind::kDevices:
      rule.max = kMaxDevicesPerNode;
      break;
    case ColumnKind::kFlag:
      rule.max = 1;
      break;
    case ColumnKind::kUnits:
      rule.max = kMaxUnits;
      rule.quantity_noun = "units";
      break;
    case ColumnKind::kPriority:
    case ColumnKind::kLimit:
      rule.min = kMinInt32;
      rule.max = kMaxInt32;
      break;
  }
  return rule;
}

absl::Status Wrong(absl::string_view field, absl::string_view found, absl::string_view expected) {
  return absl::InvalidArgumentError(
      absl::StrCat(field, ": found '", ShownText(found), "', expected ", expected));
}

// The unit that a column of units names.
absl::StatusOr<Unit> FindUnit(const proto::Column& column, const KindRule& rule) {
  std::vector<absl::string_view> names;
  for (const Unit& unit : rule.units) {
    if (unit.name == column.unit()) return unit;
    if (!unit.name.empty()) names.push_back(unit.name);
  }
  if (!rule.quantity_noun.empty()) names.push_back(kQuantityUnit);
  return Wrong("unit", column.unit(), absl::StrCat("one of ", absl::StrJoin(names, ", ")));
}

absl::string_view KindOf(DecimalError error) {
  switch (error) {
    case DecimalError::kNone:
    case DecimalError::kNotANumber:
      break;
    case DecimalError::kNegative:
      return "negative number";
    case DecimalError::kTooLarge:
      return "number too large";
    case DecimalError::kTooSmall:
      return "number too small";
    case DecimalError::kNotWhole:
      return "not a whole number";
  }
  return "not a number";
}

// The map's entries in the order of their keys, which a protobuf map does not keep.
absl::btree_map<std::string, std::string> SortedValues(const proto::Column& column) {
  absl::btree_map<std::string, std::string> sorted;
  for (const auto& entry : column.values()) sorted[entry.first] = entry.second;
  return sorted;
}

}  // namespace

absl::StatusOr<NumberColumn> NumberColumn::Make(const proto::Column& column, ColumnKind kind) {
  const KindRule rule = RuleOf(kind);
  NumberColumn made;
  if (column.column().empty()) return Wrong("column", "", "the name of a column");
  made.name_ = column.column();
  made.optional_ = column.optional();
  made.missing_.assign(column.missing().begin(), column.missing().end());
  made.min_ = rule.min;
  made.max_ = rule.max;
  RETURN_IF_ERROR(made.SetUnit(column, kind));
  if (!made.datetime_ && !column.zone().empty()) {
    return Wrong("zone", column.zone(), "none, because the unit is not datetime");
  }
  if (!ParseZone(column.zone(), &made.zone_s_)) {
    return Wrong("zone", column.zone(), "a zone such as Z or +08:00");
  }
  if (column.has_max() && made.datetime_) {
    return Wrong("max", absl::StrCat(column.max()), "no limit, because the unit is datetime");
  }
  if (column.has_max()) {
    // Whole base units of less than 2^53 are exact in a double.
    const double clamp = column.max() * static_cast<double>(made.scale_);
    constexpr double kExact = 9007199254740992.0;
    if (!(clamp >= 0) || clamp > kExact ||
        static_cast<double>(static_cast<int64_t>(clamp)) != clamp) {
      return Wrong("max", absl::StrCat(column.max()),
                   "a number that is not negative, below 2^53 and whole in the smallest unit");
    }
    made.has_clamp_ = true;
    made.clamp_ = static_cast<int64_t>(clamp);
  }
  RETURN_IF_ERROR(made.SetFactor(column));
  const bool no_plain = made.datetime_ || made.divisor_ > 1;
  made.plain_max_ = no_plain ? -1 : std::min(made.max_, made.clamp_) / made.scale_;
  RETURN_IF_ERROR(made.ReadOwnTexts(column));
  made.plain_ = made.missing_.empty() && made.values_.empty();
  return made;
}

absl::Status NumberColumn::SetUnit(const proto::Column& column, ColumnKind kind) {
  const KindRule rule = RuleOf(kind);
  nearest_ = kind == ColumnKind::kTime || kind == ColumnKind::kLength;
  if (column.unit() == kQuantityUnit && !rule.quantity_noun.empty()) {
    quantity_ = true;
    milli_ = rule.quantity_scale == 1000;
    scale_ = rule.quantity_scale;
    noun_ = std::string(rule.quantity_noun);
    return absl::OkStatus();
  }
  whole_ = rule.units.empty();
  if (whole_) {
    if (column.unit().empty()) return absl::OkStatus();
    return Wrong("unit", column.unit(),
                 rule.quantity_noun.empty()
                     ? "no unit, because this is a whole number"
                     : "no unit or quantity, because this is a whole number");
  }
  ASSIGN_OR_RETURN(const Unit unit, FindUnit(column, rule));
  scale_ = unit.scale;
  noun_ = std::string(unit.noun);
  datetime_ = unit.name == kDateTimeUnit;
  return absl::OkStatus();
}

// The factor as a fraction, together with the unit's scale.
absl::Status NumberColumn::SetFactor(const proto::Column& column) {
  if (!column.has_factor()) return absl::OkStatus();
  const double factor = column.factor();
  const std::string found = DoubleText(factor);
  if (datetime_ || quantity_) {
    return Wrong("factor", found,
                 absl::StrCat("none, because the unit is ", datetime_ ? "datetime" : "quantity"));
  }
  // Written so that NaN is refused.
  if (!(factor > 0 && factor <= static_cast<double>(kMaxColumnFactor))) {
    return Wrong("factor", found, absl::StrCat("a number above 0, at most ", kMaxColumnFactor));
  }
  int64_t above = static_cast<int64_t>(factor);
  int64_t below = 1;
  if (static_cast<double>(above) != factor) {
    const double scaled = factor * static_cast<double>(kFactorDecimals) + 0.5;
    constexpr double kExact = 9007199254740992.0;
    above = scaled < kExact ? static_cast<int64_t>(scaled) : 0;
    below = kFactorDecimals;
    if (static_cast<double>(above) / static_cast<double>(below) != factor) {
      return Wrong("factor", found, "a number with at most nine decimals");
    }
  }
  const int64_t common = std::gcd(scale_, below);
  scale_ /= common;
  below /= common;
  const int64_t shared = std::gcd(above, below);
  above /= shared;
  below /= shared;
  if (above > kMaxColumnScale / scale_) {
    return Wrong("factor", found, "a smaller number");
  }
  scale_ *= above;
  divisor_ = below;
  factor_ = found;
  return absl::OkStatus();
}

absl::Status NumberColumn::ReadOwnTexts(const proto::Column& column) {
  for (const auto& [from, to] : SortedValues(column)) {
    int64_t value = 0;
    const DecimalError error = Parse(to, &value);
    if (error != DecimalError::kNone) {
      return Wrong(absl::StrCat("values.", ShownText(from)), to, Expected(error));
    }
    values_.emplace_back(from, value);
  }
  if (!column.has_default_()) return absl::OkStatus();
  const DecimalError error = Resolve(column.default_(), &default_);
  if (error != DecimalError::kNone) return Wrong("default", column.default_(), Expected(error));
  has_default_ = true;
  return absl::OkStatus();
}

NumberColumn::Result NumberColumn::ReadSlow(absl::string_view text, int64_t* value) const {
  if (text.empty() || IsMissing(text)) {
    if (!has_default_) return optional_ ? Result::kNone : Result::kBad;
    *value = default_;
    return Result::kValue;
  }
  return Resolve(text, value) == DecimalError::kNone ? Result::kValue : Result::kBad;
}

bool NumberColumn::IsMissing(absl::string_view text) const {
  return absl::c_linear_search(missing_, text);
}

DecimalError NumberColumn::Resolve(absl::string_view text, int64_t* value) const {
  for (const auto& [from, to] : values_) {
    if (from == text) {
      *value = to;
      return DecimalError::kNone;
    }
  }
  int64_t number = 0;
  if (ParseDigits(text, &number) && number <= plain_max_) {
    *value = number * scale_;
    return DecimalError::kNone;
  }
  return Parse(text, value);
}

DecimalError NumberColumn::Parse(absl::string_view text, int64_t* value) const {
  if (datetime_) return ParseTime(text, value);
  int64_t number = 0;
  const DecimalError error = ParseNumber(text, &number);
  if (error == DecimalError::kTooLarge && has_clamp_) {
    number = clamp_;
  } else if (error == DecimalError::kTooSmall) {
    return min_ == 0 ? DecimalError::kNegative : error;
  } else if (error != DecimalError::kNone) {
    return error;
  }
  if (has_clamp_) number = std::min(number, clamp_);
  if (number > max_) return DecimalError::kTooLarge;
  if (number < min_) return min_ == 0 ? DecimalError::kNegative : DecimalError::kTooSmall;
  *value = number;
  return DecimalError::kNone;
}

DecimalError NumberColumn::ParseNumber(absl::string_view text, int64_t* value) const {
  if (quantity_) {
    text = absl::StripAsciiWhitespace(text);
    const absl::StatusOr<int64_t> amount = milli_ ? ParseMilli(text) : ParseUnits(text);
    if (amount.ok()) {
      *value = *amount;
      return DecimalError::kNone;
    }
    if (absl::IsOutOfRange(amount.status())) return DecimalError::kTooLarge;
    const bool negative = absl::ConsumePrefix(&text, "-") && Quantity::Parse(text).ok();
    return negative ? DecimalError::kNegative : DecimalError::kNotANumber;
  }
  int64_t number = 0;
  if (whole_) {
    const DecimalError error = ParseWhole(text, &number);
    if (error != DecimalError::kNone) return error;
    const int64_t most = kMaxInt64 / scale_;
    if (number > most) return DecimalError::kTooLarge;
    if (number < -most) return DecimalError::kTooSmall;
    number *= scale_;
    if (number % divisor_ != 0) return DecimalError::kNotWhole;
    *value = number / divisor_;
    return DecimalError::kNone;
  }
  const DecimalError error =
      nearest_ ? ParseNearest(text, scale_, &number) : ParseAmount(text, scale_, &number);
  if (error != DecimalError::kNone) return error;
  const int64_t rest = number % divisor_;
  const bool up = nearest_ ? rest >= divisor_ - rest : rest > 0;
  *value = number / divisor_ + (up ? 1 : 0);
  return DecimalError::kNone;
}

DecimalError NumberColumn::ParseTime(absl::string_view text, int64_t* value) const {
  int64_t ns = 0;
  const DateTimeError error = ParseDateTime(text, zone_s_, &ns);
  if (error == DateTimeError::kOutOfRange) return DecimalError::kTooLarge;
  if (error != DateTimeError::kNone) return DecimalError::kNotANumber;
  if (ns < 0) return DecimalError::kNegative;
  *value = ns;
  return DecimalError::kNone;
}

ColumnError NumberColumn::Explain(absl::string_view text) const {
  if (text.empty() || IsMissing(text)) {
    return {"missing value", Expected(DecimalError::kNotANumber)};
  }
  int64_t ignored = 0;
  const DecimalError error = Resolve(text, &ignored);
  if (!datetime_) return {KindOf(error), absl::StrCat(Expected(error), Hint(text, error))};
  if (error != DecimalError::kNotANumber) return {"time out of range", Expected(error)};
  const DateTimeError detail = ParseDateTime(text, zone_s_, &ignored);
  return {"not a date and time", detail == DateTimeError::kNotADateTime
                                     ? Expected(error)
                                     : std::string(ExpectedDateTime(detail))};
}

std::string NumberColumn::Expected(DecimalError error) const {
  std::string number = whole_      ? std::string("a whole number")
                       : quantity_ ? std::string("a quantity such as 500m or 100Gi")
                                   : absl::StrCat("a plain number of ", noun_);
  if (datetime_) {
    if (error == DecimalError::kNegative || error == DecimalError::kTooLarge) {
      return "a time from 1970 to 2261";
    }
    number = std::string(ExpectedDateTime(DateTimeError::kNotADateTime));
  }
  const std::string unit = whole_ ? std::string() : absl::StrCat(" ", noun_);
  switch (error) {
    case DecimalError::kNone:
    case DecimalError::kNotANumber:
      break;
    case DecimalError::kNegative:
      return absl::StrCat(number, " that is not negative");
    case DecimalError::kTooLarge:
      return absl::StrCat("at most ", InUnit(max_), unit);
    case DecimalError::kTooSmall:
      return absl::StrCat("at least ", InUnit(min_), unit);
    case DecimalError::kNotWhole:
      if (divisor_ > 1) absl::StrAppend(&number, ", also after the factor ", factor_);
      return number;
  }
  if (values_.empty()) return number;
  constexpr size_t kMostShown = 20;
  const size_t shown = std::min(values_.size(), kMostShown);
  const auto begin = values_.begin();
  absl::StrAppend(&number, " or one of ",
                  absl::StrJoin(begin, begin + static_cast<std::ptrdiff_t>(shown), ", ",
                                [](std::string* out, const std::pair<std::string, int64_t>& v) {
                                  absl::StrAppend(out, "'", ShownText(v.first), "'");
                                }));
  if (shown < values_.size()) absl::StrAppend(&number, " and ", values_.size() - shown, " more");
  return number;
}

// Advice for a mapping that cannot read a value.
std::string NumberColumn::Hint(absl::string_view text, DecimalError error) const {
  if (error != DecimalError::kNotANumber || quantity_) return std::string();
  text = absl::StripAsciiWhitespace(text);
  if (text.empty() || !absl::ascii_isdigit(static_cast<unsigned char>(text.front()))) {
    return std::string();
  }
  if (whole_) return "; the mapping's 'values' can translate a text";
  if (nearest_ || !Quantity::Parse(text).ok()) return std::string();
  return "; the mapping's unit quantity reads such amounts";
}

int64_t NumberColumn::InUnit(int64_t base_units) const {
  const int64_t parts = base_units / scale_;
  return parts > kMaxInt64 / divisor_ ? kMaxInt64 : parts * divisor_;
}

absl::StatusOr<TextColumn> TextColumn::Make(const proto::Column& column) {
  TextColumn made;
  if (column.column().empty()) return Wrong("column", "", "the name of a column");
  if (!column.unit().empty()) {
    return Wrong("unit", column.unit(), "no unit, because this is a text");
  }
  if (column.has_max()) {
    return Wrong("max", absl::StrCat(column.max()), "no limit, because this is a text");
  }
  if (column.has_factor()) {
    return Wrong("factor", DoubleText(column.factor()), "none, because this is a text");
  }
  if (!column.zone().empty()) {
    return Wrong("zone", column.zone(), "none, because this is a text");
  }
  made.name_ = column.column();
  made.optional_ = column.optional();
  made.missing_.assign(column.missing().begin(), column.missing().end());
  for (const auto& [from, to] : SortedValues(column)) made.values_.emplace_back(from, to);
  if (column.has_default_()) {
    made.has_default_ = true;
    made.default_ = std::string(made.Translate(column.default_()));
  }
  made.plain_ = made.missing_.empty() && made.values_.empty();
  return made;
}

bool TextColumn::ReadSlow(absl::string_view text, absl::string_view* value) const {
  if (!text.empty() && !absl::c_linear_search(missing_, text)) {
    *value = Translate(text);
    if (!value->empty()) return true;
  }
  *value = default_;
  return has_default_;
}

absl::string_view TextColumn::Translate(absl::string_view text) const {
  for (const auto& [from, to] : values_) {
    if (from == text) return to;
  }
  return text;
}

}  // namespace drasim
