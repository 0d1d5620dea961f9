#include "traces/table_reader.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/memory/memory.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "model/check.h"
#include "model/proto/mapping.pb.h"
#include "model/status_macros.h"

namespace drasim {
namespace {

// Names of columns that an error lists.
constexpr size_t kMaxShownHeaderBytes = 200;

// The column as one of several: without a value, the next is looked at.
proto::Column AsOneOfSeveral(proto::Column column) {
  column.set_optional(true);
  column.clear_default_();
  return column;
}

// Whether `text` is a finite number.
bool ReadFinite(absl::string_view text, double* value) {
  if (!absl::SimpleAtod(text, value)) return false;
  constexpr double kLargest = std::numeric_limits<double>::max();
  return *value >= -kLargest && *value <= kLargest;
}

}  // namespace

TableReader::TableReader(std::unique_ptr<ByteSource> bytes, const CsvOptions& csv,
                         const Options& options)
    : bytes_(std::move(bytes)),
      splitter_(bytes_.get(), csv),
      own_complaints_(options.lenient, options.advice) {}

absl::StatusOr<std::unique_ptr<TableReader>> TableReader::Open(std::unique_ptr<ByteSource> bytes,
                                                               const proto::TableMapping& mapping,
                                                               const Options& options) {
  CsvOptions csv;
  if (!mapping.separator().empty()) csv.separator = mapping.separator()[0];
  csv.comment = mapping.comment();
  std::unique_ptr<TableReader> table =
      absl::WrapUnique(new TableReader(std::move(bytes), csv, options));
  RETURN_IF_ERROR(table->ReadHeader(mapping));
  if (options.use_filters) {
    for (const proto::RowFilter& filter : mapping.filters()) table->BindFilter(filter);
  }
  RETURN_IF_ERROR(table->status_);
  return table;
}

absl::Status TableReader::ReadHeader(const proto::TableMapping& mapping) {
  if (mapping.no_header()) {
    header_.assign(mapping.columns().begin(), mapping.columns().end());
    header_positions_.resize(header_.size());
    return absl::OkStatus();
  }
  switch (splitter_.Next()) {
    case CsvSplitter::Result::kRow:
      break;
    case CsvSplitter::Result::kEnd:
      return absl::InvalidArgumentError(
          At(CsvPosition(), "row: found the end of the input, expected a header line"));
    case CsvSplitter::Result::kBadRow:
      return absl::InvalidArgumentError(
          At(splitter_.error().at, absl::StrCat("row: ", splitter_.error().what)));
    case CsvSplitter::Result::kFailed:
      return splitter_.status();
  }
  for (size_t i = 0; i < splitter_.size(); ++i) {
    header_.emplace_back(absl::StripAsciiWhitespace(splitter_.field(i)));
    header_positions_.push_back(splitter_.position(i));
  }
  return absl::OkStatus();
}

int TableReader::Find(absl::string_view column, bool optional) {
  const auto first = std::find(header_.begin(), header_.end(), column);
  if (first == header_.end()) {
    if (!optional && status_.ok()) {
      const CsvPosition at = header_positions_.empty() ? CsvPosition() : header_positions_.front();
      status_ = absl::InvalidArgumentError(
          At(at, absl::StrCat(ShownText(column), ": found the columns '",
                              ShownText(absl::StrJoin(header_, ","), kMaxShownHeaderBytes),
                              "', expected one of this name")));
    }
    return -1;
  }
  const auto second = std::find(first + 1, header_.end(), column);
  if (second != header_.end() && status_.ok()) {
    const size_t place = static_cast<size_t>(second - header_.begin());
    status_ = absl::InvalidArgumentError(
        At(header_positions_[place],
           absl::StrCat(ShownText(column), ": found a second column of this name, expected one")));
  }
  return static_cast<int>(first - header_.begin());
}

template <typename Field>
bool TableReader::FindPlaces(const proto::Column& column, Field* field) {
  field->index = Find(column.column(), column.optional());
  for (const std::string& other : column.or_column()) {
    const int index = Find(other, /*optional=*/true);
    if (index < 0) continue;
    if (field->index < 0) {
      field->index = index;
    } else {
      field->others.push_back(index);
    }
  }
  field->required = !column.optional() && !column.has_default_();
  return !field->others.empty();
}

void TableReader::Bind(bool mapped, const proto::Column& column, ColumnKind kind,
                       NumberField* field) {
  if (!mapped || !status_.ok()) return;
  absl::StatusOr<NumberColumn> made = NumberColumn::Make(column, kind);
  if (!made.ok()) {
    status_ = made.status();
    return;
  }
  field->fixed_has = made->Read("", &field->fixed) == NumberColumn::Result::kValue;
  if (FindPlaces(column, field)) made = NumberColumn::Make(AsOneOfSeveral(column), kind);
  DRASIM_CHECK(made.ok());
  field->column = *std::move(made);
}

void TableReader::Bind(bool mapped, const proto::Column& column, TextField* field) {
  if (!mapped || !status_.ok()) return;
  absl::StatusOr<TextColumn> made = TextColumn::Make(column);
  if (!made.ok()) {
    status_ = made.status();
    return;
  }
  absl::string_view fixed;
  field->fixed_has = made->Read("", &fixed);
  field->fixed = std::string(fixed);
  if (FindPlaces(column, field)) made = TextColumn::Make(AsOneOfSeveral(column));
  DRASIM_CHECK(made.ok());
  field->column = *std::move(made);
}

void TableReader::Bind(const std::vector<proto::ExtendedColumn>& columns,
                       std::vector<ExtendedField>* fields) {
  for (const proto::ExtendedColumn& column : columns) {
    ExtendedField field;
    field.resource = column.resource();
    Bind(/*mapped=*/true, column.amount(), ColumnKind::kUnits, &field.amount);
    fields->push_back(std::move(field));
  }
  std::sort(fields->begin(), fields->end(),
            [](const ExtendedField& a, const ExtendedField& b) { return a.resource < b.resource; });
}

void TableReader::BindFilter(const proto::RowFilter& filter) {
  Filter bound;
  bound.column = filter.column();
  bound.index = Find(filter.column(), /*optional=*/false);
  bound.equals.assign(filter.equals().begin(), filter.equals().end());
  bound.not_equals.assign(filter.not_equals().begin(), filter.not_equals().end());
  bound.has_min = filter.has_at_least();
  bound.min = filter.at_least();
  bound.has_max = filter.has_at_most();
  bound.max = filter.at_most();
  filters_.push_back(std::move(bound));
}

TableReader::Result TableReader::Next() {
  while (status_.ok()) {
    switch (splitter_.Next()) {
      case CsvSplitter::Result::kRow:
        complaints_->CountRow();
        if (splitter_.size() != header_.size()) {
          RejectWidth();
        } else if (filters_.empty() || PassesFilters()) {
          return Result::kRow;
        }
        break;
      case CsvSplitter::Result::kEnd:
        if (complaints_ == &own_complaints_) status_ = complaints_->Error();
        if (status_.ok()) return Result::kEnd;
        break;
      case CsvSplitter::Result::kBadRow:
        complaints_->CountRow();
        RejectAt(splitter_.error().kind, "row", splitter_.error().at,
                 absl::StrCat("row: ", splitter_.error().what));
        break;
      case CsvSplitter::Result::kFailed:
        status_ = complaints_->Error(splitter_.status());
        break;
    }
  }
  return Result::kFailed;
}

// A bad row does not pass, and is rejected.
bool TableReader::PassesFilters() {
  for (const Filter& filter : filters_) {
    const absl::string_view text = splitter_.field(static_cast<size_t>(filter.index));
    if (!filter.equals.empty() && !absl::c_linear_search(filter.equals, text)) return false;
    if (absl::c_linear_search(filter.not_equals, text)) return false;
    if (!filter.has_min && !filter.has_max) continue;
    if (text.empty()) return false;
    double value = 0;
    if (!ReadFinite(text, &value)) {
      Reject("not a number", filter.index, filter.column, "a plain number");
      return false;
    }
    if (filter.has_min && value < filter.min) return false;
    if (filter.has_max && value > filter.max) return false;
  }
  return true;
}

bool TableReader::ReadRest(const NumberField& field, int64_t* value, bool* has) {
  int index = field.index;
  NumberColumn::Result result = field.column.Read(TextAt(index), value);
  for (size_t i = 0; result == NumberColumn::Result::kNone && i < field.others.size(); ++i) {
    index = field.others[i];
    result = field.column.Read(TextAt(index), value);
  }
  *has = result == NumberColumn::Result::kValue;
  if (*has) return true;
  if (result == NumberColumn::Result::kNone) {
    *has = field.fixed_has;
    *value = field.fixed;
    if (!field.required) return true;
    index = field.index;
  }
  const ColumnError error = field.column.Explain(TextAt(index));
  Reject(error.kind, index, NameAt(index, field.column.name()), error.expected);
  return false;
}

bool TableReader::ReadRest(const TextField& field, absl::string_view* value, bool* has) {
  for (const int index : field.others) {
    *has = field.column.Read(TextAt(index), value);
    if (*has) return true;
  }
  *has = field.fixed_has;
  *value = field.fixed;
  if (!field.required) return true;
  Reject("missing value", field.index, NameAt(field.index, field.column.name()),
         "a text that is not empty");
  return false;
}

bool TableReader::Read(const std::vector<ExtendedField>& fields, std::vector<int64_t>* amounts) {
  amounts->clear();
  for (const ExtendedField& field : fields) {
    int64_t amount = 0;
    bool has = false;
    if (!Read(field.amount, &amount, &has)) return false;
    amounts->push_back(amount);
  }
  return true;
}

int TableReader::UsedIndex(const NumberField& field) const {
  int64_t ignored = 0;
  if (field.others.empty()) return field.index;
  if (field.column.Read(TextAt(field.index), &ignored) != NumberColumn::Result::kNone) {
    return field.index;
  }
  for (const int index : field.others) {
    if (field.column.Read(TextAt(index), &ignored) != NumberColumn::Result::kNone) return index;
  }
  return field.index;
}

int TableReader::UsedIndex(const TextField& field) const {
  absl::string_view ignored;
  if (field.others.empty() || field.column.Read(TextAt(field.index), &ignored)) return field.index;
  for (const int index : field.others) {
    if (field.column.Read(TextAt(index), &ignored)) return index;
  }
  return field.index;
}

// The column's name in messages; `mapped` is its name in the mapping, if it is there.
absl::string_view TableReader::NameAt(int index, absl::string_view mapped) const {
  if (index >= 0) return header_[static_cast<size_t>(index)];
  return mapped.empty() ? absl::string_view("row") : mapped;
}

void TableReader::RejectWidth() {
  const size_t size = splitter_.size();
  const std::string what = absl::StrCat("row: found ", size, " fields, expected ", header_.size());
  if (size < header_.size()) {
    RejectAt("too few fields", "row", splitter_.end_position(), what);
  } else {
    RejectAt("too many fields", "row", splitter_.position(header_.size()), what);
  }
}

void TableReader::Reject(absl::string_view kind, const NumberField& field,
                         absl::string_view expected) {
  const int index = UsedIndex(field);
  Reject(kind, index, NameAt(index, field.column.name()), expected);
}

void TableReader::Reject(absl::string_view kind, const TextField& field,
                         absl::string_view expected) {
  const int index = UsedIndex(field);
  Reject(kind, index, NameAt(index, field.column.name()), expected);
}

void TableReader::Reject(absl::string_view kind, int index, absl::string_view column,
                         absl::string_view expected) {
  const absl::string_view text = index < 0 ? absl::string_view() : TextAt(index);
  RejectAt(kind, column, PositionOf(index),
           absl::StrCat(ShownText(column), ": found '", ShownText(text), "', expected ", expected));
}

void TableReader::RejectAt(absl::string_view kind, absl::string_view column, CsvPosition at,
                           absl::string_view what) {
  complaints_->Reject(kind, column, At(at, what));
}

void TableReader::Warn(absl::string_view kind, const NumberField& field, absl::string_view what) {
  const int index = UsedIndex(field);
  Warn(kind, index, NameAt(index, field.column.name()), what);
}

void TableReader::Warn(absl::string_view kind, const TextField& field, absl::string_view what) {
  const int index = UsedIndex(field);
  Warn(kind, index, NameAt(index, field.column.name()), what);
}

void TableReader::Warn(absl::string_view kind, int index, absl::string_view column,
                       absl::string_view what) {
  complaints_->Warn(
      kind, [&] { return At(PositionOf(index), absl::StrCat(ShownText(column), ": ", what)); });
}

CsvPosition TableReader::PositionOf(int index) const {
  return splitter_.position(index < 0 ? 0 : static_cast<size_t>(index));
}

std::string TableReader::At(CsvPosition at, absl::string_view what) const {
  return absl::StrCat(bytes_->name(), ":", at.line, ":", at.column, ": ", what);
}

}  // namespace drasim
