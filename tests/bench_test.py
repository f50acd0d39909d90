#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What bench/ and scripts/zoo compute without measuring: recipes, halves of families, keys, spaces,
statistics, forests."""
import argparse
import json
import re
import sys
import tempfile
import unittest
from dataclasses import dataclass
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "scripts"), *map(str, ROOT.glob(".venv/lib/python3.11/site-packages"))]

import inventory  # noqa: E402
import machine_repeats  # noqa: E402
import unseen  # noqa: E402
from lib import judging, keys, memory_repeats, published_calls, space_page, text, unseen_page, unseen_steps  # noqa: E402
from lib.halves import in_inventory  # noqa: E402
from lib.settings import ACCURACY_SETS, SETTINGS, zoo_networks  # noqa: E402
from zoo import recipes as zoo  # noqa: E402

CONV = ("com.microsoft.nchwc:Conv/1@block=16{activation=Relu,dilations=[1,1],group=1,kernel_shape=[3,3],pads=[1,1,1,1],strides=[1,1]}"
        "(f32[1,64,56,56],f32c[64,64,3,3],f32c[64],f32[1,64,56,56])->(&3)")
DEPTHWISE = "Conv/11{dilations=[1,1],group=32,kernel_shape=[5,5],pads=[2,2,2,2],strides=[2,2]}(f32[1,32,8,8],f32c[32,1,5,5])->(f32[1,32,4,4])"
PRODUCT = "MatMul/13{}(f32[1,16,64],f32c[64,32])->(f32[1,16,32])"
RESHAPE = "Reshape/13{allowzero=0}(f32[1,4,4],i64c[2]=[1,16])->(f32[1,16])"
LSTM = ("LSTM/14{activations=[Sigmoid,Tanh,Tanh],direction=forward,hidden_size=8,input_forget=0,layout=0}"
        "(f32[20,4,64],f32c[1,32,64],f32c[1,32,8],f32c[1,64],-,f32c[1,4,8])->(f32[20,1,4,8],-,-)")
QUANTISED = "QLinearConv/10{group=1,kernel_shape=[1,1]}(u8[1,8,4,4],f32c[],u8c[],i8c[16,8,1,1],f32c[16],i8c[16],f32c[],u8c[],i32c[16])->(u8[1,16,4,4])"


class Recipes(unittest.TestCase):
    def read(self, *lines):
        with tempfile.NamedTemporaryFile("w", suffix=".tsv", encoding="utf-8") as file:
            file.write("# comment\n" + "".join(line + "\n" for line in lines))
            file.flush()
            return zoo.read_zoo(Path(file.name))

    def test_a_line_becomes_a_recipe(self):
        recipe = self.read("net_96\twide\tnet\tfp32\t13\tvision.cnn net=repvgg_a0 size=96 widths=1+2")["net_96"]
        self.assertEqual((recipe.set, recipe.family, recipe.source, recipe.builder), ("wide", "net", "vision", "cnn"))
        self.assertEqual(recipe.arguments, {"net": "repvgg_a0", "size": 96, "widths": "1+2"})
        self.assertTrue(recipe.needs_torch())

    def test_what_is_wrong_is_said_with_its_line(self):
        for line, words in (("a\twide\tb\tfp32\t13", "5 columns"), ("a\tbig\tb\tfp32\t13\town.bert", "unknown set 'big'"),
                            ("a\twide\tb\tfp32\t13\tvideo.net", "unknown source 'video.net'"), ("a\twide\tb\tfp32\t13\town.bert layers", "is not NAME=VALUE")):
            with self.assertRaisesRegex(ValueError, f":2: .*{words}"):
                self.read(line)
        with self.assertRaisesRegex(ValueError, "is there twice"):
            self.read(*["a\twide\tb\tfp32\t13\town.bert"] * 2)

    def test_a_base_comes_before_what_is_made_from_it(self):
        recipes = self.read("a_int8\twide\ta\tint8\t13\tquantise.static base=a", "a\tzoo\ta\tfp32\t13\town.bert")
        self.assertEqual([recipe.name for recipe in zoo.choose(recipes, ["wide"])], ["a", "a_int8"])
        with self.assertRaisesRegex(ValueError, "no network or set 'big'"):
            zoo.choose(recipes, ["big"])

    def test_the_file_itself(self):
        recipes = zoo.read_zoo()
        sources = {recipe.source for recipe in recipes.values()}
        self.assertEqual(sources, set(zoo.SOURCES), "every source is used")
        for files in zoo.SOURCES.values():
            for name in files:
                self.assertTrue((ROOT / "scripts/zoo" / name).is_file(), name)
        sizes = {}
        for recipe in recipes.values():
            base = recipe.arguments.get("base")
            if recipe.set in unseen_steps.SETS and not base:
                sizes.setdefault(recipe.family, []).append(recipe.name)
            if base:
                self.assertEqual(recipes[base].family, recipe.family, recipe.name)
        self.assertEqual([family for family, names in sizes.items() if len(names) > 3], [])
        self.assertEqual({network.set for network in zoo_networks([])}, set(ACCURACY_SETS))

    def test_every_builder_of_the_wide_set_is_used(self):
        asked = {(recipe.source, recipe.builder) for recipe in zoo.read_zoo().values()}
        for source in ("vision", "dense", "language", "signals"):
            content = (ROOT / f"scripts/zoo/wide/{source}.py").read_text(encoding="utf-8")
            listed = re.search(r"^BUILDERS = .* in \((.*?)\)\}", content, re.DOTALL | re.MULTILINE)[1]
            self.assertEqual({(source, name) for name in re.findall(r"\w+", listed)}, {pair for pair in asked if pair[0] == source})


class Halves(unittest.TestCase):
    def test_a_hash_of_the_name_decides(self):
        self.assertTrue(in_inventory("mobilenet_v2"))
        self.assertFalse(in_inventory("mobilenet_v3"))

    def test_both_halves_are_broad(self):
        recipes = [recipe for recipe in zoo.read_zoo().values() if recipe.set in unseen_steps.SETS]
        count = lambda precision, inventory_half: sum(r.precision == precision and in_inventory(r.family) == inventory_half for r in recipes)
        self.assertGreaterEqual(count("fp32", False), 60)
        self.assertGreaterEqual(count("int8", False), 8)
        self.assertGreaterEqual(count("fp32", True), 30)
        self.assertGreaterEqual(count("int8", True), 4)

    def test_no_reported_model_is_in_the_inventory(self):
        reported = {network.name for network in unseen_steps.reported_networks([])}
        families = {network.family for network in unseen_steps.reported_networks([])}
        held = inventory.inventory(zoo.read_zoo())
        self.assertFalse(reported & {network.recipe.name for network in held})
        self.assertFalse(families & {network.family for network in held})
        with self.assertRaisesRegex(Exception, "'mobilenet_v2_224' is not a network of a reported family"):
            unseen_steps.reported_networks(["mobilenet_v2_224"])


class Keys(unittest.TestCase):
    def test_parts(self):
        kernel = keys.parse_key(CONV)
        self.assertEqual((kernel.domain, kernel.op, kernel.tags), ("com.microsoft.nchwc", "Conv", {"block": "16"}))
        self.assertEqual(kernel.attributes["kernel_shape"], "[3,3]")
        self.assertEqual(kernel.operands[1], keys.Tensor("f32", True, (64, 64, 3, 3)))
        self.assertEqual(kernel.results, [kernel.operands[3]])
        self.assertEqual(keys.parse_key(LSTM).operands[4], None)

    def test_brackets_in_quoted_words_part_nothing(self):
        kernel = keys.parse_key('torch:module{class="a.B",repr="B(\\n  (c): \\"}{D,E\\")"}(f32[1,2])->(f32[?,2])')
        self.assertEqual(list(kernel.attributes), ["class", "repr"])
        self.assertEqual(kernel.results[0].dims, None)

    def test_work(self):
        self.assertEqual(keys.flops_of(keys.parse_key(CONV)), 2 * 64 * 56 * 56 * 64 * 9)
        self.assertEqual(keys.flops_of(keys.parse_key(DEPTHWISE)), 2 * 32 * 16 * 25)
        self.assertEqual(keys.flops_of(keys.parse_key(PRODUCT)), 2 * 16 * 32 * 64)
        self.assertEqual(keys.flops_of(keys.parse_key(LSTM)), 2 * 20 * 4 * (32 * 64 + 32 * 8))
        self.assertEqual(keys.bytes_of(keys.parse_key(PRODUCT)), 4 * (16 * 64 + 64 * 32 + 16 * 32))

    def test_what_convolutions_take_for_themselves(self):
        """The same figures as in tests/unit/ir/work_test.cpp."""
        def quantised(attributes, image, weights, zero, result):
            return f"com.microsoft:QLinearConv/1{{{attributes}}}(u8[{image}],f32c[],u8c[],{weights},f32c[],{zero},f32c[],u8c[])->(u8[{result}])"
        last = "channels_last=1"
        for key, expected in (
                ("ConvTranspose/11{group=1}(f32[1,64,64,64],f32[64,16,3,3])->(f32[1,16,128,128])", 2359296),
                ("ConvTranspose/11{group=2}(f32[2,16,8,8],f32c[16,4,4,4])->(f32[2,8,16,16])", 16384),
                ("ConvTranspose/11{}(f16[1,16,50],f16c[16,8,4])->(f16[1,8,100])", 3200),
                (quantised(last + ",strides=[2,2]", "1,224,224,3", "i8c[64,3,3,3]", "i8c[]=0", "1,112,112,64"), 112 * 112 * (64 * 4 + 27)),
                (quantised(last, "2,8,8,3", "i8c[4,3,3,3]", "i8c[4]=0", "2,6,6,4"), 36 * (2 * 4 * 4 + 27)),
                (quantised(last, "1,8,8,64", "i8c[20,64,3,3]", "i8c[20]=0", "1,6,6,20"), 0),
                (quantised(last, "1,8,8,64", "i8c[18,64,3,3]", "i8c[18]=0", "1,6,6,18"), 36 * (18 * 4 + 576)),
                (quantised(last, "1,8,8,64", "i8c[64,64,3,3]", "i8c[64]", "1,6,6,64"), 36 * (64 * 4 + 576)),
                (quantised(last, "1,8,8,64", "i8[64,64,3,3]", "i8c[64]=0", "1,6,6,64"), 36 * (64 * 4 + 576)),
                (quantised(last, "1,8,8,3", "i8c[64,3,1,1]", "i8c[]=0", "1,8,8,64"), 64 * 64 * 4),
                (quantised(last + ",strides=[2,2]", "1,8,8,3", "i8c[64,3,1,1]", "i8c[]=0", "1,4,4,64"), 16 * (64 * 4 + 3)),
                (quantised(last + ",group=32", "1,8,8,32", "i8c[32,1,3,3]", "i8c[32]=0", "1,6,6,32"), 0),
                (quantised(last + ",group=24", "1,8,8,24", "i8c[24,1,3,3]", "i8c[24]=0", "1,6,6,24"), 36 * 24 * 4),
                (quantised(last + ",group=2", "1,4,4,4,64", "i8c[64,32,3,3,3]", "i8c[64]=0", "1,2,2,2,64"), 8 * (64 * 4 + 2 * 32 * 27)),
                (quantised("", "2,64,8,8", "i8c[64,64,3,3]", "i8c[64]=0", "2,64,6,6"), 64 * 64 + 64 * 36),
                ("ConvInteger/10{}(u8[1,3,8,8],u8c[4,3,3,3])->(i32[1,4,6,6])", 36 * 27),
                (CONV, 0), (LSTM, 0)):
            self.assertEqual(keys.scratch_of(keys.parse_key(key)), expected, key)

    def test_classes(self):
        signal = "Conv/11{group=1,kernel_shape=[11],strides=[1]}(f32[1,8,64],f32c[16,8,11])->(f32[1,16,54])"
        self.assertEqual(keys.class_of(keys.parse_key(signal)), "1-d convolution 11")
        names = [keys.class_of(keys.parse_key(key)) for key in (CONV, DEPTHWISE, PRODUCT, LSTM, QUANTISED)]
        self.assertEqual(names, ["convolution 3x3, blocked", "depthwise convolution 5x5", "product with weights (MatMul)", "LSTM", "convolution 1x1, 8 bits"])

    def test_views_and_empty_calls(self):
        self.assertTrue(keys.parse_key(RESHAPE).is_view)
        self.assertFalse(keys.parse_key(RESHAPE.replace("Reshape/13", "Reshape/13@copied=1")).is_view)
        self.assertTrue(keys.parse_key("Slice/13{}(f32[1,4])->(f32[0,4])").is_empty)
        self.assertFalse(keys.parse_key(PRODUCT).is_empty)


@dataclass
class FakeRecipe:
    family: str
    precision: str = "fp32"


def network(name, family, counts, precision="fp32", batch=0):
    return inventory.Network(name, FakeRecipe(family, precision), batch, counts)


class Space(unittest.TestCase):
    NETWORKS = [network("a", "x", {CONV: 3, PRODUCT: 1}), network("a_int8", "x", {QUANTISED: 2}, "int8"), network("b", "y", {CONV: 1, LSTM: 1})]

    def test_views_are_not_counted(self):
        document = {"kernels": [{"key": CONV, "count": 2}, {"key": RESHAPE, "count": 1}, {"key": CONV, "count": 1}, {"key": PRODUCT, "count": 0}]}
        self.assertEqual(inventory.counted(document), {CONV: 3})

    def test_networks_name_kernels_by_position(self):
        further = "Elu/6{alpha=1.0}(f32[4])->(&0)"
        lines = inventory.space_text("tiny", ["Two families."], self.NETWORKS, {further: 3}).splitlines()
        self.assertIn("format: oplat.kernel-space/1", lines)
        listed = [line.strip()[3:-1] for line in lines if line.startswith("  - '")]
        self.assertEqual(listed, [CONV, QUANTISED, LSTM, PRODUCT], "the most executed class first")
        self.assertIn(f"  - {{key: '{further}', count: 3}}", lines)
        self.assertEqual(lines[-3:], ['- {name: a, family: x, precision: fp32, kernels: "0*3 4"}', '- {name: a_int8, family: x, precision: int8, kernels: "2*2"}',
                                      '- {name: b, family: y, precision: fp32, kernels: "0 3"}'])

    def test_every_family_comes_before_further_sizes(self):
        many = [network(name, family, {f"Relu/14{{}}(f32[{i}])->(&0)": 1 for i in some})
                for name, family, some in (("a1", "a", range(10)), ("a2", "a", range(10, 30)), ("b1", "b", range(40, 80)))]
        limit, space_page.MAX_KERNELS = space_page.MAX_KERNELS, 60
        try:
            taken, left = inventory.chosen(many)
        finally:
            space_page.MAX_KERNELS = limit
        self.assertEqual(([n.name for n in taken], [n.name for n in left]), (["a1", "b1"], ["a2"]))

    def test_the_section_names_classes_and_families(self):
        content = "\n".join(space_page.section(self.NETWORKS, [network("c", "z", {})], {DEPTHWISE: 2}, "x" * 2048))
        for words in ("5 kernels of 3 networks (2 fp32 and 1 int8", "Families: x, y.", "Left out: c.", "| convolution 3x3, blocked | 1 | 2 | 40.0 % |", "1 kernels are of no network"):
            self.assertIn(words, content)

    def test_layers_are_calls(self):
        layer = published_calls.convolution(8, 16, (4, 9), 3, 2, group=2, dilation=2)
        self.assertEqual(layer[:2], (":Conv", ["f32[1,8,4,9]", "f32c[16,4,3,3]", "f32c[16]"]))
        self.assertEqual(layer[2], {"kernel_shape": [3, 3], "strides": [2, 2], "dilations": [2, 2],
                                    "pads": [2, 2, 2, 2], "group": 2})
        self.assertEqual(layer[4], [("Relu", {})])
        eight = published_calls.in_eight_bits(layer)
        self.assertEqual((eight[0], eight[1][0], eight[1][3], eight[1][8]),
                         (":QLinearConv", "u8[1,8,4,9]", "i8c[16,4,3,3]", "i32c[16]"))
        self.assertEqual(published_calls.signal(6, 50, 4)[2]["pads"], [1, 2], "as long as before")
        self.assertEqual(published_calls.einsum("ij,jk->ik", i=2, j=3, k=4)[1],
                         ["f32[2,3]", "f32[3,4]"])

    def test_what_stands_around_a_layer_is_left_out(self):
        taken = lambda only: [published_calls.Layers("s", [], only).takes(operator)
                              for operator in ("Conv", "ReorderOutput")]
        self.assertEqual(taken(()), [True, False])
        self.assertEqual(taken(None), [True, True])
        self.assertEqual(taken(("ReorderOutput",)), [False, True])


class Judging(unittest.TestCase):
    def test_kendall(self):
        self.assertEqual(judging.kendall([(1, 10), (2, 20), (3, 30)]), 1)
        self.assertEqual(judging.kendall([(1, 30), (2, 20), (3, 10)]), -1)
        self.assertAlmostEqual(judging.kendall([(1, 1), (2, 3), (3, 2), (4, 4)]), 4 / 6)
        self.assertIsNone(judging.kendall([(1, 1)]))

    def test_a_model_without_an_answer_is_outside_every_bound(self):
        self.assertEqual(judging.within([0.01, -0.04, 0.2], 0.05, 4), 0.5)

    def test_the_interval_of_a_difference(self):
        ours, theirs = [0.01, -0.02, 0.03] * 10, [0.11, 0.12, -0.13] * 10
        mean, low, high = judging.difference(ours, theirs)
        self.assertAlmostEqual(mean, 0.10)
        self.assertTrue(0.09 < low <= mean <= high < 0.11)
        self.assertEqual(judging.difference(ours, theirs), (mean, low, high), "the same each time")


class Page(unittest.TestCase):
    def line(self, name, predicted, measured, rivals):
        answer = {"latency_ns": predicted, "interval_ns": predicted and [0.9 * predicted, 1.1 * predicted], "missing": [] if predicted else ["Relu/14{}(f32[1])->(&0)"],
                  "time": {"measured": 0.7, "learned": 0.3} if predicted else {}}
        return unseen_page.Line(name, name, {"latency_ns": measured, "ci_ns": [0.99 * measured, 1.01 * measured]}, answer, rivals)

    def test_figures(self):
        lines = [self.line("a", 1.02e6, 1e6, {"flops": 2e6}), self.line("b", 1.88e6, 2e6, {"flops": 1e6}), self.line("c", None, 3e6, {})]
        part = unseen_page.Part(SETTINGS[0], lines, {"short": {"a": 0.10}, "full": {"a": 0.01}})
        facts = {"short_budget": "5m", "expected_error": {"fp32": 0.05, "int8": None}}
        content = "\n".join(unseen_page.targets_part([part], facts) + unseen_page.rivals_part([part]) + unseen_page.setting_part(part))
        for words in ("| within 5 %, fp32, 1 thread, 3 models | 33.3 % | >= 85 % | **not met** |", "| worst, fp32, 1 thread | 6.0 % | <= 20 % | **not met** |",
                      "| MAPE, fp32, 1 thread, 2 of 3 models | 4.00 % |", "| MAPE within 5m, fp32, 1 thread, 1 model | 10.00 % | <= 8 % | **not met** |",
                      "| MAPE with every kernel measured, fp32, 1 thread, 1 model | 1.00 % |", "| Kendall's tau, fp32, 1 thread | 1.000 | >= 0.98 | met |",
                      "| the profile's own estimate of the error of one time, fp32, 1 thread, over the truth | 5.00 % over 4.00 %, a factor of 1.25 |", "| fp32, 1 thread | proportional to FLOPs | 2 | 75.0 % |", "points, worse |", "| 1 kernel without an estimate |", "measured 70 %, learned 30 %"):
            self.assertIn(words, content)

    def test_the_own_estimate_is_of_one_time(self):
        line = self.line("a", 1e6, 1e6, {})
        line.times = [0.8e6, 1.25e6]
        part = unseen_page.Part(SETTINGS[0], [line])
        self.assertEqual(unseen_page.own_estimate(part, {}), [])
        self.assertEqual(unseen_page.own_estimate(part, {"fp32": 0.1})[0][1:], ["10.00 % over 22.50 %, a factor of 0.44", "1/1.5 to 1.5", "**not met**"])

    def test_rounds_are_joined(self):
        one = {"latency_ns": 100.0, "ci_ns": [98.0, 102.0], "flags": [], "date": "2026-11-27"}
        other = {"latency_ns": 104.0, "ci_ns": [102.0, 106.0], "flags": ["disturbed"], "date": "2026-11-27"}
        loaded = {"latency_ns": 150.0, "ci_ns": [140.0, 160.0], "flags": ["under_load"], "date": "2026-11-27"}
        self.assertEqual(unseen_steps.joined([one]), {**one, "rounds": 1})
        self.assertEqual(unseen_steps.joined([one, other]), {**one, "latency_ns": 102.0, "ci_ns": [100.0, 104.0], "flags": ["disturbed"], "rounds": 2, "range": 104.0 / 100.0 - 1})
        self.assertEqual(unseen_steps.joined([loaded, one]), {**one, "rounds": 2}, "a build ran meanwhile")
        self.assertEqual(unseen_steps.joined([loaded]), {**loaded, "rounds": 1})
        self.assertEqual(unseen_steps.joined([other, one, loaded, {**one, "latency_ns": 101.0}])["latency_ns"], 101.0)

    def test_what_rounds_say_of_each_other(self):
        def line(**measured):
            return unseen_page.Line("a", "a", {"latency_ns": 1e6, "ci_ns": [9e5, 1.1e6], **measured}, {}, {})

        self.assertEqual(unseen_page.rounds_of([unseen_page.Part(SETTINGS[0], [line()])]), "")
        sure = line(ci_ns=[0.99e6, 1.01e6])
        for one, ns in ((sure, 1.02e6), (apart := line(), 0.8e6)):
            one.predicted.update(latency_ns=ns, interval_ns=[0.9e6, 1.1e6])
        self.assertEqual(unseen_page.apart_part([unseen_page.Part(SETTINGS[0], [sure])]), [])
        content = "\n".join(unseen_page.apart_part([unseen_page.Part(SETTINGS[0], [sure, apart])]))
        self.assertIn("| not counted | 1 | 20.00 % | -20.0 % | 0 % | 0 % |", content)
        self.assertIn("| all | 2 | 11.00 % | -9.0 % | 50 % | 50 % |", content)
        said = unseen_page.rounds_of([unseen_page.Part(SETTINGS[0], [line(rounds=2), line(rounds=2, range=0.5), line(rounds=2, range=0.1)])])
        self.assertIn("3 such times were taken up to 2 times", said)
        self.assertIn("by 30.0 % in the median, by 50.0 % at most", said)

    def test_rounds_are_before_between_and_after(self):
        for rounds, until in ((1, [0, 1, 1]), (2, [1, 1, 2]), (3, [1, 2, 3]), (4, [1, 3, 4])):
            options = argparse.Namespace(rounds=rounds)
            self.assertEqual([unseen.rounds_until(part, options) for part in (1, 2, 3)], until)

    def test_the_times_of_each_round_are_inside_or_not(self):
        often = self.line("a", 1e6, 1e6, {})
        often.times = [0.95e6, 1.05e6, 1.2e6, 1e6]
        content = "\n".join(unseen_page.targets_part([unseen_page.Part(SETTINGS[0], [often, self.line("b", 1e6, 1e6, {})])], {}))
        self.assertIn("| inside the 90 % interval, 2 predictions of all settings | 100.0 % | 85 to 95 % | **not met** |", content)
        self.assertIn("| the same of the times of each round that counts, 4 in all | 75.0 % | 85 to 95 % | **not met** |", content)

    def test_a_fit_by_another_commit_is_said(self):
        facts = {"measured_by": ["0123456789ab"], "oplat": "oplat 0.1.0 (commit 0123456789ab, Release)"}
        self.assertEqual(unseen_page.measured_earlier(facts), "")
        facts["measured_by"] = ["0123456789ab", "fedcba987654"]
        self.assertIn("measured by commit fedcba987654;", unseen_page.measured_earlier(facts))


MIB = 1 << 20
DEVICE = {"cpu": "C", "cores": 2, "llc_bytes": 32 * MIB, "memory_bytes": 16 << 30}


def memory_run(points, seconds=16.0, device=None, **changed):
    """A run of `oplat machine` whose curve is `points`: MiB -> (ns of a load, GB/s in order, and
    what a disturbed look takes above these)."""
    level = {"name": "memory", "reported_bytes": 16 << 30, "usable_bytes": None, "load_ns": points[max(points)][0], "read_gb_per_s": points[max(points)][1]}
    ramp = {"lo_bytes": 5.0 * MIB, "hi_bytes": 20.0 * MIB}
    memory = {"own": None, "last": {"loads": ramp, "reads": None, "middle": ramp, "disturbed": None}, "scrub_bytes": 30 * MIB, "passes": 9,
              "points": [{"pool_bytes": pool * MIB, "load_ns": load, "read_gb_per_s": rate, "load_high_ns": load * (1 + sum(more)), "read_low_gb_per_s": rate / (1 + sum(more))}
                         for pool, (load, rate, *more) in points.items()]}
    return memory_repeats.Run({"device": device or DEVICE, "levels": [level], "memory": memory | changed}, seconds, "0.25 0.50 0.75")


class MemoryRepeats(unittest.TestCase):
    FIRST = {4: (40.0, 30.0), 8: (60.0, 28.0), 64: (160.0, 16.0)}

    def test_the_same_curve_repeats(self):
        pools, left_out = memory_repeats.compared([memory_run(self.FIRST)] * 3)
        self.assertEqual(([pool.size_bytes for pool in pools], left_out), ([4 * MIB, 8 * MIB, 64 * MIB], 0))
        self.assertEqual({pool.difference(cost) for pool in pools for cost in memory_repeats.COSTS}, {0.0})
        self.assertEqual({line[3] for line in memory_repeats.figures([memory_run(self.FIRST)] * 3, pools)}, {"met", "-"})

    def test_differences_are_of_the_furthest_runs(self):
        runs = [memory_run(self.FIRST | {8: changed}) for changed in ((60.0, 28.0), (72.0, 27.0), (66.0, 25.0))]
        pools, _ = memory_repeats.compared(runs)
        self.assertAlmostEqual(pools[1].difference("load_ns"), 0.2)
        self.assertAlmostEqual(pools[1].difference("read_gb_per_s"), 0.12)
        self.assertEqual([pool.on_ramp for pool in pools], [False, True, False])
        lines = {line[0]: line[1:] for line in memory_repeats.figures(runs, pools)}
        self.assertEqual(lines["largest difference, loads at random"], ["20.0 %", "<= 10 %", "**not met**"])
        self.assertEqual(lines["largest difference, reads in order"], ["12.0 %", "<= 10 %", "**not met**"])
        self.assertEqual(lines["median difference, loads at random"][0], "0.0 %")
        self.assertEqual(lines["pools within 10 %, loads at random"][0], "2 of 3")
        self.assertEqual(lines["the same, pools outside of ramps (2)"][0], "0.0 %")

    def test_a_pool_is_quiet_if_it_is_in_every_run(self):
        runs = [memory_run(self.FIRST | {8: changed}) for changed in ((60.0, 28.0, 0.02), (90.0, 21.0, 0.5), (66.0, 25.0, 0.05))]
        pools, _ = memory_repeats.compared(runs)
        self.assertEqual([pool.is_quiet(cost) for pool in pools for cost in memory_repeats.COSTS], [True, True, False, False, True, True])
        self.assertAlmostEqual(pools[1].spread("load_ns"), 0.5)
        lines = {line[0]: line[1:] for line in memory_repeats.figures(runs, pools)}
        self.assertEqual(lines["largest difference, loads at random"], ["50.0 %", "<= 10 %", "**not met**"])
        self.assertEqual(lines["largest difference, loads at random, quiet pools (2 of 3)"], ["0.0 %", "<= 10 %", "met"])
        self.assertEqual(lines["largest difference of quartiles within a run, reads in order"][0], "50.0 %")

    def test_a_slow_run_misses_the_target(self):
        runs = [memory_run(self.FIRST), memory_run(self.FIRST, seconds=30.5)]
        self.assertEqual(memory_repeats.figures(runs, memory_repeats.compared(runs)[0])[0], ["longest run", "30.5 s", "<= 30 s", "**not met**"])

    def test_pools_of_some_runs_alone_are_counted(self):
        pools, left_out = memory_repeats.compared([memory_run(self.FIRST), memory_run(self.FIRST | {6: (50.0, 29.0)})])
        self.assertEqual((len(pools), left_out), (3, 1))
        apart = [memory_run({4: (40.0, 30.0)}), memory_run({5: (40.0, 30.0)})]
        pools, left_out = memory_repeats.compared(apart)
        self.assertEqual((pools, left_out), ([], 2))
        self.assertIn(["largest difference, loads at random", "-", "<= 10 %", "**not met**"], memory_repeats.figures(apart, pools), "nothing was compared")
        with self.assertRaisesRegex(ValueError, "two runs or more"):
            memory_repeats.compared([memory_run(self.FIRST)])

    def test_the_section(self):
        flat = memory_run(self.FIRST, last=None, scrub_bytes=None, device=DEVICE | {"llc_bytes": None})
        content = "\n".join(memory_repeats.section([flat, memory_run(self.FIRST | {64: (168.0, 16.0), 90: (170.0, 16.0)})], " --runs 2"))
        for words in ("`bench/machine_repeats.py --runs 2` on ", "C, 2 cores, unknown last-level cache, 16 GiB", "ran 2 times on one core, in 16.0 s, 16.0 s (9, 9 passes)", "each run: 0.25, 0.25.",
                      "since some run lacks them: 1.", "| memory, a load | 160 ns | 170 ns | 6.2 % |", "| sufficient scrub | not found | 30 MiB | - |",
                      "| last cache begins to lose data | not found | 5 MiB | - |", "| 64 MiB | no | 160 ns | 168 ns | 5.0 % | 0.0 % | 16 GB/s | 16 GB/s | 0.0 % | 0.0 % |"):
            self.assertIn(words, content)

    def test_the_command_writes_the_end_of_a_page(self):
        calls, document = [], memory_run(self.FIRST).document

        class Machine:
            def __init__(self, path):
                self.path = path

            def json(self, *arguments):
                calls.append(arguments)
                return document

        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "machines.md"
            out.write_text("# Machines side by side\n\nTable.\n", encoding="utf-8")
            kept, machine_repeats.Oplat = machine_repeats.Oplat, Machine
            try:
                for runs in (2, 3):
                    machine_repeats.run(argparse.Namespace(oplat="", runs=runs, budget="5s", out=out))
                with self.assertRaisesRegex(Exception, "--runs must be 2 or more"):
                    machine_repeats.run(argparse.Namespace(oplat="", runs=1, budget=None, out=out))
            finally:
                machine_repeats.Oplat = kept
            page = out.read_text(encoding="utf-8")
        self.assertEqual(calls, [("machine", "--budget", "5s")] * 5)
        self.assertTrue(page.startswith(f"# Machines side by side\n\nTable.\n\n## {memory_repeats.HEADING}\n"))
        self.assertEqual(page.count("## "), 1, "a second call replaces the section")
        self.assertIn("`oplat machine` ran 3 times", page.replace("\n", " "))

    def test_what_a_machine_does_not_report_is_unknown(self):
        self.assertEqual(text.machine(DEVICE), "C, 2 cores, 32 MiB last-level cache, 16 GiB")
        nothing = {"cpu": "", "cores": None, "llc_bytes": None, "memory_bytes": None}
        self.assertEqual(text.machine(nothing), "unknown processor, unknown number of cores, unknown last-level cache, unknown memory")


class Rivals(unittest.TestCase):
    def setUp(self):
        try:
            import numpy  # noqa: F401
        except ImportError:
            self.skipTest("numpy is missing; scripts/setup installs it in .venv")

    def test_a_forest_learns_a_product(self):
        from lib.forest import Forest
        rows = [{"a": float(a), "b": float(b)} for a in range(1, 15) for b in range(1, 15)]
        forest = Forest(rows, [row["a"] * row["b"] for row in rows])
        self.assertLess(abs(forest.value({"a": 7.0, "b": 7.0}) / 49 - 1), 0.15)
        self.assertEqual(forest.value({"a": 7.0, "b": 7.0}), Forest(rows, [row["a"] * row["b"] for row in rows]).value({"a": 7.0, "b": 7.0}))
        self.assertAlmostEqual(Forest([{"a": 1.0}] * 3, [5.0] * 3).value({}), 5.0)

    def test_rivals_follow_rows(self):
        from lib import rival_predictors
        sizes = (8, 16, 32, 64, 128, 256)
        rows = [rival_predictors.Row(f"MatMul/13{{}}(f32[{m},64],f32c[64,{n}])->(f32[{m},{n}])", 2.0 * m * n * 64 / 50) for m in sizes for n in sizes]
        asked = [("MatMul/13{}(f32[64,64],f32c[64,64])->(f32[64,64])", 2), (RESHAPE, 1)]
        expected = 2 * 2 * 64**3 / 50
        for name, rival in rival_predictors.fitted(rows).items():
            self.assertLess(abs(rival_predictors.model_ns(rival, asked) / expected - 1), 0.6 if name == "forest" else 0.01, name)
        self.assertGreater(rival_predictors.model_ns(rival_predictors.fitted(rows)["forest"], [("Relu/14{}(f32[100000])->(&0)", 1)]), 0)


class FakeOplat:
    """Answers as the program does, from kernels that take 2 ns for each of their bytes."""

    calls = []
    missing = "kws_lstm_128"  # of which a kernel has no estimate

    def __init__(self, path):
        self.path = path

    def digest(self):
        return "d"

    def version(self):
        return "oplat 0"

    def json(self, *arguments, **_):
        if arguments[:2] == ("table", "info"):
            return {"populations": [{"device": {"cpu": "C", "cores": 2, "llc_bytes": 1 << 25, "memory_bytes": 1 << 34}}]}
        rows = [f"MatMul/13{{}}(f32[{m},64],f32c[64,{n}])->(f32[{m},{n}])" for m in (8, 64, 128) for n in (16, 32, 64)]
        return {"rows": [{"id": i, "key": key, "setting": {"threads": 1}, "timing": {"median_ns": 2 * keys.bytes_of(keys.parse_key(key))}} for i, key in enumerate(rows)]
                + [{"id": 99, "key": rows[0], "setting": {"threads": 1}, "outcome": "failed"}]}

    def timed_json(self, seconds, save, command, *arguments):
        self.calls.append((command, *map(str, arguments)))
        seconds["seconds"] = 3.0
        save()
        if command == "profile":
            return {"interrupted": False, "seconds": 1790, "space": {"expected_error_of_others": {"mean": 0.025, "kernels": 0.01, "composition": 0.01}}}
        return {"models": [{"latency_ns": 1e5, "ci_ns": [0.99e5, 1.01e5], "flags": []}]}

    def text(self, command, model, *_, **__):
        self.calls.append((command, model.name))
        key = "MatMul/13{}(f32[64,64],f32c[64,32])->(f32[64,32])"
        missing = [key] if model.stem == self.missing else []
        return json.dumps({"latency_ns": None if missing else 1.03e5, "interval_ns": None if missing else [0.9e5, 1.1e5], "missing": missing, "coverage": {"time": {"learned": 1.0}},
                           "kernels": [{"key": key, "count": 3}]})


class Unseen(unittest.TestCase):
    def test_the_whole_command_and_that_it_resumes(self):
        try:
            import numpy  # noqa: F401
        except ImportError:
            self.skipTest("numpy is missing; scripts/setup installs it in .venv")
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            options = argparse.Namespace(oplat="", settings=["fp32", "fp32-2t"], networks=["lenet", "kws_lstm_128"], table=folder / "t.oplat", whole=folder / "w.oplat", short=None, full=None,
                                         space="general-cpu", budget="30m", short_budget="5m", summary=None, within=60, rounds=2, skip_measuring=False, out=folder / "unseen.md")
            kept = unseen.Oplat, unseen.require_files
            unseen.Oplat, unseen.require_files = FakeOplat, lambda networks: None
            try:
                unseen.run(options)
                first = list(FakeOplat.calls)
                FakeOplat.calls.clear()
                unseen.run(options)
                again = list(FakeOplat.calls)
            finally:
                unseen.Oplat, unseen.require_files = kept
            page = (folder / "unseen.md").read_text(encoding="utf-8")
        self.assertEqual([call[0] for call in first], ["measure"] * 4 + ["profile"] * 2 + ["measure"] * 4 + ["predict"] * 2, "rows between the rounds")
        measured = [(Path(call[1]).stem, Path(call[3]).name, call[7]) for call in first if call[0] == "measure"]
        once = [("lenet", "1"), ("kws_lstm_128", "1"), ("lenet", "2"), ("kws_lstm_128", "2")]
        self.assertEqual(measured, [(name, table, threads) for table in ("w.oplat", "w-2.oplat") for name, threads in once], "two rounds, the second after all of the first")
        self.assertEqual(first[4][:7], ("profile", "--space", "general-cpu", "--runtime", "onnxruntime", "--threads", "1"))
        self.assertEqual(again, [], "measured and predicted already")
        for words in ("| within 5 %, fp32, 1 thread, 2 models | 50.0 % |", "| MAPE, fp32, 1 thread, 1 of 2 models | 3.00 % | <= 3.5 % | met |", "2.50 % over 3.00 %, a factor of 0.83 | 1/1.5 to 1.5 | met",
                      "| kws_lstm_128 | - |", "`oplat profile --space general-cpu`, 30m for each number of threads, measured 9 rows of kernels in 29.8 min"):
            self.assertIn(words, page.replace("\n", " "))


if __name__ == "__main__":
    unittest.main()
