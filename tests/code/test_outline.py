"""The definitions of a file, per language. The expected rows are worked out by hand."""

from __future__ import annotations

import ast
import sys
import sysconfig
from pathlib import Path

import pytest

from orchestrator.code.outline import symbols_in

CASES = {
    "a.py": (
        '''\
"""Module."""
LIMIT = 3
name: str = ""

@decorated
class Session(Base, metaclass=Meta):
    """Keeps a connection.

    More.
    """
    retries = 2

    async def send(
        self,  # the session
        request: int | None,
    ) -> None:
        """Send it."""
        local = 1
        def inner(): pass
        # trailing comment


def main():
    pass
''',
        """\
2-2 constant LIMIT | LIMIT = 3
3-3 variable name | name: str = ""
6-19 class Session | class Session(Base, metaclass=Meta): | Keeps a connection.
11-11 field Session.retries | retries = 2
13-19 method Session.send | async def send( self, request: int | None, ) -> None: | Send it.
19-19 function Session.send.inner | def inner():
23-24 function main | def main():
""",
    ),
    "a.js": (
        """\
// Keeps it.
export default class Session extends Base {
  retries = 2;
  static async send(request) {
    const local = 1;
  }
}
const limit = 3, fs = require('fs');
const log = (text) => print(text);
app.handle = function handle(req, res) {};
exports.start = () => {};
Router.prototype.use = function (fn) {};
describe('x', function () { var inner = 1; function helper() {} });
""",
        """\
2-7 class Session | export default class Session extends Base | Keeps it.
3-3 field Session.retries | retries = 2
4-6 method Session.send | static async send(request)
8-8 constant limit | const limit = 3
9-9 function log | const log = (text)
10-10 method app.handle | app.handle = function handle(req, res)
11-11 function start | exports.start = ()
12-12 method Router.use | Router.prototype.use = function (fn)
13-13 function helper | function helper()
""",
    ),
    "a.ts": (
        """\
/**
 * A user.
 */
export interface User extends Base { name: string; rename(to: string): void }
type Id = string | number;
enum Color { Red }
abstract class Shape<T extends Id> implements Drawn { abstract area(): number; private size: Id = 1; }
function over(a: string): void;
namespace Inner { export function deep() {} }
""",
        """\
4-4 interface User | export interface User extends Base | A user.
5-5 type Id | type Id = string | number
6-6 enum Color | enum Color
7-7 class Shape | abstract class Shape<T extends Id> implements Drawn
7-7 method Shape.area | abstract area(): number
7-7 field Shape.size | private size: Id = 1
8-8 function over | function over(a: string): void
9-9 namespace Inner | namespace Inner
9-9 function Inner.deep | function deep()
""",
    ),
    "a.go": (
        """\
package x

// Server serves.
type Server struct {
	port int
}

const Limit = 3

var log = New()

type Handler interface {
	Handle(r int) error
}

// Start starts.
func (s *Server[T]) Start(port int) (err error) {
	x := 1
	return nil
}
""",
        """\
4-6 struct Server | type Server struct | Server serves.
8-8 constant Limit | const Limit = 3
10-10 variable log | var log = New()
12-14 interface Handler | type Handler interface
13-13 method Handler.Handle | Handle(r int) error
17-20 method Server.Start | func (s *Server[T]) Start(port int) (err error) | Start starts.
""",
    ),
    "a.rs": (
        """\
/// A server.
#[derive(Debug)]
pub struct Server<T> {
    port: u16,
}
impl<T> Server<T> {
    pub fn start(&self) -> u8 { let x = 1; 2 }
}
impl fmt::Display for Server<u8> { fn fmt(&self) {} }
trait Run: Send { fn run(&self); }
const LIMIT: u8 = 3;
mod inner { fn deep() {} }
macro_rules! say { () => {} }
""",
        """\
3-5 struct Server | pub struct Server<T> | A server.
7-7 method Server.start | pub fn start(&self) -> u8
9-9 impl Server | impl fmt::Display for Server<u8>
9-9 method Server.fmt | fn fmt(&self)
10-10 trait Run | trait Run: Send
10-10 method Run.run | fn run(&self)
11-11 constant LIMIT | const LIMIT: u8 = 3
12-12 module inner | mod inner
12-12 function inner.deep | fn deep()
13-13 macro say | macro_rules! say { () => {} }
""",
    ),
    "A.java": (
        """\
/** Serves. */
@Entity("x")
public class Server extends Base implements Run {
  @Inject
  private static final int PORT = 1;
  @Override
  public void run(int port) throws Error {
    int local = 1;
  }
  interface Inner { void go(); }
  enum Mode { ON }
  record Point(int x) implements Shape {}
}
""",
        """\
3-13 class Server | public class Server extends Base implements Run | Serves.
5-5 field Server.PORT | private static final int PORT = 1
7-9 method Server.run | public void run(int port) throws Error
10-10 interface Server.Inner | interface Inner
10-10 method Server.Inner.go | void go()
11-11 enum Server.Mode | enum Mode
12-12 record Server.Point | record Point(int x) implements Shape
""",
    ),
    "a.c": (
        """\
#define LIMIT 3
/* A point. */
struct point {
  int x;
};
typedef unsigned int size;
static int count = 0;
int start(int port);
static struct point *
stop(void)
{
  int local;
}
""",
        """\
1-1 macro LIMIT | #define LIMIT 3
3-5 struct point | struct point | A point.
4-4 field point.x | int x
6-6 type size | typedef unsigned int size
7-7 variable count | static int count = 0
8-8 function start | int start(int port)
10-13 function stop | static struct point * stop(void)
""",
    ),
    "a.cpp": (
        """\
namespace app {
template <class T>
class Server : public Base<T>, private Log {
 public:
  Server();
  int port;
  virtual void run() const override;
};
void Server::stop(int code) { int local; }
using Size = int;
}
""",
        """\
1-11 namespace app | namespace app
3-8 class app.Server | class Server : public Base<T>, private Log
5-5 method app.Server.Server | Server()
6-6 field app.Server.port | int port
7-7 method app.Server.run | virtual void run() const override
9-9 method app.Server.stop | void Server::stop(int code)
10-10 type app.Size | using Size = int
""",
    ),
    "a.cs": (
        """\
namespace App;
/// <summary>
/// Serves.
/// </summary>
[Serializable]
public class Server<T> : Base, IRun where T : Base {
  private int port = 1;
  public int Port { get; set; }
  public Server(int port) : base(port) { var local = 1; }
  void Run() { void Inner() {} }
}
delegate void Done(int code);
""",
        """\
6-11 class Server | public class Server<T> : Base, IRun where T : Base | Serves.
7-7 field Server.port | private int port = 1
8-8 property Server.Port | public int Port { get; set; }
9-9 method Server.Server | public Server(int port) : base(port)
10-10 method Server.Run | void Run()
10-10 function Server.Run.Inner | void Inner()
12-12 type Done | delegate void Done(int code)
""",
    ),
    "a.rb": (
        """\
# Serves.
module App
  class Server < Base
    LIMIT = 3
    name = 1
    def start(port = 1)
      local = 1
    end
    def self.stop; end
    def ready?
    end
  end
end
""",
        """\
2-13 module App | module App | Serves.
3-12 class App.Server | class Server < Base
4-4 constant App.Server.LIMIT | LIMIT = 3
6-8 method App.Server.start | def start(port = 1)
9-9 method App.Server.stop | def self.stop; end
10-11 method App.Server.ready? | def ready?
""",
    ),
    "a.php": (
        """\
<?php
/** Serves. */
#[Attr]
final class Server extends Base implements Run {
  const LIMIT = 3;
  private ?int $port = 1;
  public function start(int $port): void { $local = 1; }
}
interface Run { function run(); }
function main() {}
""",
        """\
4-8 class Server | final class Server extends Base implements Run | Serves.
5-5 constant Server.LIMIT | const LIMIT = 3
6-6 field Server.port | private ?int $port = 1
7-7 method Server.start | public function start(int $port): void
9-9 interface Run | interface Run
9-9 method Run.run | function run()
10-10 function main | function main()
""",
    ),
    "a.sh": (
        """\
LIMIT=3
# Starts it.
start() {
  local port=1
}
function stop { :; }
""",
        """\
1-1 variable LIMIT | LIMIT=3
3-5 function start | start() | Starts it.
6-6 function stop | function stop
""",
    ),
    "README.md": (
        """\
# The tool
```sh
# no heading
```
## How to *use* it

Older
-----
""",
        """\
1-1 section the-tool | The tool
5-5 section how-to-use-it | How to *use* it
7-7 section older | Older
""",
    ),
}


def outline(path: str, source: str) -> str:
    rows = []
    for symbol in symbols_in(path, source.encode()):
        parts = [f"{symbol.line}-{symbol.end_line} {symbol.kind} {symbol.qualified}", symbol.signature, symbol.doc]
        rows.append(" | ".join(filter(None, parts)) + "\n")
    return "".join(rows)


@pytest.mark.parametrize("path", CASES)
def test_a_file_is_outlined(path: str) -> None:
    source, expected = CASES[path]
    assert outline(path, source) == expected


def test_the_lines_that_a_symbol_is_made_from_are_kept_as_they_are() -> None:
    symbol = symbols_in("a.py", CASES["a.py"][0].encode())[4]
    assert symbol.lines == (
        (13, "    async def send("),
        (14, "        self,  # the session"),
        (15, "        request: int | None,"),
        (16, "    ) -> None:"),
        (17, '        """Send it."""'),
    )


@pytest.mark.parametrize("module", ["argparse", "configparser", "dataclasses", "inspect", "typing"])
def test_functions_and_classes_agree_with_the_parser_of_python(module: str) -> None:
    path = Path(sysconfig.get_path("stdlib")) / f"{module}.py"
    data = path.read_bytes()
    found = {
        (symbol.qualified, symbol.line, symbol.end_line, symbol.doc.rstrip("…"))
        for symbol in symbols_in(str(path), data)
        if symbol.kind in ("function", "method", "class")
    }
    assert found == set(_by_ast(ast.parse(data), ""))
    assert len(found) > 20, sys.version


def _by_ast(node: ast.AST, prefix: str) -> list[tuple[str, int, int, str]]:
    rows = []
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            lines = (ast.get_docstring(child) or "").strip().splitlines() or [""]
            rows.append((prefix + child.name, child.lineno, child.end_lineno or 0, lines[0].strip()[:199]))
            rows += _by_ast(child, f"{prefix}{child.name}.")
        else:
            rows += _by_ast(child, prefix)
    return rows
