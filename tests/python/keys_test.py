# SPDX-License-Identifier: Apache-2.0
"""Keys as Python objects: what liboplat_worker reads is printed again, byte for byte."""
import unittest

from oplat.workers.keys import Alias, Key, Tensor, parse

KEYS = (
    "Relu/14{}(f32[1,64,56,56])->(&0)",
    "com.microsoft.nchwc:Conv/1@block=16{activation=Relu,dilations=[1,1],group=1,pads=[1,1,1,1]}"
    "(f32[1,64,56,56],f32c[64,64,3,3],f32c[64],f32[1,64,56,56])->(&3)",
    "Slice/13{}(f32[1,7,14,384],i64c[1]=[1],i64c[1]=[9223372036854775807],i64c[1]=[2])->(f32[1,7,7,384])",
    'torch:module{class="nets.Block",repr="Block(\\n  (conv1): Conv2d(64, 64)\\n)"}(f32[1,64,56,56])->(f32[1,128,28,28])',
    "paddle_lite:conv2d{activation=?,dilations=[?,1],quant=None}(f32[?,3,224,224],f32c[24,3,3,3])->(f32[1,24,112,112])",
    "LSTM/14{}(f32[20,4,64],-,f32c[],&0)->(f32[20,1,4,512],-,-)",
    "a:b@x=1e-05@y=[]{alpha=-2.5,list=[[1],[2.0,nan]],word=\"inf\"}(i64c[2]=7)->()",
)


class Keys(unittest.TestCase):
    def test_parse_and_print_are_inverse(self):
        for text in KEYS:
            self.assertEqual(str(parse(text)), text)

    def test_parts(self):
        key = parse(KEYS[4])
        self.assertIsNone(key.attributes["activation"])
        self.assertEqual(key.operands[1], Tensor("f32", [24, 3, 3, 3], True))
        self.assertIsNone(key.operands[0].dims[0])
        self.assertEqual(parse(KEYS[0]).result(0), Tensor("f32", [1, 64, 56, 56]))
        slice_ = parse(KEYS[2])
        self.assertEqual((slice_.since, slice_.operands[2]), (13, Tensor("i64", [1], True, [9223372036854775807])))
        lstm = parse(KEYS[5])
        self.assertEqual((lstm.operands[1], lstm.operands[3], lstm.operand(3)), (None, Alias(0), Tensor("f32", [20, 4, 64])))
        self.assertEqual(parse(KEYS[6]).tags, {"x": 1e-5, "y": []})

    def test_names_are_sorted(self):
        self.assertEqual(str(Key("paddle", "relu", {"b": True, "a": 1}, [Tensor("f32", [1])], [Alias(0)])),
                         "paddle:relu{a=1,b=true}(f32[1])->(&0)")

    def test_values_keep_their_kind(self):
        for value, text in ((1e-5, "1e-05"), (1e5, "1e+05"), (1.0, "1.0"), (-0.0, "-0.0"), (100000.5, "100000.5"), (0.16666667, "0.16666667"),
                            (1e22, "1e+22"), (float("inf"), "inf"), (float("nan"), "nan"), ("inf", '"inf"'), (6, "6"), ([[1.5], []], "[[1.5],[]]"),
                            ("a b", '"a b"'), (None, "?"), (False, "false")):
            key = f"R{{a={text}}}()->()"
            self.assertEqual(str(Key("", "R", {"a": value})), key)
            self.assertEqual(str(parse(key)), key)

    def test_what_is_not_a_key_is_named(self):
        for text in ("", "Relu", "Relu{}", "Relu{}()", "Relu{}(f32[1])->(&5)", "Relu{}(f32[1)->()", "Relu{a}()->()", "R{}(f32[1])->(&0)x",
                     "R{a=" + "[" * 40 + "]" * 40 + "}()->()", 'R{a="x}()->()', "R{}()->()\0", "R{b=1,a=1}()->()"):
            with self.assertRaises(ValueError, msg=text):
                parse(text)
        with self.assertRaisesRegex(ValueError, r"operands\[0\].*f31"):
            str(Key("", "R", {}, [Tensor("f31", [1])]))


if __name__ == "__main__":
    unittest.main()
