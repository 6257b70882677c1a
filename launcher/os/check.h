// SPDX-License-Identifier: Apache-2.0
// Turns a failed system call into an exception that names the call, its object and the reason.
#pragma once

#include <cerrno>
#include <string>
#include <string_view>
#include <system_error>

namespace paddle_launch {

template <class Result>
Result check(Result result, std::string_view call, std::string_view object = {}) {
  if (result >= 0) return result;
  const int error = errno;
  std::string what(call);
  if (!object.empty()) what.append(" ").append(object);
  throw std::system_error(error, std::generic_category(), what);
}

}  // namespace paddle_launch
