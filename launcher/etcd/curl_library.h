// SPDX-License-Identifier: Apache-2.0
// libcurl, opened at run time: nodes without it can run every job that does not use etcd. The
// header gives types and constants only.
#pragma once

#include <curl/curl.h>

#include "launcher/os/shared_library.h"

namespace paddle_launch {

struct CurlLibrary {
  // Throws std::runtime_error with what to install.
  CurlLibrary();

  SharedLibrary library;
  CURL* (*easy_init)();
  CURLcode (*easy_setopt)(CURL*, CURLoption, ...);
  CURLcode (*easy_getinfo)(CURL*, CURLINFO, ...);
  void (*easy_cleanup)(CURL*);
  const char* (*easy_strerror)(CURLcode);
  CURLM* (*multi_init)();
  CURLMcode (*multi_add_handle)(CURLM*, CURL*);
  CURLMcode (*multi_remove_handle)(CURLM*, CURL*);
  CURLMcode (*multi_perform)(CURLM*, int*);
  // Not curl_multi_poll: that is younger (7.66), and differs only where there is no descriptor.
  CURLMcode (*multi_wait)(CURLM*, curl_waitfd[], unsigned, int, int*);
  CURLMsg* (*multi_info_read)(CURLM*, int*);
  curl_slist* (*slist_append)(curl_slist*, const char*);
  void (*slist_free_all)(curl_slist*);
};

}  // namespace paddle_launch
