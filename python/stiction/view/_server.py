"""The server of the page: viser, on this machine alone unless told otherwise."""

from __future__ import annotations

import contextlib
import importlib
import io
import socket
from typing import Any

import numpy as np

from ..errors import InputError

__all__ = ["started", "stopped", "viser"]


def viser() -> Any:
    """The module, or one line that says how to get it."""
    try:
        return importlib.import_module("viser")
    except ImportError as error:
        raise ImportError("stiction.view needs viser: pip install 'stiction[view]'") from error


def started(host: str, port: int) -> Any:
    """A server with an empty page."""
    module = viser()
    _check_free(host, port)
    with contextlib.redirect_stdout(io.StringIO()):  # viser's own banner; the command has one line
        server = module.ViserServer(host=host, port=port, label="Stiction", verbose=False)
    server.gui.configure_theme(
        control_layout="floating", control_width="medium", show_logo=False, show_share_button=False, brand_color=(46, 98, 160)
    )
    server.scene.set_up_direction("+z")
    server.scene.world_axes.visible = False
    _light(server.scene)
    return server


def _light(scene: Any) -> None:
    """A sun with shadows, a lamp from the other side, and a sky."""
    scene.configure_default_lights(enabled=False)
    scene.configure_environment_map(None)
    scene.add_light_hemisphere("/lights/sky", sky_color=(255, 255, 255), ground_color=(140, 140, 148), intensity=1.15)
    scene.add_light_directional("/lights/sun", intensity=1.6, cast_shadow=True, position=(3.0, -4.0, 7.0))
    scene.add_light_directional("/lights/lamp", intensity=0.35, position=(-5.0, 3.0, 2.0))
    rows = np.linspace(0.0, 1.0, 256)[:, None, None]
    sky = (1.0 - rows) * np.array([206.0, 216.0, 228.0]) + rows * np.array([248.0, 249.0, 251.0])
    scene.set_background_image(np.broadcast_to(sky, (256, 4, 3)).astype(np.uint8), format="png")


def stopped(server: Any) -> None:
    """Stop a server, without a word."""
    with contextlib.redirect_stdout(io.StringIO()):
        server.stop()


def _check_free(host: str, port: int) -> None:
    # viser would take the next free port without a word.
    if not 0 <= port < 65536:
        raise InputError(f"the port must be from 0 to 65535, found {port}")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise InputError(f"cannot listen on {host}:{port} ({error.strerror}); another port: --port N, or port=N; 0 is any that is free") from error
