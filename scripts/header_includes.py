# SPDX-License-Identifier: Apache-2.0
"""Which headers of the standard library a header of ours names something of and does not include.

Nearly every header brings <string> along, and each precompiled header brings all of them: a
compiler does not see that one is missing. So the text is read.
"""
import re

# What a header is looked at for, by the name after std::.
NAMES = {
    "algorithm": "sort max min find_if all_of any_of clamp nth_element reverse",
    "array": "array",
    "atomic": "atomic",
    "bit": "bit_cast endian",
    "chrono": "chrono",
    "cmath": "sqrt exp log pow isfinite isnan",
    "cstdint": "uint8_t uint16_t uint32_t uint64_t int8_t int16_t int32_t int64_t uintptr_t",
    "cstring": "memcpy memcmp",
    "deque": "deque",
    "filesystem": "filesystem",
    "functional": "function reference_wrapper less greater hash",
    "initializer_list": "initializer_list",
    "limits": "numeric_limits",
    "map": "map multimap",
    "memory": "unique_ptr shared_ptr weak_ptr make_unique make_shared",
    "mutex": "mutex lock_guard unique_lock once_flag call_once",
    "optional": "optional nullopt nullopt_t make_optional",
    "set": "set multiset",
    "span": "span",
    "string": "string to_string getline",
    "string_view": "string_view",
    "system_error": "error_code",
    "thread": "thread",
    "tuple": "tuple tie",
    "type_traits": "is_same_v enable_if_t decay_t remove_cvref_t",
    "unordered_map": "unordered_map",
    "unordered_set": "unordered_set",
    "utility": "pair move forward exchange swap",
    "variant": "variant monostate visit get_if holds_alternative",
    "vector": "vector",
}
HEADER_OF = {name: header for header, names in NAMES.items() for name in names.split()}
# by namespace; base/result.hpp has others
LIBRARIES = {"nlohmann": "nlohmann/", "Eigen": "Eigen/", "nb": "nanobind/"}
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]', re.MULTILINE)
COMMENT = re.compile(r"//[^\n]*")
STRING = re.compile(r'R"\((?:.|\n)*?\)"|"(?:\\.|[^"\\\n])*"')
def code_of(text):
    return STRING.sub('""', COMMENT.sub("", text))


def lacking(text):
    """The headers of the standard library and others that a header names something of and does not
    include."""
    included = {name for _, name in INCLUDE.findall(text)}
    code = code_of(text)
    wanted = {HEADER_OF.get(name) for name in re.findall(r"\bstd::(\w+)", code)} - included - {None}
    for namespace, header in LIBRARIES.items():
        if re.search(rf"(?<!:)\b{namespace}::", code) and not any(name.startswith(header) for name in included):
            wanted.add(header)
    return sorted(wanted)
