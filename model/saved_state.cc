#include "model/saved_state.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace drasim {
namespace {

// The picks of the kind below `size`.
size_t PicksBelow(const RowPicks& picks, RowKind kind, uint64_t size) {
  const std::vector<uint32_t>& of_kind = picks[static_cast<size_t>(kind)];
  return static_cast<size_t>(std::lower_bound(of_kind.begin(), of_kind.end(), size) -
                             of_kind.begin());
}

bool DecodePicks(StateReader& in, std::vector<uint32_t>* picks) {
  const size_t count = in.Count();
  uint64_t next = 0;  // the least that may come
  for (size_t i = 0; i < count && in.status().ok(); ++i) {
    const uint64_t gap = in.U64();
    if (gap > ~uint32_t{0} || next + gap > ~uint32_t{0}) return false;
    picks->push_back(static_cast<uint32_t>(next + gap));
    next += gap + 1;
  }
  return in.status().ok();
}

bool DecodeTable(StateReader& in, const RowPicks& picks, uint64_t* end, SavedTable* table) {
  const uint64_t kind = in.U64();
  if (kind >= kRowKinds) return false;
  table->kind = static_cast<RowKind>(kind);
  if (__builtin_add_overflow(*end, in.U64(), &table->at)) return false;
  *end = table->at;
  table->size = in.U64();
  const size_t rows = PicksBelow(picks, table->kind, table->size);
  for (size_t i = 0; i < rows && in.status().ok(); ++i) {
    const uint64_t bytes = in.U64();
    if (bytes > ~uint32_t{0} || __builtin_add_overflow(*end, bytes, end)) return false;
    table->bytes.push_back(static_cast<uint32_t>(bytes));
  }
  return in.status().ok();
}

}  // namespace

SavedState TakeState(RowPicks picks, StateWriter* out) {
  SavedState state;
  state.tables = out->tables();
  state.text = out->Release();
  state.picks = std::move(picks);
  return state;
}

std::string EncodeState(const SavedState& state) {
  StateWriter out;
  size_t rows = 0;
  for (const SavedTable& table : state.tables) rows += table.bytes.size();
  out.Reserve(state.text.size() + 4 * rows + 1024);
  for (const std::vector<uint32_t>& picks : state.picks) {
    out.U64(picks.size());
    uint64_t next = 0;
    for (const uint32_t pick : picks) {
      out.U64(pick - next);
      next = pick + uint64_t{1};
    }
  }
  out.U64(state.tables.size());
  uint64_t end = 0;
  for (const SavedTable& table : state.tables) {
    out.U64(static_cast<uint64_t>(table.kind));
    out.U64(table.at - end);
    out.U64(table.size);
    for (const uint32_t bytes : table.bytes) out.U64(bytes);
    end = std::accumulate(table.bytes.begin(), table.bytes.end(), table.at);
  }
  out.Str(state.text);
  return out.Release();
}

bool DecodeState(absl::string_view bytes, SavedState* state) {
  *state = SavedState();
  StateReader in(bytes);
  for (std::vector<uint32_t>& picks : state->picks) {
    if (!DecodePicks(in, &picks)) return false;
  }
  const size_t tables = in.Count();
  uint64_t end = 0;
  for (size_t t = 0; t < tables; ++t) {
    if (!DecodeTable(in, state->picks, &end, &state->tables.emplace_back())) return false;
  }
  state->text = in.Str();
  return in.status().ok() && in.AtEnd() && end <= state->text.size();
}

bool StateImage::Apply(SavedState state) {
  if (any_ && tables_.size() != state.tables.size()) return false;
  any_ = true;
  tables_.resize(state.tables.size());
  texts_.push_back(std::move(state.text));
  absl::string_view rest = texts_.back();
  uint64_t at = 0;
  for (size_t t = 0; t < tables_.size(); ++t) {
    const SavedTable& from = state.tables[t];
    const std::vector<uint32_t>& picks = state.picks[static_cast<size_t>(from.kind)];
    Table& table = tables_[t];
    const size_t rows_before = table.rows.size();
    if ((rows_before > 0 && table.kind != from.kind) || from.size < rows_before ||
        from.size - rows_before > from.bytes.size() || from.at < at || from.at - at > rest.size() ||
        from.bytes.size() > picks.size()) {
      return false;
    }
    table.kind = from.kind;
    table.before = rest.substr(0, from.at - at);
    rest.remove_prefix(from.at - at);
    at = from.at;
    table.rows.resize(from.size);
    for (size_t i = 0; i < from.bytes.size(); ++i) {
      if (picks[i] >= from.size || from.bytes[i] > rest.size()) return false;
      table.rows[picks[i]] = rest.substr(0, from.bytes[i]);
      rest.remove_prefix(from.bytes[i]);
      at += from.bytes[i];
    }
    for (size_t i = rows_before; i < table.rows.size(); ++i) {
      if (table.rows[i].data() == nullptr) return false;
    }
  }
  after_ = rest;
  return true;
}

SavedState StateImage::Whole() const {
  SavedState whole;
  size_t bytes = after_.size();
  for (const Table& table : tables_) {
    bytes += table.before.size();
    for (const absl::string_view row : table.rows) bytes += row.size();
  }
  whole.text.reserve(bytes);
  const auto append = [&whole](absl::string_view text) {
    whole.text.append(text.data(), text.size());
  };
  for (const Table& table : tables_) {
    append(table.before);
    SavedTable saved;
    saved.kind = table.kind;
    saved.at = whole.text.size();
    saved.size = table.rows.size();
    for (const absl::string_view row : table.rows) {
      append(row);
      saved.bytes.push_back(static_cast<uint32_t>(row.size()));
    }
    std::vector<uint32_t>& picks = whole.picks[static_cast<size_t>(table.kind)];
    for (size_t i = picks.size(); i < table.rows.size(); ++i) {
      picks.push_back(static_cast<uint32_t>(i));
    }
    whole.tables.push_back(std::move(saved));
  }
  append(after_);
  return whole;
}

}  // namespace drasim
