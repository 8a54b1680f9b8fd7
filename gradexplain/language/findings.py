"""The sentences of findings in Chinese: what the causes are, what is not the cause, and what to do."""

from __future__ import annotations

from collections.abc import Mapping

_FRAME = {
    "on the path": "路径",
    "here": "此处",
    "factor: {text}": "因子：{text}",
    "not the cause: {text}": "并非原因：{text}",
    "what to do: {text}": "解决办法：{text}",
    "… {count} more": "… 另有 {count} 个",
    "{low} .. {high}": "{low} .. {high}",
    "{remark}": "{remark}",
    "{what}": "{what}",
    "{do}": "{do}",
}
_CAUSES = {
    "the result is a constant: no path leads from {name} to it, so its derivative is 0": (
        "结果是常数：从 {name} 没有路径通向它，故对 {name} 的导数为 0"
    ),
    "{name} is used on another branch only: its derivative is 0 on this one": (
        "{name} 只在另一条分支上使用，在这条分支上对它的导数为 0"
    ),
    "{name} does not appear on the path that was taken: its derivative is 0 there": (
        "{name} 没有出现在所走的路径上，在该处对它的导数为 0"
    ),
    "{name} comes into the result by {operation}, too: nothing comes back on that path, and the derivative is that of the others": (
        "{name} 还经 {operation} 进入结果：该路径传不回导数，导数只来自其余路径"
    ),
    "nothing is wrong if {operation} is meant to be a constant; else put something smooth in place of it": (
        "若 {operation} 本应是常数则没有问题，否则换成光滑的函数"
    ),
    "{what}: the path ends there": "{what}：路径到此为止",
    "{name} is a whole number, so it steers the program and is not differentiated": (
        "{name} 是整数，只控制程序的走向，不对它求导"
    ),
    "{formula} is on its flat side here: its slope in {operand} is 0": (
        "{formula} 在此处位于平坦的一侧，对 {operand} 的斜率为 0"
    ),
    "all {size} entries of {operand} are on the flat side of {formula}: the slope is 0": (
        "{operand} 的 {size} 个分量全部位于 {formula} 平坦的一侧，斜率为 0"
    ),
    "{formula} is on its flat side at {count} of {size} entries (index {units}): nothing comes back through them": (
        "{formula} 的 {size} 个分量中有 {count} 个（下标 {units}）位于平坦的一侧，导数无法经它们传回"
    ),
    "{count} of {size} units of {formula} are dead here (index {units}): all rows are on the flat side": (
        "{formula} 的 {size} 个单元中有 {count} 个（下标 {units}）在此处失活：所有行都位于平坦的一侧"
    ),
    "the other units do hand something back to {name}": "其余单元确有导数传回 {name}",
    "{formula} has the factor {other} = 0 here, since {cause} is flat there: {reason}": (
        "{formula} 在此处的因子 {other} = 0，因为 {cause} 在该处是平坦的：{reason}"
    ),
    "all {size} entries of {operand} are on its flat side": "{operand} 的 {size} 个分量全部位于其平坦的一侧",
    "{operand} is on its flat side": "{operand} 位于其平坦的一侧",
    "{formula} has a constant factor 0: nothing comes back to {operand}": (
        "{formula} 含有常数因子 0，导数无法传回 {operand}"
    ),
    "take the constant factor 0 out, if {name} is to have an influence": "若要 {name} 有影响，去掉常数因子 0",
    "look at {cause}, which is 0 here: a product has no slope in one factor while the other is 0": (
        "检查 {cause}，它在此处为 0：一个因子为 0 时，乘积对另一个因子的斜率为 0"
    ),
    "{formula} is clipped here ({point}), so nothing comes back to {operand}": (
        "{formula} 在此处被截断（{point}），导数无法传回 {operand}"
    ),
    "{formula} is saturated at {point}: its slope there is {slope}": "{formula} 在 {point} 处饱和，该处斜率为 {slope}",
    "{formula} has the factor {other} = 0 here, so nothing comes back to {operand}": (
        "{formula} 在此处的因子 {other} = 0，导数无法传回 {operand}"
    ),
    "the slope of {formula} is 0 at {point}": "{formula} 在 {point} 处的斜率为 0",
    "{formula} does not select {operand} here: nothing comes back through it": (
        "{formula} 在此处没有选取 {operand}，导数无法经它传回"
    ),
    "what comes back to {operand} over {count} paths adds up to 0: {terms}": (
        "经 {count} 条路径传回 {operand} 的导数之和为 0：{terms}"
    ),
    "the derivative before this one does not contain {name}: the derivative {key} is 0 everywhere": (
        "前一阶导数不含 {name}，故导数 {key} 处处为 0"
    ),
    "{equation} is more than a float holds": "{equation} 超出浮点数的范围",
    "{equation} has no finite value, but {operand} is {exact}: rounding made it 0": (
        "{equation} 没有有限的值，但 {operand} 是 {exact}，被舍入成了 0"
    ),
    "the result does not use the entries that {formula} has from {operand}": (
        "结果没有用到 {formula} 中来自 {operand} 的分量"
    ),
    "0 times infinity: {formula} has slope {slope} at {point}, {other} has slope 0": (
        "0 乘无穷大：{formula} 在 {point} 处的斜率为 {slope}，而 {other} 的斜率为 0"
    ),
    "what comes back to {name} over several paths is inf and -inf: their sum is nan": (
        "经几条路径传回 {name} 的导数是 inf 和 -inf，其和为 nan"
    ),
    "on the branch that where rejects here, {formula} has slope {slope}: it counts 0 here, but programs that multiply "
    "it by 0 get nan": ("在 where 未选取的分支上，{formula} 的斜率为 {slope}：这里按 0 计，而乘以 0 的程序会得到 nan"),
    "{formula} has slope {slope} here, which the other factors cancel: the derivative is finite, but step by step it is "
    "0 times infinity": ("{formula} 在此处的斜率为 {slope}，被其他因子抵消：导数有限，但逐步计算时是 0 乘无穷大"),
    "{formula} has equal values ({values}): the vectors that belong to them are not differentiable": (
        "{formula} 有相等的值（{values}），相应的向量不可导"
    ),
    "{formula} is exactly at a jump ({slopes})": "{formula} 恰好处于跳跃点（{slopes}）",
    "{formula} is exactly at a jump in {hits} of {size} entries ({slopes})": (
        "{formula} 的 {size} 个分量中有 {hits} 个恰好处于跳跃点（{slopes}）"
    ),
    "{formula} has a tie here ({slopes})": "{formula} 在此处有并列（{slopes}）",
    "{formula} has a tie at {hits} of {size} entries ({slopes})": (
        "{formula} 的 {size} 个分量中有 {hits} 个出现并列（{slopes}）"
    ),
    "{formula} is the length of a zero vector: its derivative x/norm(x) is 0/0, and 0 is taken": (
        "{formula} 是零向量的长度：导数 x/norm(x) 是 0/0，取 0"
    ),
    "{condition} is decided exactly on its border: in {name} the slope is {left} on the left and {right} on the right, "
    "{taken} is taken": ("{condition} 恰好在边界上：对 {name} 的左侧斜率为 {left}，右侧斜率为 {right}，取 {taken}"),
    "{condition} is decided exactly on its border, and the function jumps there": (
        "{condition} 恰好在边界上，函数在该处跳跃"
    ),
    "{condition} singles this point out: the derivative is the limit from both sides, {taken}": (
        "{condition} 单独挑出了这一点：导数取两侧的极限 {taken}"
    ),
    "the derivative with respect to {name} is {size}: along a path {count} factors multiply to {product} ({factors})": (
        "对 {name} 的导数为 {size}：沿一条路径的 {count} 个因子之积为 {product}（{factors}）"
    ),
    "{count} times {low} ({formula})": "{count} 个 {low}（{formula}）",
    "{count} times {low} .. {high} ({formula})": "{count} 个 {low} .. {high}（{formula}）",
    "{formula} has slope {slope} at {point}, close to a point where it is infinite": (
        "{formula} 在 {point} 处的斜率为 {slope}，该点靠近斜率无穷大之处"
    ),
    "{formula} keeps {kept} of 16 digits here, since {reason}": (
        "{formula} 在此处的 16 位数字只剩 {kept} 位可靠，因为 {reason}"
    ),
    "{a} and {b} are nearly equal in size": "{a} 与 {b} 大小几乎相等",
    "a rounding of {operand} weighs so much there": "{operand} 的舍入误差在该处影响很大",
    "the result has shape {shape}: this is the gradient of the sum of its {count} entries": (
        "结果的形状为 {shape}：这是其 {count} 个分量之和的梯度"
    ),
}
_NOT_THE_CAUSE = {
    "no operation cut or rounded it: none reads it": "没有运算切断或舍入它，因为没有运算用到它",
    "{name} does come into the result: the value changes where {formula} jumps": (
        "{name} 确实影响结果：{formula} 跳跃时值会改变"
    ),
    "{name} does reach the result: there is a path, with a factor 0 on it": "{name} 确实通向结果：路径存在，但其上有因子 0",
    "{name} does matter: in exact arithmetic the slope is not 0": "{name} 确实有影响：精确计算时斜率不为 0",
    "no single operation has slope 0": "没有哪个运算的斜率为 0",
    "no single operation does it: the strongest factor is {factor:.3g}": (
        "不是某一个运算造成的：最强的因子为 {factor:.3g}"
    ),
    "the mathematics is fine: the exact value is {value}": "数学上没有问题：精确值为 {value}",
    "the function itself is finite here: {value}": "函数值在此处是有限的：{value}",
    "the simplified formula is finite here: {value}": "化简后的公式在此处是有限的：{value}",
    "the formula of the derivative is right: it is the float arithmetic that loses digits": (
        "导数公式是对的：丢失数位的是浮点运算"
    ),
    "the sum changes nothing here: each entry of the result depends on one entry of the argument": (
        "求和在此处没有影响：结果的每个分量只依赖自变量的一个分量"
    ),
    "{name} is watched": "{name} 已被监视",
    "{name} is watched, and operations read it": "{name} 已被监视，也有运算用到它",
    "its dtype {dtype} is one that has derivatives": "其数据类型 {dtype} 可以求导",
}
_FACTORS = {
    "0 (what comes from above) times {slope}": "0（来自上游）乘 {slope}",
    "{slope} (from {formula}) times 0 (from {other})": "{slope}（来自 {formula}）乘 0（来自 {other}）",
    "the slope is {slope}, which a float rounds to 0": "斜率为 {slope}，浮点数舍入为 0",
    "1 divided by the difference of two equal values": "1 除以两个相等值之差",
    "in {name} the result has slope {left} on the left and {right} on the right, {taken} is taken": (
        "结果对 {name} 的左侧斜率为 {left}，右侧斜率为 {right}，取 {taken}"
    ),
    "{mean:.3g} on average": "平均 {mean:.3g}",
    "{found} in floats, exactly {exact}": "浮点数为 {found}，精确值为 {exact}",
}
_FIXES = {
    "use {name} in the result, or leave it out": "在结果中使用 {name}，或者去掉它",
    "compute the result from {name}": "用 {name} 计算结果",
    "look at the condition, or choose a point on the other side of it": "检查条件，或选取条件另一侧的点",
    "put something smooth in place of it: softmax for argmax, a sigmoid for a comparison or a step, x itself for "
    "round(x)": "换成光滑的函数：用 softmax 代替 argmax，用 sigmoid 代替比较或阶跃，用 x 本身代替 round(x)",
    "keep the value in the computation, without int() and conversions to whole numbers": (
        "让数值留在计算之中，不要使用 int() 或转换为整数"
    ),
    "write {name}={value}.0, or ask for it with wrt=": "写成 {name}={value}.0，或用 wrt= 指定它",
    "start elsewhere, scale the input, or use a function that leaks, such as maximum(0.01*x, x)": (
        "换一个起点，缩放输入，或改用有泄漏的函数，例如 maximum(0.01*x, x)"
    ),
    "move the value inside the bounds, or penalise it for leaving them": "把数值移到界限之内，或对越界加以惩罚",
    "scale the input down, or compute the loss from the logits: log-sigmoid and softmax have exact forms": (
        "缩小输入，或直接用 logits 计算损失：log-sigmoid 与 softmax 都有精确的形式"
    ),
    "start from another value of {other}: weights that are all 0 do not learn": (
        "换一个 {other} 的初值：全为 0 的权重无法学习"
    ),
    "choose a point beside it: this is where the operation neither rises nor falls": (
        "选取旁边的点：运算在该处既不上升也不下降"
    ),
    "look at the condition of the where: it decides at this point for the other branch": (
        "检查 where 的条件：它在该点选取了另一条分支"
    ),
    "look at its operands at this point": "检查它在该点的操作数",
    "look at the index or the mask that picks the entries of {formula}": "检查选取 {formula} 分量的下标或掩码",
    "nothing is wrong if the result is meant not to depend on {name}": "若结果本来就不该依赖 {name}，则没有问题",
    "nothing is wrong: a function that is linear in {name} has no second derivative": (
        "没有问题：关于 {name} 为线性的函数，二阶导数为 0"
    ),
    "keep the operand inside the domain: clamp it, or choose the branch before the operation": (
        "让操作数留在定义域内：限制其范围，或在运算之前选择分支"
    ),
    "rearrange it so that no large number is needed: subtract the maximum before exp, use logaddexp or log1p(exp(-x))": (
        "改写成不需要大数的形式：在 exp 之前减去最大值，使用 logaddexp 或 log1p(exp(-x))"
    ),
    "use the logarithm of it directly: logaddexp, log_softmax in place of log(softmax), sums of logs in place of "
    "log(prod)": "直接使用对数：logaddexp，用 log_softmax 代替 log(softmax)，用对数之和代替 log(prod)",
    "keep the operand away from that point, as in sqrt(x + eps), or use a function without a vertical tangent there": (
        "让操作数远离该点，例如 sqrt(x + eps)，或改用在该处没有竖直切线的函数"
    ),
    "simplify before you differentiate (sqrt(x**2) is abs(x)), or add a small number under the root": (
        "先化简再求导（sqrt(x**2) 就是 abs(x)），或在根号下加一个小数"
    ),
    "simplify the difference before you differentiate it": "先化简差，再求导",
    "for those put a where inside, too: where(c, f(where(c, x, 1)), 0)": (
        "在那些框架中，里面也要用 where：where(c, f(where(c, x, 1)), 0)"
    ),
    "for programs that do not simplify write the simplified function: x in place of sqrt(x)**2": (
        "对于不会化简的程序，写出化简后的函数：用 x 代替 sqrt(x)**2"
    ),
    "use what does not depend on the choice of vectors (the trace, sums over the equal values), or separate the values": (
        "使用不依赖向量选取的量（迹，或对相等值求和），或把这些值分开"
    ),
    "nothing is wrong if that slope will do; else choose a point beside it, or a smooth function": (
        "若该斜率可以接受，则没有问题；否则选取旁边的点，或改用光滑的函数"
    ),
    "choose a point beside the jump; difference quotients mean nothing on it": (
        "选取跳跃点旁边的点；在跳跃点上差商没有意义"
    ),
    "nothing is wrong if equal shares will do; else break the tie, or use a soft maximum": (
        "若平均分配可以接受，则没有问题；否则打破并列，或改用软最大值"
    ),
    "in a loss use the square, sum(x**2), whose gradient is 2*x, or sqrt(sum(x**2) + eps)": (
        "在损失中使用平方 sum(x**2)，其梯度为 2*x，或使用 sqrt(sum(x**2) + eps)"
    ),
    "choose a point on one side, or make the branches agree where they meet": ("选取一侧的点，或让各分支在交界处一致"),
    "give the point the value that the function has around it, if that was not meant": (
        "若非本意，让该点的值与周围一致"
    ),
    "give a point, and the derivative on that piece is explained": "给出一点，就能解释那一段上的导数",
    "nothing is wrong at a point that is given; for one formula for all write fewer branches, np.where counts as one": (
        "在给出的点没有问题；若要处处适用的公式，请减少分支，np.where 只算一个"
    ),
    "clip the gradient, start with smaller weights, or use fewer passes": "截断梯度，使用更小的初始权重，或减少循环次数",
    "use fewer passes, skip connections, normalised layers, or larger weights": (
        "减少循环次数，使用跳跃连接、归一化层或更大的权重"
    ),
    "keep away from that point, as in sqrt(x + eps) or x/(abs(x) + eps)": (
        "远离该点，例如 sqrt(x + eps) 或 x/(abs(x) + eps)"
    ),
    "rewrite the difference so that nearly equal numbers are not subtracted, or compute with more digits": (
        "改写差，避免相近的数相减，或用更多数位计算"
    ),
    "for one row for each entry use gx.jacobian or gx.explain_jacobian": (
        "若要每个分量各有一行，使用 gx.jacobian 或 gx.explain_jacobian"
    ),
    "use softmax in place of argmax": "用 softmax 代替 argmax",
    "use softmax of the negative in place of argmin": "用相反数的 softmax 代替 argmin",
    "use a soft ranking, or the sorted values themselves, in place of argsort": "用软排序或排序后的值代替 argsort",
    "use the value itself in place of the rounded one": "用数值本身代替舍入后的值",
    "use tanh(k*x) in place of sign(x)": "用 tanh(k*x) 代替 sign(x)",
    "use a sigmoid in place of heaviside": "用 sigmoid 代替 heaviside",
    "use a sigmoid of the difference in place of the comparison": "用差的 sigmoid 代替比较",
    "write the simplified formula in the program: autodiff follows the program as it is": (
        "在程序中写出化简后的公式：自动微分照程序的写法逐步计算"
    ),
    "it is a length: use np.linalg.norm, the square {operand} itself, or sqrt({operand} + eps)": (
        "这是长度：使用 np.linalg.norm、平方 {operand} 本身，或 sqrt({operand} + eps)"
    ),
    "sqrt of a square is an absolute value: write abs": "平方的平方根就是绝对值：写成 abs",
    "add a small number under the root, as in sqrt({operand} + eps)": "在根号下加一个小数，例如 sqrt({operand} + eps)",
    "keep {operand} inside (-1, 1), or use arctan2, or a loss such as 1 - {operand}": (
        "让 {operand} 留在 (-1, 1) 内，或使用 arctan2，或使用 1 - {operand} 这样的损失"
    ),
    "keep {operand} away from 0, as in maximum({operand}, eps), or use an exponent of at least 1": (
        "让 {operand} 远离 0，例如 maximum({operand}, eps)，或使用不小于 1 的指数"
    ),
    "write 2*sin({operand}/2)**2": "写成 2*sin({operand}/2)**2",
    "write expm1({operand})": "写成 expm1({operand})",
    "write log1p({operand})": "写成 log1p({operand})",
    "write ({a} - {inner})/(sqrt({a}) + sqrt({b}))": "写成 ({a} - {inner})/(sqrt({a}) + sqrt({b}))",
}
FINDINGS: Mapping[str, str] = {**_FRAME, **_CAUSES, **_NOT_THE_CAUSE, **_FACTORS, **_FIXES}
