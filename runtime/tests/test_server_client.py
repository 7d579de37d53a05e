from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from bakehouse_runtime import server_client
from bakehouse_runtime.errors import PlainError, ServerUnreachableError, WorkloadOver
from bakehouse_runtime.reporter import Reporter
from bakehouse_runtime.server_client import ServerClient
from bakehouse_server import TOKEN

if TYPE_CHECKING:
    from pathlib import Path

    from bakehouse_server import BakehouseServer


def reporter(server: BakehouseServer) -> Reporter:
    return Reporter(ServerClient("w-1", server.url, TOKEN), heartbeat_s=0.05, batch_delay_s=0.01)


def test_reports_arrive_in_order_and_numbered(server: BakehouseServer) -> None:
    with reporter(server) as reports:
        reports.phase("training")
        for step in range(1200):
            reports.metrics(step, {"loss": 1.0 / (step + 1)})
        reports.stopped(1200)
    assert [report["seq"] for report in server.reports] == list(range(1, 1203))
    assert server.reports[0]["phase"] == "training"
    assert [report["step"] for report in server.of_type("metrics")] == list(range(1200))
    assert server.reports[-1]["type"] == "stopped"


def test_a_batch_with_a_lost_response_counts_once(server: BakehouseServer) -> None:
    with reporter(server) as reports:
        reports.log("first")
        server.wait_for("log")
        server.faults = ["lost", "lost", 500, "drop"]
        reports.checkpoint(7)
        server.wait_for("checkpoint")
        reports.stopped(7)
    assert [report["type"] for report in server.reports] == ["log", "checkpoint", "stopped"]


def test_waits_for_reports(server: BakehouseServer) -> None:
    with reporter(server) as reports:
        server.faults = [500, "lost"]
        reports.checkpoint(7)
        assert reports.wait_until_accepted(60)
        assert len(server.of_type("checkpoint")) == 1
        server.faults = [500] * 100
        reports.checkpoint(8)
        assert not reports.wait_until_accepted(0.1)
        server.faults = []


def test_work_continues_while_the_server_is_unreachable(server: BakehouseServer) -> None:
    with reporter(server) as reports:
        reports.log("before")
        server.wait_for("log")
        server.stop()
        for step in range(50):
            reports.metrics(step, {"loss": 1.0})
        server.start()
        reports.stopped(50)
    assert len(server.of_type("metrics")) == 50
    assert server.reports[-1]["type"] == "stopped"


def test_a_restarted_workload_resumes_after_the_last_accepted_number(
    server: BakehouseServer,
) -> None:
    for start in range(3):
        with reporter(server) as reports:
            reports.log(f"start {start}")
    assert [(report["seq"], report["line"]) for report in server.reports] == [
        (1, "start 0"),
        (2, "start 1"),
        (3, "start 2"),
    ]


def test_receives_the_servers_stop_with_a_heartbeat(server: BakehouseServer) -> None:
    with reporter(server) as reports:
        assert not reports.wait_for_stop(0.1)
        server.command = "stop"
        assert reports.wait_for_stop(30)
        assert reports.stop_by < time.monotonic() + 30


def test_the_stop_has_the_drain_time(server: BakehouseServer) -> None:
    with reporter(server) as reports:
        server.drain_seconds, server.command = 600, "stop"
        assert reports.wait_for_stop(30)
        assert reports.stop_by > time.monotonic() + 500


@pytest.mark.parametrize("status", [401, 403, 404, 410])
def test_a_final_rejection_stops_the_work(server: BakehouseServer, status: int) -> None:
    with reporter(server) as reports:
        reports.log("before")
        server.wait_for("log")
        server.faults = [status]
        assert reports.wait_for_stop(30)
        reports.log("nobody hears this")
    with pytest.raises(WorkloadOver):
        reports.raise_if_over()
    assert len(server.reports) == 1


def test_an_unreachable_server_ends_the_work_without_failing_it(
    server: BakehouseServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_client, "RETRY_TIMEOUT_S", 0.0)
    server.stop()
    with reporter(server) as reports:
        assert reports.wait_for_stop(30)
    with pytest.raises(ServerUnreachableError):
        reports.raise_if_over()


def test_distinguishes_server_errors_from_an_unreachable_server(
    server: BakehouseServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(server_client, "RETRY_TIMEOUT_S", 0.0)
    server.faults = [503, 507]
    with reporter(server) as reports:
        assert reports.wait_for_stop(30)
    with pytest.raises(ServerUnreachableError, match=r"did not take the reports: .* with 503\."):
        reports.raise_if_over()
    adapter = tmp_path / "adapter"
    adapter.write_bytes(b"weights")
    said = r"did not take the file adapter: .* with 507\."
    with pytest.raises(ServerUnreachableError, match=said):
        ServerClient("w-1", server.url, TOKEN).upload("adapter", adapter)


def test_a_rejected_report_raises_a_plain_error(server: BakehouseServer) -> None:
    with reporter(server) as reports:
        server.faults = [422] * 3
        assert reports.wait_for_stop(30)
    with pytest.raises(PlainError, match=r"refused POST .*/reports with 422: refused"):
        reports.raise_if_over()


def test_a_report_that_cannot_be_sent_ends_the_work(server: BakehouseServer) -> None:
    with reporter(server) as reports:
        reports.progress(float("nan"), 100, "steps")
        assert reports.wait_for_stop(30)
        assert not reports.wait_until_accepted(30)
    with pytest.raises(PlainError, match=r"cannot be sent \(ValueError: .*JSON") as caught:
        reports.raise_if_over()
    assert isinstance(caught.value.__cause__, ValueError)


def test_replaces_non_finite_values_in_the_summary_with_none(server: BakehouseServer) -> None:
    with reporter(server) as reports:
        reports.result([], {"a": float("nan"), "b": float("-inf"), "c": 0.5, "d": 3, "e": "nan"})
    summary = server.of_type("result")[0]["summary"]
    assert summary == {"a": None, "b": None, "c": 0.5, "d": 3, "e": "nan"}


def test_replaces_unsent_progress(server: BakehouseServer) -> None:
    server.stop()
    with reporter(server) as reports:
        for done in range(100):
            reports.progress(done, 100, "steps", 1.0)
        server.start()
        reports.log("end")
    assert len(server.of_type("progress")) < 5
    assert server.of_type("progress")[-1]["done"] == 99


def test_omits_non_finite_values_from_the_curves(server: BakehouseServer) -> None:
    with reporter(server) as reports:
        reports.metrics(3, {"loss": float("nan"), "learning_rate": 0.1, "grad_norm": float("inf")})
    assert server.of_type("metrics")[0]["values"] == {"learning_rate": 0.1}
    assert server.of_type("log")[0]["line"] == "Step 3: not a finite number: loss, grad_norm."


def test_retries_an_upload_until_it_is_stored(server: BakehouseServer, tmp_path: Path) -> None:
    file = tmp_path / "adapter.bin"
    file.write_bytes(b"weights" * 100_000)
    server.faults = [503, "drop", 429]
    artefact = ServerClient("w-1", server.url, TOKEN).upload("sub folder/adapter.bin", file)
    assert artefact.size_bytes == file.stat().st_size
    stored = server.artefacts / "sub%20folder/adapter.bin"
    assert stored.read_bytes() == file.read_bytes()


def test_an_upload_waits_while_the_server_flushes_a_large_file(
    server: BakehouseServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_client, "_ANSWER_S", 0.5)
    monkeypatch.setattr(server_client, "_FLUSHED_BYTES_PER_S", 1000)
    server.flush_s = 1.5
    file = tmp_path / "adapter.bin"
    file.write_bytes(b"x" * 60_000)
    ServerClient("w-1", server.url, TOKEN).upload("adapter.bin", file, timeout_s=0)
    assert len(server.requests) == 1


def test_a_rejected_upload_raises_a_plain_error(server: BakehouseServer, tmp_path: Path) -> None:
    file = tmp_path / "x"
    file.write_bytes(b"x")
    server.faults = [413]
    with pytest.raises(PlainError, match="with 413: refused"):
        ServerClient("w-1", server.url, TOKEN).upload("x", file)
