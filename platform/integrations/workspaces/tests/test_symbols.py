"""What source files define is found by their syntax, in each of the languages, whatever else a
stranger has written."""

import time

import pytest

from integrations.workspaces.symbols import Symbol, symbols_in, symbols_of

SOURCES = {
    "a.py": """\
MAX: int = 3
log = 1
class A(B):
    @property
    def m(self):
        def inner(): pass
@deco
async def f(): pass
try:
    import y
except ImportError:
    class Y: pass
""",
    "a.ts": """\
export const A = 1, B = () => 2;
const hidden = 3;
export default class C<T> { m(): void {} }
export interface I { a: string }
type T = string;
export enum E { A }
export { hidden as shown };
namespace N { export function r() {} }
""",
    "a.tsx": "export const App: FC = () => <div>{x}</div>;",
    "a.jsx": """\
class K { m() { return <p/> } }
var f = function() {};
function g() {}
""",
    "a.go": """\
package main
const Max, low = 1, 2
type S struct { a int }
func main() {}
func (s *S) Method() {}
func Gen[T any](t T) T { return t }
""",
    "a.rs": """\
pub struct P { a: i32 }
pub trait T { fn b(&self) {} }
impl T for P { fn a(&self) {} }
mod m { pub fn inner() {} }
macro_rules! mac { () => {} }
""",
    "A.java": """\
public class A<T> { A() {}
  void m() {}
  static class In { void n() {} } }
enum En { X; void k() {} }
""",
    "a.h": """\
#ifndef A_H
#define A_H
#define MAX 3
typedef struct { int a; } node_t;
struct foo *mk(void);
static int f(int a) { return a; }
int var;
#endif
""",
    "a.rb": """\
module M
  X = 1
  class A < B
    def m; end
    def self.s; end
  end
end
""",
    "a.php": """\
<?php
namespace App\\Models;
class A { const C = 1; function m() {} }
function f() {}
""",
}

SYMBOLS = {
    "a.py": "constant MAX 1, class A 3, method m 5, function f 8, class Y 12",
    "a.ts": "constant A 1, function B 1, class C 3, method m 3, interface I 4, type T 5, "
    "type E 6, export shown 7, module N 8, function r 8",
    "a.tsx": "function App 1",
    "a.jsx": "class K 1, method m 1, function f 2, function g 3",
    "a.go": "constant Max 2, type S 3, function main 4, method Method 5, function Gen 6",
    "a.rs": "type P 1, interface T 2, method b 2, method a 3, module m 4, function inner 4, "
    "function mac 5",
    "A.java": "class A 1, method A 1, method m 2, class In 3, method n 3, class En 4, method k 4",
    "a.h": "constant MAX 3, type node_t 4, function mk 5, function f 6",
    "a.rb": "module M 1, constant X 2, class A 3, method m 4, method s 5",
    "a.php": "module App\\Models 2, class A 3, constant C 3, method m 3, function f 4",
}


def written(symbols: list[Symbol]) -> str:
    return ", ".join(f"{each.kind} {each.name} {each.line}" for each in symbols)


def test_what_files_define_is_found_in_each_language() -> None:
    found = symbols_in(SOURCES)
    assert {path: written(symbols) for path, symbols in found.items()} == SYMBOLS


def test_a_broken_file_has_the_symbols_around_the_fault() -> None:
    assert written(symbols_of("bad.py", "def (:\n\n\nclass Q:\n    pass\n")) == "class Q 4"


@pytest.mark.parametrize("path", ["notes.txt", "Makefile", "style.css", "a.py.orig"])
def test_a_file_of_no_known_language_has_none(path: str) -> None:
    assert symbols_of(path, "class Q: pass") == []


def test_a_file_with_thousands_of_names_has_a_bounded_number_of_them() -> None:
    text = "".join(f"def f{number}(): pass\n" for number in range(5_000))
    found = symbols_of("many.py", text)
    assert len(found) == 400
    assert found[0] == Symbol("f0", "function", 1)


def test_files_that_break_or_stall_a_parser_cost_their_own_symbols_alone() -> None:
    """Unbounded, the first of them takes all memory of the machine, and the others a minute."""
    hostile = {
        "memory.tsx": "a<b," * 100_000,
        "quotes.go": '"' * 400_000,
        "nested.py": "(" * 400_000,
        "deep.c": "{" * 400_000,
    }
    files = {"first.py": "def first(): pass", **hostile, "last.py": "def last(): pass"}
    began = time.monotonic()
    found = symbols_in(files)
    assert found["first.py"] == [Symbol("first", "function", 1)]
    assert found["last.py"] == [Symbol("last", "function", 1)]
    assert time.monotonic() - began < 10


def test_a_null_in_the_text_is_no_obstacle() -> None:
    assert symbols_of("odd.py", "def f(): pass\n\0\n") == [Symbol("f", "function", 1)]
