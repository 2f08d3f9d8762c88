"""Robots as MJCF: the same text for every engine that reads it."""

from __future__ import annotations

import math
import random

from scenes import Scene, Stays

HEAD = """<mujoco><compiler angle="radian"/><option timestep="{dt}"/><default><geom friction="{mu} 0.005 0.0001"/><joint damping="{damping}"/><position kp="{kp}"/></default>
<worldbody><geom type="plane" size="50 50 1"/>"""


def quadruped() -> Scene:
    """Four legs of three joints stand; the joints sway and the feet must not slip."""
    hip, upper, lower, foot = 0.05, 0.1, 0.1, 0.01
    bend = 0.6
    # A leg's height, with its upper part tilted backwards and its lower part forwards.
    height = (upper + lower) * math.cos(bend) + foot
    legs, motors, control, sway, stays = "", "", [], [], []
    for k, (x, y) in enumerate(((0.15, 1), (0.15, -1), (-0.15, 1), (-0.15, -1))):
        legs += f"""<body pos="{x} {0.06 * y} 0"><joint name="a{k}" axis="1 0 0"/>{mass(0.1)}
<body pos="0 {hip * y} 0"><joint name="b{k}" axis="0 1 0" ref="{bend}"/>{mass(0.1)}
<body name="leg{k}" pos="{-upper * math.sin(bend)} 0 {-upper * math.cos(bend)}"><joint name="c{k}" axis="0 1 0" ref="{-2 * bend}"/>{mass(0.05)}
<geom type="sphere" size="{foot}" pos="{lower * math.sin(bend)} 0 {-lower * math.cos(bend)}" mass="0"/></body></body></body>"""
        motors += "".join(f'<position joint="{name}{k}"/>' for name in "abc")
        control += [0.0, bend, -2 * bend]
        sway += [0.05, 0.05, 0.0]
        stays.append(Stays(f"leg{k}", (lower * math.sin(bend), 0.0, -lower * math.cos(bend))))
    head = HEAD.format(dt=0.001, mu=0.8, damping=0.5, kp=20)
    text = f"""{head}<body pos="0 0 {height}"><freejoint/><geom type="box" size="0.15 0.06 0.025" mass="0.4"/>{legs}</body></worldbody><actuator>{motors}</actuator></mujoco>"""
    return Scene("quadruped that sways", "robots", dt=0.001, steps=3000, warm_up=1000, mjcf=text, control=tuple(control), sway=tuple(sway), stays=tuple(stays))


def mass(m: float) -> str:
    """A small body's inertia."""
    return f'<inertial pos="0 0 0" mass="{m}" diaginertia="{m * 1e-3} {m * 1e-3} {m * 1e-3}"/>'


def humanoid() -> Scene:
    """A body of 20 joints that stands on two flat feet and swings its arms."""
    control, sway, motors = [], [], ""
    count = 0

    def joints(*axes: str, swings: float = 0.0, gear: float = 1.0) -> str:
        nonlocal count, motors
        text = ""
        for axis in axes:
            text += f'<joint name="j{count}" axis="{axis}" armature="0.05"/>'
            motors += f'<position joint="j{count}" kp="{600 * gear}"/>'
            control.append(0.0)
            sway.append(swings)
            count += 1
        return text

    rod = lambda r, length, m: f'<geom type="capsule" size="{r}" fromto="0 0 0 0 0 {-length}" mass="{m}" contype="0" conaffinity="0"/>'
    arms = legs = ""
    for side in (1, -1):
        legs += f"""<body pos="0 {0.1 * side} -0.05">{joints("0 0 1", "1 0 0", "0 1 0", gear=2)}{rod(0.06, 0.4, 5)}
<body pos="0 0 -0.4">{joints("0 1 0", gear=2)}{rod(0.05, 0.4, 3)}
<body name="foot{side}" pos="0 0 -0.4">{joints("0 1 0", "1 0 0", gear=2)}<geom type="box" pos="0.04 0 -0.05" size="0.12 0.05 0.02" mass="1"/></body></body></body>"""
    waist = joints("0 0 1", "0 1 0", gear=2)
    for side in (1, -1):
        arms += f"""<body pos="0 {0.2 * side} 0.4">{joints("0 1 0", swings=0.4 * side)}{joints("1 0 0")}{rod(0.04, 0.3, 2)}
<body pos="0 0 -0.3">{joints("0 1 0")}{rod(0.03, 0.3, 1)}</body></body>"""
    head = HEAD.format(dt=0.001, mu=0.8, damping=5.0, kp=600)
    text = f"""{head}<body pos="0 0 0.92"><freejoint/><geom type="box" size="0.08 0.12 0.05" mass="8" contype="0" conaffinity="0"/>{legs}
<body pos="0 0 0.05">{waist}<geom type="box" pos="0 0 0.2" size="0.1 0.15 0.2" mass="15" contype="0" conaffinity="0"/>{arms}</body></body></worldbody>
<actuator>{motors}</actuator></mujoco>"""
    sole = (0.04, 0.0, -0.07)
    stays = (Stays("foot1", sole), Stays("foot-1", sole))
    return Scene("humanoid that swings its arms", "robots", dt=0.001, steps=3000, warm_up=1000, mjcf=text, control=tuple(control), sway=tuple(sway), stays=stays)


def gripper() -> Scene:
    """An arm of four joints swings a box that two fingers hold."""
    head = HEAD.format(dt=0.001, mu=0.8, damping=2.0, kp=400)
    finger = lambda k, side: f"""<body pos="0.08 {0.032 * side} 0"><joint name="f{k}" type="slide" axis="0 {-side} 0" damping="10"/>
<geom type="box" size="0.03 0.01 0.02" mass="0.05"/></body>"""
    none = 'contype="0" conaffinity="0"'
    text = f"""{head}<body pos="0 0 0.4"><joint name="s0" axis="0 0 1"/><geom type="cylinder" size="0.05 0.05" mass="3" {none}/>
<body pos="0 0 0.05"><joint name="s1" axis="0 1 0"/><geom type="capsule" size="0.04" fromto="0 0 0 0.3 0 0" mass="2" {none}/>
<body pos="0.3 0 0"><joint name="s2" axis="0 1 0"/><geom type="capsule" size="0.03" fromto="0 0 0 0.25 0 0" mass="1.5" {none}/>
<body name="hand" pos="0.25 0 0"><joint name="s3" axis="1 0 0"/><geom type="box" size="0.03 0.05 0.02" mass="0.5" {none}/>{finger(0, 1)}{finger(1, -1)}</body></body></body></body>
<body name="box" pos="0.63 0 0.45"><freejoint/><geom type="box" size="0.02 0.022 0.02" mass="0.3"/></body></worldbody>
<equality><joint joint1="f0" joint2="f1"/></equality>
<actuator><position joint="s0"/><position joint="s1"/><position joint="s2"/><position joint="s3"/><motor joint="f0" gear="2"/></actuator></mujoco>"""
    corners = tuple(Stays("box", (0.02 * x, 0.022 * y, 0.02 * z), "hand") for x in (-1, 1) for y in (-1, 1) for z in (-1, 1))
    return Scene(
        "arm that swings a box in its gripper", "robots", dt=0.001, steps=3000, warm_up=1000, mjcf=text,
        control=(0.0, 0.0, 0.0, 0.0, 20.0), sway=(0.5, 0.2, 0.2, 0.3, 0.0), stays=corners,
    )


def ragdolls(count: int, seed: int = 1) -> Scene:
    """Dolls of nine links fall on each other."""
    rng = random.Random(seed)
    world = ""
    for i in range(count):
        yaw = rng.uniform(0, 2 * math.pi)
        limbs = ""
        for side in (-1, 1):
            limbs += f"""<body pos="0.15 {side * 0.16} 0"><joint type="ball"/><geom type="capsule" size="0.045" fromto="0 {side * 0.045} 0 0 {side * 0.245} 0"/>
<body pos="0 {side * 0.29} 0"><joint axis="0 0 {side}" range="0 2.4" limited="true"/><geom type="capsule" size="0.04" fromto="0 {side * 0.04} 0 0 {side * 0.24} 0"/></body></body>
<body pos="-0.26 {side * 0.1} 0"><joint type="ball"/><geom type="capsule" size="0.07" fromto="-0.07 0 0 -0.37 0 0"/>
<body pos="-0.44 0 0"><joint axis="0 1 0" range="0 2.4" limited="true"/><geom type="capsule" size="0.055" fromto="-0.055 0 0 -0.355 0 0"/></body></body>"""
        place = f"{rng.uniform(-0.3, 0.3)} {rng.uniform(-0.3, 0.3)} {0.45 * (i + 1)}"
        world += f"""<body pos="{place}" euler="0 0 {yaw}"><freejoint/><geom type="capsule" size="0.11" fromto="-0.175 0 0 0.175 0 0"/>
<geom type="sphere" size="0.1" pos="0.4 0 0"/>{limbs}</body>"""
    head = HEAD.format(dt=0.002, mu=0.5, damping=0.3, kp=0)
    return Scene(f"{count} ragdolls", "moving", friction=0.5, dt=0.002, warm_up=0, mjcf=f"{head}{world}</worldbody></mujoco>")
