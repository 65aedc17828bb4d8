// Command lines of NVIDIA's samples: `-name` and `--name=value`.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <strings.h>
#ifndef EXIT_WAIVED
#define EXIT_WAIVED 2
#endif
// What follows `-name` of an argument, or null.
inline const char* tilescope_option(int count, const char** words, const char* name) {
  for (int i = 1; i < count; i++) {
    const char* word = words[i];
    if (*word != '-') continue;
    while (*word == '-') word++;
    size_t length = strlen(name);
    if (!strncasecmp(word, name, length) && (!word[length] || word[length] == '=')) return word + length + (word[length] == '=');
  }
  return nullptr;
}
inline bool checkCmdLineFlag(int count, const char** words, const char* name) { return tilescope_option(count, words, name) != nullptr; }
inline int getCmdLineArgumentInt(int count, const char** words, const char* name) {
  const char* value = tilescope_option(count, words, name);
  return value ? atoi(value) : 0;
}
inline float getCmdLineArgumentFloat(int count, const char** words, const char* name) {
  const char* value = tilescope_option(count, words, name);
  return value ? (float)atof(value) : 0;
}
inline bool getCmdLineArgumentString(int count, const char** words, const char* name, char** target) {
  *target = const_cast<char*>(tilescope_option(count, words, name));
  return *target != nullptr;
}
inline char* sdkFindFilePath(const char* name, const char* = nullptr) {
  for (const char* folder : {"", "./data/", "../data/", "../../data/"}) {
    char path[4096];
    snprintf(path, sizeof path, "%s%s", folder, name);
    if (FILE* file = fopen(path, "rb")) {
      fclose(file);
      return strdup(path);
    }
  }
  return nullptr;
}
