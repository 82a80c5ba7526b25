# Tests of a module compiled several sources at a time. Most of what a source that includes LibTorch costs is the same in each: g++
# instantiates again what the precompiled header leaves pending. Unlike CMake's UNITY_BUILD each source keeps a namespace of its own, so
# that equal names of helpers do not meet: all headers come first, and their guards make them empty where a source includes them again.

# Whether a source can stand in a namespace of its own: it opens none that has a name and defines nothing of one, has neither macros nor conditions, and includes no header
# that lacks a guard (ATen/Version.h).
function(bigbird_stands_alone source result)
  file(STRINGS ${source} lines REGEX "^(namespace [a-zA-Z]|# *define|# *undef|# *if|extern |int main|#include <ATen/Version.h>|[A-Za-z_:]+ (bigbird|testing)::[a-z_:]+\\()")
  set(${result} FALSE PARENT_SCOPE)
  if(source MATCHES "_test\\.cpp$" AND NOT lines)
    set(${result} TRUE PARENT_SCOPE)
  endif()
endfunction()

# Puts what `group` (absolute paths) needs into a source at `path`.
function(bigbird_write_unity path group)
  set(headers "")
  set(body "")
  set(number 0)
  foreach(source IN LISTS group)
    file(STRINGS ${source} includes REGEX "^#include")
    list(APPEND headers ${includes})
    math(EXPR number "${number} + 1")
    file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR}/tests ${source})  # the same in every clone, for ccache
    string(APPEND body "namespace source_${number} {\n#include \"${name}\"\n}  // namespace source_${number}\n")
  endforeach()
  list(REMOVE_DUPLICATES headers)
  list(JOIN headers "\n" headers)
  file(CONFIGURE OUTPUT ${path} CONTENT "// Made by BigbirdUnity.cmake.\n@headers@\n@body@" @ONLY)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${group})
endfunction()

# The sources of a target, relative to the present folder, with those that can be joined in groups of `most`.
function(bigbird_join_sources target sources most result)
  set(made "")
  set(alone "")
  set(left "")
  foreach(source IN LISTS sources)
    get_filename_component(absolute ${source} ABSOLUTE)
    bigbird_stands_alone(${absolute} stands_alone)
    if(stands_alone)
      list(APPEND left ${absolute})
    else()
      list(APPEND alone ${source})
    endif()
  endforeach()
  while(left)
    list(LENGTH made number)
    math(EXPR number "${number} + 1")
    list(APPEND made ${CMAKE_CURRENT_BINARY_DIR}/${target}_${number}.cpp)
    list(SUBLIST left 0 ${most} group)
    list(REMOVE_ITEM left ${group})
    bigbird_write_unity(${CMAKE_CURRENT_BINARY_DIR}/${target}_${number}.cpp "${group}")
  endwhile()
  set(${result} ${made} ${alone} PARENT_SCOPE)
endfunction()
