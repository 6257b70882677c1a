// SPDX-License-Identifier: Apache-2.0
// Owns a library that is opened at run time.
#pragma once

#include <string>

namespace paddle_launch {

class SharedLibrary {
 public:
  // Throws std::runtime_error with the loader's own words.
  explicit SharedLibrary(const std::string& name);
  SharedLibrary(SharedLibrary&& other) noexcept;
  SharedLibrary& operator=(SharedLibrary&& other) noexcept;
  SharedLibrary(const SharedLibrary&) = delete;
  SharedLibrary& operator=(const SharedLibrary&) = delete;
  ~SharedLibrary();

  // symbol<int (*)()>("nvmlInit_v2"); throws std::runtime_error when the library has no such
  // symbol.
  template <class Pointer>
  Pointer symbol(const char* name) const {
    return reinterpret_cast<Pointer>(address_of(name));
  }

 private:
  void* address_of(const char* name) const;

  void* handle_ = nullptr;
};

}  // namespace paddle_launch
