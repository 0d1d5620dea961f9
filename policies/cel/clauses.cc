#include "policies/cel/clauses.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "policies/cel/lexer.h"
#include "policies/cel/operators.h"
#include "policies/cel/parser.h"
#include "policies/cel/value.h"

namespace drasim::cel {
namespace {

bool IsSign(const Token& token, absl::string_view sign) {
  return token.kind == TokenKind::kSign && token.text == sign;
}

bool Opens(const Token& token) {
  return IsSign(token, "(") || IsSign(token, "[") || IsSign(token, "{");
}

bool Closes(const Token& token) {
  return IsSign(token, ")") || IsSign(token, "]") || IsSign(token, "}");
}

// Splits a text that is an expression.
class Splitter {
 public:
  explicit Splitter(absl::string_view source) : source_(source) {
    Lexer lexer(source);
    for (Token token = lexer.Next(); token.kind != TokenKind::kEnd; token = lexer.Next()) {
      tokens_.push_back(token);
    }
  }

  std::vector<Clause> Run() {
    Split(0, tokens_.size(), "", "");
    return std::move(clauses_);
  }

 private:
  // The token that closes the bracket of the token at `open`.
  size_t CloseOf(size_t open) const {
    size_t depth = 0;
    for (size_t i = open; i < tokens_.size(); ++i) {
      if (Opens(tokens_[i])) ++depth;
      if (Closes(tokens_[i]) && --depth == 0) return i;
    }
    return tokens_.size();
  }

  // Tokens of [begin, end) outside of brackets that are `sign`.
  std::vector<size_t> Outside(size_t begin, size_t end, absl::string_view sign) const {
    std::vector<size_t> found;
    for (size_t i = begin; i < end; ++i) {
      if (Opens(tokens_[i])) {
        i = CloseOf(i);
      } else if (IsSign(tokens_[i], sign)) {
        found.push_back(i);
      }
    }
    return found;
  }

  bool HasConditional(size_t begin, size_t end) const {
    const std::vector<size_t> marks = Outside(begin, end, "?");
    return std::any_of(marks.begin(), marks.end(),
                       [this](size_t at) { return at > 0 && !IsSign(tokens_[at - 1], "."); });
  }

  absl::string_view TextOf(size_t begin, size_t end) const {
    const Token& last = tokens_[end - 1];
    const size_t from = tokens_[begin].position;
    return source_.substr(from, last.position + last.text.size() - from);
  }

  void Split(size_t begin, size_t end, const std::string& before, const std::string& behind) {
    while (end - begin > 2 && IsSign(tokens_[begin], "(") && CloseOf(begin) == end - 1) {
      ++begin;
      --end;
    }
    const bool whole = !Outside(begin, end, "||").empty() || HasConditional(begin, end);
    const std::vector<size_t> signs = whole ? std::vector<size_t>() : Outside(begin, end, "&&");
    if (!signs.empty()) {
      for (const size_t sign : signs) {
        Split(begin, sign, before, behind);
        begin = sign + 1;
      }
      Split(begin, end, before, behind);
      return;
    }
    if (!whole && SplitBind(begin, end, before, behind)) return;
    const std::string text(TextOf(begin, end));
    clauses_.push_back({text, absl::StrCat(before, text, behind)});
  }

  // cel.bind(name, value, a && b)
  bool SplitBind(size_t begin, size_t end, const std::string& before, const std::string& behind) {
    if (end - begin < 6 || tokens_[begin].text != "cel" || !IsSign(tokens_[begin + 1], ".") ||
        tokens_[begin + 2].text != "bind" || CloseOf(begin + 3) != end - 1) {
      return false;
    }
    const std::vector<size_t> commas = Outside(begin + 4, end - 1, ",");
    if (commas.size() != 2) return false;
    const size_t body = commas[1] + 1;
    Split(body, end - 1, absl::StrCat(before, TextOf(begin, body), " "), absl::StrCat(")", behind));
    return true;
  }

  absl::string_view source_;
  std::vector<Token> tokens_;
  std::vector<Clause> clauses_;
};

bool IsComparison(absl::string_view function) {
  return function == ops::kEqual || function == ops::kNotEqual || function == ops::kLess ||
         function == ops::kLessEqual || function == ops::kGreater || function == ops::kGreaterEqual;
}

// Collects the look-ups of a tree.
class LookupFinder {
 public:
  explicit LookupFinder(const Ast& ast) : ast_(ast) {}

  std::vector<DeviceLookup> Run() {
    Visit(ast_.root, {});
    return std::move(found_);
  }

 private:
  // Steps from `device`: "attributes", a domain, an id. Variables of cel.bind stand for theirs.
  struct Path {
    std::vector<std::string> steps;
    bool guarded = false;
  };
  using Variables = std::map<std::string, Path>;

  const Node& At(NodeId id) const { return ast_.nodes[id]; }

  std::optional<Path> PathOf(NodeId id, const Variables& variables) const {
    const Node& node = At(id);
    if (node.kind == NodeKind::kIdent) {
      const auto bound = variables.find(std::string(node.text));
      if (bound != variables.end()) return bound->second;
      return node.text == "device" ? std::optional<Path>(Path()) : std::nullopt;
    }
    const absl::Span<const NodeId> children = ast_.ChildrenOf(node);
    const bool index = node.kind == NodeKind::kCall && node.text == ops::kIndex;
    const bool optional = node.kind == NodeKind::kCall &&
                          (node.text == ops::kOptIndex || node.text == ops::kOptSelect);
    if (node.kind != NodeKind::kSelect && !index && !optional) return std::nullopt;
    std::optional<Path> path = PathOf(children[0], variables);
    if (!path.has_value()) return path;
    if (node.kind == NodeKind::kSelect) {
      path->steps.push_back(std::string(node.text));
      path->guarded |= node.test_only;
      return path;
    }
    const Node& key = At(children[1]);
    if (key.kind != NodeKind::kLiteral || key.literal != LiteralKind::kString) return std::nullopt;
    path->steps.push_back(std::string(key.text));
    path->guarded |= optional;
    return path;
  }

  bool Add(const Path& path, std::optional<LiteralKind> compared) {
    DeviceLookup lookup;
    const std::vector<std::string>& steps = path.steps;
    if (steps.size() == 1 && steps[0] == "driver") {
      lookup.kind = DeviceLookup::Kind::kDriver;
    } else if (steps.size() == 1 && steps[0] == "allowMultipleAllocations") {
      lookup.kind = DeviceLookup::Kind::kMultiple;
    } else if (steps.size() == 3 && (steps[0] == "attributes" || steps[0] == "capacity")) {
      lookup.kind =
          steps[0] == "capacity" ? DeviceLookup::Kind::kCapacity : DeviceLookup::Kind::kAttribute;
      lookup.domain = steps[1];
      lookup.id = steps[2];
    } else {
      return false;
    }
    lookup.guarded = path.guarded;
    lookup.compared = compared;
    const bool known = std::any_of(found_.begin(), found_.end(), [&](const DeviceLookup& other) {
      return other.kind == lookup.kind && other.domain == lookup.domain && other.id == lookup.id;
    });
    if (!known) found_.push_back(std::move(lookup));
    return true;
  }

  void Visit(NodeId id, const Variables& variables,
             std::optional<LiteralKind> compared = std::nullopt) {
    const Node& node = At(id);
    const std::optional<Path> path = PathOf(id, variables);
    if (path.has_value() && Add(*path, compared)) return;
    const absl::Span<const NodeId> children = ast_.ChildrenOf(node);
    if (node.kind == NodeKind::kComprehension && node.bind) {
      // Range, initial value, condition, step, result.
      Variables inner = variables;
      inner.erase(std::string(node.accumulator));
      if (const std::optional<Path> bound = PathOf(children[1], variables); bound.has_value()) {
        inner[std::string(node.accumulator)] = *bound;
      }
      Visit(children[1], variables);
      Visit(children[4], inner);
      return;
    }
    const bool compares = node.kind == NodeKind::kCall && IsComparison(node.text);
    for (size_t i = 0; i < children.size(); ++i) {
      const Node& other = At(children[compares ? 1 - i : i]);
      const bool constant = compares && other.kind == NodeKind::kLiteral;
      Visit(children[i], variables,
            constant ? std::optional<LiteralKind>(other.literal) : std::nullopt);
    }
  }

  const Ast& ast_;
  std::vector<DeviceLookup> found_;
};

}  // namespace

std::string DeviceLookup::Text() const {
  switch (kind) {
    case Kind::kDriver:
      return "device.driver";
    case Kind::kMultiple:
      return "device.allowMultipleAllocations";
    case Kind::kAttribute:
      return absl::StrCat("device.attributes[\"", domain, "\"].", id);
    case Kind::kCapacity:
      break;
  }
  return absl::StrCat("device.capacity[\"", domain, "\"].", id);
}

std::vector<Clause> SplitClauses(absl::string_view expression) {
  Ast ast;
  ast.source = expression;
  Heap heap;
  SourceError error;
  if (!Parse(&ast, &heap, &error)) return {{std::string(expression), std::string(expression)}};
  return Splitter(expression).Run();
}

std::vector<DeviceLookup> LookupsOf(absl::string_view expression) {
  Ast ast;
  ast.source = expression;
  Heap heap;
  SourceError error;
  if (!Parse(&ast, &heap, &error)) return {};
  return LookupFinder(ast).Run();
}

}  // namespace drasim::cel
