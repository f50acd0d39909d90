# SPDX-License-Identifier: Apache-2.0
"""The predictor of TinyNAS's op_profiler, on scipy itself: what `--method original` reproduces.

Rows of one type, stride, fusion and kernel form a group. In a group, rows of one batch and one
ratio In_C / Out_C (cut to two digits; In_C = 3 and depthwise rows apart) form a slice over
(Out_C, In_H). A slice is answered by LinearNDInterpolator. Outside its hull it is answered by
NearestNDInterpolator with rescale=True: without it, another row is the nearest for about one
question in a hundred. Lines lead from one ratio or batch to the next and beyond the ends.
"""
import math

from scipy.interpolate import LinearNDInterpolator, NearestNDInterpolator, interp1d

IGNORED_SIZE = 4
IMAGE_CHANNELS = 3


class NoAnswer(Exception):
    """The original raises."""


class Slice:
    """Rows over (Out_C, In_H), in the order of the library: it decides which diagonal Qhull
    takes."""

    def __init__(self):
        self.points, self.times, self.interpolators = [], [], None

    def at(self, out_c, in_h):
        if self.interpolators is None:
            self.interpolators = (LinearNDInterpolator(self.points, self.times),
                                  NearestNDInterpolator(self.points, self.times, rescale=True))
        linear, nearest = self.interpolators
        time = float(linear(out_c, in_h))
        return time if time >= 0 else float(nearest(out_c, in_h))


def on_line(xs, ys, at):
    if len(xs) < 2:
        raise NoAnswer("one point makes no line")
    return float(interp1d(xs, ys, fill_value="extrapolate")(at))


def is_apart(kind, in_c):
    return kind == "Depthwise" or in_c == IMAGE_CHANNELS


class Original:
    """rows: (type, batch, in_c, in_h, out_c, kernel, stride, fused, ms), in the library's order."""

    def __init__(self, rows):
        self.groups = {}
        for kind, batch, in_c, in_h, out_c, kernel, stride, fused, ms in rows:
            if in_h == IGNORED_SIZE or ms < 0:
                continue
            ratio = 0 if is_apart(kind, in_c) else math.trunc(in_c / out_c * 100) / 100
            slices = self.groups.setdefault((kind, stride, fused, kernel), {}).setdefault(batch, {})
            one = slices.setdefault(ratio, Slice())
            one.points.append((out_c, in_h))
            one.times.append(ms)

    def predict(self, kind, batch, in_c, in_h, out_c, kernel, stride, fused):
        """ms of the whole batch; raises NoAnswer where the original raises."""
        batches = self.groups.get((kind, stride, fused, kernel))
        if batches is None:
            raise NoAnswer("the library has no such group")
        sizes = [batch] if batch in batches else sorted(batches)
        times = [self._at_batch(batches[size], kind, in_c, in_h, out_c) for size in sizes]
        time = times[0] if batch in batches else on_line(sizes, times, batch)
        if time < 0:
            raise NoAnswer("the time is negative")
        return time

    def _at_batch(self, slices, kind, in_c, in_h, out_c):
        ratio = 0 if is_apart(kind, in_c) else in_c / out_c
        if ratio in slices:
            return slices[ratio].at(out_c, in_h)
        if ratio == 0:
            raise NoAnswer("the library has no row of an image")
        ratios, times = [], []
        for known in sorted(slices):
            if known == 0:
                continue
            time = slices[known].at(out_c, in_h)
            if len(times) >= 2 and time <= times[-1]:
                continue
            ratios.append(known)
            times.append(time)
        if not ratios:
            raise NoAnswer("the library has rows of images only")
        time = on_line(ratios, times, ratio)
        return ratio / ratios[0] * times[0] if time < 0 else time
