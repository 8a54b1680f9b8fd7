"""The sentences about tapes in Chinese."""

from __future__ import annotations

from collections.abc import Mapping

TAPES: Mapping[str, str] = {
    "What the tape recorded": "梯度带的记录",
    "watched: {names}": "被监视的量：{names}",
    "nothing is watched": "没有被监视的量",
    "nothing happened while the tape recorded": "记录期间没有发生任何运算",
    "recorded?": "是否记录",
    "the tape's derivative with respect to {name} is {value}: that is TensorFlow's convention at this point": (
        "梯度带对 {name} 的导数是 {value}：这是 TensorFlow 在该点的约定"
    ),
    "yes": "是",
    "cut": "已切断",
    "no": "否",
    "by stop_gradient": "由 stop_gradient",
    "it left for NumPy": "数值交给了 NumPy",
    "in stop_recording": "在 stop_recording 之内",
    "an assignment is a state": "赋值是状态",
    "no operand is watched": "操作数都没有被监视",
    "but it has no derivative": "但没有导数",
}
