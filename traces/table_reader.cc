#include "traces/table_reader.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace drasim {
namespace {

// Names of columns that an error lists.
constexpr size_t kMaxShownHeaderBytes = 200;

bool Contains(const std::vector<std::string>& texts, absl::string_view text) {
  return std::find(texts.begin(), texts.end(), text) != texts.end();
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
    : bytes_(std::move(bytes)), splitter_(bytes_.get(), csv), options_(options) {}

absl::StatusOr<std::unique_ptr<TableReader>> TableReader::Open(std::unique_ptr<ByteSource> bytes,
                                                               const proto::TableMapping& mapping,
                                                               const Options& options) {
  CsvOptions csv;
  if (!mapping.separator().empty()) csv.separator = mapping.separator()[0];
  csv.comment = mapping.comment();
  std::unique_ptr<TableReader> table =
      absl::WrapUnique(new TableReader(std::move(bytes), csv, options));
  absl::Status header = table->ReadHeader(mapping);
  if (!header.ok()) return header;
  if (options.use_filters) {
    for (const proto::RowFilter& filter : mapping.filters()) table->BindFilter(filter);
  }
  if (!table->status_.ok()) return table->status_;
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
          At(at, absl::StrCat(column, ": found the columns '",
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
           absl::StrCat(column, ": found a second column of this name, expected one")));
  }
  return static_cast<int>(first - header_.begin());
}

void TableReader::Bind(bool mapped, const proto::Column& column, ColumnKind kind,
                       NumberField* field) {
  if (!mapped || !status_.ok()) return;
  absl::StatusOr<NumberColumn> made = NumberColumn::Make(column, kind);
  if (!made.ok()) {
    status_ = made.status();
    return;
  }
  field->column = *std::move(made);
  field->index = Find(column.column(), column.optional());
  if (field->index >= 0) return;
  field->fixed_has = field->column.Read("", &field->fixed) == NumberColumn::Result::kValue;
}

void TableReader::Bind(bool mapped, const proto::Column& column, TextField* field) {
  if (!mapped || !status_.ok()) return;
  absl::StatusOr<TextColumn> made = TextColumn::Make(column);
  if (!made.ok()) {
    status_ = made.status();
    return;
  }
  field->column = *std::move(made);
  field->index = Find(column.column(), column.optional());
  if (field->index >= 0) return;
  absl::string_view fixed;
  field->fixed_has = field->column.Read("", &fixed);
  field->fixed = std::string(fixed);
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
        if (splitter_.size() != header_.size()) {
          RejectWidth();
        } else if (filters_.empty() || PassesFilters()) {
          return Result::kRow;
        }
        break;
      case CsvSplitter::Result::kEnd:
        return Result::kEnd;
      case CsvSplitter::Result::kBadRow:
        RejectAt(splitter_.error().kind, splitter_.error().at,
                 absl::StrCat("row: ", splitter_.error().what));
        break;
      case CsvSplitter::Result::kFailed:
        status_ = splitter_.status();
        break;
    }
  }
  return Result::kFailed;
}

// A bad row does not pass, and is rejected.
bool TableReader::PassesFilters() {
  for (const Filter& filter : filters_) {
    const absl::string_view text = splitter_.field(static_cast<size_t>(filter.index));
    if (!filter.equals.empty() && !Contains(filter.equals, text)) return false;
    if (Contains(filter.not_equals, text)) return false;
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
  const absl::string_view text = splitter_.field(static_cast<size_t>(field.index));
  *has = false;
  const NumberColumn::Result result = field.column.Read(text, value);
  if (result == NumberColumn::Result::kNone) {
    *value = 0;
    return true;
  }
  const ColumnError error = field.column.Explain(text);
  Reject(error.kind, field.index, field.column.name(), error.expected);
  return false;
}

bool TableReader::ReadRest(const TextField& field, absl::string_view* value) {
  *value = absl::string_view();
  if (field.column.optional()) return true;
  Reject("missing value", field.index, field.column.name(), "a text that is not empty");
  return false;
}

void TableReader::RejectWidth() {
  const size_t size = splitter_.size();
  const std::string what = absl::StrCat("row: found ", size, " fields, expected ", header_.size());
  if (size < header_.size()) {
    RejectAt("too few fields", splitter_.end_position(), what);
  } else {
    RejectAt("too many fields", splitter_.position(header_.size()), what);
  }
}

void TableReader::Reject(absl::string_view kind, int index, absl::string_view column,
                         absl::string_view expected) {
  const absl::string_view text =
      index < 0 ? absl::string_view() : splitter_.field(static_cast<size_t>(index));
  RejectAt(kind, PositionOf(index),
           absl::StrCat(column, ": found '", ShownText(text), "', expected ", expected));
}

void TableReader::RejectAt(absl::string_view kind, CsvPosition at, absl::string_view what) {
  if (!options_.lenient) {
    status_ = absl::InvalidArgumentError(At(at, what));
    return;
  }
  ++skipped_rows_;
  RowTally& tally = skipped_[std::string(kind)];
  if (tally.count++ == 0) tally.first = At(at, what);
}

void TableReader::Warn(absl::string_view kind, int index, absl::string_view column,
                       absl::string_view what) {
  RowTally& tally = warnings_[std::string(kind)];
  if (tally.count++ == 0) tally.first = At(PositionOf(index), absl::StrCat(column, ": ", what));
}

CsvPosition TableReader::PositionOf(int index) const {
  return splitter_.position(index < 0 ? 0 : static_cast<size_t>(index));
}

std::string TableReader::At(CsvPosition at, absl::string_view what) const {
  return absl::StrCat(bytes_->name(), ":", at.line, ":", at.column, ": ", what);
}

}  // namespace drasim
