"""A window of VTK that needs no display: three layers over each other, the middle one with shadows."""

from __future__ import annotations

import ctypes
import os
import sys
from typing import Any

import numpy as np
import numpy.typing as npt

try:
    import vtkmodules.vtkRenderingCore as core
    import vtkmodules.vtkRenderingFreeType  # noqa: F401
    import vtkmodules.vtkRenderingOpenGL2 as opengl
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkCommonCore import vtkLogger, vtkPoints, vtkUnsignedCharArray
    from vtkmodules.vtkCommonDataModel import vtkCellArray, vtkPolyData
    from vtkmodules.vtkRenderingCore import vtkActor, vtkCamera, vtkLight, vtkPolyDataMapper, vtkRenderer
except ImportError as error:  # pragma: no cover
    raise ImportError("stiction.render needs VTK, Pillow and imageio-ffmpeg: pip install 'stiction[render]'") from error

from ..errors import StictionError
from ._view import View

__all__ = ["BACKGROUND", "Window", "floor_light", "shadowed"]

Array = npt.NDArray[np.float64]
Image = npt.NDArray[np.uint8]

#: What is behind everything, and what a floor fades to.
BACKGROUND = (0.955, 0.96, 0.97)
#: What is behind scenes without ground, at the lower and the upper edge.
BACKGROUND_BELOW, BACKGROUND_ABOVE = (0.93, 0.94, 0.955), (0.74, 0.78, 0.835)
#: Texels along a side of the shadow map.
SHADOW_TEXELS = 2048
#: A surface is in shadow where it is this much farther from the light than the map says, and wholly so after as much again, both relative
#: to all that is drawn: more than half precision and steep surfaces are off by.
SHADOW_BIAS, SHADOW_RAMP = 0.004, 0.005
#: Distance of the four places in the map that are averaged, in texels.
SHADOW_BLUR = 0.8
#: The part of the key light that a shadow takes away.
SHADOW_DEPTH = 0.85
#: Of the key light above the horizon (degrees), and to the left of the camera.
KEY_ELEVATION, KEY_SIDE = 55.0, 50.0
#: Intensities of the key light, which casts shadows, and of the fill light on the other side, which does not.
KEY, FILL = 0.70, 0.40
#: Of the fill light above the horizon (degrees), and to the right of the camera.
FILL_ELEVATION, FILL_SIDE = 35.0, 70.0
#: Ambient and diffuse reflection of surfaces.
AMBIENT, DIFFUSE = 0.40, 0.74
#: Distance of the fill light in radii of the view: so far that it is the same everywhere.
FAR = 1e3


def floor_light(normal: Array, view: View) -> float:
    """How bright a white surface with this normal is, without shadow."""
    lit = KEY * max(0.0, float(view.toward(KEY_SIDE, KEY_ELEVATION) @ normal)) + FILL * max(0.0, float(view.toward(-FILL_SIDE, FILL_ELEVATION) @ normal))
    return AMBIENT + DIFFUSE * lit


# VTK keeps exp(c z) of the distances z in its shadow maps, in half precision: shadows begin far behind what casts them. Distances themselves,
# compared with a bias, give shadows that begin where bodies touch. These lines of its shaders are what differs; a test sees to it that they fit.
_TAP = "clamp(1.0 - (ldepth - texture2D(shadowMap, projected + vec2({x}, {y})).r - {bias}) * {slope}, 0.0, 1.0)"
_AWAY = SHADOW_BLUR / SHADOW_TEXELS
_TAPS = " + ".join(
    _TAP.format(x=f"{x * _AWAY:.8f}", y=f"{y * _AWAY:.8f}", bias=f"{SHADOW_BIAS:.6f}", slope=f"{1.0 / SHADOW_RAMP:.6f}") for x in (-1, 1) for y in (-1, 1)
)
_SHADERS = (
    ("gl_FragData[0].r = exp(depthC * ldepth);", "gl_FragData[0].r = ldepth;"),
    ("expFactor = depthCExpBlured * depthCExpActual;", f"expFactor = 0.25 * ({_TAPS});"),
    # Beyond the map there is light.
    ("float expFactor = 8.0;", "float expFactor = 1.0;"),
)


def shadowed(actor: Any) -> None:
    """Gives an actor the shadows of this module."""
    shaders = actor.GetShaderProperty()
    for theirs, ours in _SHADERS:
        shaders.AddFragmentShaderReplacement(theirs, False, ours, False)


def _loads(*names: str) -> bool:
    """Whether one of these libraries can be loaded: VTK crashes where it cannot."""
    for name in names:
        try:
            ctypes.CDLL(name)
        except OSError:
            continue
        return True
    return False


def _open() -> Any:
    """A window without a display: by EGL, by OSMesa, or on the display there is."""
    kinds = []
    if _loads("libEGL.so.1"):
        kinds.append("vtkEGLRenderWindow")
    if _loads("libOSMesa.so.8", "libOSMesa.so"):
        kinds.append("vtkOSOpenGLRenderWindow")
    if not sys.platform.startswith("linux") or os.environ.get("DISPLAY") and _loads("libGL.so.1"):
        kinds.append("vtkRenderWindow")
    before = vtkLogger.GetCurrentVerbosityCutoff()
    vtkLogger.SetStderrVerbosity(vtkLogger.VERBOSITY_OFF)
    try:
        for name in kinds:
            kind = getattr(opengl, name, None) or getattr(core, name, None)
            if kind is None:
                continue
            window = kind()
            window.SetOffScreenRendering(True)
            if window.SupportsOpenGL():
                return window
    finally:
        vtkLogger.SetStderrVerbosity(before)
    raise StictionError(
        "pictures need OpenGL without a display, and there is none: install Mesa's EGL (Debian, Ubuntu: apt-get install libegl1 libgl1-mesa-dri; Fedora: dnf install mesa-libEGL mesa-dri-drivers)"
    )


def _sequence(*passes: Any) -> Any:
    all_of, made = opengl.vtkRenderPassCollection(), opengl.vtkSequencePass()
    for one in passes:
        all_of.AddItem(one)
    made.SetPasses(all_of)
    return made


class Window:
    """Draws what its layers hold: ``ground`` behind everything, ``scene`` with shadows, ``front`` over everything."""

    def __init__(self, width: int, height: int, samples: int = 0) -> None:
        self.width, self.height = width, height
        # VTK's shadow maps are right in square windows only, where light and camera have the same aspect. The picture is the middle of it.
        self._side = max(width, height)
        self._window = _open()
        self._window.SetSize(self._side, self._side)
        self._window.SetMultiSamples(samples)
        self._window.SetNumberOfLayers(3)
        self._camera = vtkCamera()
        self.ground, self.scene, self.front = (self._layer(i) for i in range(3))
        self.ground.SetBackground(*BACKGROUND)
        self._nothing: Any = None
        if samples == 0:
            self._smooth()
        self._key, self._fill = vtkLight(), vtkLight()
        self._key.SetIntensity(KEY)
        self._key.SetShadowAttenuation(SHADOW_DEPTH)
        self._fill.SetIntensity(FILL)
        # A light at a place that shines to all sides casts no shadow.
        self._fill.SetPositional(True)
        self._fill.SetConeAngle(180.0)
        for layer in (self.ground, self.scene, self.front):
            layer.AddLight(self._key)
            layer.AddLight(self._fill)
        self.scene.SetPass(self._shadows())
        self._pixels = vtkUnsignedCharArray()

    def _smooth(self) -> None:
        """The last layer smooths edges of all, those of shadows among them: half the time of samples, which it cannot work on."""
        self.front.SetUseFXAA(True)
        # It does so only if there is something in view: a triangle without area.
        points, cells = vtkPoints(), vtkCellArray()
        for _ in range(3):
            points.InsertNextPoint(0.0, 0.0, 0.0)
        cells.InsertNextCell(3, (0, 1, 2))
        nothing = vtkPolyData()
        nothing.SetPoints(points)
        nothing.SetPolys(cells)
        self._nothing = vtkActor()
        self._nothing.SetMapper(vtkPolyDataMapper())
        self._nothing.GetMapper().SetInputData(nothing)
        self.front.AddActor(self._nothing)

    def shade_background(self) -> None:
        """For scenes without ground: darker above, where white robots are."""
        self.ground.SetBackground(*BACKGROUND_BELOW)
        self.ground.SetBackground2(*BACKGROUND_ABOVE)
        self.ground.GradientBackgroundOn()

    def _layer(self, i: int) -> Any:
        layer = vtkRenderer()
        layer.SetLayer(i)
        layer.SetActiveCamera(self._camera)
        layer.AutomaticLightCreationOff()
        self._window.AddRenderer(layer)
        return layer

    def _shadows(self) -> Any:
        """Opaque things with shadows, then what can be seen through."""
        shadows = opengl.vtkShadowMapPass()
        baker = shadows.GetShadowMapBakerPass()
        baker.SetResolution(SHADOW_TEXELS)
        # Where nothing is drawn the map is far, not what was there before.
        empty, baking = opengl.vtkClearRGBPass(), opengl.vtkCameraPass()
        empty.SetBackground(1.0, 1.0, 1.0)
        baking.SetDelegatePass(_sequence(empty, opengl.vtkLightsPass(), opengl.vtkOpaquePass()))
        baker.SetOpaqueSequence(baking)
        made = opengl.vtkCameraPass()
        made.SetDelegatePass(_sequence(baker, shadows, opengl.vtkTranslucentPass()))
        return made

    def draw(self, view: View) -> Image:
        """The picture as seen from a view."""
        camera = self._camera
        camera.SetPosition(*view.position)
        camera.SetFocalPoint(*view.target)
        camera.SetViewUp(*view.up)
        half = np.tan(np.radians(view.fov) / 2) * self._side / self.height
        camera.SetViewAngle(float(np.degrees(2 * np.arctan(half))))
        camera.SetClippingRange(*view.clipping)
        self._key.SetPosition(*(view.target + view.radius * view.toward(KEY_SIDE, KEY_ELEVATION)))
        self._key.SetFocalPoint(*view.target)
        self._fill.SetPosition(*(view.target + FAR * view.radius * view.toward(-FILL_SIDE, FILL_ELEVATION)))
        self._fill.SetFocalPoint(*view.target)
        if self._nothing is not None:
            self._nothing.SetPosition(*view.target)
        self._window.Render()
        left, low = (self._side - self.width) // 2, (self._side - self.height) // 2
        self._window.GetPixelData(left, low, left + self.width - 1, low + self.height - 1, 0, self._pixels, 0)
        pixels = vtk_to_numpy(self._pixels).reshape(self.height, self.width, 3)
        return np.ascontiguousarray(pixels[::-1])

    def close(self) -> None:
        """Gives back what the window holds of the graphics library."""
        self._window.Finalize()
