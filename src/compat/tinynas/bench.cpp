// SPDX-License-Identifier: Apache-2.0
/// The script that measures samples with TensorRT's trtexec.
#include <algorithm>

#include "compat/tinynas/op_profiler.hpp"

namespace oplat::compat::tinynas {
namespace {

/// @FLAGS@ and @LIBRARY@ are replaced. A sample is done when a time or a "failed:" line follows its
/// iter- line; one that was cut off by an interruption has neither and is measured again; so is one
/// whose time line was cut before its unit, or says what collect takes for no time.
constexpr std::string_view kScript = R"sh(#!/bin/sh
# Measures the convolutions of samples.txt, written as ONNX models under models/, with TensorRT's trtexec, and appends to
# a log that 'oplat tinynas collect' reads. Run it again to go on after an interruption; measured samples are skipped.
#   sh run.sh [LOG]              LOG: log.txt next to this script
#   TRTEXEC=/path/to/trtexec     default: trtexec from PATH
#   TRTEXEC_FLAGS="--warmUp=200 --duration=1"   flags added to those of the precision
#   TRTEXEC_TIMEOUT=600          seconds after which a sample is given up and counts as failed; 0: never
# What trtexec said of a sample that failed is kept under failed/.
set -u
folder=$(dirname "$0")
# A name that begins with a dash or holds "=" would be an option or an assignment to the programs below.
case $folder in
  /*) ;;
  *) folder=./$folder ;;
esac
trtexec=${TRTEXEC:-trtexec}
limit=${TRTEXEC_TIMEOUT:-600}
precision_flags="@FLAGS@"
log=${1:-$folder/log.txt}
case $log in
  /*) ;;
  *) log=./$log ;;
esac
todo=$folder/todo.txt
said=$folder/output.txt

if ! command -v "$trtexec" >/dev/null 2>&1; then
  echo "run.sh: program '$trtexec' not found; set TRTEXEC to the path of TensorRT's trtexec" >&2
  exit 5
fi
case $limit in
  '' | *[!0-9]* | ?????????*)
    echo "run.sh: TRTEXEC_TIMEOUT is '$limit'; expected seconds, or 0 for no limit" >&2
    exit 2
    ;;
esac
program=
time_is_up() { [ $(($(date +%s) - began)) -ge "$limit" ]; }
# Runs a program for $limit seconds at most; 124, as of timeout(1), where they did not do.
limited() {
  if [ "$limit" -eq 0 ]; then
    "$@"
    return
  fi
  began=$(date +%s)
  # In the foreground Ctrl-C reaches the program, too. Not every timeout can do that.
  if timeout --foreground 5 true 2>/dev/null; then
    timeout --foreground -k 5 "$limit" "$@"
    status=$?
    # It had to be killed; before its time only others kill, for memory.
    [ "$status" -ne 137 ] || ! time_is_up || status=124
    return "$status"
  fi
  "$@" &
  program=$!
  (
    waited=0
    while [ "$waited" -lt "$limit" ]; do
      sleep 1
      kill -0 "$program" || exit 0
      waited=$((waited + 1))
    done
    kill "$program"
    sleep 5
    kill -9 "$program"
  ) >/dev/null 2>&1 &
  watchdog=$!
  wait "$program"
  status=$?
  program=
  kill "$watchdog" 2>/dev/null
  # Ended by a signal of the watchdog.
  case $status in 137 | 143) ! time_is_up || status=124 ;; esac
  return "$status"
}
interrupted() {
  [ -z "$program" ] || kill "$program" 2>/dev/null
  echo "run.sh: interrupted; run it again to resume" >&2
  exit 130
}
touch "$log" || exit 8
# A log goes on by its samples' lines, which do not say the precision.
if ! [ -s "$log" ]; then
  printf 'flags: %s\n' "$precision_flags" > "$log" || exit 8
fi
others=$(sed -n 's/^flags: //p' < "$log" | grep -v -x -F -e "$precision_flags" | head -n 1)
if [ -n "$others" ]; then
  echo "run.sh: $log holds times of another precision (trtexec $others, here $precision_flags); use another log" >&2
  exit 6
fi
# An interruption may have cut the last line.
if [ -n "$(tail -c 1 "$log")" ]; then
  echo >> "$log" || exit 8
fi
# In awk: a number of ms that 'oplat tinynas collect' takes for a time, and a line of the log that holds one.
# The $ are awk's.
# shellcheck disable=SC2016
times='
function is_time(text) {
  return text ~ /^[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?$/ && text + 0 >= 1e-9 && text + 0 <= 3.2e10
}
function holds_time() { return $0 ~ /^run time_ms: [^ ]+ ms/ && $4 == "ms" && is_time($3) }
'
unanswered() {
  LC_ALL=C awk "$times"'
    FILENAME == ARGV[1] {
      if ($0 ~ /^iter-[0-9]+: /) { at = $0 }
      else if (at != "" && (holds_time() || $0 ~ /^failed: /)) { done[at] = 1 }
      next
    }
    !($0 in done)
  ' "$log" "$folder/samples.txt"
}
unanswered > "$todo" || exit 8
if ! [ -s "$folder/samples.txt" ]; then
  echo "run.sh: $folder/samples.txt holds no samples; make the folder again with oplat tinynas bench" >&2
  exit 3
fi
total=$(wc -l < "$todo")
trap interrupted INT TERM HUP

count=0
failures=0
while IFS= read -r sample <&3; do
  count=$((count + 1))
  number=${sample%%:*}
  number=${number#iter-}
  echo "$count of $((total)): $sample" >&2
  printf '%s\n' "$sample" >> "$log" || exit 8
  # Into a file: what the program may leave behind would keep a pipe open.
  # The flags are words of their own.
  # shellcheck disable=SC2086
  limited "$trtexec" --onnx="$folder/models/sample-$number.onnx" $precision_flags ${TRTEXEC_FLAGS:-} > "$said" 2>&1 </dev/null
  status=$?
  # Ended by Ctrl-C.
  [ "$status" -ne 130 ] || interrupted
  output=$(cat "$said")
  time=$(printf '%s\n' "$output" | sed -n 's/.*GPU Compute Time: .*median = \([^ ]*\) ms.*/\1/p' | tail -n 1)
  if [ "$status" -eq 0 ] && printf '%s\n' "$time" | LC_ALL=C awk "$times"'{ exit !is_time($0) }'; then
    printf 'run time_ms: %s ms\n' "$time" >> "$log" || exit 8
    continue
  fi
  failures=$((failures + 1))
  mkdir -p "$folder/failed" && printf '%s\n' "$output" > "$folder/failed/sample-$number.txt"
  if [ "$status" -eq 124 ]; then
    reason="time limit of $limit s"
  elif [ "$status" -ne 0 ]; then
    reason="trtexec ended with status $status"
  elif [ -z "$time" ]; then
    reason="trtexec printed no median of its GPU Compute Time"
  else
    reason="trtexec printed '$(printf %.24s "$time")' ms as the median of its GPU Compute Time, which is not a positive number"
  fi
  printf 'failed: %s\n' "$reason" >> "$log" || exit 8
done 3< "$todo"
rm -f "$todo" "$said"
# Every sample has an answer in the log by now, and some of them are times.
left=$(unanswered | wc -l)
samples=$(wc -l < "$folder/samples.txt")
if [ "$left" -gt 0 ]; then
  echo "run.sh: $log has times of $((samples - left)) of the $((samples)) samples; remove it and run again" >&2
  exit 1
fi
if ! LC_ALL=C awk "$times"'holds_time() { found = 1 } END { exit !found }' "$log"; then
  echo "run.sh: all samples failed; the output of trtexec is in $folder/failed" >&2
  exit 5
fi
quoted=$(printf '%s\n' "$log" | sed "s/'/'\\\\''/g; 1s/^/'/; \$s/\$/'/")
echo "run.sh: $count samples measured now, $failures of them failed; next: oplat tinynas collect $quoted --out @LIBRARY@" >&2
)sh";

}  // namespace

std::optional<std::string> trtexec_flags(std::string_view precision) {
  std::string upper(precision);
  std::transform(upper.begin(), upper.end(), upper.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  // TensorRT computes float32 in TF32 where the GPU can, unless told not to.
  if (upper == "FP32") return "--noTF32";
  if (upper == "FP16" || upper == "FP16_DAMOYOLO") return "--fp16";
  if (upper == "INT8") return "--int8";
  return std::nullopt;
}

std::string iteration_text(std::size_t number, const ConvTuple& conv) {
  return fmt::format("iter-{}: {}", number, sample_text(conv));
}

std::string bench_script(std::string_view precision_flags, std::string_view library) {
  std::string script(kScript);
  const auto fill = [&](std::string_view place, std::string_view text) {
    script.replace(script.find(place), place.size(), text);
  };
  fill("@FLAGS@", precision_flags);
  fill("@LIBRARY@", library);
  return script;
}

}  // namespace oplat::compat::tinynas
