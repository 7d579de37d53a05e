"""The command line. It parses and dispatches; every command imports its own dependencies."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .errors import PlainError, ServerUnreachableError, WorkloadOver, first_wrong_field

if TYPE_CHECKING:
    from collections.abc import Callable

    from .protocol import WorkloadSpec


# EX_TEMPFAIL of sysexits.h: the work has not failed and is resumed later.
_EX_TEMPFAIL = 75
# The status of a killed program, which the server reports as a file that takes too much memory.
_KILLED = 137


def main(argv: list[str]) -> int:
    """Runs one command and returns its exit status.

    0: done or stopped on request; 1: failed; 75: server unreachable (the engine's plan.ts).
    """
    arguments = parser().parse_args(argv)
    try:
        return arguments.run(arguments)
    except ServerUnreachableError as error:
        print(error, file=sys.stderr)
        return _EX_TEMPFAIL
    except PlainError as error:
        print(error, file=sys.stderr)
        return 1
    except WorkloadOver as over:
        print(over, file=sys.stderr)
        return 0
    except KeyboardInterrupt:
        return 130


def parser() -> argparse.ArgumentParser:
    """Returns the parser for all commands and their arguments."""
    root = argparse.ArgumentParser(
        prog="bakehouse_runtime",
        description="Runs Bakehouse workloads: prepares, validates, trains and serves models.",
    )
    commands = root.add_subparsers(required=True, metavar="COMMAND")

    prepare = commands.add_parser(
        "prepare", help="write a starter model; progress as JSON lines on stdout"
    )
    prepare.add_argument("model", choices=["smollm2", "minilm"])
    prepare.add_argument("--format", choices=["gguf", "safetensors"], required=True)
    prepare.add_argument("--out", type=Path, required=True, metavar="DIR")
    prepare.set_defaults(run=_prepare)

    commands.add_parser(
        "probe", help="test each GPU with a small computation; prints their names"
    ).set_defaults(run=_probe)

    commands.add_parser(
        "profile", help="read a data file for the pages that show it; JSON on stdin and stdout"
    ).set_defaults(run=_profile)

    commands.add_parser(
        "edit-rows", help="write an edited copy of a data file; JSON on stdin and stdout"
    ).set_defaults(run=_edit_rows)

    for name, run, text in (
        ("validate", _validate, "read a data file as training would; prints one JSON report"),
        (
            "validate-pictures",
            _validate_pictures,
            "read a dataset of pictures as training would; prints one JSON report",
        ),
        ("train", _train, "train by a spec and report to its server"),
        ("serve", _serve, "serve a model by a spec until it is stopped"),
        ("export", _export, "merge a fine-tune into a complete model and report to its server"),
    ):
        command = commands.add_parser(name, help=text)
        command.add_argument("spec", type=Path, metavar="SPEC.json")
        command.set_defaults(run=run)

    fetch = commands.add_parser(
        "fetch", help="download the spec of an attempt and its inputs from the server"
    )
    fetch.add_argument("--server", required=True, metavar="URL")
    fetch.add_argument("--workload", required=True, metavar="ID")
    fetch.add_argument("--token-file", type=Path, required=True, metavar="FILE")
    fetch.add_argument("--folder", type=Path, required=True, metavar="DIR")
    fetch.add_argument("--work-dir", type=Path, required=True, metavar="DIR")
    fetch.add_argument("--cache", type=Path, default=None, metavar="DIR")
    fetch.add_argument("--host", default="0.0.0.0", metavar="HOST")
    fetch.add_argument("--port", type=int, default=0, metavar="PORT")
    fetch.add_argument("--threads", type=int, default=1, metavar="COUNT")
    fetch.add_argument("--leave-seconds", type=int, default=None, metavar="SECONDS")
    fetch.set_defaults(run=_fetch)

    pull = commands.add_parser(
        "pull", help="download the inputs of a spec, then run its command in this process"
    )
    pull.add_argument("--cache", type=Path, required=True, metavar="DIR")
    pull.add_argument("spec", type=Path, metavar="SPEC.json")
    pull.add_argument("command", nargs=argparse.REMAINDER, metavar="COMMAND")
    pull.set_defaults(run=_pull)
    return root


def _prepare(arguments: argparse.Namespace) -> int:
    if arguments.model == "minilm":
        from .prepare_minilm import prepare_minilm

        prepare_minilm(arguments.out)
        return 0
    from .prepare import prepare_smollm2

    prepare_smollm2(arguments.format, arguments.out)
    return 0


def _probe(_: argparse.Namespace) -> int:
    from .probe import probe

    print("\n".join(probe()))
    return 0


def _profile(_: argparse.Namespace) -> int:
    from .data.profile import answer

    return _answer(answer)


def _edit_rows(_: argparse.Namespace) -> int:
    from .data.editing.edit_file import answer

    return _answer(answer)


def _answer(answer: Callable[[dict[str, Any]], dict[str, Any]]) -> int:
    """Reads a JSON request from stdin and writes the JSON answer to stdout."""
    import json

    try:
        json.dump(answer(json.load(sys.stdin)), sys.stdout)
    except MemoryError:
        return _KILLED
    return 0


def _pull(arguments: argparse.Namespace) -> int:
    from .workload import pull

    if pull(_read_workload(arguments.spec), arguments.cache) and arguments.command:
        os.execvp(arguments.command[0], arguments.command)
    return 0


def _fetch(arguments: argparse.Namespace) -> int:
    from .attempt import Place, fetch_spec
    from .workload import pull

    place = Place(
        server_url=arguments.server,
        workload_id=arguments.workload,
        token_file=arguments.token_file,
        folder=arguments.folder,
        work_dir=arguments.work_dir,
        host=arguments.host,
        port=arguments.port,
        threads=arguments.threads,
        leave_seconds=arguments.leave_seconds,
    )
    try:
        cache = arguments.cache or arguments.folder / "cache"
        is_to_work = pull(_read_workload(fetch_spec(place)), cache)
    except WorkloadOver as over:
        print(over, file=sys.stderr)
        is_to_work = False
    # If there is no work, a failure status prevents the next container from starting.
    return 0 if is_to_work else _EX_TEMPFAIL


def _validate(arguments: argparse.Namespace) -> int:
    from .protocol import ValidateSpec
    from .validate import validate

    report = validate(_read_spec(arguments.spec, ValidateSpec))
    print(report.model_dump_json(), flush=True)
    return 0


def _validate_pictures(arguments: argparse.Namespace) -> int:
    from .protocol import ValidatePicturesSpec
    from .validate_pictures import validate_pictures

    report = validate_pictures(_read_spec(arguments.spec, ValidatePicturesSpec))
    print(report.model_dump_json(), flush=True)
    return 0


def _train(arguments: argparse.Namespace) -> int:
    from .device import use_single_malloc_arena
    from .protocol import TrainFluxSpec, TrainParisSpec, TrainTextSpec

    use_single_malloc_arena()
    match _read_workload(arguments.spec):
        case TrainTextSpec() as spec:
            from .train.lora.run import run as train_text

            return train_text(spec)
        case TrainFluxSpec() | TrainParisSpec() as spec:
            from .train.diffusion.run import run as train_diffusion

            return train_diffusion(spec)
        case spec:
            raise _other_kind(arguments.spec, spec, "train")


def _serve(arguments: argparse.Namespace) -> int:
    from .protocol import ServeEmbeddingSpec, ServeImageSpec, ServeTextSpec

    match _read_workload(arguments.spec):
        case ServeTextSpec() as spec:
            from .serve.text import serve_text

            return serve_text(spec)
        case ServeEmbeddingSpec() as spec:
            from .serve.embedding import serve_embedding

            return serve_embedding(spec)
        case ServeImageSpec() as spec:
            from .serve.image import serve_image

            return serve_image(spec)
        case spec:
            raise _other_kind(arguments.spec, spec, "serve")


def _export(arguments: argparse.Namespace) -> int:
    from .protocol import ExportGgufSpec, ExportSafetensorsSpec

    match _read_workload(arguments.spec):
        case ExportSafetensorsSpec() | ExportGgufSpec() as spec:
            from .export.run import run

            return run(spec)
        case spec:
            raise _other_kind(arguments.spec, spec, "export")


def _other_kind(path: Path, spec: WorkloadSpec, wanted: str) -> PlainError:
    return PlainError(f"The spec {path} is wrong: its kind is {spec.kind}, not {wanted}.")


def _read_workload(path: Path) -> WorkloadSpec:
    """Reads the spec of a workload. Raises PlainError if it is invalid or of another protocol."""
    from .protocol import RUNTIME_PROTOCOL, SpecProtocol, WorkloadSpec

    protocol = _read_spec(path, SpecProtocol).protocol
    if protocol != RUNTIME_PROTOCOL:
        raise PlainError(
            f"The spec {path} has protocol {protocol}, but this runtime reads protocol "
            f"{RUNTIME_PROTOCOL}: the server and the runtime must be of one release."
        )
    return _read_spec(path, WorkloadSpec, tags=2)


def _read_spec(path: Path, kind: Any, tags: int = 0) -> Any:
    """Parses `path` as the class or union `kind`. Raises PlainError with the first invalid
    field."""
    from pydantic import TypeAdapter, ValidationError

    try:
        return TypeAdapter(kind).validate_json(path.read_bytes())
    except OSError as error:
        raise PlainError(f"The spec {path} cannot be read: {error.strerror}.") from error
    except ValidationError as error:
        field, message = first_wrong_field(error, tags)
        where = f"field {field}: " if field else ""
        raise PlainError(f"The spec {path} is wrong: {where}{message}.") from error
