"""Xacro files, which are expanded to URDF by the package ``xacro``."""

from __future__ import annotations

import getpass
import hashlib
import re
import tempfile
from pathlib import Path
from typing import Any
from xml.dom.minidom import Document

from .errors import SceneError, SceneNotFound

__all__ = ["expanded"]


def expanded(path: str | Path, mappings: dict[str, Any] | None = None) -> Path:
    """The URDF file that a xacro file makes.

    It is written to the directory for temporary files, under a name that its text decides, so that scenes which are copied to another
    process or replayed find it again. Meshes are looked for where the xacro file is.

    Parameters
    ----------
    path : str or path
        The xacro file.
    mappings : dict, optional
        Arguments of the file (``<xacro:arg>``).

    Raises
    ------
    SceneError
        The package ``xacro`` is not installed, or it cannot expand the file, or the file is not there.
    """
    path = Path(path).absolute()
    if not path.is_file():
        raise SceneNotFound(f"{path}: there is no such file", str(path))
    try:
        import xacro
    except ImportError:
        message = "this is xacro, which makes URDF: install the package that expands it (pip install xacro), or load what `xacro FILE > robot.urdf` writes"
        raise SceneError(f"{path}: {message}", str(path)) from None
    try:
        document = xacro.process_file(str(path), mappings={key: _text(value) for key, value in (mappings or {}).items()})
    except Exception as error:  # xacro raises what it meets: of its own, of XML, of the expressions in the file
        raise SceneError(f"{path}: xacro cannot expand it: {error}", str(path)) from error
    _find_files(document, path.parent)
    text = document.toprettyxml(indent="  ")
    name = hashlib.sha256(text.encode()).hexdigest()[:16]
    file = Path(tempfile.gettempdir()) / f"stiction-xacro-{_user()}" / name / f"{path.name.split('.')[0]}.urdf"
    file.parent.mkdir(parents=True, exist_ok=True)
    # Other processes may load it at the same time: it is there as a whole or not at all.
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=file.parent, delete=False) as part:
        part.write(text)
    Path(part.name).replace(file)
    return file


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "user"


def _find_files(document: Document, folder: Path) -> None:
    """Gives files that stand beside the xacro file, or in packages above it, their whole path."""
    for tag in ("mesh", "texture"):
        for element in document.getElementsByTagName(tag):
            name = element.getAttribute("filename")
            package = re.fullmatch(r"(?:package|model)://([^/]+)/(.+)", name)
            if package:
                found = _in_package(folder, package[1], package[2])
            else:
                found = folder / name if name and "://" not in name else None
            if found is not None and found.is_file():
                element.setAttribute("filename", found.as_posix())


def _in_package(folder: Path, package: str, file: str) -> Path | None:
    for above in (folder, *folder.parents):
        manifest = above / "package.xml"
        named = manifest.is_file() and re.search(rf"<name>\s*{re.escape(package)}\s*</name>", manifest.read_text(errors="replace"))
        for candidate in ([above / file] if named or above.name == package else []) + [above / package / file]:
            if candidate.is_file():
                return candidate
    return None
