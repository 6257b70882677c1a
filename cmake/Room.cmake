# GCC tells of a type that two files define differently only when it links with link-time optimization. The objects of
# a release carry what that needs beside their plain code. The plain code is what is linked; the target odr looks at the
# rest, and makes nothing that anybody uses.
function(look_for_twins library)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU" OR NOT CMAKE_BUILD_TYPE STREQUAL "Release")
    return()
  endif()
  target_compile_options(${library} PRIVATE -flto -ffat-lto-objects)
  target_link_options(${library} INTERFACE -fno-lto)
  if(NOT TARGET odr)
    add_custom_target(odr COMMAND ${CMAKE_CXX_COMPILER} -r -flto -flinker-output=rel -Werror=odr
      -Werror=lto-type-mismatch -Wl,--whole-archive $<TARGET_GENEX_EVAL:odr,$<TARGET_PROPERTY:odr,LIBRARIES>> -o odr.o
      COMMAND_EXPAND_LISTS VERBATIM)
  endif()
  set_property(TARGET odr APPEND PROPERTY LIBRARIES $<TARGET_FILE:${library}>)
  add_dependencies(odr ${library})
endfunction()

# One room, one folder, one static library. USES repeats the table that tests/architecture enforces.
#   room(run SOURCES run/guard.cc … USES job os)
function(room name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;USES;PRIVATE" ${ARGN})
  add_library(room_${name} STATIC ${ROOM_SOURCES})
  target_link_libraries(room_${name} PUBLIC house_flags PRIVATE ${ROOM_PRIVATE})
  look_for_twins(room_${name})
  foreach(used IN LISTS ROOM_USES)
    target_link_libraries(room_${name} PUBLIC room_${used})
  endforeach()
endfunction()
