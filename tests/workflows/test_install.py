"""``make env`` says how far it is, installs by uv with pip's configuration, and by pip where that is not possible."""

import json
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from ci.install import for_uv, unknown_to_uv
from tests.layers.modules import ROOT

RECORD = """
import json, os, pathlib, sys
with pathlib.Path("commands").open("a") as file:
    file.write(json.dumps([NAME, sys.argv[1:], dict(os.environ)]) + "\\n")
"""
SLOW_PIP = """
import time
print("Collecting numpy==2.1.0 (from -r lock)", flush=True)
time.sleep(1)
print("Installing collected packages: numpy", flush=True)
time.sleep(1)
"""
SLOW_UV = """
import time
print("Downloading numpy (16MiB)", file=sys.stderr, flush=True)
time.sleep(1)
print("Prepared 2 packages in 1s", flush=True)
time.sleep(1)
"""
LOCK = "numpy==2.1.0 \\\n    --hash=sha256:0\nscipy==1.14.1 ; sys_platform == 'linux' \\\n    --hash=sha256:1\n"


class Installers:
    """A pip and a uv that record their commands and do what a test says."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "lock").write_text(LOCK)
        self.does(pip="", uv="")

    def does(self, *, pip: str, uv: str, get_uv: str = "", config: str = "") -> None:
        branches = f"""
if sys.argv[1] == "config":
    print({config!r})
    sys.exit()
if any(word.endswith("installer.lock") for word in sys.argv):
    exec({get_uv!r})
    sys.exit()
"""
        for name, script in (("pip", branches + pip), ("uv", uv)):
            (self.folder / name).mkdir(exist_ok=True)
            (self.folder / name / "__init__.py").touch()
            (self.folder / name / "__main__.py").write_text(f"NAME = {name!r}\n{RECORD}\n{script}")

    def run(self, pause: float = 5.0) -> subprocess.CompletedProcess[str]:
        program = f"import sys; sys.path.insert(0, {str(ROOT / 'ci')!r}); import install; from pathlib import Path"
        command = [sys.executable, "-c", f"{program}; sys.exit(install.main([Path('lock')], {pause}))"]
        environment = {"PYTHONPATH": str(self.folder), "PATH": ""}
        return subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False)

    def installs(self) -> list[tuple[str, list[str], dict[str, str]]]:
        """The commands that installed something, with their variables."""
        lines = (self.folder / "commands").read_text().splitlines()
        return [(name, words, given) for name, words, given in map(json.loads, lines) if words[0] != "config"]


@pytest.fixture
def installers(tmp_path: Path) -> Installers:
    return Installers(tmp_path)


def test_pip_installs_the_pinned_uv_and_uv_the_rest(installers: Installers) -> None:
    done = installers.run()
    assert (done.returncode, done.stderr) == (0, "")
    assert re.fullmatch(r"Installing 2 packages\n  done in \d s\n", done.stdout)
    (first, get_uv, _), (second, install, given) = installers.installs()
    assert (first, second) == ("pip", "uv")
    assert {"--require-hashes", "--only-binary=:all:", "--no-deps"} <= set(get_uv)
    assert get_uv[-1] == str(ROOT / "ci/installer.lock")
    assert install == ["pip", "install", "--python", sys.executable, "--require-hashes", "-r", "lock"]
    assert given["UV_SYSTEM_CERTS"] == "1"


def test_progress_is_told_while_uv_is_silent(installers: Installers) -> None:
    installers.does(pip="", uv=SLOW_UV)
    done = installers.run(0.1)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Installing 2 packages\n")
    assert "  downloading numpy (" in done.stdout
    assert "  unpacking 2 packages (" in done.stdout


def test_progress_is_told_while_pip_is_silent(installers: Installers) -> None:
    installers.does(pip=SLOW_PIP, uv="", get_uv="sys.exit('ERROR: No matching distribution found for uv')")
    done = installers.run(0.1)
    assert done.returncode == 0, done.stderr
    assert "  package 1 of up to 2: numpy (" in done.stdout
    assert "  unpacking 1 packages (" in done.stdout
    assert "  done in " in done.stdout


@pytest.mark.parametrize(
    ("does", "reason"),
    [
        (
            {"get_uv": "print('x', flush=True); sys.exit('ERROR: No matching distribution found for uv==1')"},
            "uv cannot be installed: ERROR: No matching distribution found for uv==1",
        ),
        ({"uv": "sys.exit('error: 401 Unauthorized')"}, "uv failed:\nerror: 401 Unauthorized"),
        ({"config": "global.constraint='c.txt'"}, "uv has no counterpart of what pip is configured for: constraint"),
    ],
    ids=["no wheel", "failed", "an option of pip alone"],
)
def test_pip_installs_where_uv_does_not(does: Mapping[str, str], reason: str, installers: Installers) -> None:
    installers.does(**{"pip": "", "uv": "", **does})
    done = installers.run()
    assert (done.returncode, done.stderr) == (0, "")
    assert f"  {reason}\n  pip installs instead; the first time this takes a few minutes\n" in done.stdout
    name, words, _ = installers.installs()[-1]
    assert name == "pip"
    assert "--require-hashes" in words
    assert words[-2:] == ["-r", "lock"]


@pytest.mark.parametrize("code", [1, 2])
def test_where_both_fail_the_words_of_pip_are_shown(installers: Installers, code: int) -> None:
    message = "print('x\\n' * 100, flush=True)\nprint('ERROR: hashes differ', file=sys.stderr)"
    installers.does(pip=f"{message}\nsys.exit({code})\n", uv="sys.exit(1)")
    done = installers.run()
    assert done.returncode == code
    assert done.stderr.endswith("ERROR: hashes differ\n")
    assert len(done.stderr.splitlines()) == 40


def test_the_section_of_install_is_preferred_and_variables_to_both(installers: Installers) -> None:
    """As https://pip.pypa.io/en/stable/topics/configuration describes it."""
    config = [
        ":env:.index-url='https://mirror.example/from-variable'",
        "install.index-url='https://mirror.example/install'",
        "global.index-url='https://mirror.example/global'",
        "install.trusted-host='mirror.example'",
        "global.trusted-host='other.example'",
        "list.format='columns'",
    ]
    installers.does(pip="", uv="", config="\n".join(config))
    assert installers.run().returncode == 0
    name, words, given = installers.installs()[-1]
    assert name == "uv"
    assert given["UV_DEFAULT_INDEX"] == "https://mirror.example/from-variable"
    assert given["UV_INSECURE_HOST"] == "mirror.example"
    assert not any("mirror.example" in word for word in words)


def test_everything_that_pip_is_configured_for_reaches_uv() -> None:
    words, variables = for_uv(
        {
            "index-url": "https://user:password@mirror.example/simple",
            "extra-index-url": "\nhttps://one.example/simple\nhttps://two.example/simple",
            "find-links": "/wheels /more",
            "trusted-host": "one.example two.example",
            "cert": "/ca.pem",
            "proxy": "http://proxy.example:3128",
            "timeout": "180",
            "no-index": "true",
            "no-cache-dir": "false",
        }
    )
    assert words == ["--no-index"]
    proxies = ("ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy")
    assert variables == {
        "UV_SYSTEM_CERTS": "1",
        "UV_INDEX_STRATEGY": "unsafe-best-match",
        "UV_DEFAULT_INDEX": "https://user:password@mirror.example/simple",
        "UV_INDEX": "https://one.example/simple https://two.example/simple",
        "UV_FIND_LINKS": "/wheels,/more",
        "UV_INSECURE_HOST": "one.example two.example",
        "SSL_CERT_FILE": "/ca.pem",
        "UV_HTTP_TIMEOUT": "180",
        **dict.fromkeys(proxies, "http://proxy.example:3128"),
    }


def test_an_option_without_a_counterpart_is_named() -> None:
    assert unknown_to_uv({"index-url": "x", "no-binary": ":all:", "quiet": "1", "constraint": "c.txt"}) == [
        "constraint",
        "no-binary",
    ]


def test_make_env_uses_it() -> None:
    makefile = (ROOT / "Makefile").read_text()
    assert "$(BIN)/python ci/install.py requirements.lock\n" in makefile
    assert "policy/venv/bin/python ci/install.py policy/requirements.txt\n" in makefile


def test_uv_is_pinned_by_version_and_hashes() -> None:
    pinned = (ROOT / "ci/installer.in").read_text().splitlines()[-1]
    first, *hashes = (ROOT / "ci/installer.lock").read_text().replace("\\\n", "").split()
    assert first == pinned
    assert len(hashes) >= 10
    assert all(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", each) for each in hashes)
