"""The sentences in Chinese, by where they are said; those of pictures are in `pictures`."""

from __future__ import annotations

from collections.abc import Mapping

_JOINTS = {
    " ": "",
    ", ": "，",
    "; ": "；",
    ": ": "：",
    " and ": " 且 ",
    " or ": " 或 ",
    "{names} and {last}": "{names} 和 {last}",
    "{first}, {other}": "{first}，{other}",
    "{first} and {other}": "{first}、{other}",
    "{name}: {remark}": "{name}：{remark}",
    "{sentence}: {remark}": "{sentence}：{remark}",
    "{sentence}.": "{sentence}。",
    "{name} at {point}": "{name}（在 {point} 处）",
    " (line {number})": "（第 {number} 行）",
    "line {number}": "第 {number} 行",
    "warning: ": "注意：",
    "error: ": "错误：",
    "picture": "图",
    "where": "其中",
}
_TITLES = {
    "The derivative with respect to {variables}": "关于 {variables} 的导数",
    "The {which} derivative with respect to {variables}": "关于 {variables} 的{which}导数",
    "The derivative of {name} with respect to {variable}": "{name} 关于 {variable} 的导数",
    "The derivative with respect to {variable}, entry by entry": "关于 {variable} 各分量的导数",
    "With respect to {variables}": "对 {variables} 求导",
    "Reverse mode": "反向模式",
    "Forward mode": "前向模式",
    "Reverse and forward mode": "反向模式与前向模式",
    "Gradient check": "梯度检验",
    "Findings": "注意事项",
    "What autodiff recorded": "自动微分的记录",
    "Computation graph": "计算图",
    "Steps": "求导步骤",
    "Autodiff": "自动微分",
    "Graph": "计算图",
    "Check": "检验",
    "LaTeX to copy": "可复制的 LaTeX",
    "What they cost": "两种模式的运算量",
    "{name} at {point}, step by step": "逐步讲解：{name}（在 {point} 处）",
    "{name}, step by step": "逐步讲解：{name}",
}
_DERIVATIONS = {
    "First": "一阶",
    "Second": "二阶",
    "Third": "三阶",
    "Fourth": "四阶",
    "Fifth": "五阶",
    "Sixth": "六阶",
    "{order}th": "{order} 阶",
    "{ordinal} derivative": "{ordinal}导数",
    "{name}": "{name}",
    "{name} twice": "{name}（两次）",
    "{name} three times": "{name}（三次）",
    "{name} four times": "{name}（四次）",
    "{name} {count} times": "{name}（{count} 次）",
    "This holds for {conditions}.": "成立条件：{conditions}。",
    "{count} more conditions": "另外 {count} 个条件",
    "{count} more": "另外 {count} 个",
    "This function computes with arrays; see its reverse mode.": "这个函数对数组作运算，请看反向模式。",
    "The steps are those of {call}.": "步骤见 {call}。",
    "{count} more entries are derived alike.": "其余 {count} 个分量的求导与此类似。",
    "{names} is held constant.": "{names} 视为常数。",
    "{names} are held constant.": "{names} 视为常数。",
    "{variable} varies.": "{variable} 变化。",
    "{variable} varies; {names} is held constant.": "{variable} 变化，{names} 视为常数。",
    "{variable} varies; {names} are held constant.": "{variable} 变化，{names} 视为常数。",
    "{formula} has kinks ({slopes})": "{formula} 有尖点（{slopes}）",
    "no entries are assumed to tie in {formula}": "假设 {formula} 中没有并列的分量",
    "{differential} is brought out: its coefficient is the derivative.": "提出 {differential}：其系数就是导数。",
    "Put into {result} one by one, the differentials leave {differential}: its coefficient is the derivative.": (
        "把各微分依次代入 {result}，最后只剩 {differential}，其系数就是导数。"
    ),
    "{names} held constant": "{names} 视为常数",
    "{rule}, as in {label}": "{rule}（同第 {label} 步）",
    "together": "合起来",
    "… {count} more step": "… 另外 {count} 步",
    "… {count} more steps": "… 另外 {count} 步",
    "{equation} is the logarithm of {power}": "{equation} 是 {power} 的对数",
    "at {point}: {values}": "在 {point} 处：{values}",
    "at the point: {name} is of shape {shape}": "在该点处：{name} 的形状为 {shape}",
    "{name} of shape {shape}": "{name}（形状为 {shape}）",
    "{shape}: {low} .. {high}, mean {mean}": "{shape}：{low} .. {high}，均值 {mean}",
    "differentiate both sides": "等式两边求导",
    "differentiate again": "再次求导",
    "collect {name}": "把含 {name} 的项移到一边",
    "solve for {name}": "解出 {name}",
    "{name} depends on {variable}; {prime} stands for {derivative}": (
        "{name} 是 {variable} 的函数，{prime} 表示 {derivative}"
    ),
    "the power rule needs a constant exponent, the exponential rule a constant base: neither applies": (
        "幂法则要求指数为常数，指数函数求导公式要求底数为常数，这里都不适用"
    ),
    "condition: {base} > 0, so that the power is real": "条件：{base} > 0，使幂为实数",
    "inverse function: {value} with {equation}": "反函数：{value} 满足 {equation}",
    "both sides: {equation}, where {slope}": "两边求导：{equation}，其中 {slope}",
    "a branch of a single point has no slope of its own: there the limit decides": (
        "只含一个点的分支没有自己的斜率，该点处由极限决定"
    ),
    "take logarithms: {equation}, by {law}": "取对数：{equation}（由 {law}）",
    "the same by rewriting: {equation} and the chain rule": "也可改写为 {equation}，再用链式法则",
}
_SIMPLIFICATION = {
    "(raw)": "（未化简）",
    "{rule}: {equations}": "{rule}：{equations}",
    "distribute {factor} over {sum}": "把 {factor} 分配到 {sum}",
    "multiply out {terms}": "展开 {terms}",
    "like terms: {equations}": "合并同类项：{equations}",
    "common factor {terms}": "提取公因式 {terms}",
    "factor {terms}": "提取公因式 {terms}",
    "factor into {terms}": "因式分解为 {terms}",
    "cancel {terms}": "约去 {terms}",
    "cancel {terms} in the fraction": "分式约去 {terms}",
    "multiply numerator and denominator by {terms}": "分子分母同乘 {terms}",
    "divide each term by {terms}": "各项分别除以 {terms}",
    "put in {terms}": "代入 {terms}",
    "put in {equations}": "代入 {equations}",
    "equal terms cancel: {equations}": "相等的项抵消：{equations}",
    "{terms} cancels": "{terms} 抵消",
    "{terms} cancel": "{terms} 抵消",
    "the rewrite '{rule}' was stopped after {seconds:g} s; the form before it is shown": (
        "“{rule}”这一步超过 {seconds:g} 秒，已停止；显示的是此前的形式"
    ),
    "no point was found at which the formula could be checked": "没有找到可以检验公式的点",
    "the formula could not be confirmed at all sample points": "公式未能在所有样本点上得到验证",
    "no point was found on the curve, which may have none: the formula could not be checked": (
        "没有找到曲线上的点（曲线可能为空），公式未能检验"
    ),
}
_MODES = {
    "forward": "前向",
    "backward": "反向",
    "reverse": "反向",
    "result": "结果",
    "name": "名称",
    "operation": "运算",
    "value": "值",
    "line": "行",
    "local derivative": "局部导数",
    "adjoint": "伴随值",
    "tangent": "切线值",
    "handed on by": "传自",
    "rule": "法则",
    "seed": "种子",
    "input": "输入",
    "mode": "模式",
    "passes": "遍数",
    "operations": "运算次数",
    "values kept": "保存的值",
    "pass of {name}": "{name} 的一遍",
    "… {count} more": "… 另外 {count} 个",
    "Forward: the operations in order": "前向：依次进行的运算",
    "Backward: every operation hands its adjoint to its operands": "反向：每个运算把伴随值传给它的操作数",
    "No path leads from {names} to the result: the derivative is 0.": "从 {names} 到结果没有路径，导数为 0。",
    "The seed is {seed}.": "种子为 {seed}。",
    "The seed {name} is ones of shape {shape}: this is the gradient of the sum of the entries.": (
        "种子 {name} 的形状为 {shape}，分量全为 1：所得是各分量之和的梯度。"
    ),
    "with the seed g": "以 g 为种子",
    "paths into {name}:{paths} sum {value}": "通向 {name} 的路径：{paths}和为 {value}",
    " via {operation} {value},": "经 {operation} 得 {value}，",
    "Every operation carries its tangent along; the direction is {direction}.": (
        "每个运算都带上自己的切线值；方向为 {direction}。"
    ),
    "Every operation carries its tangent along; the direction is {direction} (all entries alike).": (
        "每个运算都带上自己的切线值；方向为 {direction}（所有分量相同）。"
    ),
    (
        "Every operation carries its tangent along, in {count} passes, one for each of {names}: its own tangent "
        "starts at 1, the others at 0."
    ): "每个运算都带上自己的切线值，共 {count} 遍，{names} 各一遍：本遍变量的切线值从 1 开始，其余从 0 开始。",
    "Cost: the function takes {operations}, {more}. {verdict}": "运算量：函数需要{operations}，{more}。{verdict}",
    "the sweep back {count:,} more, for which {kept} of the function must be kept": (
        "反向扫描另需 {count:,} 次，为此须保存函数的{kept}"
    ),
    "the pass {count:,} more; nothing must be kept": "这一遍另需 {count:,} 次，无须保存中间值",
    "the {passes:,} passes, one for each entry, {count:,} more; nothing must be kept": (
        "{passes:,} 遍（每个分量一遍）另需 {count:,} 次，无须保存中间值"
    ),
    "no value": " 0 个值",
    "{count:,} value": " {count:,} 个值",
    "{count:,} values": " {count:,} 个值",
    "{count:,} operation": " {count:,} 次运算",
    "{count:,} operations": " {count:,} 次运算",
    "{count:,} input": "{count:,} 个输入",
    "{count:,} inputs": "{count:,} 个输入",
    "{count:,} result": "{count:,} 个结果",
    "{count:,} results": "{count:,} 个结果",
    "{count:,} sweep": " {count:,} 次扫描",
    "{count:,} sweeps": " {count:,} 次扫描",
    "One input and one result: both modes need one pass, and forward mode need not keep anything.": (
        "一个输入、一个结果：两种模式都只需一遍，而前向模式无须保存中间值。"
    ),
    "a sweep back serves all inputs at once ({operations})": "一次反向扫描可得到对所有输入的导数（共{operations}）",
    "forward mode has a pass for each input ({operations} in {passes:,} passes)": (
        "前向模式对每个输入各走一遍（{passes:,} 遍共{operations}）"
    ),
    "a forward pass serves all results at once ({operations})": "一遍前向计算可得到所有结果的导数（共{operations}）",
    "reverse mode has a sweep for each result ({sweeps})": "反向模式对每个结果各扫描一次（共{sweeps}）",
    "{inputs} and {results}: {first}, {second}. {end}": "{inputs}、{results}：{first}，{second}。{end}",
    "{inputs} and {results}: both modes need as many passes, and forward mode need not keep anything.": (
        "{inputs}、{results}：两种模式遍数相同，而前向模式无须保存中间值。"
    ),
    "Reverse mode wins.": "反向模式更省。",
    "Forward mode wins.": "前向模式更省。",
    "With this few inputs forward mode is no worse.": "输入很少，前向模式并不逊色。",
    "the argument {name}": "自变量 {name}",
    "the seed, the derivative of {name} with respect to itself": "种子，即 {name} 对自身的导数",
    "the adjoint of {name}": "{name} 的伴随值",
    "the adjoint of {name} is the sum over its paths": "{name} 的伴随值是各条路径之和",
    "{source} hands on to {target}": "{source} 传给 {target}",
    "{source} hands on to {target} by the {rule}": "{source} 传给 {target}（{rule}）",
    "… {count} operations that are not shown": "… {count} 个运算未显示",
    "… {count} row not shown": "… {count} 行未显示",
    "… {count} rows not shown": "… {count} 行未显示",
    "… {count} step not shown": "… {count} 步未显示",
    "… {count} steps not shown": "… {count} 步未显示",
    "… {count} substep not shown": "… {count} 个子步骤未显示",
    "… {count} substeps not shown": "… {count} 个子步骤未显示",
    "step {number} of {count}: {words}": "第 {number} 步，共 {count} 步：{words}",
    "Back": "上一步",
    "Next": "下一步",
}
_CHECKS = {
    "derivative": "导数",
    "claimed": "给出的值",
    "difference quotient": "差商",
    "error": "误差",
    "verdict": "结论",
    "ok": "通过",
    "fail": "不通过",
    "inconclusive": "无法判定",
    "The gradient passes: {counted}.": "梯度通过检验：{counted}。",
    "The gradient passes at {point}: {counted}.": "梯度在 {point} 处通过检验：{counted}。",
    "The gradient FAILS: {counted}.": "梯度未通过检验：{counted}。",
    "The gradient FAILS at {point}: {counted}.": "梯度在 {point} 处未通过检验：{counted}。",
    "The gradient is inconclusive: {counted}.": "梯度无法判定：{counted}。",
    "The gradient is inconclusive at {point}: {counted}.": "梯度在 {point} 处无法判定：{counted}。",
    "{passed} of {count} entries agree": "{count} 个分量中有 {passed} 个相符",
    "check  ": "检验  ",
    "check  {point}: ": "检验  {point}：",
    "{lead}{found}  ok": "{lead}{found}，通过",
    "{lead}{found}  ok: {remark}": "{lead}{found}，通过：{remark}",
    "{lead}{claimed}, {quotient}  {verdict}": "{lead}{claimed}，{quotient}，{verdict}",
    "difference quotient {value}": "差商 {value}",
    "no difference quotient": "没有差商",
    "slope along {direction}": "沿{direction}的斜率",
    "direction {number}": "方向 {number}",
    "{count} entries agree with difference quotients": "{count} 个分量与差商相符",
    "{count} values agree with difference quotients": "{count} 个值与差商相符",
    "{count} entries agree with difference quotients along a random direction": (
        "{count} 个分量沿一个随机方向与差商相符"
    ),
    "{count} entries agree with difference quotients along {directions} random directions": (
        "{count} 个分量沿 {directions} 个随机方向与差商相符"
    ),
    "{name} is meant to be symmetric: an entry moves with its mirror image, half each": (
        "{name} 应为对称矩阵：每个元素与其镜像元素各移动一半"
    ),
    "{entries} entries: every one is in the sum along {count} random direction": (
        "共 {entries} 个分量：沿 {count} 个随机方向求和，每个分量都在其中"
    ),
    "{entries} entries: every one is in the sum along {count} random directions": (
        "共 {entries} 个分量：沿 {count} 个随机方向求和，每个分量都在其中"
    ),
    "too large, or not available in exact arithmetic": "规模太大，或无法作精确运算",
    "the plain function has another slope than its trace": "原函数的斜率与追踪所得的不同",
    "the slope is {slope}": "斜率为 {slope}",
    "the slope is 0": "斜率为 0",
    "not differentiable here: slope {left} from the left, {right} from the right; {claimed:g} is between": (
        "此处不可导：左侧斜率 {left}，右侧斜率 {right}，{claimed:g} 介于其间"
    ),
    "vertical tangent": "切线竖直",
    "vertical tangent: slope {slope}": "切线竖直：斜率 {slope}",
    "edge of the domain: slope {slope} from inside": "定义域的边界：内侧斜率 {slope}",
    "domain edge: {slope}": "定义域的边界：{slope}",
    "the function jumps here": "函数在此处跳跃",
    "the function has no slope here": "函数在此处没有斜率",
    "the function is undefined here": "函数在此处无定义",
    "the function is noisy here: no step shows its slope to four digits": (
        "函数在此处有噪声：任何步长都得不到四位有效数字的斜率"
    ),
    "small and large steps show different slopes": "小步长与大步长给出不同的斜率",
    "kink: slopes {left:.6g} on the left, {right:.6g} on the right": "尖点：左侧斜率 {left:.6g}，右侧斜率 {right:.6g}",
    "the formula for {name} is right, but float64 loses {lost:.0f} of 16 digits here": (
        "{name} 的公式正确，但双精度浮点数在此处损失了 16 位有效数字中的 {lost:.0f} 位"
    ),
}
_FINDINGS = {
    "Nothing out of the ordinary: no branch, kink, zero or infinity was met.": (
        "一切正常：没有遇到分支、尖点、零导数或无穷大。"
    ),
    "not all branches are in the formula: {limit}": "公式没有包含所有分支：{limit}",
    "and {count} more of this kind": "另有 {count} 处同类情况",
    "True": "真",
    "False": "假",
    "{call} takes {taken}": "{call} 取 {taken}",
    "{call} takes {taken}: the formula holds only there": "{call} 取 {taken}：公式只在此范围内成立",
    "{condition} is {truth}": "{condition} 为{truth}",
    "{condition} is {truth}: the formula holds only there": "{condition} 为{truth}：公式只在此范围内成立",
    "{formula} does not change with {operand} here: nothing comes back through it": (
        "{formula} 在此处不随 {operand} 变化，导数无法经它传回"
    ),
    "{name} does not appear: its derivative is 0": "{name} 没有出现，对它的导数为 0",
    "{name} appears: its derivative is 0": "{name} 虽然出现，但对它的导数为 0",
    "{name} appears only inside {formula}, which is constant between its jumps: its derivative is 0": (
        "{name} 只出现在 {formula} 中，后者在跳跃点之间为常数，故对 {name} 的导数为 0"
    ),
    "{formula} has a kink here ({slopes})": "{formula} 在此处有尖点（{slopes}）",
    "{formula} has a kink at {hits} of {size} entries ({slopes})": (
        "{formula} 的 {size} 个分量中有 {hits} 个处于尖点（{slopes}）"
    ),
    "{formula} {jumps}": "{formula} {jumps}",
    "{equation} has no finite value": "{equation} 没有有限的值",
    "{formula} has slope {slope} at {point}": "{formula} 在 {point} 处的斜率为 {slope}",
    "0 times infinity: {formula} has slope {slope} at {point}, its user has slope 0": (
        "0 乘无穷大：{formula} 在 {point} 处的斜率为 {slope}，而外层的斜率为 0"
    ),
    "the slope of {formula} with respect to {operand} is not finite here": (
        "{formula} 对 {operand} 的斜率在此处不是有限值"
    ),
    "jumps at {point}: there is no slope": "在 {point} 处跳跃，没有斜率",
    "not differentiable at {point}: slopes {left} and {right}, {taken:.6g} is taken": (
        "在 {point} 处不可导：两侧斜率为 {left} 和 {right}，取 {taken:.6g}"
    ),
    "an exception steers {name} at this point": "{name} 在该点由异常决定走向",
    "{name} has more than {count} paths through its branches": "{name} 的分支路径超过 {count} 条",
    "{name} has more than {count} paths through its branches: the branch in line {line} is met {times} time": (
        "{name} 的分支路径超过 {count} 条：第 {line} 行的分支遇到 {times} 次"
    ),
    "{name} has more than {count} paths through its branches: the branch in line {line} is met {times} times": (
        "{name} 的分支路径超过 {count} 条：第 {line} 行的分支遇到 {times} 次"
    ),
    "{place}int() was taken as the constant {number}; it is constant in pieces, derivative 0": (
        "{place}int() 按常数 {number} 处理；它分段为常数，导数为 0"
    ),
    "{place}a conversion to {kind} cuts off the fraction, so its derivative is 0": (
        "{place}转换为 {kind} 会舍去小数部分，因此导数为 0"
    ),
    "layout: a gradient has the shape of its argument": "布局：梯度与其自变量形状相同",
    "axes: those of the result first, then those of the argument": "轴的顺序：先是结果的轴，再是自变量的轴",
    "with respect to {key} there is no matrix notation: it is written with sums over indices": (
        "对 {key} 的导数没有矩阵记法：写成对下标求和"
    ),
    "with respect to {key} there is no matrix notation: it is written as a program": (
        "对 {key} 的导数没有矩阵记法：写成程序"
    ),
    "taken as given: {facts}": "按给定条件：{facts}",
    "{name} is a cotangent of the result: the derivatives of sum({name}*f) are its pullbacks (vjp)": (
        "{name} 是结果的余切向量：sum({name}*f) 的导数就是它的拉回（vjp）"
    ),
    "{name} stays symmetric: its entries move in pairs; with A for independent entries, this is A + A.T - diag(A)": (
        "{name} 保持对称：元素成对变化；若各元素独立时的导数为 A，则这里是 A + A.T - diag(A)"
    ),
    "{variable} stays symmetric: both entries of a pair move, their slopes add up, the diagonal's stay as they are": (
        "{variable} 保持对称：成对的两个元素一起变化，斜率相加，对角线上的不变"
    ),
    "no numbers are shown: {names} has no value": "没有显示数值：{names} 没有给出值",
    "no numbers are shown: {names} have no value": "没有显示数值：{names} 没有给出值",
    "{name} = {value:.6g} was found from the equation": "由方程得 {name} = {value:.6g}",
    "{name} = {value:.6g} was found from the equation (also {others})": (
        "由方程得 {name} = {value:.6g}（还有 {others}）"
    ),
    "'{text}' was read as {read}": "“{text}”理解为 {read}",
    "'{text}' was read as {read}, not as {other}": "“{text}”理解为 {read}，而不是 {other}",
    "'{name}' was read as one variable, not as a product": "“{name}”理解为一个变量，而不是乘积",
    "'{name}' was read as one variable, not as {call}": "“{name}”理解为一个变量，而不是 {call}",
    "'^' was read as a power": "“^”理解为乘方",
    "'e' was read as Euler's number": "“e”理解为自然常数",
    "'{source}1/' was read as **1/; for a root write **(1/...)": "“{source}1/”理解为 **1/；开方请写作 **(1/...)",
}
_NOTEBOOKS = {
    """Something to try:

- change the point in the first cell, or leave it out, and run the cells again
- `print(e.derivation(style="reverse"))` shows what reverse mode does, `e.stepper()` goes through it step by step
- `gx.options(precision=12)` shows more digits""": """可以试试：

- 修改或删去第一个单元格中的点，再重新运行各单元格
- `print(e.derivation(style="reverse"))` 显示反向模式的过程，`e.stepper()` 则逐步讲解
- `gx.options(precision=12)` 显示更多位数字""",
}
SENTENCES: Mapping[str, str] = {
    **_JOINTS,
    **_TITLES,
    **_DERIVATIONS,
    **_SIMPLIFICATION,
    **_MODES,
    **_CHECKS,
    **_FINDINGS,
    **_NOTEBOOKS,
}
