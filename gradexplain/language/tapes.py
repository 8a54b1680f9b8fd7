"""The sentences about tapes in Chinese."""

from __future__ import annotations

from collections.abc import Mapping

_RECORDS = {
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
_FINDINGS = {
    "{formula} has slope {slope} at {point}, on a branch that where rejects: 0 times it is nan": (
        "{formula} 在 {point} 处的斜率为 {slope}，位于 where 未选取的分支上：0 乘它得 nan"
    ),
    "put a where inside, too: where(c, f(where(c, x, 1)), 0)": ("里面也要用 where：where(c, f(where(c, x, 1)), 0)"),
    "{name} is a constant tensor that this tape does not watch": "{name} 是常数张量，这个 tape 没有监视它",
    "call tape.watch({name}) before it is used, or make it a Variable": (
        "在使用之前调用 tape.watch({name})，或改为 Variable"
    ),
    "{name} was watched after it had been used: the tape has no record of how the result came from it": (
        "{name} 在使用之后才被监视：tape 没有记录结果如何由它得出"
    ),
    "call tape.watch({name}) in the first line of the block": "在代码块的第一行调用 tape.watch({name})",
    "{name} is a Variable, and this tape was told not to watch Variables by itself": (
        "{name} 是 Variable，而这个 tape 被告知不自动监视 Variable"
    ),
    "call tape.watch({name}) before it is used, or leave watch_accessed_variables=False out": (
        "在使用之前调用 tape.watch({name})，或去掉 watch_accessed_variables=False"
    ),
    "{name} was made after the tape had recorded: no record speaks of it": "{name} 是在 tape 记录之后建立的：记录中没有它",
    "ask for the derivative before {name} is made anew, and give a Variable its new value by {name}.assign(...)": (
        "在重新建立 {name} 之前求导，并用 {name}.assign(...) 给 Variable 赋新值"
    ),
    "call tape.watch({name}); a Variable stays one with {name}.assign_sub(...), {name} = {name} - ... is a tensor": (
        "调用 tape.watch({name})；用 {name}.assign_sub(...) 更新则仍是 Variable，而 {name} = {name} - ... 得到的是张量"
    ),
    "{name} was computed before the tape began, and is not watched": "{name} 在 tape 开始之前算出，且没有被监视",
    "call tape.watch({name}), or compute it inside the block from what is watched": (
        "调用 tape.watch({name})，或在代码块内由被监视的量算出它"
    ),
    "{name} is a copy that {operation} computed: the result was computed from the tensor it was before": (
        "{name} 是 {operation} 算出的副本：结果是由之前的张量算出的"
    ),
    "ask for the derivative of the original tensor, or use the copy in the result": (
        "对原来的张量求导，或在结果中使用副本"
    ),
    "{name} is a Variable that is not trainable, so the tape does not watch it": (
        "{name} 是不可训练的 Variable，所以 tape 不监视它"
    ),
    "call tape.watch({name}), or leave it out of the sources: moving averages are not trained": (
        "调用 tape.watch({name})，或不对它求导：滑动平均不参与训练"
    ),
    "{name} has the dtype {dtype}: only floating tensors have derivatives": (
        "{name} 的数据类型为 {dtype}：只有浮点张量才有导数"
    ),
    "write {literal} in place of {value}, or cast it to float32 before it is watched": (
        "把 {value} 写成 {literal}，或在监视之前转换为 float32"
    ),
    "the path from {name} ends at {operation}, whose result has the dtype {dtype}": (
        "从 {name} 出发的路径在 {operation} 处中断，其结果的数据类型为 {dtype}"
    ),
    "stay with floating tensors: take a smooth function in place of argmax, argsort, round and comparisons": (
        "保持浮点张量：用光滑的函数代替 argmax、argsort、round 和比较"
    ),
    "{target} does not depend on {name}: both are there, but no recorded operation leads from one to the other": (
        "{target} 不依赖 {name}：两者都在，但没有记录从一个通向另一个的运算"
    ),
    "compute {target} from {name} inside the block": "在代码块内由 {name} 算出 {target}",
    "{target} is a constant: nothing on the tape computed it": "{target} 是常数：tape 上没有运算得出它",
    "compute {target} inside the block from what is watched": "在代码块内由被监视的量算出 {target}",
    "the path from {name} ends at {operation}: a NumPy array or a plain number has no history": (
        "从 {name} 出发的路径在 {operation} 处中断：NumPy 数组和普通数字没有历史"
    ),
    "keep to tensors: call the model in place of model.predict, tf functions in place of NumPy's, and no float()": (
        "始终使用张量：直接调用模型而不用 model.predict，用 tf 的函数代替 NumPy 的，不要使用 float()"
    ),
    "the path from {name} ends at {operation}: it lets the value through and nothing back": (
        "从 {name} 出发的路径在 {operation} 处中断：值可以通过，导数传不回来"
    ),
    "take the stop_gradient away, if {name} is to learn through this path": (
        "若 {name} 要经这条路径学习，去掉 stop_gradient"
    ),
    "{name} reaches {target} only by {operation}, which stores a number and cuts the history": (
        "{name} 只经 {operation} 通向 {target}，它只存下数字，切断了历史"
    ),
    "use the tensor itself in place of the Variable that it was assigned to": "使用张量本身，而不是被赋值的 Variable",
    "{target} was computed while the tape was not recording ({operation})": (
        "{target} 是在 tape 没有记录时算出的（{operation}）"
    ),
    "move the computation into the block, and out of stop_recording": "把计算移到代码块之内，并移出 stop_recording",
    "{target} is a gradient that was taken outside of the tape, so it has no history": (
        "{target} 是在 tape 之外求出的梯度，因此没有历史"
    ),
    "take the first gradient inside an outer tape, and the second from that tape": (
        "在外层 tape 之内求一阶梯度，再由该 tape 求二阶"
    ),
    "this tape was used up by the call of gradient in line {line}": "这个 tape 已被第 {line} 行的 gradient 调用用完",
    "make it GradientTape(persistent=True), use two tapes, or ask for all sources in one call": (
        "改为 GradientTape(persistent=True)，使用两个 tape，或在一次调用中求出全部"
    ),
    "this tape holds {count} records and keeps all their values": "这个 tape 有 {count} 条记录，并保存其全部数值",
    "make a tape for every step, and no persistent one for the whole training": (
        "每一步使用新的 tape，不要在整个训练中使用同一个 persistent 的 tape"
    ),
    "{target} is a gradient with {count} entries: its derivative is the sums of the rows of the Hessian, not its "
    "diagonal": "{target} 是有 {count} 个分量的梯度：它的导数是 Hessian 矩阵各行之和，而不是对角线",
    "use tape.jacobian for the matrix; each entry by itself for the diagonal": (
        "要矩阵时使用 tape.jacobian；要对角线时逐个分量求导"
    ),
    "TensorFlow's derivative of {operation} is {value} here, but the slope is {slope}: the tape returns TensorFlow's": (
        "TensorFlow 在此处给出的 {operation} 的导数为 {value}，而斜率为 {slope}：tape 返回 TensorFlow 的值"
    ),
    "use gx.grad for the slope": "要得到斜率，使用 gx.grad",
    "the gradient of {name} is sparse: rows {rows} of {count} were looked up, the others are 0": (
        "{name} 的梯度是稀疏的：共 {count} 行，查到的是第 {rows} 行，其余为 0"
    ),
    "nothing is wrong: tf.convert_to_tensor gives the dense form": "没有问题：tf.convert_to_tensor 给出稠密的形式",
    "{name} is complex: this is the conjugate of df/dz, as in TensorFlow and PyTorch; JAX gives its conjugate": (
        "{name} 是复数：这是 df/dz 的共轭，与 TensorFlow 和 PyTorch 相同；JAX 给出它的共轭"
    ),
    "take the conjugate to compare with JAX": "与 JAX 比较时取共轭",
    "comes back, by argument: {formulas}": "传回各自变量的导数：{formulas}",
    "the derivative of {operation} is the one that its custom_gradient states, not that of what it computes": (
        "{operation} 的导数取自它的 custom_gradient，而不是它所计算的函数的导数"
    ),
    "compare it with gx.check; the function gets dL/d(output) and returns dL/d(input)": (
        "用 gx.check 比较；该函数接收 dL/d(output)，返回 dL/d(input)"
    ),
    "{operation} works while a graph is built, and here values are computed at once": (
        "{operation} 只在构建计算图时可用，而这里立即计算数值"
    ),
    "put the code into a tf.function, or use tape.gradient({target}, {name})": (
        "把代码放进 tf.function，或使用 tape.gradient({target}, {name})"
    ),
    "the Jacobian is computed row by row: {operation} has no form for all rows at once": (
        "Jacobian 矩阵逐行计算：{operation} 没有同时计算各行的形式"
    ),
    "nothing is wrong with the values": "数值没有问题",
    "{name} is a {kind} and no tensor: a tape can't watch it": "{name} 是 {kind} 而不是张量，tape 无法监视它",
    "watch {name}.value, or put {name} among the sources without watching it": (
        "监视 {name}.value，或不监视而直接对 {name} 求导"
    ),
    "TensorFlow's derivative of {operation} is {value} here, where the chain rule, number by number, gives {slope}: "
    "the tape returns TensorFlow's": (
        "TensorFlow 在此处给出的 {operation} 的导数为 {value}，而链式法则逐个数值地得到 {slope}：tape 返回 TensorFlow 的值"
    ),
    "see which factors are 0 and infinite, and rewrite the product so that they do not meet": (
        "看清哪些因子为 0、哪些为无穷大，改写乘积使它们不相遇"
    ),
}
TAPES: Mapping[str, str] = {**_RECORDS, **_FINDINGS}
