#pragma once
// From a kernel's answer to a fact: the one place where an errno becomes a reason.
#include <string>
#include <utility>

#include "evidence/fact.h"
#include "host/kernel/kernel.h"
#include "host/linux/text.h"

namespace weir::host {

template <class T>
evidence::Fact<T> to_fact(const Parsed<T>& parsed, const std::string& source) {
  if (!parsed) return evidence::Fact<T>::missing(parsed.why(), source);
  return evidence::Fact<T>::of(*parsed, source);
}

/// The file at `path` through `parse`, which takes a text and gives a Parsed.
template <class Parse>
auto read_fact(Kernel& kernel, const std::string& path, Parse parse)
    -> evidence::Fact<std::decay_t<decltype(*parse(std::string_view()))>> {
  using F = evidence::Fact<std::decay_t<decltype(*parse(std::string_view()))>>;
  const auto content = kernel.read_file(path);
  if (!content) return F::missing(missing_of(content.error()), path);
  return to_fact(parse(std::string_view(*content)), path);
}

/// A fact made of another one's value; missing for the same reason where that is missing.
template <class T, class Make>
auto derive(const evidence::Fact<T>& from, Make make)
    -> evidence::Fact<std::decay_t<decltype(make(*from))>> {
  using F = evidence::Fact<std::decay_t<decltype(make(*from))>>;
  if (from.is_missing()) return F::missing(from.why(), from.source());
  if (!from.is_known()) return F();
  return F::of(make(*from), from.source());
}

/// For what has two homes, the better one first: the first that is known. Where neither is, a
/// refusal or a failure says more than an absence: more rights could get it.
template <class T>
evidence::Fact<T> either(evidence::Fact<T> first, evidence::Fact<T> second) {
  using evidence::Missing;
  if (first.is_known()) return first;
  if (second.is_known() || !first.is_missing()) return second;
  const bool second_says_more =
      second.is_missing() &&
      (second.why() == Missing::kPermission || second.why() == Missing::kError) &&
      first.why() != Missing::kPermission && first.why() != Missing::kError;
  return second_says_more ? std::move(second) : std::move(first);
}

}  // namespace weir::host
