// Timers, as the helpers of NVIDIA's CUDA samples have them. Times are those of this machine.
#pragma once
#include <chrono>
struct StopWatchInterface {
  std::chrono::steady_clock::time_point begin;
  float total = 0, last = 0;
  int sessions = 0;
  bool is_running = false;
  void start() { begin = std::chrono::steady_clock::now(), is_running = true; }
  void stop() {
    last = std::chrono::duration<float, std::milli>(std::chrono::steady_clock::now() - begin).count();
    total += last, sessions++, is_running = false;
  }
  void reset() {
    total = 0, sessions = 0;
    if (is_running) start();
  }
  float getTime() const { return is_running ? total + std::chrono::duration<float, std::milli>(std::chrono::steady_clock::now() - begin).count() : total; }
  float getAverageTime() const { return sessions ? total / sessions : 0; }
};
typedef StopWatchInterface StopWatchLinux;
inline bool sdkCreateTimer(StopWatchInterface** timer) { *timer = new StopWatchInterface(); return true; }
inline bool sdkDeleteTimer(StopWatchInterface** timer) { delete *timer; *timer = nullptr; return true; }
inline bool sdkStartTimer(StopWatchInterface** timer) { (*timer)->start(); return true; }
inline bool sdkStopTimer(StopWatchInterface** timer) { (*timer)->stop(); return true; }
inline bool sdkResetTimer(StopWatchInterface** timer) { (*timer)->reset(); return true; }
inline float sdkGetTimerValue(StopWatchInterface** timer) { return (*timer)->getTime(); }
inline float sdkGetAverageTimerValue(StopWatchInterface** timer) { return (*timer)->getAverageTime(); }
