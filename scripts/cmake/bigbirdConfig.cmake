# find_package(bigbird): the targets bigbird::core … bigbird::predict. Needs the packages that the library was built with.
if(NOT CMAKE_CXX_STANDARD)
  set(CMAKE_CXX_STANDARD 20)
endif()
include(${CMAKE_CURRENT_LIST_DIR}/bigbirdTargets.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/BigbirdDependencies.cmake)
