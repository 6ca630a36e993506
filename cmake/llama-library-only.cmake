# Included by CMake right behind project("llama.cpp") (CMAKE_PROJECT_<name>_INCLUDE) while llama-cpp-python is built:
# only the library that we load is compiled. llama.cpp's own chat and server code ("common") doubles the time.
set(LLAMA_BUILD_COMMON OFF)
