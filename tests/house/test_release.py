"""What a release is made of agrees with itself: version, notes, citation, recipe, forms, and nothing has an address."""

import random
import re
import runpy
import subprocess
import sys
import tomllib
import zipfile

import pytest
from common import NEEDS_SOURCES, ROOT

import fastir

yaml = pytest.importorskip("yaml")
FOLDER = ROOT / ".github"
FORMS = sorted((FOLDER / "ISSUE_TEMPLATE").glob("*.yml"))
pytestmark = pytest.mark.skipif(not FORMS, reason="needs a checkout")


def notes(*arguments, **environment):
    command = [sys.executable, FOLDER / "release_notes.py", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    return done.returncode, done.stdout, done.stderr


def test_the_root_has_these_files():
    done = subprocess.run(["git", "-C", ROOT, "ls-files"], capture_output=True, text=True)
    if "fastir/__init__.py" not in done.stdout.splitlines():
        pytest.skip("needs git and a checkout of its own")
    assert {path for path in done.stdout.splitlines() if "/" not in path} == {
        *(
            ".gitignore", "CHANGELOG.md", "CITATION.cff", "LICENSE", "MANIFEST.in", "README.md",
            "pyproject.toml", "setup.py",
        )
    }  # fmt: skip


@NEEDS_SOURCES
def test_the_notes_of_a_release_are_its_section_of_the_changes():
    code, out, _ = notes("--unreleased")
    changes = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert code == 0 and out.strip() and out.strip() in changes and "\n## " not in out


@NEEDS_SOURCES
def test_a_tag_must_be_the_version_and_have_a_date():
    code, _, said = notes("tag", GITHUB_REF_NAME="v999.0")
    assert code == 1 and said == f"the tag is v999.0, but the version is {fastir.__version__}\n"
    section = runpy.run_path(str(FOLDER / "release_notes.py"))["notes"]
    changes = "# Changes\n\n## 1.1 (2030-01-01)\n\n- b\n\n## 1.0 (unreleased)\n\n- a\n"
    assert section("1.1", changes) == ("2030-01-01", "- b") and section("1.0", changes) == ("unreleased", "- a")
    with pytest.raises(SystemExit, match=r"no section '## 2\.0 \(date\)'"):
        section("2.0", changes)


def test_the_citation_is_of_this_version_and_of_no_person():
    found = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert (found["version"], found["cff-version"], found["license"]) == (fastir.__version__, "1.2.0", "Apache-2.0")
    assert found["authors"] == [{"name": "The fastir developers"}]
    assert found.keys() >= {"authors", "cff-version", "message", "title"}  # which the format requires
    cited = found["preferred-citation"]
    assert (cited["version"], cited["title"], cited["authors"]) == (found["version"], found["title"], found["authors"])
    assert found["type"] == "software" and all(isinstance(word, str) for word in (*found["keywords"], found["version"]))
    steps = yaml.safe_load((FOLDER / "workflows" / "wheels.yml").read_text("utf-8"))["jobs"]["sdist"]["steps"]
    assert any("cffconvert" in step.get("run", "") and "--validate" in step["run"] for step in steps)


def test_the_recipe_asks_for_what_the_package_asks_for(tmp_path):
    jinja2 = pytest.importorskip("jinja2")
    sdist = tmp_path / f"fastir-{fastir.__version__}.tar.gz"
    sdist.write_bytes(b"an sdist")
    command = [sys.executable, FOLDER / "recipe" / "render.py", sdist]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    names = {"PYTHON": "python", "target_platform": "linux-64"}
    rendered = jinja2.Template(text, undefined=jinja2.StrictUndefined).render(
        compiler=lambda name: f"{name}_compiler", stdlib=lambda name: f"{name}_stdlib", **names
    )
    recipe = yaml.safe_load(rendered)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    wanted = {re.sub(r"(?=[<>=])", " ", line, count=1) for line in project["build-system"]["requires"]}
    assert wanted <= set(recipe["requirements"]["host"])
    wanted = {re.sub(r"(?=[<>=])", " ", line, count=1) for line in project["project"]["dependencies"]}
    assert set(recipe["requirements"]["run"]) == {"python", *wanted}
    assert recipe["package"] == {"name": "fastir", "version": fastir.__version__}
    assert recipe["source"]["url"].endswith(f"/{sdist.name}")
    assert re.fullmatch("[0-9a-f]{64}", recipe["source"]["sha256"])
    assert recipe["about"]["summary"] == project["project"]["description"]
    oldest = project["project"]["requires-python"].removeprefix(">=").replace(".", "")
    assert f"skip: true  # [py<{oldest}]" in text
    assert recipe["build"]["entry_points"] == [f"fastir = {project['project']['scripts']['fastir']}"]
    other = tmp_path / "fastir-999.tar.gz"
    other.write_bytes(b"")
    assert subprocess.run([*command[:2], other], capture_output=True).returncode == 1


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_a_form_can_be_filled_in(path):
    form = yaml.safe_load(path.read_text("utf-8"))
    if path.stem == "config":
        assert form == {"blank_issues_enabled": True}
        return
    assert {"name", "description", "body"} <= set(form)
    fields = [field for field in form["body"] if field["type"] != "markdown"]
    assert len({field["id"] for field in fields}) == len(fields)
    assert all(field["type"] in ("input", "textarea") and field["attributes"]["label"] for field in fields)
    if path.stem in ("number", "fault"):
        assert "fastir doctor" in fields[-1]["attributes"]["label"] and fields[-1]["validations"] == {"required": True}


def test_reports_are_private_and_have_no_address():
    for path in [*FORMS, FOLDER / "SECURITY.md", FOLDER / "CODE_OF_CONDUCT.md", ROOT / "CITATION.cff"]:
        assert not re.search(r"[\w.+-]+@[\w-]+\.\w+", path.read_text("utf-8")), path.name
    for name in ("SECURITY.md", "CODE_OF_CONDUCT.md"):
        assert "Report a vulnerability" in (FOLDER / name).read_text("utf-8")


def test_the_page_of_receipts_is_of_this_version_and_has_none_off():
    page = (ROOT / "docs" / "exactness.md").read_text("utf-8")
    assert f", fastir {fastir.__version__}, NumPy" in page and "none is off" in page
    compared = re.search(r"([\d,]+) values compared", page)[1]
    assert f"{compared} values, none is off" in (ROOT / "docs" / "exactness.svg").read_text("utf-8")


@pytest.mark.site
def test_a_wheel_is_compressed_again_and_refused_if_it_is_too_large(tmp_path):
    pytest.importorskip("zopfli")
    noise = random.Random(1).randbytes(2_800_000)
    text = (ROOT / "docs" / "exactness_values.md").read_bytes() * 3
    for members, code in (
        ([noise[:-1000]], 0), ([noise], 1), ([bytes(9_500_000)], 0), ([bytes(9_000_000), bytes(500_001)], 1),
        ([text, b""], 0),
    ):  # fmt: skip
        path = tmp_path / "a.whl"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
            for number, member in enumerate(members):
                wheel.writestr(str(number), member)
        with zipfile.ZipFile(path) as wheel:
            listed = [(member.filename, member.date_time, member.external_attr) for member in wheel.infolist()]
        before = path.stat().st_size
        command = [sys.executable, FOLDER / "small_wheels.py", path]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == code, done
        assert ("are published" in done.stderr) == bool(code)
        with zipfile.ZipFile(path) as wheel:
            assert [(member.filename, member.date_time, member.external_attr) for member in wheel.infolist()] == listed
            assert [wheel.read(member) for member in wheel.infolist()] == members
        assert path.stat().st_size <= before + 1000 and (members[0] is not text or path.stat().st_size < 0.97 * before)


def test_nothing_is_published_without_an_address():
    check = runpy.run_path(str(FOLDER / "release_notes.py"))["check_home"]
    check('HOME = "https://example.org/fastir"  # the address\n')
    for setup in ('HOME = ""  # the address\n', 'HOME = "https://example.org/"\n', "", '# HOME = "https://a.org/b"\n'):
        with pytest.raises(SystemExit, match=r"HOME in setup\.py must be the address"):
            check(setup)


@pytest.mark.site
def test_with_an_address_nothing_else_is_missing():
    """The script that lists what waits for the address and the day; without one it fails, as a tag does."""
    pytest.importorskip("Cython.Build")
    pytest.importorskip("setuptools")
    command = [sys.executable, FOLDER / "home.py"]
    done = subprocess.run([*command, "https://example.org/fastir"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for line in (
        "link of the metadata: Homepage: https://example.org/fastir\n", "links, 0 left relative\n",
        "CHANGELOG.md: the date of the version: set\n", "docs/pipelines.md: the owner of the action: set\n",
        "release_notes.py: a tag is published\n", "site.yml: REPO_URL: ${{ github.server_url }}",
        "the environment pypi (job publish of wheels.yml)",
    ):  # fmt: skip
        assert line in done.stdout, line
    without = subprocess.run([*command, ""], capture_output=True, text=True)
    assert without.returncode == 1 and "HOME must be the address" in without.stderr
    assert "a tag is refused\n" in without.stdout and " 0 left relative" not in without.stdout
    assert "setup.py: HOME: waits\n" in without.stdout and ": waits\n" not in done.stdout


def test_no_file_has_an_address_of_its_own():
    for path in (ROOT / "CITATION.cff", ROOT / "pyproject.toml", FOLDER / "recipe" / "meta.yaml"):
        links = re.findall(r"https?://[^\s\"']+", path.read_text("utf-8"))
        assert all(link.startswith("https://pypi.org/") for link in links), path.name


def test_members_that_differ_between_two_wheels_are_named(tmp_path):
    differing = runpy.run_path(str(FOLDER / "same_wheel.py"))["differing"]
    wheels = []
    for name, members in (
        ("a", {"same": b"1", "bytes": b"1", "only one": b""}),
        ("b", {"same": b"1", "bytes": b"2", "date": b""}),
    ):
        wheels.append(tmp_path / name)
        with zipfile.ZipFile(wheels[-1], "w") as wheel:
            for member, content in members.items():
                wheel.writestr(zipfile.ZipInfo(member, (2030, 1, 1, 0, 0, 0)), content)
    assert differing(wheels[0], wheels[0]) == []
    assert differing(*wheels) == ["bytes", "date", "only one"]


def test_with_an_address_the_description_has_no_relative_link(monkeypatch):
    """Links, pictures, and the badge, which is a picture within a link."""
    pytest.importorskip("Cython.Build")
    pytest.importorskip("setuptools")
    monkeypatch.setattr("setuptools.setup", lambda **options: None)
    monkeypatch.setattr("Cython.Build.cythonize", lambda *modules, **options: [])
    monkeypatch.chdir(ROOT)
    setup = runpy.run_path("setup.py")
    assert [*setup["urls"]("https://example.org/fastir")][1:3] == ["Documentation", "Source"]
    assert setup["urls"]("https://github.com/owner/name")["Documentation"] == "https://owner.github.io/name/"
    page = setup["front_page"]("https://example.org/fastir")
    targets = re.findall(r'(?:\]\(|(?:src|srcset|href)=")([^)"]*)[)"]', page)
    assert len(targets) > 30 and all(re.match("https://|#", target) for target in targets), targets
    badge = f"https://example.org/fastir/{{}}/v{fastir.__version__}/docs/exactness.{{}}"
    assert page.startswith("# fastir\n\n[![")
    assert "\n## Install\n\n```bash\npip install fastir\n```\n\n## From Python\n\n```python\nimport fastir\n" in page
    assert "pip install -e" not in page and "examples/" not in page and "checkout" not in page
    assert "/main/" not in page  # which goes on to change under a released version
    assert f'="https://example.org/fastir/raw/v{fastir.__version__}/docs/pictures' in page
    assert targets[:2] == [badge.format("raw", "svg"), badge.format("blob", "md")]


def test_every_lint_tool_has_one_version():
    """Else what is green today fails tomorrow, of a commit that changes nothing."""
    lint = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["dependency-groups"]["lint"]
    assert lint and all(re.fullmatch(r"[\w-]+==[\d.]+", tool) for tool in lint)


def test_extras_are_what_users_install_and_groups_what_developers_do():
    """Extras are in the metadata that an index shows; nothing installs a group as if it were one."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    extras, groups = project["project"]["optional-dependencies"], project["dependency-groups"]
    assert [*extras] == ["arrow", "cli", "plot", "spark", "stats", "zst", "test"]
    pages = [*(FOLDER / "workflows").glob("*.yml"), ROOT / "README.md", ROOT / ".ci" / "run", *FOLDER.glob("*.md")]
    for page in [*pages, *(ROOT / "docs").rglob("*.md"), *(ROOT / "bench").glob("*.*")]:
        text = page.read_text("utf-8")
        named = {name for found in re.findall(r'(?:"\.|fastir)\[([\w,]+)\]', text) for name in found.split(",")}
        assert named <= {*extras}, page
        assert {*re.findall(r"pip install .*--group (\w+)", text)} <= {*groups}, page


# Distributions that are not named as the package that they bring, and those that come with another one.
BROUGHT_BY = {
    "Cython": "cython", "cwl": "cwl-eval",
    "grpc": "pyspark",  # [connect]
    "haystack": "haystack-ai", "ir_datasets": "ir-datasets", "ir_measures": "ir-measures",
    "llama_index": "llama-index-core", "markdown_it": "markdown-it-py", "ppi_py": "ppi-python",
    "pyterrier": "python-terrier", "pytrec_eval": "pytrec-eval-terrier",
    "sentence_transformers": "sentence-transformers", "sklearn": "scikit-learn", "vespa": "pyvespa", "yaml": "pyyaml",
}  # fmt: skip


def test_what_tests_import_is_installed_in_the_job_that_has_every_peer():
    """It runs `pytest --all-packages`, in which a test that is skipped for a missing package is a failure."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    extras, groups = project["project"]["optional-dependencies"], project["dependency-groups"]
    assert 'pip install -e ".[test,spark]" --group peers\n' in (FOLDER / "workflows" / "tests.yml").read_text("utf-8")
    assert groups["peers"][0] == {"include-group": "parity"}
    lines = [*extras["test"], *extras["spark"], *groups["parity"], *groups["peers"][1:]]
    wanted = {re.split(r"[][<>=; ]", line)[0] for line in lines}
    for path in sorted((ROOT / "tests").rglob("*.py")):
        for name in re.findall(r'importorskip\("(\w+)', path.read_text("utf-8")):
            if name not in ("fastir", *sys.stdlib_module_names):
                assert BROUGHT_BY.get(name, name) in wanted, f"{path.relative_to(ROOT)}: {name}"
