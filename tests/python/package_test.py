# SPDX-License-Identifier: Apache-2.0
"""The Python package against the program: PYTHONPATH=FOLDER HEADROOM_BINARY=... HEADROOM_SOURCE_DIR=... package_test.py"""
import ast
import builtins
import html
import importlib.util
import json
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import headroom as hr

BINARY = os.environ["HEADROOM_BINARY"]
SOURCE = pathlib.Path(os.environ["HEADROOM_SOURCE_DIR"])
JOB = dict(model="llama3-70b", gpu="h100-sxm-80gb", gpus=512, tp=8, pp=4, seq_len=8192, global_batch=1024)
# Some seconds of a search on one thread, which an interrupt has to end.
LONG = dict(model="deepseek-v3", gpu="h100-sxm-80gb", seq_len=4096, global_batch=4096, search=["any", "gpus=512..8192 x2"],
            threads=1)


def printed(*words):
    run = subprocess.run([BINARY, *words], capture_output=True, text=True, cwd=SOURCE, stdin=subprocess.DEVNULL, check=False)
    if run.returncode not in (0, 1):
        raise AssertionError(run.stderr)
    return run.stdout


class SameBytes(unittest.TestCase):
    def setUp(self):
        self.before = os.getcwd()
        os.chdir(SOURCE)

    def tearDown(self):
        os.chdir(self.before)

    def same(self, answer, *words):
        self.assertEqual(answer.to_json(), printed(*words, "--format", "json"))

    def test_quick_form(self):
        self.same(hr.plan(**JOB), "plan", "--model", "llama3-70b", "--gpu", "h100-sxm-80gb", "--gpus", "512", "--tp", "8",
                  "--pp", "4", "--seq-len", "8192", "--global-batch", "1024")

    def test_serving(self):
        self.same(hr.plan(model="llama3-70b", gpu="h100-sxm-80gb", gpus=8, tp=8, isl=1024, osl=256, concurrency=64),
                  "plan", "--model", "llama3-70b", "--gpu", "h100-sxm-80gb", "--gpus", "8", "--tp", "8", "--isl", "1024",
                  "--osl", "256", "--concurrency", "64")

    def test_every_kind_of_scenario(self):
        for folder in ("train", "serve", "batch", "sharing", "cluster", "classic", "post_train"):
            for path in sorted((SOURCE / "scenarios" / folder).glob("*.toml"))[:2]:
                name = str(path.relative_to(SOURCE))
                with self.subTest(name):
                    self.same(hr.plan(name), "plan", name)

    def test_other_functions(self):
        plan = "scenarios/train/llama3-70b-512xh100.toml"
        other = "scenarios/train/llama3-70b-256xh200.toml"
        traffic = "scenarios/serve/llama3-70b-traffic.toml"
        self.same(hr.compare(plan, other), "compare", plan, other)
        self.same(hr.scale(plan, to=2048, weak=True), "scale", plan, "--to", "2048", "--weak")
        self.same(hr.scale(law=0.95, to=64), "scale", "--law", "0.95", "--to", "64")
        self.same(hr.simulate(traffic, rate=2, requests=300, seed=7), "simulate", traffic, "--rate", "2", "--requests", "300",
                  "--seed", "7")
        self.same(hr.validate(), "validate")
        self.same(hr.catalog("list", "gpus"), "catalog", "list", "gpus")
        traces = ("scenarios/traces/rank-0.json", "scenarios/traces/rank-1.json")
        self.same(hr.diagnose(*traces), "diagnose", *traces)
        self.same(hr.command("collective", "all-reduce", bytes="1 GiB", gpu="h100-sxm-80gb"), "collective", "all-reduce",
                  "--bytes", "1 GiB", "--gpu", "h100-sxm-80gb")

    def test_text_and_page(self):
        plan = "scenarios/train/llama3-70b-512xh100.toml"
        answer = hr.plan(plan)
        self.assertEqual(answer.text(), printed("plan", plan))
        self.assertEqual(answer.text(brief=True), printed("plan", plan, "--brief"))
        self.assertEqual(hr.plan(plan, explain=True).text(), printed("explain", plan))
        self.assertEqual(answer.html(), printed("plan", plan, "--format", "html"))
        self.assertEqual(hr.scale(plan).to_csv(), printed("scale", plan, "--format", "csv"))

    def test_a_list_is_held_side_by_side(self):
        self.same(hr.plan(**{**JOB, "tp": [4, 8]}), "plan", "--model", "llama3-70b", "--gpu", "h100-sxm-80gb", "--gpus", "512",
                  "--tp", "4,8", "--pp", "4", "--seq-len", "8192", "--global-batch", "1024")


class Questions(unittest.TestCase):
    TABLES = {
        "kind": "train",
        "model": "llama3-8b",
        "hardware": {"gpu": "h100-sxm-80gb", "gpus": 8},
        "training": {"seq_len": 8192, "global_batch": 64, "precision": "bf16"},
        "strategy": {"tp": 2},
    }
    TEXT = """schema = 1
kind = "train"
model = "llama3-8b"
[hardware]
gpu = "h100-sxm-80gb"
gpus = 8
[training]
seq_len = 8192
global_batch = 64
precision = "bf16"
[strategy]
tp = 2
"""

    def test_every_form_asks_the_same(self):
        quick = dict(model="llama3-8b", gpu="h100-sxm-80gb", gpus=8, seq_len=8192, global_batch=64)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "job.toml"
            path.write_text(self.TEXT)
            answers = [
                hr.plan(self.TABLES),
                hr.plan(self.TEXT),
                hr.plan(path),
                hr.plan(str(path)),
                hr.plan(**quick, tp=2),
                hr.plan(**quick, strategy={"tp": 2}),
                hr.plan(**quick, **{"strategy.tp": 2}),
                hr.plan(hr.plan(self.TABLES)),
                hr.plan(hr.plan({**self.TABLES, "strategy": {"tp": 4}}), tp=2),
            ]
        self.assertEqual(len({answer.step_time_s for answer in answers}), 1)
        self.assertNotEqual(hr.plan(**quick, tp=4).step_time_s, answers[0].step_time_s)

    def test_numbers_of_others_are_numbers(self):
        class Eight:  # as numpy's integers are
            def __index__(self):
                return 8

        self.assertEqual(hr.plan(**{**JOB, "tp": Eight(), "global_batch": 1024.0}).to_json(), hr.plan(**JOB).to_json())
        self.assertEqual(hr.plan(**JOB, cp=None).to_json(), hr.plan(**JOB).to_json())

    def test_a_folder_of_ones_own(self):
        with tempfile.TemporaryDirectory() as folder:
            gpus = pathlib.Path(folder) / "gpus"
            gpus.mkdir()
            (gpus / "mine.toml").write_text(
                'schema = 1\nid = "mine"\nbase = "h100-sxm-80gb"\nname = "mine"\naliases = []\n')
            mine = hr.Library(folder)
            self.assertEqual(hr.plan(**{**JOB, "gpu": "mine"}, library=mine).gpu, "mine")
            self.assertEqual(mine.warnings(), [])
        with self.assertRaises(hr.QuestionError):
            hr.plan(**{**JOB, "gpu": "mine"})

    def test_every_fault_at_once(self):
        with self.assertRaises(hr.QuestionError) as caught:
            hr.plan(model="llama3-70b", gpu="h100-sxm-80g", tpp=3, tp=0, gpus=512)
        faults = {fault.file: fault for fault in caught.exception.faults if fault.file != "question"}
        self.assertIn("did you mean 'tp'", faults["tpp"].message)
        self.assertIn("must be 1 to 4096", faults["tp=0"].message)
        self.assertIn("h100-sxm-80gb", faults["gpu=h100-sxm-80g"].message)
        missing = {fault.key: fault for fault in caught.exception.faults if fault.code == "missing_key"}
        self.assertEqual(set(missing), {"seq_len", "global_batch"})
        self.assertIn("give seq_len", missing["seq_len"].message)
        again = pickle.loads(pickle.dumps(caught.exception))
        self.assertEqual(again.faults, caught.exception.faults)
        self.assertIsInstance(again, ValueError)

    def test_places_in_a_text(self):
        with self.assertRaises(hr.QuestionError) as caught:
            hr.plan(self.TEXT.replace("gpus = 8", "gpus = -8").replace("tp = 2", "tpp = 2"))
        places = {(fault.line, fault.column) for fault in caught.exception.faults}
        self.assertIn((6, 8), places)
        self.assertIn((12, 1), places)

    def test_values_that_no_key_takes(self):
        with self.assertRaises(hr.QuestionError) as caught:
            hr.plan(**{**JOB, "tp": object(), "pp": object()})
        self.assertEqual([fault.file for fault in caught.exception.faults], ["tp", "pp"])

    def test_a_key_without_its_table_is_told_where_it_is(self):
        with self.assertRaises(hr.QuestionError) as caught:
            hr.plan(**JOB, power_cap="500 W")
        self.assertIn("hardware.power_cap", str(caught.exception))

    def test_refusals(self):
        for call in (
            lambda: hr.compare(hr.plan(**JOB)),
            lambda: hr.scale("scenarios/serve/no-such.toml"),
            lambda: hr.scale(hr.plan(**JOB), budget="5 apples"),
            lambda: hr.simulate(hr.plan(**JOB)),
            lambda: hr.command("plam"),
            lambda: hr.validate(whre="a=b"),
            lambda: hr.validate("no-such.csv"),
            lambda: hr.plan(**JOB, within="soon"),
            lambda: hr.plan(**JOB, threads=0.5),
            lambda: hr.plan(**JOB, only="time"),
            lambda: hr.plan(**JOB).to_csv(),
        ):
            with self.assertRaises(hr.QuestionError):
                call()


class Answers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.plan = hr.plan(**JOB)

    def test_members_are_attributes(self):
        document = json.loads(self.plan.to_json())
        self.assertEqual(self.plan.to_dict(), document)
        step = document["step_time_s"]
        self.assertEqual((self.plan.step_time_s.low, self.plan.step_time.mid, self.plan["step_time_s"].high),
                         (step["low"], step["mid"], step["high"]))
        self.assertEqual(float(self.plan.step_time), step["mid"])
        self.assertEqual(self.plan.strategy.tp, 8)
        self.assertIn("step_time_s", self.plan)
        self.assertIn("step_time", dir(self.plan))
        with self.assertRaisesRegex(AttributeError, "step_tim"):
            self.plan.step_tim
        self.assertEqual(pickle.loads(pickle.dumps(self.plan.step_time)).low, step["low"])

    def test_quantiles_go_through_the_three_points(self):
        step = self.plan.step_time
        for share, value in ((0.1, step.low), (0.5, step.mid), (0.9, step.high)):
            self.assertAlmostEqual(step.quantile(share), value, delta=1e-9 * value)
        self.assertTrue(step.quantile(0.05) < step.low < step.quantile(0.3) < step.mid)
        # Half way between the middle and the 90 % point in deviates, 0.6408 of a standard normal, lies the geometric mean.
        self.assertAlmostEqual(step.quantile(0.7391658), (step.mid * step.high) ** 0.5, delta=1e-5 * step.mid)
        with self.assertRaises(ValueError):
            step.quantile(1.0)

    def test_units_are_told(self):
        self.assertTrue(self.plan.describe("step_time_s").endswith("; in s"))
        self.assertIn("tensor", self.plan.describe("strategy/tp"))
        with self.assertRaises(KeyError):
            self.plan.describe("no_such")

    def test_rows_and_frames(self):
        series = hr.scale(self.plan, to=2048)
        rows = series.rows()
        self.assertEqual([row["gpus"] for row in rows], [point["gpus"] for point in series.to_dict()["points"]])
        self.assertEqual(rows[0]["step_time_s_low"], series.points[0].step_time_s.low)
        self.assertIn("node", hr.catalog("list", "clusters").rows()[0])
        with self.assertRaises(KeyError):
            series.rows("no_such")
        if importlib.util.find_spec("pandas"):
            frame = series.frame()
            self.assertEqual(list(frame["gpus"]), [row["gpus"] for row in rows])
            self.assertEqual(len(hr.validate().frame()), len(hr.validate()["rows"]))
        sys.modules["pandas"], before = None, sys.modules.get("pandas")  # as where it is not installed
        try:
            with self.assertRaisesRegex(ImportError, "rows"):
                series.frame()
        finally:
            if before is None:
                del sys.modules["pandas"]
            else:
                sys.modules["pandas"] = before

    def test_a_notebook_shows_the_page_in_a_frame(self):
        drawn = self.plan._repr_html_()
        self.assertTrue(drawn.startswith("<iframe "))
        begin, end = drawn.index('srcdoc="') + 8, drawn.rindex('"></iframe>')
        page = drawn[begin:end]
        # Nothing of the page stands in the notebook's own document: no tag and no quote that would end the frame.
        self.assertFalse(set('<>"') & set(page))
        self.assertEqual(html.unescape(page), self.plan.html())
        self.assertIn('sandbox="allow-scripts"', drawn[:begin])
        listed = hr.catalog("list", "gpus")
        self.assertIsNone(listed._repr_html_())  # no page: the text
        self.assertEqual(listed._repr_mimebundle_(), {"text/plain": listed.text()})

    def test_versions(self):
        self.assertEqual(printed("--version"), f"Headroom {hr.__version__}, data of {hr.data_date}\n")
        dates = [line.split('"')[1] for path in (SOURCE / "hardware/catalog/prices").glob("*.toml")
                 for line in path.read_text().splitlines() if line.startswith("date = ")]
        self.assertGreaterEqual(hr.data_date, max(dates))


class Work(unittest.TestCase):
    def test_threads_answer_side_by_side(self):
        asked = [{**JOB, "tp": tp, "pp": pp} for tp in (2, 4, 8) for pp in (2, 4, 8)]
        alone = [hr.plan(**one).to_json() for one in asked]
        found = [None] * len(asked)

        def work(first):
            for i in range(first, len(asked), 3):
                found[i] = hr.plan(**asked[i]).to_json()

        threads = [threading.Thread(target=work, args=(first,)) for first in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, alone)

    def test_the_interpreter_goes_on_while_it_computes(self):
        ended = threading.Event()

        def work():
            hr.search(**LONG, within=1.0)
            ended.set()

        thread = threading.Thread(target=work)
        thread.start()
        turns = 0
        while not ended.is_set():
            time.sleep(0.005)
            turns += 1
        thread.join()
        self.assertGreater(turns, 20)  # of 200 in a second

    def test_an_interrupt_ends_a_search(self):
        start = time.monotonic()
        timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with self.assertRaises(KeyboardInterrupt):
            hr.search(**LONG)
        self.assertLess(time.monotonic() - start, 3.0)
        self.assertTrue(hr.plan(**JOB).good)  # and leaves nothing behind

    def test_time_ends_a_search_with_what_was_found(self):
        start = time.monotonic()
        partial = hr.search(**LONG, within=0.5)
        self.assertLess(time.monotonic() - start, 3.0)
        self.assertFalse(partial.complete)
        self.assertFalse(partial.good)
        self.assertTrue(hr.plan(**JOB, within="5 s").complete)


class Stubs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        path = pathlib.Path(hr.__file__).with_name("__init__.pyi")
        cls.text = path.read_text()
        cls.tree = ast.parse(cls.text)
        cls.classes = {node.name: node for node in cls.tree.body if isinstance(node, ast.ClassDef)}
        cls.functions = {node.name: node for node in cls.tree.body if isinstance(node, ast.FunctionDef)}

    def test_the_program_writes_them(self):
        self.assertEqual(self.text, printed("schema", "--python"))
        self.assertTrue(pathlib.Path(hr.__file__).with_name("py.typed").exists())

    def test_every_public_name_is_there_and_no_other(self):
        constants = {node.target.id for node in self.tree.body if isinstance(node, ast.AnnAssign)}
        self.assertLessEqual(set(hr.__all__), set(self.classes) | set(self.functions) | constants)
        self.assertEqual(set(self.functions), {name for name in hr.__all__ if name.islower()} - {"data_date"})

    def test_every_annotation_is_a_name_that_is_known(self):
        known = set(self.classes) | set(dir(builtins))
        known |= {alias.name for node in self.tree.body if isinstance(node, ast.ImportFrom) for alias in node.names}
        known |= {node.targets[0].id for node in self.tree.body if isinstance(node, ast.Assign)}
        unknown = set()
        for node in ast.walk(self.tree):
            for part in [getattr(node, "annotation", None), getattr(node, "returns", None), *getattr(node, "bases", [])]:
                if part is not None:
                    unknown |= {name.id for name in ast.walk(part) if isinstance(name, ast.Name)} - known
        self.assertEqual(unknown, set())

    def test_every_key_has_its_type_and_its_docs(self):
        for key in hr.keys():
            table, _, name = key.path.rpartition(".")
            if not table or not name.isidentifier() or name in ("class", "from"):
                continue
            owner = "".join(part[:1].upper() + part[1:] for part in table.replace(".", "_").split("_")) + "Table"
            members = [node.target.id for node in self.classes[owner].body if isinstance(node, ast.AnnAssign)]
            self.assertIn(name, members, key.path)
        strategy = ast.get_source_segment(self.text, self.classes["StrategyTable"])
        self.assertIn("tp: int", strategy)
        self.assertIn("tensor-parallel ranks. It is from 1 to 4096.", strategy)
        self.assertIn("A blank means 1.", strategy)

    def test_functions_have_a_keyword_for_each_option(self):
        for name in ("plan", "search", "simulate", "scale", "compare"):
            given = {argument.arg for argument in self.functions[name].args.kwonlyargs}
            self.assertLessEqual({key.keyword for key in hr.keys() if key.keyword}, given, name)
            self.assertIn("strategy", given)

    def test_members_have_units(self):
        plan = ast.get_source_segment(self.text, self.classes["PlanDocument"])
        self.assertRegex(plan, r'step_time_s: Interval\n    """[^"]*; in s"""')
        self.assertIn("    step_time: Interval\n", plan)
        answer = hr.plan(**JOB)
        members = {node.target.id for node in self.classes["PlanDocument"].body if isinstance(node, ast.AnnAssign)}
        self.assertLessEqual({name for name in answer if name.isidentifier()}, members)


if __name__ == "__main__":
    unittest.main()
