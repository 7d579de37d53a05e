"""Writes to the server at `HF_ENDPOINT` with the hub's own clients, as the user of `HF_TOKEN`."""

import os
import random
import subprocess
import sys

import pytest
from huggingface_hub import CommitOperationAdd, CommitOperationCopy, CommitOperationDelete, HfApi, HfFileSystem
from huggingface_hub import constants, hf_hub_download, snapshot_download
from huggingface_hub.errors import BadRequestError, EntryNotFoundError, HfHubHTTPError, RepositoryNotFoundError

api = HfApi()
# Too large to inline in a commit, so it is uploaded before: by Xet, or by Git LFS in several parts.
LARGE = {"xet": 300_000_000, "lfs": 17_000_000}


def large_bytes(seed, sent_by):
    """Returns a large file whose second half compresses well."""
    half = random.Random(seed).randbytes(LARGE[sent_by] // 2)
    return half + b"crumbs and crusts " * (LARGE[sent_by] // 36)


@pytest.fixture(params=LARGE)
def sent_by(request, monkeypatch):
    """Sends large files by Xet or Git LFS. The client reads the environment variable once, so patch its constant."""
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", request.param == "lfs")
    return request.param


def read(repo_id, path, **more):
    with open(hf_hub_download(repo_id, path, **more), "rb") as file:
        return file.read()


def test_a_repository_is_created_renamed_and_deleted():
    url = api.create_repo("first")
    assert (url.repo_id, url.namespace, url.repo_type) == ("ada/first", "ada", "model")
    assert api.create_repo("ada/first", exist_ok=True).repo_id == "ada/first"
    with pytest.raises(HfHubHTTPError):
        api.create_repo("first")
    with pytest.raises(HfHubHTTPError):
        api.create_repo("bob/first")
    api.update_repo_settings("ada/first", private=False)
    assert api.model_info("ada/first").private is False
    api.upload_file(path_or_fileobj=b"crumb", path_in_repo="a.txt", repo_id="ada/first")
    api.move_repo("ada/first", "ada/second")
    assert api.model_info("ada/first").id == "ada/second"
    assert read("ada/first", "a.txt") == b"crumb"
    assert os.listdir(snapshot_download("ada/first")) == ["a.txt"]
    api.create_repo("first")
    assert api.model_info("ada/first").id == "ada/first"
    api.delete_repo("ada/second")
    with pytest.raises(RepositoryNotFoundError):
        api.delete_repo("ada/second")
    api.delete_repo("ada/second", missing_ok=True)


def test_a_folder_is_uploaded_and_downloaded_again(tmp_path, sent_by):
    loaf = {"repo_id": f"ada/loaf-{sent_by}", "repo_type": "dataset"}
    folder = tmp_path / "folder"
    (folder / "deep" / "er").mkdir(parents=True)
    (folder / "README.md").write_text("---\nlicense: mit\n---\n# Loaf\n")
    (folder / "deep" / "empty.txt").write_text("")
    (folder / "deep" / "er" / "large.bin").write_bytes(large_bytes(1, sent_by))
    for number in range(60):
        (folder / "deep" / f"{number}.txt").write_text(f"row {number}")
    api.create_repo(**loaf)
    api.upload_folder(**loaf, folder_path=folder, commit_message="Bake it")
    copied = snapshot_download(**loaf)
    for path in (one.relative_to(folder) for one in folder.rglob("*") if one.is_file()):
        with open(os.path.join(copied, path), "rb") as file:
            assert file.read() == (folder / path).read_bytes(), path
    before = api.dataset_info(loaf["repo_id"]).sha
    api.upload_folder(**loaf, folder_path=folder)
    assert api.dataset_info(loaf["repo_id"]).sha == before


def test_a_commit_adds_copies_and_deletes(sent_by):
    data = {"repo_id": f"ada/mix-{sent_by}", "repo_type": "dataset"}
    api.create_repo(**data)
    large = large_bytes(2, sent_by)
    first = api.create_commit(
        **data,
        operations=[CommitOperationAdd("a.txt", b"a"), CommitOperationAdd("old/large.bin", large)],
        commit_message="First",
    )
    api.create_commit(
        **data,
        operations=[CommitOperationCopy("old/large.bin", "new/large.bin"), CommitOperationDelete("old/")],
        commit_message="Second",
        parent_commit=first.oid,
    )
    assert api.list_repo_files(**data) == ["a.txt", "new/large.bin"]
    assert read(path="new/large.bin", **data) == large
    with pytest.raises(HfHubHTTPError, match="412"):
        api.create_commit(
            **data,
            operations=[CommitOperationAdd("b.txt", b"b")],
            commit_message="Late",
            parent_commit=first.oid,
        )
    api.delete_file("a.txt", **data)
    with pytest.raises(EntryNotFoundError):
        api.delete_file("a.txt", **data)
    with pytest.raises(BadRequestError):
        api.create_commit(**data, operations=[CommitOperationAdd("c.txt", b"c")], commit_message="x", create_pr=True)
    api.create_branch(**data, branch="exp/1")
    api.create_branch(**data, branch="exp/1", exist_ok=True)
    api.upload_file(path_or_fileobj=b"d", path_in_repo="d.txt", revision="exp/1", **data)
    assert "d.txt" in api.list_repo_files(**data, revision="exp/1")
    assert "d.txt" not in api.list_repo_files(**data)
    assert [one.name for one in api.list_repo_refs(**data).branches] == ["main", "exp/1"]
    api.delete_branch(**data, branch="exp/1")
    assert [one.name for one in api.list_repo_refs(**data).branches] == ["main"]
    assert [one.title for one in api.list_repo_commits(**data)][:2] == ["Delete a.txt with huggingface_hub", "Second"]


def test_the_command_uploads_and_downloads(tmp_path):
    (tmp_path / "crumbs.csv").write_text("a\n1\n")

    def hf(*words):
        command = [sys.executable, "-m", "huggingface_hub.cli.hf", *words]
        return subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path).stdout

    assert "ada" in hf("auth", "whoami")
    hf("upload", "ada/crumbs", "crumbs.csv", "--repo-type", "dataset")
    hf("download", "ada/crumbs", "--repo-type", "dataset", "--local-dir", "copy")
    assert (tmp_path / "copy" / "crumbs.csv").read_text() == "a\n1\n"


def test_the_file_system_writes():
    api.create_repo("system", repo_type="dataset")
    files = HfFileSystem()
    with files.open("datasets/ada/system/deep/a.txt", "w") as file:
        file.write("bread")
    assert files.read_text("datasets/ada/system/deep/a.txt") == "bread"
    files.rm("datasets/ada/system/deep/a.txt")
    assert not files.exists("datasets/ada/system/deep/a.txt")


def test_a_dataset_is_pushed_and_loaded():
    from datasets import Dataset, load_dataset

    Dataset.from_dict({"question": ["Rye?", "Oats?"], "answer": [1, 2]}).push_to_hub("ada/pushed")
    loaded = load_dataset("ada/pushed", split="train")
    assert loaded[1] == {"question": "Oats?", "answer": 2}
    assert list(load_dataset("ada/pushed", split="train", streaming=True)) == list(loaded)


def test_a_model_is_pushed_and_loaded():
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=64, hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2
    )
    model = LlamaForCausalLM(config)
    model.push_to_hub("ada/tiny-llama")
    loaded = LlamaForCausalLM.from_pretrained("ada/tiny-llama")
    assert loaded.lm_head.weight.equal(model.lm_head.weight)


def test_a_pipeline_is_pushed_and_loaded():
    from diffusers import DDPMPipeline, DDPMScheduler, DiffusionPipeline, UNet2DModel

    unet = UNet2DModel(
        sample_size=8,
        block_out_channels=(8,),
        layers_per_block=1,
        norm_num_groups=4,
        down_block_types=("DownBlock2D",),
        up_block_types=("UpBlock2D",),
    )
    DDPMPipeline(unet, DDPMScheduler(num_train_timesteps=10)).push_to_hub("ada/tiny-painter")
    loaded = DiffusionPipeline.from_pretrained("ada/tiny-painter")
    assert type(loaded) is DDPMPipeline
    assert loaded.unet.conv_in.weight.equal(unet.conv_in.weight)
    loaded.set_progress_bar_config(disable=True)
    assert loaded(num_inference_steps=2, output_type="np").images.shape == (1, 8, 8, 3)
