"""What is said in and of pictures, in Chinese."""

from __future__ import annotations

from collections.abc import Mapping

PICTURES: Mapping[str, str] = {
    "Computation graph of {name}": "{name} 的计算图",
    "{count} operations": "{count} 个运算",
    " ({count} operations)": "（{count} 个运算）",
    " (the first {shown} of {count} operations)": "（{count} 个运算中的前 {shown} 个）",
    "operations {first}-{last}": "运算 {first}-{last}",
    "{count} arguments": "{count} 个自变量",
    "lines {first}-{last}": "第 {first}-{last} 行",
    "{count} values": "{count} 个值",
    "shape {shape}": "形状 {shape}",
    "{shape}: {count} true": "{shape}：{count} 个为真",
    "And {count} more.": "另有 {count} 个。",
    "Adjoints, backwards: {adjoints}.": "伴随值（反向）：{adjoints}。",
    "both": "两者",
    "{sources} feeds {targets}": "{sources} 传入 {targets}",
    "{sources} feed {targets}": "{sources} 传入 {targets}",
    "{source} feeds {target} in the next pass": "{source} 在下一次循环中传入 {target}",
    "next pass, {count}": "下一次循环，{count}",
    "from {sources}": "来自 {sources}",
    ", local derivative {formula}": "，局部导数 {formula}",
    ", hands back {formula}": "，传回 {formula}",
    "values forward; beside the line, the local derivative": "值向前传；线旁为局部导数",
    "adjoints back; beside the line, what is handed on": "伴随值向后传；线旁为传递的值",
    "values forward": "值向前传",
    "adjoints back": "伴随值向后传",
    "values into the next pass of a loop": "传入下一次循环的值",
    "{words} (for the sum of the result's entries)": "{words}（对结果各分量之和）",
    "Numbers": "数值",
    "{function} and its tangent at {point}": "{function} 及其在 {point} 处的切线",
    "tangent at {variable} = {at}: slope {slope}": "在 {variable} = {at} 处的切线：斜率 {slope}",
    "tangent: slope {slope}": "切线：斜率 {slope}",
    "secant with step {step}: slope {slope}": "步长为 {step} 的割线：斜率 {slope}",
    "The secant with step {step} has slope {slope}.": "步长为 {step} 的割线斜率为 {slope}。",
    "The curve passes through ({x}, {y}) with slope {slope}: {direction}.": (
        "曲线经过点 ({x}, {y})，斜率为 {slope}：{direction}。"
    ),
    "it has no slope there": "该处没有斜率",
    "it is level there": "该处水平",
    "it rises there": "该处上升",
    "it falls there": "该处下降",
    "Error of difference quotients of {function}": "{function} 的差商误差",
    "{title}, by step, both axes logarithmic.": "{title}随步长的变化，两轴均为对数刻度。",
    "step h in {variable}": "{variable} 的步长 h",
    "step h": "步长 h",
    "step": "步数",
    "Errors": "误差",
    "relative error": "相对误差",
    "central": "中心",
    "central quotient": "中心差商",
    "forward quotient": "前向差商",
    "central quotient: best at h = {step:.0e}, error {error:.0e}": "中心差商：h = {step:.0e} 时最佳，误差 {error:.0e}",
    "forward quotient: falls as h, half as steep": "前向差商：随 h 减小，坡度只有一半",
    "round-off:": "舍入误差：",
    "truncation:": "截断误差：",
    "grows as 1/h": "按 1/h 增长",
    "falls as h²": "按 h² 减小",
    "The function has no value beside the point.": "函数在该点附近没有值。",
    "The error of the central quotient never falls below {error:.0e}: derivative and function disagree.": (
        "中心差商的误差始终不低于 {error:.0e}：导数与函数不符。"
    ),
    "The central quotient has no error to speak of at any step.": "任何步长下中心差商的误差都微不足道。",
    (
        "The error of the central quotient falls from {first:.0e} at h = {largest:.0e} to {error:.0e} at "
        "h = {step:.0e}, then round-off makes it grow to {last:.0e} at h = {smallest:.0e}."
    ): (
        "中心差商的误差从 h = {largest:.0e} 时的 {first:.0e} 降到 h = {step:.0e} 时的 {error:.0e}，"
        "此后因舍入误差又增大，到 h = {smallest:.0e} 时为 {last:.0e}。"
    ),
    "Gradient descent on {function}": "{function} 的梯度下降",
    "gradient descent, {label}": "梯度下降，{label}",
    "{count} steps, rate {rate}": "{count} 步，学习率 {rate}",
    "where {function} falls fastest: minus the gradient": "{function} 下降最快的方向：负梯度",
    "lines of equal {function}": "{function} 的等值线",
    "{function} along the descent, rate {rate}": "下降过程中的 {function}，学习率 {rate}",
    "start": "起点",
    "end": "终点",
    "{title}: {count} steps of rate {rate} lead from {start}, where it is {first}, to {end}, where it is {last}.": (
        "{title}：以学习率 {rate} 走 {count} 步，从 {start}（函数值 {first}）到 {end}（函数值 {last}）。"
    ),
}
