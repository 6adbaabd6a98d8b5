#pragma once
// A directory whose files are acted upon with the privilege of whoever runs weir: it and what is in
// it must be ours, or another user who can write there decides what is done.
//
// The rules are those of ssh (StrictModes) and sudo. The directory belongs to the effective user
// and nobody else can write to it. Every directory above it belongs to that user or to root, and
// others can write there only where its sticky bit keeps them from replacing what is not theirs.
// Opened name by name without following links; a link above it is followed by hand, where it was
// made by that user or root. A file in it is a plain file of that user, without a second name.
#include <string>
#include <vector>

#include "base/owned_descriptor.h"
#include "base/result.h"

namespace weir {

class TrustedDirectory {
 public:
  enum class Above {
    kChecked,
    kIgnored,  // the directory is part of a larger one that the user has chosen: a lab
  };
  /// kNotFound where it is not there; kInvalid where it is not to be trusted, with the reason.
  [[nodiscard]] static Result<TrustedDirectory> open(const std::string& path, Above above);

  [[nodiscard]] const std::string& path() const { return path_; }

  /// Names of everything in it, sorted.
  [[nodiscard]] Result<std::vector<std::string>> names() const;
  /// `flags` as for open(2), without O_CREAT: the file is there.
  [[nodiscard]] Result<OwnedDescriptor> open_file(const std::string& name, int flags) const;
  /// A new file, for its owner alone; an error where the name is taken.
  [[nodiscard]] Result<OwnedDescriptor> create_file(const std::string& name, int flags) const;
  /// The file of that name, made where it is not there.
  [[nodiscard]] Result<OwnedDescriptor> open_or_create(const std::string& name, int flags) const;
  [[nodiscard]] Result<std::string> read(const std::string& name) const;
  /// What it is called is on disk only after this.
  [[nodiscard]] Status sync() const;
  /// One that stays is no error.
  void remove(const std::string& name) const;

 private:
  TrustedDirectory(std::string path, OwnedDescriptor descriptor)
      : path_(std::move(path)), descriptor_(std::move(descriptor)) {}
  std::string path_;
  OwnedDescriptor descriptor_;
};

}  // namespace weir
