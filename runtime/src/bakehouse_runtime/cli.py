"""The command line. It parses and dispatches; every command imports what it needs itself."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from .errors import PlainError, ServerUnreachableError, WorkloadOver, first_wrong_field

if TYPE_CHECKING:
    from pydantic import BaseModel

    Spec = TypeVar("Spec", bound=BaseModel)


# EX_TEMPFAIL of sysexits.h: nothing is wrong with the work, it goes on later.
_EX_TEMPFAIL = 75


def main(argv: list[str]) -> int:
    """Runs one command and returns its exit status.

    0 done or stopped on request, 1 failed, 75 the server was out of reach (the engine's plan.ts).
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
    """The commands and their arguments."""
    root = argparse.ArgumentParser(
        prog="bakehouse_runtime",
        description="What a Bakehouse workload executes: preparing, validating, training, serving.",
    )
    commands = root.add_subparsers(required=True, metavar="COMMAND")

    prepare = commands.add_parser(
        "prepare", help="write a starter model; progress as JSON lines on stdout"
    )
    prepare.add_argument("model", choices=["smollm2"])
    prepare.add_argument("--format", choices=["gguf", "safetensors"], required=True)
    prepare.add_argument("--out", type=Path, required=True, metavar="DIR")
    prepare.set_defaults(run=_prepare)

    commands.add_parser(
        "probe", help="compute a little on each GPU; prints their names"
    ).set_defaults(run=_probe)

    for name, run, text in (
        ("validate", _validate, "read a data file as training would; prints one JSON report"),
        ("train", _train, "train by a spec and report to its server"),
        ("serve", _serve, "serve a model by a spec until it is stopped"),
    ):
        command = commands.add_parser(name, help=text)
        command.add_argument("spec", type=Path, metavar="SPEC.json")
        command.set_defaults(run=run)

    pull = commands.add_parser(
        "pull", help="bring the inputs of a spec here, and become the command that works on them"
    )
    pull.add_argument("--cache", type=Path, required=True, metavar="DIR")
    pull.add_argument("spec", type=Path, metavar="SPEC.json")
    pull.add_argument("command", nargs=argparse.REMAINDER, metavar="COMMAND")
    pull.set_defaults(run=_pull)
    return root


def _prepare(arguments: argparse.Namespace) -> int:
    from .prepare import prepare_smollm2

    prepare_smollm2(arguments.format, arguments.out)
    return 0


def _probe(_: argparse.Namespace) -> int:
    from .probe import probe

    print("\n".join(probe()))
    return 0


def _pull(arguments: argparse.Namespace) -> int:
    from .protocol import WorkloadSpecBase
    from .workload import pull

    if pull(_read_spec(arguments.spec, WorkloadSpecBase), arguments.cache) and arguments.command:
        os.execvp(arguments.command[0], arguments.command)
    return 0


def _validate(arguments: argparse.Namespace) -> int:
    from .protocol import ValidateSpec
    from .validate import validate

    report = validate(_read_spec(arguments.spec, ValidateSpec))
    print(report.model_dump_json(), flush=True)
    return 0


def _train(arguments: argparse.Namespace) -> int:
    from .train.methods import METHODS

    path: Path = arguments.spec
    # Where no method is named, reading it as the plainest spec says what is wrong.
    method = METHODS.get(_named(path, "method") or "", METHODS["lora"])
    return method.run(_read_spec(path, method.spec))


def _named(path: Path, field: str) -> str | None:
    """What a spec says in `field`; None where reading it properly will say what is wrong."""
    try:
        spec = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return spec.get(field) if isinstance(spec, dict) else None


def _serve(arguments: argparse.Namespace) -> int:
    if _named(arguments.spec, "task") == "image":
        from .protocol import ServeImageSpec
        from .serve.image import serve_image

        return serve_image(_read_spec(arguments.spec, ServeImageSpec))
    from .protocol import ServeTextSpec
    from .serve.text import serve_text

    return serve_text(_read_spec(arguments.spec, ServeTextSpec))


def _read_spec(path: Path, model: type[Spec]) -> Spec:
    """The spec in `path`; a wrong one is refused with the name of its first wrong field."""
    from pydantic import ValidationError

    try:
        return model.model_validate_json(path.read_bytes())
    except OSError as error:
        raise PlainError(f"The spec {path} cannot be read: {error.strerror}.") from error
    except ValidationError as error:
        field, message = first_wrong_field(error)
        where = f"field {field}: " if field else ""
        raise PlainError(f"The spec {path} is wrong: {where}{message}.") from error
