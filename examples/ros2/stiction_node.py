"""A ROS 2 node that simulates the robot of ``/robot_description``, with joint states out and commands in.

Untested with ROS itself, which the project's machines do not have; what needs no ROS (`Robot`) is tested.

    ros2 run robot_state_publisher robot_state_publisher --ros-args -p robot_description:="$(cat robot.urdf)"
    python examples/ros2/stiction_node.py --ros-args -p rate:=500.0 -p floor:=true

| topic | type | |
|---|---|---|
| ``/robot_description`` | ``std_msgs/String`` | the URDF, once, latched |
| ``/joint_states`` | ``sensor_msgs/JointState`` | positions, velocities and applied efforts, published at the rate |
| ``/joint_commands`` | ``sensor_msgs/JointState`` | positions and velocities go to servos, efforts to motors |
| ``/clock`` | ``rosgraph_msgs/Clock`` | simulated time |
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import stiction


@dataclass(frozen=True)
class JointState:
    """What ``sensor_msgs/JointState`` holds: for each joint its name, position, velocity and effort."""

    t: float
    name: list[str]
    position: list[float]
    velocity: list[float]
    effort: list[float]


class Robot:
    """A simulated robot that speaks in the names of its URDF's joints.

    Parameters
    ----------
    urdf : str
        The text of the robot's description.
    kp, kd : float
        Gains of the servos that follow commanded positions and velocities.
    floor : bool
        Whether the robot is free above a floor, the plane z = 0; otherwise its base is fixed.
    height : float
        Of the base above the floor (m).
    """

    def __init__(self, urdf: str, *, kp: float = 100.0, kd: float = 5.0, floor: bool = False, height: float = 0.0) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="stiction-ros-")
        file = Path(self._folder.name) / "robot.urdf"
        file.write_text(urdf)
        builder = stiction.SceneBuilder("robot_description")
        if floor:
            builder.ground()
        builder.robot("", file, base="free" if floor else "fixed", position=[0, 0, height])
        self.simulation = stiction.Simulation(builder.build(), separate=True)
        scene = self.simulation.scene
        movable = ("revolute", "continuous", "prismatic")
        self.names = [name for name, kind in zip(scene.joints, scene.joint_types, strict=True) if kind in movable]
        self._q = {name: scene.q_slice(name).start for name in self.names}
        self._v = {name: scene.v_slice(name).start for name in self.names}
        self._kp, self._kd = kp, kd

    def state(self) -> JointState:
        """The joints now."""
        simulation, effort = self.simulation, self.simulation.applied_effort
        v = [self._v[name] for name in self.names]
        q = [float(simulation.q[self._q[name]]) for name in self.names]
        return JointState(simulation.t, list(self.names), q, [float(simulation.v[k]) for k in v], [float(effort[k]) for k in v])

    def command(self, name: Sequence[str], position: Sequence[float] = (), velocity: Sequence[float] = (), effort: Sequence[float] = ()) -> None:
        """Takes a command; as in ``sensor_msgs/JointState`` each list is empty or has a number per name.

        Raises
        ------
        ValueError
            A list has another length, or there is no such joint. Nothing is changed then.
        """
        unknown = [joint for joint in name if joint not in self._v]
        if unknown:
            raise ValueError(f"there is no joint {unknown[0]!r}; the robot has {', '.join(self.names)}")
        for what, numbers in (("position", position), ("velocity", velocity), ("effort", effort)):
            if len(numbers) not in (0, len(name)):
                raise ValueError(f"{what} has {len(numbers)} numbers for {len(name)} joints")
        for i, joint in enumerate(name):
            k, simulation = self._v[joint], self.simulation
            simulation.kp[k] = self._kp if len(position) else 0.0
            simulation.kd[k] = self._kd if len(position) or len(velocity) else 0.0
            simulation.target[k] = position[i] if len(position) else 0.0
            simulation.target_velocity[k] = velocity[i] if len(velocity) else 0.0
            simulation.effort[k] = effort[i] if len(effort) else 0.0

    def advance(self, seconds: float) -> None:
        """Makes the steps of a time (s), at least one."""
        self.simulation.run(max(1, round(seconds / self.simulation.scene.dt)))


def stamp(t: float) -> tuple[int, int]:
    """A time as the seconds and nanoseconds of ``builtin_interfaces/Time``."""
    whole = round(t * 1e9)
    return whole // 10**9, whole % 10**9


def main() -> None:
    """Runs the node until it is shut down."""
    import rclpy
    from builtin_interfaces.msg import Time
    from rclpy.node import Node
    from rclpy.qos import DurabilityPolicy, QoSProfile
    from rosgraph_msgs.msg import Clock
    from sensor_msgs.msg import JointState as JointStateMessage
    from std_msgs.msg import String

    class StictionNode(Node):
        def __init__(self) -> None:
            super().__init__("stiction")
            for name, default in (("rate", 500.0), ("kp", 100.0), ("kd", 5.0), ("floor", False), ("height", 0.0)):
                self.declare_parameter(name, default)
            self.robot: Robot | None = None
            latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
            self.create_subscription(String, "robot_description", self.described, latched)
            self.create_subscription(JointStateMessage, "joint_commands", self.commanded, 10)
            self.states = self.create_publisher(JointStateMessage, "joint_states", 10)
            self.clock_times = self.create_publisher(Clock, "clock", 10)
            self.period = 1.0 / self.value("rate")
            self.create_timer(self.period, self.tick)

        def value(self, name: str):
            return self.get_parameter(name).value

        def described(self, message: String) -> None:
            try:
                self.robot = Robot(message.data, kp=self.value("kp"), kd=self.value("kd"), floor=self.value("floor"), height=self.value("height"))
            except stiction.StictionError as error:
                self.get_logger().error(f"robot_description: {error}")

        def commanded(self, message: JointStateMessage) -> None:
            if self.robot is None:
                return
            try:
                self.robot.command(message.name, message.position, message.velocity, message.effort)
            except ValueError as error:
                self.get_logger().error(f"joint_commands: {error}")

        def tick(self) -> None:
            if self.robot is None:
                return
            try:
                self.robot.advance(self.period)
            except stiction.StictionError as error:
                self.get_logger().error(f"the step failed: {error}")
                return
            state = self.robot.state()
            seconds, nanoseconds = stamp(state.t)
            time = Time(sec=seconds, nanosec=nanoseconds)
            message = JointStateMessage(name=state.name, position=state.position, velocity=state.velocity, effort=state.effort)
            message.header.stamp = time
            self.states.publish(message)
            self.clock_times.publish(Clock(clock=time))

    rclpy.init()
    node = StictionNode()
    try:
        rclpy.spin(node)
    except KeyboardInterrupt:
        pass
    finally:
        node.destroy_node()
        rclpy.try_shutdown()


if __name__ == "__main__":
    main()
