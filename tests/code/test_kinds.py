"""What kind of place each language's syntax makes of a name. The expected rows are worked out by hand."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.code_index import kinds

PYTHON = '''\
"""Uses login."""
from auth import (
    login,
)
import app.login as other

login_url = 1
login = login_url


@login
@login("admin")
@auth.login
class Session(login):
    """Keeps a login."""

    login: int = 0

    def login(self, login=None) -> login:
        # login once
        self.login = f"{login} login"
        return (
            self.auth
            .login(login=1)
        )


if (login := Session().login):
    first, (login, *rest) = login
'''

JAVASCRIPT = """\
/** Calls login. */
const { login, logout: login2 } = require('./login');
import def, { login as l2 } from 'auth';
export { login } from './login';
export { login as other };
function login(login) { return login(); }
exports.login = login;
app.login = function login() { new login(); };
app.login = 5;
const users = { login: () => login, login() {}, other: login };
class Session { #login = 1; login() { return this.#login + auth.login?.(); } }
// login
const text = `login ${login} "login"`;
view = <Page login="login">login {login}</Page>;
"""

TYPESCRIPT = """\
import type { Login } from './types';
export interface Login<T> extends Base<Login> { login: Login; run(): Login }
type Other = Login | string;
enum Login { On }
abstract class A<T extends Login> implements Login { constructor(private login: Login) {} @Login() x: Login = 1; }
declare function f(x: Login): x is Login;
const g = (x: Login): Login => new Login<Login>(x as Login);
namespace Login { let v: typeof Login = <Login>x; }
"""

GO = """\
// Package login
package login

import "net/login"

// login keeps it.
type login struct{ login int }

const ( Login = login(1) )

func (s *Session) login(login int) (x login) {
	login := 1 // login
	s.login = login
	go s.auth.login(pkg.login{login: login})
	return login("login")
}

type I interface{ login() }
"""

RUST = """\
//! The login.
use auth::{login, other as login2};
/// A login.
#[derive(login)]
pub struct login<T: login> { pub login: login }
impl Trait for login<u8> {
    fn login(&self, login: login) -> Self {
        let (login, Some(login)) = x;
        self.login.login();
        Self::login::<u8>(login);
        login!(login(1), a.login, login);
        login { login: 1 } // login
    }
}
macro_rules! login { () => { "login" } }
"""

JAVA = """\
package com.login;
import com.login.Login;
/** A Login. */
@Login(1) public class Login<T extends Login> extends Base implements I<Login> {
  private Login login = new Login(login);
  public Login(Login login) { this.login = login; }
  Login login() { int login = 1; this.login(login); a.b.login().x(); return (Login) login; }
  enum E { login } // login "x"
  String s = "login";
}
"""

C = """\
#include "login.h"
#define login 1
#define OTHER(x) (login(x) + login)
/** login */
struct login { int login; struct login *next; };
typedef struct login login_t, login;
int login(int login);
static struct login *login(void) {
  int login = 2, *login2 = &login;
  t->login = login(login);
  t->login(1); // login
  return "login";
}
"""

CPP = """\
using namespace login;
namespace login { template <class T> class login : public login<T> { login(); void login(login x); }; }
void ns::Session::login(int x) { this->login(); login<int>(2); new login(3); auto [login, b] = x; }
struct login;
enum class login { login };
"""

C_SHARP = """\
using Login;
/// <summary>A Login.</summary>
[Login(1)] class Login<T> : Login where T : Login {
  Login login = new Login(login);
  public Login Login { get; set; }
  void login(Login login) { var login = 1; this.login(login); a?.login(); a.login<int>(1); x = a.login; }
  string s = $"login {login}" + @"login"; // login
}
"""

RUBY = """\
require 'login'
# Keeps the login.
class Login < Base
  include Login
  attr_reader :login, :other
  LOGIN = 1
  def login(login, key: login)
    @login ||= login
    login = obj.login
    obj.login = login(1)
    Login.new(:login)
    "login #{login}" # login
  end
  def login=(value); end
  def login?; end
  alias_method :login, :other
  before_action :login
end
"""

PHP = """\
<?php
use App\\Login;
require 'login.php';
/** A Login. */
class Login extends Base { use Login; const LOGIN = 1; private Login $login = 1;
  function login(Login $login) { $this->login = $login; $this->login(); self::login(); $login = new Login($login); }
}
function login() { return "login $login {$this->login()}"; }
define('login', login(1)); // login
"""

SHELL = """\
#!/bin/bash
source ./login.sh
login=1
# login first
login() { local login; login "$login" "${login}" 'login'; }
other | login --login
export login
cat <<END
login $login
END
"""

CASES = {
    "a.py": (
        PYTHON,
        "login",
        """1 doc; 3 import; 5 import; 8 definition; 11 reference; 12 call; 13 attribute; 14 reference in Session
        15 doc in Session; 17 definition in Session; 19 definition in Session; 19 reference in Session.login
        19 reference in Session.login; 20 comment in Session.login; 21 attribute in Session.login
        21 reference in Session.login; 21 string in Session.login; 24 call in Session.login
        24 reference in Session.login; 28 definition; 28 attribute; 29 definition; 29 reference""",
    ),
    "a.jsx": (
        JAVASCRIPT,
        "login",
        """1 doc; 2 import; 2 import; 3 import; 4 import; 4 import; 5 reference; 6 definition; 6 reference in login
        6 call in login; 7 definition; 7 reference; 8 definition; 8 definition in app.login; 8 call in app.login
        9 attribute; 10 definition; 10 reference in login; 10 definition; 10 reference; 11 definition in Session
        11 definition in Session; 11 attribute in Session.login; 11 call in Session.login; 12 comment; 13 string
        13 reference; 13 string; 14 reference; 14 string; 14 string; 14 reference""",
    ),
    "a.ts": (
        TYPESCRIPT,
        "Login",
        """1 import; 2 definition; 2 reference in Login; 2 reference in Login; 2 reference in Login; 3 reference
        4 definition; 5 reference in A; 5 reference in A; 5 reference in A.constructor; 5 call in A; 5 reference in A
        6 reference in f; 6 reference in f; 7 reference in g; 7 reference in g; 7 call in g; 7 reference in g
        7 reference in g; 8 definition; 8 reference in Login; 8 reference in Login""",
    ),
    "a.go": (
        GO,
        "login",
        """1 doc; 2 reference; 4 import; 6 doc; 7 definition; 7 definition in login; 9 call; 11 definition in Session
        11 reference in Session.login; 11 reference in Session.login; 12 definition in Session.login
        12 comment in Session.login; 13 attribute in Session.login; 13 reference in Session.login
        14 call in Session.login; 14 reference in Session.login; 14 reference in Session.login
        14 reference in Session.login; 15 call in Session.login; 15 string in Session.login; 18 definition in I""",
    ),
    "a.rs": (
        RUST,
        "login",
        """1 doc; 2 import; 3 doc; 4 reference; 5 definition; 5 reference in login; 5 definition in login
        5 reference in login; 6 reference in login; 7 definition in login; 7 reference in login.login
        7 reference in login.login; 8 definition in login.login; 8 definition in login.login
        9 attribute in login.login; 9 call in login.login; 10 call in login.login; 10 reference in login.login
        11 call in login.login; 11 call in login.login; 11 attribute in login.login; 11 reference in login.login
        12 reference in login.login; 12 reference in login.login; 12 comment in login.login; 15 definition
        15 string in login""",
    ),
    "A.java": (
        JAVA,
        "login",
        """1 reference; 2 import; 5 definition in Login; 5 reference in Login; 6 reference in Login.Login
        6 attribute in Login.Login; 6 reference in Login.Login; 7 definition in Login; 7 definition in Login.login
        7 call in Login.login; 7 reference in Login.login; 7 call in Login.login; 7 reference in Login.login
        8 definition in Login.E; 8 comment in Login; 9 string in Login""",
    ),
    "B.java": (
        JAVA,
        "Login",
        """2 import; 3 doc; 4 reference in Login; 4 definition; 4 reference in Login; 4 reference in Login
        5 reference in Login; 5 call in Login; 6 definition in Login; 6 reference in Login.Login
        7 reference in Login.login; 7 reference in Login.login""",
    ),
    "a.c": (
        C,
        "login",
        """1 import; 2 definition; 3 call; 3 reference; 4 doc; 5 definition; 5 definition in login; 5 reference in login
        6 reference; 6 definition; 7 definition; 7 reference; 8 reference in login; 8 definition
        9 definition in login; 9 reference in login; 10 attribute in login; 10 call in login; 10 reference in login
        11 call in login; 11 comment in login; 12 string in login""",
    ),
    "a.cpp": (
        CPP,
        "login",
        """1 import; 2 definition; 2 definition in login; 2 reference in login.login; 2 definition in login.login
        2 definition in login.login; 2 reference in login.login; 3 definition in ns.Session
        3 call in ns.Session.login; 3 call in ns.Session.login
        3 call in ns.Session.login; 3 definition in ns.Session.login; 4 reference; 5 definition
        5 definition in login""",
    ),
    "a.cs": (
        C_SHARP,
        "login",
        """4 definition in Login; 4 reference in Login; 6 definition in Login; 6 reference in Login.login
        6 definition in Login.login; 6 call in Login.login; 6 reference in Login.login; 6 call in Login.login
        6 call in Login.login; 6 attribute in Login.login; 7 string in Login; 7 reference in Login; 7 string in Login
        7 comment in Login""",
    ),
    "b.cs": (
        C_SHARP,
        "Login",
        """1 import; 2 doc; 3 reference in Login; 3 definition; 3 reference in Login; 3 reference in Login
        4 reference in Login; 4 call in Login; 5 reference in Login.Login; 5 definition in Login
        6 reference in Login.login""",
    ),
    "a.rb": (
        RUBY,
        "login",
        """1 import; 2 doc; 5 definition in Login; 7 definition in Login; 7 reference in Login.login
        7 reference in Login.login; 8 attribute in Login.login; 8 reference in Login.login
        9 definition in Login.login; 9 call in Login.login; 10 attribute in Login.login; 10 call in Login.login
        11 reference in Login.login; 12 string in Login.login; 12 reference in Login.login; 12 comment in Login.login
        14 definition in Login; 15 other in Login.login?; 16 definition in Login; 17 reference in Login""",
    ),
    "b.rb": (RUBY, "Login", "3 definition; 4 reference in Login; 11 call in Login.login"),
    "c.rb": (RUBY, "login?", "15 definition in Login"),
    "a.php": (
        PHP,
        "login",
        """3 import; 5 definition in Login; 6 definition in Login; 6 reference in Login.login
        6 attribute in Login.login; 6 reference in Login.login; 6 call in Login.login; 6 call in Login.login
        6 definition in Login.login; 6 reference in Login.login; 8 definition; 8 string in login
        8 reference in login; 8 call in login; 9 definition; 9 call; 9 comment""",
    ),
    "b.php": (
        PHP,
        "Login",
        """2 import; 4 doc; 5 definition; 5 reference in Login; 5 reference in Login; 6 reference in Login.login
        6 call in Login.login""",
    ),
    "a.sh": (
        SHELL,
        "login",
        """2 import; 3 definition; 4 doc; 5 definition; 5 definition in login; 5 call in login; 5 reference in login
        5 reference in login; 5 string in login; 6 call; 6 other; 7 reference; 9 string; 9 reference""",
    ),
}


@pytest.mark.parametrize("path", CASES)
def test_each_place_of_a_name_has_its_kind_and_scope(path: str) -> None:
    source, name, expected = CASES[path]
    assert kinds(path, source, name) == [row.strip() for row in expected.replace("\n", ";").split(";")]


def test_a_name_with_a_sigil_is_found_as_written() -> None:
    assert kinds("a.php", "<?php $user = 1; user($user);", "$user") == ["1 definition", "1 reference"]
    assert kinds("a.js", "const $user = 1; user($user, user);", "$user") == ["1 definition", "1 reference"]


def test_a_dollar_is_a_letter_where_it_marks_no_variable() -> None:
    assert kinds("a.js", "const $user = 1; user($user);", "user") == ["1 call"]
    assert kinds("a.sh", 'echo "$user" $user_id', "user") == ["1 reference"]


def test_a_private_name_is_found_with_and_without_its_mark() -> None:
    source = "class A { #key = 1; get() { return this.#key; } }"
    assert (
        kinds("a.js", source, "#key") == kinds("a.js", source, "key") == ["1 definition in A", "1 attribute in A.get"]
    )


def test_documents_are_docs_and_data_is_other() -> None:
    assert kinds("README.md", "# login\n\ncall `login()`\n", "login") == ["1 doc", "3 doc"]
    assert kinds("docs/index.rst", ".. function:: login\n", "login") == ["1 doc"]
    assert kinds("CHANGELOG", "login\n", "login") == ["1 doc"]
    assert kinds("app.json", '{"login": 1}\n', "login") == ["1 other"]
    assert kinds("requirements.txt", "login==1\n", "login") == ["1 other"]


def test_languages_without_a_grammar_are_read_by_words() -> None:
    source = 'import login\nfun login() {}\nval x = a.login + login(1) // login\nlogin = "login"\n'
    assert kinds("a.kt", source, "login") == [
        "1 import",
        "2 definition",
        "3 attribute",
        "3 call",
        "3 comment",
        "4 definition",
        "4 string",
    ]


def test_a_script_without_a_suffix_is_known_by_its_first_line() -> None:
    assert kinds("bin/run", "#!/usr/bin/env python3\nlogin()\n", "login") == ["2 call"]
    assert kinds("bin/run", "#!/bin/sh\nlogin now\n", "login") == ["2 call"]
    assert kinds("bin/run", "login()\n", "login") == ["1 other"]


def test_a_header_with_classes_is_read_as_cpp() -> None:
    assert kinds("a.h", "class login { void run(); };\nclass B : public login {};\n", "login") == [
        "1 definition",
        "2 reference in B",
    ]
    assert kinds("a.h", "struct login;\nint login(void);\n", "login") == ["1 reference", "2 definition"]


def test_only_the_grammar_of_the_language_at_hand_is_loaded() -> None:
    script = (
        "import sys\n"
        "from orchestrator.code.occurrences import occurrences_in\n"
        "occurrences_in('a.md', b'key', 'key')\n"
        "assert 'tree_sitter' not in sys.modules\n"
        "occurrences_in('a.py', b'key', 'key')\n"
        "print(*sorted(name for name in sys.modules if name.startswith('tree_sitter_') and '.' not in name))\n"
    )
    root = str(Path(__file__).resolve().parents[2])
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": root},
    )
    assert done.stdout.split() == ["tree_sitter_python"]
