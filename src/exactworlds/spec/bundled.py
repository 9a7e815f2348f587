"""Where the bundled specs and goldens are: beside the package in a wheel, at the top of the repository otherwise."""

from __future__ import annotations

from pathlib import Path

from exactworlds.errors import NotFound
from exactworlds.spec.load import load_world
from exactworlds.spec.world import World

__all__ = ["data_root", "find_world", "golden_folder", "spec_folder", "world_names"]


def data_root() -> Path:
    """The folder that holds `spec` and `golden`."""
    package = Path(__file__).resolve().parent.parent
    bundled = package / "_data"
    return bundled if bundled.is_dir() else package.parent.parent


def spec_folder() -> Path:
    return data_root() / "spec"


def golden_folder() -> Path:
    return data_root() / "golden"


def world_names() -> tuple[str, ...]:
    """The bundled worlds, by name."""
    return tuple(sorted(file.stem for file in (spec_folder() / "worlds").glob("*.toml")))


def find_world(name_or_file: str) -> tuple[World, Path | str]:
    """A bundled world by its name, or the world in a file ("-" is standard input), and where it was read."""
    if name_or_file in world_names():
        path = spec_folder() / "worlds" / f"{name_or_file}.toml"
        return load_world(path), path
    looks_like_a_file = name_or_file == "-" or "/" in name_or_file or "." in name_or_file
    if not looks_like_a_file and not Path(name_or_file).exists():
        raise NotFound("world", name_or_file, [*world_names(), "or a file"])
    return load_world(name_or_file), name_or_file
