# SPDX-License-Identifier: Apache-2.0
"""Answers, and how they show."""
import html
import json

from . import _core
from ._records import Record, flat

# The list that an answer is about, by its schema, where it has several.
_MAIN_LISTS = {
    "box": "points",
    "compare": "plans",
    "compare_fleets": "fleets",
    "diagnose": "causes",
    "scale": "points",
    "fleet": "options",
    "search": "best",
    "validate": "rows",
}


class Answer(Record):
    """An answer. Its members are attributes, numbers in SI with the unit at the end of the name: `answer.step_time_s`, or
    `answer.step_time` for short."""

    __slots__ = ("_core", "_document", "_json", "_html")

    def __init__(self, core):
        self._core = core
        self._document = self._json = self._html = None

    def _all(self):
        if self._document is None:
            self._document = json.loads(self.to_json())
        return self._document

    @property
    def good(self):
        """Whether the plan is feasible and keeps its promises, or the command ended with exit code 0."""
        return self._core.good

    @property
    def complete(self):
        """Whether everything was looked at before the time of `within` was over."""
        return self._core.complete

    @property
    def _schema(self):
        return self._all()["schema"].split(".", 1)[1].split("/")[0]

    def to_json(self):
        """The JSON document that `headroom --format json` prints, byte by byte."""
        if self._json is None:
            self._json = self._core.json()
        return self._json

    def to_csv(self):
        """The answer's rows as `headroom --format csv` prints them. QuestionError where it has none."""
        return self._core.csv()

    def text(self, width=100, *, brief=False):
        """What `headroom` prints for people, in lines of at most `width` characters where words allow."""
        return self._core.text(brief, width)

    def html(self):
        """A page with charts, in one file. QuestionError for an answer that has none."""
        if self._html is None:
            self._html = self._core.html()
        return self._html

    def rows(self, member=None):
        """A list of the answer as flat rows, by default its main one: an object below by "name_of_it", an interval as its
        mid with "_low" and "_high" beside it."""
        document = self._all()
        lists = [name for name, value in document.items() if isinstance(value, list) and value and isinstance(value[0], dict)]
        if member is None:
            main = _MAIN_LISTS.get(self._schema)
            member = main if main in lists else next(iter(lists), None)
            if member is None:
                return [flat(document)]
        found = document
        for name in member.split("/"):
            if not isinstance(found, dict) or name not in found:
                raise KeyError(f"this answer has no list '{member}'; it has {', '.join(lists) or 'none'}")
            found = found[name]
        return [flat(row) if isinstance(row, dict) else {member: row} for row in (found if isinstance(found, list) else [found])]

    def frame(self, member=None):
        """The rows of `rows(member)` as a pandas.DataFrame. ImportError where pandas is not installed."""
        try:
            import pandas
        except ImportError as error:
            raise ImportError("frame() needs pandas; rows() gives the same without it") from error
        return pandas.DataFrame(self.rows(member))

    def describe(self, member):
        """What a member is, with its unit, by its path: "step_time_s", "strategy/tp"."""
        meaning = _core.meaning(self._schema, member)
        if meaning is None:
            raise KeyError(f"headroom.{self._schema} has no member '{member}'")
        unit = _core.unit(member.rsplit("/", 1)[-1])
        return meaning + (f"; in {unit}" if unit else "")

    def __str__(self):
        return self.text()

    def __repr__(self):
        return f"<headroom answer {self._all()['schema']}>"

    def _repr_html_(self):
        """The page in a frame of its own, so that its styles and the notebook's do not meet. None, which shows the text,
        for an answer that has no page."""
        from ._errors import QuestionError

        try:
            page = self.html()
        except QuestionError:
            return None
        return (
            '<iframe title="Headroom" sandbox="allow-scripts" loading="lazy" '
            'style="width:100%;height:42em;border:0" srcdoc="' + html.escape(page) + '"></iframe>'
        )

    def _repr_mimebundle_(self, include=None, exclude=None):
        bundle = {"text/plain": self.text()}
        page = self._repr_html_()
        if page is not None:
            bundle["text/html"] = page
        return bundle
