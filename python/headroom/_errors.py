# SPDX-License-Identifier: Apache-2.0
"""What is wrong with a question."""
from typing import NamedTuple


class Fault(NamedTuple):
    """One thing that is wrong with a question."""

    file: str  #: path of the file, or the keyword with its value, "tp=0"; may be empty
    line: int  #: from 1; 0 means the file as a whole
    column: int  #: from 1; 0 means the line as a whole
    message: str  #: the value that is wrong, and what to write instead
    code: str  #: "input", "missing_key", "system", or "internal" for a defect of Headroom
    key: str  #: name of the missing key, "gpus"; empty unless the code is missing_key

    def __str__(self) -> str:
        place = self.file
        if self.line:
            place += f":{self.line}" + (f":{self.column}" if self.column else "")
        return f"{place}: {self.message}" if place else self.message


class QuestionError(ValueError):
    """A question that cannot be read or answered. It holds every fault, at most one hundred; `untold` counts the rest."""

    def __init__(self, faults, untold=0):
        self.faults = [Fault(*fault) for fault in faults]
        self.untold = untold
        lines = [str(fault) for fault in self.faults]
        if untold:
            lines.append(f"{untold} more faults follow these")
        super().__init__("\n".join(lines))

    def __reduce__(self):
        return type(self), ([tuple(fault) for fault in self.faults], self.untold)
