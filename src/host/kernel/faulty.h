#pragma once
// Kernels for tests: one that remembers answers, so that a thousand looks at a capture are quick,
// and one that fails on purpose.
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/digest.h"
#include "host/kernel/kernel.h"
#include "host/kernel/netlink.h"

namespace weir::host {

/// Asks `inner` once for each question.
class RememberingKernel final : public Kernel {
 public:
  explicit RememberingKernel(std::unique_ptr<Kernel> inner) : inner_(std::move(inner)) {}
  Answer<std::string> read_file(const std::string& path) override {
    return once(files_, path, [&] { return inner_->read_file(path); });
  }
  Answer<std::vector<std::string>> list(const std::string& path) override {
    return once(lists_, path, [&] { return inner_->list(path); });
  }
  Answer<std::string> real_path(const std::string& path) override {
    return once(paths_, path, [&] { return inner_->real_path(path); });
  }
  Answer<std::vector<std::string>> netlink(int protocol, const std::string& request) override {
    return once(talks_, request, [&] { return inner_->netlink(protocol, request); });
  }
  Answer<std::string> ethtool(const std::string& netdev, const std::string& request) override {
    return once(ioctls_, netdev + "\n" + request, [&] { return inner_->ethtool(netdev, request); });
  }
  Answer<std::string> about(std::string_view what) override { return inner_->about(what); }

 private:
  template <class T, class Ask>
  static Answer<T> once(std::map<std::string, Answer<T>>& known, const std::string& key, Ask ask) {
    const auto found = known.find(key);
    return found != known.end() ? found->second : known.emplace(key, ask()).first->second;
  }

  std::unique_ptr<Kernel> inner_;
  std::map<std::string, Answer<std::string>> files_;
  std::map<std::string, Answer<std::vector<std::string>>> lists_;
  std::map<std::string, Answer<std::string>> paths_;
  std::map<std::string, Answer<std::vector<std::string>>> talks_;
  std::map<std::string, Answer<std::string>> ioctls_;
};

/// Fails where `decide` says so: it gets the number of the question, from 0, and what it is about:
/// a path, "netlink …" or "ethtool eth2 …" with a digest of the request.
class FaultyKernel final : public Kernel {
 public:
  using Decide =
      std::function<std::optional<Errno>(std::size_t question, const std::string& about)>;
  FaultyKernel(std::shared_ptr<Kernel> inner, Decide decide)
      : inner_(std::move(inner)), decide_(std::move(decide)) {}
  Answer<std::string> read_file(const std::string& path) override {
    if (const auto error = decide_(asked_++, path)) return *error;
    return inner_->read_file(path);
  }
  Answer<std::vector<std::string>> list(const std::string& path) override {
    if (const auto error = decide_(asked_++, path)) return *error;
    return inner_->list(path);
  }
  Answer<std::string> real_path(const std::string& path) override {
    if (const auto error = decide_(asked_++, path)) return *error;
    return inner_->real_path(path);
  }
  Answer<std::vector<std::string>> netlink(int protocol, const std::string& request) override {
    if (const auto error = decide_(asked_++, "netlink " + digest(question_of(request))))
      return *error;
    return inner_->netlink(protocol, request);
  }
  Answer<std::string> ethtool(const std::string& netdev, const std::string& request) override {
    if (const auto error = decide_(asked_++, "ethtool " + netdev + " " + digest(request)))
      return *error;
    return inner_->ethtool(netdev, request);
  }
  Answer<std::string> about(std::string_view what) override {
    if (const auto error = decide_(asked_++, "about " + std::string(what))) return *error;
    return inner_->about(what);
  }

 private:
  static std::string digest(const std::string& bytes) {
    Digest digest;
    digest.add(bytes);
    return digest.to_text();
  }

  std::shared_ptr<Kernel> inner_;
  Decide decide_;
  std::size_t asked_ = 0;
};

}  // namespace weir::host
