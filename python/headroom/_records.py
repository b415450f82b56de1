# SPDX-License-Identifier: Apache-2.0
"""Members of answers as attributes."""
import math
from collections.abc import Mapping

from . import _core

# Standard normal deviate that a share of 0.9 lies below: low and high are the 10 % and 90 % points (docs/confidence.md).
_AT_NINETY = 1.2815515655446004


class Interval(float):
    """A number with its interval: 80 % of the measured runs of its class lay between low and high. As a float it is mid."""

    __slots__ = ("low", "mid", "high")

    def __new__(cls, low, mid, high):
        self = super().__new__(cls, mid)
        self.low, self.mid, self.high = low, mid, high
        return self

    def __getnewargs__(self):
        return self.low, self.mid, self.high

    def __repr__(self):
        return f"{self.mid:.6g} ({self.low:.6g} to {self.high:.6g})"

    def to_dict(self):
        return {"low": self.low, "mid": self.mid, "high": self.high}

    def quantile(self, p):
        """The value that a share `p` of outcomes lies below, 0 < p < 1: log-normal on each side of mid, normal where an
        end is not above zero."""
        from statistics import NormalDist

        if not 0.0 < p < 1.0:
            raise ValueError(f"a share of outcomes lies between 0 and 1, and {p} does not")
        z = NormalDist().inv_cdf(p)
        end = self.low if z < 0 else self.high
        share = abs(z) / _AT_NINETY
        if self.low > 0.0 and self.mid > 0.0 and self.high > 0.0:
            return self.mid * math.exp(share * math.log(end / self.mid))
        return self.mid + share * (end - self.mid)


def _is_interval(value):
    return value.keys() == {"low", "mid", "high"} and all(isinstance(end, (int, float)) for end in value.values())


def _wrapped(value):
    if isinstance(value, dict):
        return Interval(**value) if _is_interval(value) else Record(value)
    if isinstance(value, list):
        return [_wrapped(item) for item in value]
    return value


class Record(Mapping):
    """An object of an answer: members as attributes and by name, `record["step_time_s"]`; a member whose name ends in its
    unit also without it, `record.step_time`."""

    __slots__ = ("_members",)

    def __init__(self, members):
        self._members = members

    def _all(self):
        return self._members

    def __getitem__(self, name):
        return _wrapped(self._all()[name])

    def __iter__(self):
        return iter(self._all())

    def __len__(self):
        return len(self._all())

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        members = self._all()
        if name in members:
            return _wrapped(members[name])
        begin = name + "_"
        found = [one for one in members if one.startswith(begin) and _core.unit(one) == one[len(begin) :]]
        if len(found) == 1:
            return _wrapped(members[found[0]])
        if found:
            raise AttributeError(f"'{name}' may be {', '.join(found)}; take one of them")
        raise AttributeError(f"this answer has no member '{name}'; it has {', '.join(members)}")

    def __dir__(self):
        names = list(self._all())
        for name in self._all():
            unit = _core.unit(name)
            if unit and len(unit) + 1 < len(name):
                names.append(name[: -len(unit) - 1])
        return sorted({*super().__dir__(), *names})

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(self._all())})"

    def to_dict(self):
        """The members as they are in the JSON document."""
        return self._all()


def flat(row, prefix=""):
    """An object as one row: objects below it by "name_of_it", an interval as mid with "_low" and "_high" beside it."""
    cells = {}
    for name, value in row.items():
        if isinstance(value, dict) and _is_interval(value):
            cells[prefix + name] = value["mid"]
            cells[prefix + name + "_low"] = value["low"]
            cells[prefix + name + "_high"] = value["high"]
        elif isinstance(value, dict):
            cells.update(flat(value, prefix + name + "_"))
        elif not isinstance(value, list):
            cells[prefix + name] = value
        elif not any(isinstance(item, (dict, list)) for item in value):
            cells[prefix + name] = ", ".join(str(item) for item in value)
    return cells
