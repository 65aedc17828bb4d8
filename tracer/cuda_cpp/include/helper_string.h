// Arguments of command lines, as the helpers of NVIDIA's CUDA samples read them: -name or -name=value.
#pragma once
#include <cstdlib>
#include <cstring>
inline const char* tilescope_option(int argc, const char** argv, const char* name) {
  for (int i = 1; i < argc; i++) {
    const char* word = argv[i];
    while (*word == '-') word++;
    size_t length = strcspn(word, "=");
    if (word != argv[i] && length == strlen(name) && !strncasecmp(word, name, length)) return word[length] ? word + length + 1 : "";
  }
  return nullptr;
}
inline bool checkCmdLineFlag(int argc, const char** argv, const char* name) { return tilescope_option(argc, argv, name) != nullptr; }
inline int getCmdLineArgumentInt(int argc, const char** argv, const char* name) { const char* value = tilescope_option(argc, argv, name); return value ? atoi(value) : 0; }
inline float getCmdLineArgumentFloat(int argc, const char** argv, const char* name) { const char* value = tilescope_option(argc, argv, name); return value ? (float)atof(value) : 0; }
inline bool getCmdLineArgumentString(int argc, const char** argv, const char* name, char** result) {
  const char* value = tilescope_option(argc, argv, name);
  *result = (char*)value;
  return value != nullptr;
}
#ifndef EXIT_WAIVED
#define EXIT_WAIVED 2
#endif
