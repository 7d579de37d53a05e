"""Reads from the server at `HF_ENDPOINT` with the hub's own clients, as the user of `HF_TOKEN`."""

import os
import urllib.request

import pytest
from huggingface_hub import HfApi, HfFileSystem, hf_hub_download, snapshot_download
from huggingface_hub.errors import (
    EntryNotFoundError,
    GatedRepoError,
    HfHubHTTPError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

api = HfApi()
DATA = os.environ["TEST_DATASET"]
STARTER = os.environ["TEST_STARTER"]


def test_returns_the_caller():
    assert api.whoami()["name"] == "ada"
    with pytest.raises(HfHubHTTPError, match="Invalid user token"):
        api.whoami(token="hf_wrong")


def test_lists_are_paged():
    datasets = [one.id for one in api.list_datasets(author="ada")]
    assert DATA in datasets
    assert len(datasets) > 100
    assert len(set(datasets)) == len(datasets)
    assert [one.id for one in api.list_models(search="starter")] == [STARTER]
    assert [one.id for one in api.list_datasets(filter="rye")] == [DATA]
    assert [one.id for one in api.list_datasets(filter="license:mit")] == [DATA]
    assert list(api.list_models(pipeline_tag="text-to-speech")) == []


def test_reads_only_published_repositories_of_others():
    assert [one.id for one in api.list_datasets(author="bob")] == ["bob/Loaves"]
    assert api.dataset_info("bob/Loaves").private is False
    assert api.dataset_info(DATA).private is True
    with open(hf_hub_download("bob/Loaves", "rows.csv", repo_type="dataset")) as file:
        assert file.read() == "a,b\n1,2\n"
    with pytest.raises(RepositoryNotFoundError):
        api.dataset_info("bob/Secret")
    with pytest.raises(HfHubHTTPError, match="Only its owner can change this dataset"):
        api.update_repo_settings("bob/Loaves", repo_type="dataset", private=True)


def test_a_repository_is_described():
    info = api.dataset_info(DATA, files_metadata=True)
    assert info.card_data.license == "mit"
    assert {one.rfilename: one.size for one in info.siblings}["data/train.csv"] == 12
    assert len(info.sha) == 40
    assert api.repo_exists(DATA, repo_type="dataset")
    assert not api.repo_exists("ada/nothing")
    assert api.file_exists(DATA, "README.md", repo_type="dataset")
    assert not api.revision_exists(DATA, "other", repo_type="dataset")
    tree = api.list_repo_tree(DATA, repo_type="dataset", recursive=True, expand=True)
    assert [one.path for one in tree] == ["README.md", "data", "data/test.csv", "data/train.csv"]
    assert [one.path for one in api.get_paths_info(DATA, ["data", "none"], repo_type="dataset")] == ["data"]
    commits = api.list_repo_commits(DATA, repo_type="dataset")
    assert commits[0].title == "Upload data/test.csv"
    assert api.list_repo_refs(DATA, repo_type="dataset").branches[0].name == "main"


def test_a_snapshot_is_downloaded_under_its_commit():
    folder = snapshot_download(DATA, repo_type="dataset")
    assert os.path.basename(folder) == api.dataset_info(DATA).sha
    with open(os.path.join(folder, "data", "train.csv")) as file:
        assert file.read() == "a,b\n1,2\n3,4\n"
    local = hf_hub_download(DATA, "data/test.csv", repo_type="dataset")
    assert os.path.realpath(local).startswith(os.path.realpath(os.environ["HF_HOME"]))


def test_an_interrupted_download_is_resumed(tmp_path):
    asked = hf_hub_download(DATA, "data/train.csv", repo_type="dataset", local_dir=tmp_path / "whole")
    with open(asked, "rb") as file:
        whole = file.read()
    url = f"{os.environ['HF_ENDPOINT']}/datasets/{DATA}/resolve/main/data/train.csv"
    headers = {"Authorization": f"Bearer {os.environ['HF_TOKEN']}", "Range": "bytes=5-"}
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers)) as rest:
        assert rest.status == 206
        assert whole[:5] + rest.read() == whole


def test_distinguishes_what_is_missing():
    with pytest.raises(RepositoryNotFoundError):
        api.model_info("ada/nothing")
    with pytest.raises(RepositoryNotFoundError):
        api.dataset_info(DATA, token=False)
    with pytest.raises(RevisionNotFoundError):
        api.dataset_info(DATA, revision="other")
    with pytest.raises(EntryNotFoundError):
        hf_hub_download(DATA, "nothing.csv", repo_type="dataset")
    with pytest.raises(GatedRepoError):
        hf_hub_download(os.environ["TEST_GATED"], "config.json")


def test_tags():
    api.create_tag(DATA, tag="v1", repo_type="dataset")
    api.create_tag(DATA, tag="v1", repo_type="dataset", exist_ok=True)
    assert [one.name for one in api.list_repo_refs(DATA, repo_type="dataset").tags] == ["v1"]
    assert api.dataset_info(DATA, revision="v1").sha == api.dataset_info(DATA).sha
    api.delete_tag(DATA, tag="v1", repo_type="dataset")
    with pytest.raises(RevisionNotFoundError):
        api.dataset_info(DATA, revision="v1")


def test_the_file_system():
    files = HfFileSystem()
    root = f"datasets/{DATA}"
    assert sorted(files.glob(f"{root}/**/*.csv")) == [f"{root}/data/test.csv", f"{root}/data/train.csv"]
    with files.open(f"{root}/data/train.csv", "r") as file:
        assert file.read() == "a,b\n1,2\n3,4\n"


def test_a_dataset_is_loaded_completely_and_as_a_stream():
    from datasets import load_dataset

    whole = load_dataset(DATA, data_files={"train": "data/train.csv"}, split="train")
    assert whole[1] == {"a": 3, "b": 4}
    splits = load_dataset(DATA)
    assert splits["train"].num_rows == 2 and splits["test"].num_rows == 1
    streamed = load_dataset(DATA, split="train", streaming=True)
    assert list(streamed) == [{"a": 1, "b": 2}, {"a": 3, "b": 4}]


def test_the_starter_model_is_loaded():
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(STARTER)
    model = AutoModelForCausalLM.from_pretrained(STARTER)
    tokens = tokenizer("Bread is made of", return_tensors="pt")
    assert model.generate(**tokens, max_new_tokens=2).shape[1] == tokens["input_ids"].shape[1] + 2
