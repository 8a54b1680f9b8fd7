"""Causes that occur in functions, and most of them on tapes too."""

from gradexplain.exposition.causes.cause import Cause

# fmt: off
ROWS = (
    # No path from the argument to the result: None in TensorFlow, 0 in mathematics.
    Cause(
        "unused", "unused",
        "{name} does not appear: its derivative is 0",
        "use {name} in the result, or leave it out",
        "No operation on the way to the result reads the argument. Mathematics says 0, TensorFlow says None.",
        "both",
    ),
    Cause(
        "constant-result", "unused",
        "the result is a constant: no path leads from {name} to it, so its derivative is 0",
        "compute the result from {name}",
        "The function returns a number that no argument went into: a literal, or a value made outside.",
        "both",
    ),
    Cause(
        "other-branch", "unused",
        "{name} is used on another branch only: its derivative is 0 on this one",
        "look at the condition, or choose a point on the other side of it",
        "The argument occurs in the program, but not on the path of `if` and `while` that was taken at the point.",
    ),
    Cause(
        "flat-only", "constant",
        "{name} appears only inside {formula}, which is constant between its jumps: its derivative is 0",
        "put something smooth in place of it: softmax for argmax, a sigmoid for a comparison or a step, x itself for round(x)",
        "The only path goes through an operation that is constant in pieces: floor, round, sign, argmax, a comparison, a rank.",
        "both",
    ),
    Cause(
        "cut-in-part", "note",
        "{name} comes into the result by {operation}, too: nothing comes back on that path, and the derivative is that of the others",
        "nothing is wrong if {operation} is meant to be a constant; else put something smooth in place of it",
        "One of several paths goes through an operation that is constant in pieces, or that cuts: round, a conversion to whole "
        "numbers, stop_gradient. `x*round(x)` has the derivative round(x).",
        "both",
        quiet=True,
    ),
    Cause(
        "taken-as-constant", "note",
        "{remark}",
        "keep the value in the computation, without int() and conversions to whole numbers",
        "`int(x)` and conversions to integers give a plain number. What is computed from it is a constant for the derivative.",
    ),
    Cause(
        "left-trace", "constant",
        "{what}: the path ends there",
        "{do}",
        "`float(x)`, another library, or text took the number out of the computation. A plain number has no history.",
    ),
    Cause(
        "no-rule", "limit",
        "{what}",
        "{do}",
        "The operation is not in the table of derivatives, or is with other options only.",
        "both",
    ),
    Cause(
        "integer-argument", "note",
        "{name} is a whole number, so it steers the program and is not differentiated",
        "write {name}={value}.0, or ask for it with wrt=",
        "Whole numbers are sizes, indices and exponents. TensorFlow answers None for them, JAX refuses.",
        quiet=True,
    ),

    # Zero: a path leads there, and a factor on it is 0.
    Cause(
        "flat-side", "zero",
        "{formula} is on its flat side here: its slope in {operand} is 0",
        "start elsewhere, scale the input, or use a function that leaks, such as maximum(0.01*x, x)",
        "A rectifier, `maximum` or `minimum` hands nothing back while its other operand wins. If all entries are there, a "
        "layer is dead.",
        "both",
    ),
    Cause(
        "flat-in-part", "zero",
        "{formula} is on its flat side at {count} of {size} entries (index {units}): nothing comes back through them",
        "start elsewhere, scale the input, or use a function that leaks, such as maximum(0.01*x, x)",
        "Some units of a rectifier are flat in all rows: the derivatives of the weights into them and out of them are 0, "
        "and those of the other units are not.",
        "both",
        quiet=True,
    ),
    Cause(
        "clipped", "zero",
        "{formula} is clipped here ({point}), so nothing comes back to {operand}",
        "move the value inside the bounds, or penalise it for leaving them",
        "Outside its bounds `clip` is constant.",
        "both",
    ),
    Cause(
        "saturated", "zero",
        "{formula} is saturated at {point}: its slope there is {slope}",
        "scale the input down, or compute the loss from the logits: log-sigmoid and softmax have exact forms",
        "Sigmoid, tanh, erf and exp are flat for large arguments. The result does depend on the argument, but by less than "
        "a float can tell.",
        "both",
    ),
    Cause(
        "zero-factor", "zero",
        "{formula} has the factor {other} = 0 here, so nothing comes back to {operand}",
        "start from another value of {other}: weights that are all 0 do not learn",
        "The slope of a product in one factor is the other factor. If a dead rectifier is what makes it 0, that is told "
        "(flat-side).",
        "both",
    ),
    Cause(
        "stationary", "zero",
        "the slope of {formula} is 0 at {point}",
        "choose a point beside it: this is where the operation neither rises nor falls",
        "A smooth operation has slope 0 at this point, as x**2 has at 0 and cos(x) at 0.",
        "both",
    ),
    Cause(
        "branch-not-taken", "zero",
        "{formula} does not select {operand} here: nothing comes back through it",
        "look at the condition of the where: it decides at this point for the other branch",
        "`np.where` hands the derivative to the branch that it selects.",
        "both",
    ),
    Cause(
        "no-influence", "zero",
        "{formula} does not change with {operand} here: nothing comes back through it",
        "look at its operands at this point",
        "An operation on arrays has derivative 0 at this point in all entries that matter for the result.",
        "both",
    ),
    Cause(
        "entries-not-used", "zero",
        "the result does not use the entries that {formula} has from {operand}",
        "look at the index or the mask that picks the entries of {formula}",
        "The value is put into an array, and later only other entries of the array are read.",
        "both",
    ),
    Cause(
        "paths-cancel", "zero",
        "what comes back to {operand} over {count} paths adds up to 0: {terms}",
        "nothing is wrong if the result is meant not to depend on {name}",
        "Each path has a derivative, but their sum is 0, as in x - x.",
        "both",
    ),
    Cause(
        "constant-derivative", "zero",
        "the derivative before this one does not contain {name}: the derivative {key} is 0 everywhere",
        "nothing is wrong: a function that is linear in {name} has no second derivative",
        "The second derivative of a linear function. PyTorch calls the input unused.",
    ),

    # Undefined: infinite or NaN.
    Cause(
        "undefined-value", "undefined",
        "{equation} has no finite value",
        "keep the operand inside the domain: clamp it, or choose the branch before the operation",
        "The function itself has no value: log(0), 0/0, the square root of a negative number.",
        "both",
    ),
    Cause(
        "overflow", "undefined",
        "{equation} is more than a float holds",
        "rearrange it so that no large number is needed: subtract the maximum before exp, use logaddexp or log1p(exp(-x))",
        "Float64 ends at 1.8e308: exp(710) is infinite, and what is computed from it is infinite or NaN. The mathematics is fine.",
        "both",
    ),
    Cause(
        "rounded-to-zero", "undefined",
        "{equation} has no finite value, but {operand} is {exact}: rounding made it 0",
        "use the logarithm of it directly: logaddexp, log_softmax in place of log(softmax), sums of logs in place of log(prod)",
        "A number became 0 on the way, and then its logarithm or reciprocal was taken: it was below 5e-324, or the difference of two numbers that are equal in all digits of a float.",
        "both",
    ),
    Cause(
        "infinite-slope", "undefined",
        "{formula} has slope {slope} at {point}",
        "keep the operand away from that point, as in sqrt(x + eps), or use a function without a vertical tangent there",
        "The slope is infinite there: a vertical tangent, or the edge of the domain. The function's own value may be finite.",
        "both",
    ),
    Cause(
        "zero-times-infinity", "undefined",
        "0 times infinity: {formula} has slope {slope} at {point}, {other} has slope 0",
        "simplify before you differentiate (sqrt(x**2) is abs(x)), or add a small number under the root",
        "Two factors of the chain rule are 0 and infinite. Floats say NaN. The limit may exist; the simplified formula often has it.",
        "both",
    ),
    Cause(
        "infinities-cancel", "undefined",
        "what comes back to {name} over several paths is inf and -inf: their sum is nan",
        "simplify the difference before you differentiate it",
        "Two paths have infinite slopes of opposite signs.",
        "both",
    ),
    Cause(
        "rejected-branch", "note",
        "on the branch that where rejects here, {formula} has slope {slope}: it counts 0 here, but programs "
        "that multiply it by 0 get nan",
        "for those put a where inside, too: where(c, f(where(c, x, 1)), 0)",
        "Both branches of a `where` are computed. The rejected one gets the factor 0, and 0 times infinity is NaN. "
        "This package leaves that branch out; JAX and PyTorch do not, and TensorFlow does not for 1/x, log and norms.",
        "both",
        quiet=True,
    ),
    Cause(
        "simplified", "note",
        "{formula} has slope {slope} here, which the other factors cancel: the derivative is finite, but step by step it is 0 "
        "times infinity",
        "for programs that do not simplify write the simplified function: x in place of sqrt(x)**2",
        "The derivative of sqrt(x)**2 is 1, also at 0. The chain rule, number by number, meets 0 times infinity there: JAX "
        "and PyTorch say NaN, TensorFlow 0.",
        "both",
        quiet=True,
    ),
    Cause(
        "equal-values", "undefined",
        "{formula} has equal values ({values}): the vectors that belong to them are not differentiable",
        "use what does not depend on the choice of vectors (the trace, sums over the equal values), or separate the values",
        "The derivative of eigenvectors and singular vectors divides by differences of the values.",
        "both",
    ),

    # Kinks and jumps.
    Cause(
        "kink", "kink",
        "{formula} has a kink here ({slopes})",
        "nothing is wrong if that slope will do; else choose a point beside it, or a smooth function",
        "Two slopes meet, and there is no derivative. A convention chooses a number between them: see [conventions](conventions.md#kinks). "
        "Others choose otherwise: abs has 0 at 0 here, in TensorFlow and in PyTorch, and 1 in JAX; at its bounds clip has 0 here and 1 in TensorFlow and PyTorch.",
        "both",
    ),
    Cause(
        "jump", "kink",
        "{formula} is exactly at a jump ({slopes})",
        "choose a point beside the jump; difference quotients mean nothing on it",
        "The function is not continuous at this point: a step of floor, sign, // or %.",
        "both",
    ),
    Cause(
        "tie", "kink",
        "{formula} has a tie here ({slopes})",
        "nothing is wrong if equal shares will do; else break the tie, or use a soft maximum",
        "Several operands or entries are the greatest (or the least) at once. Here and in JAX they share equally, so that "
        "each has 1/k; PyTorch's max over an axis takes the first, and TensorFlow's maximum(a, b) gives all to a.",
        "both",
    ),
    Cause(
        "norm-at-zero", "kink",
        "{formula} is the length of a zero vector: its derivative x/norm(x) is 0/0, and 0 is taken",
        "in a loss use the square, sum(x**2), whose gradient is 2*x, or sqrt(sum(x**2) + eps)",
        "A norm has a kink like that of abs at the origin, and a standard deviation where all entries are equal. "
        "TensorFlow and JAX give NaN there.",
        "both",
    ),
    Cause(
        "branches-meet", "kink",
        "{condition} is decided exactly on its border: in {name} the slope is {left} on the left and {right} on the right, {taken} is taken",
        "choose a point on one side, or make the branches agree where they meet",
        "An `if`, `where` or comparison has its two sides equal at the point, and the branches have different slopes there.",
        "both",
    ),
    Cause(
        "branches-jump", "kink",
        "{condition} is decided exactly on its border, and the function jumps there",
        "choose a point on one side, or make the branches agree where they meet",
        "The branches have different values where they meet.",
        "both",
    ),
    Cause(
        "single-point", "kink",
        "{condition} singles this point out: the derivative is the limit from both sides, {taken}",
        "give the point the value that the function has around it, if that was not meant",
        "A branch asks `x == c`, so what it returns has no slope of its own.",
    ),
    Cause(
        "jumps", "kink",
        "{formula} {jumps}",
        "give a point, and the derivative on that piece is explained",
        "The function jumps at infinitely many points. Told where no point is given.",
    ),

    # Size and accuracy.
    Cause(
        "exploding", "size",
        "the derivative with respect to {name} is {size}: along a path {count} factors multiply to {product} ({factors})",
        "clip the gradient, start with smaller weights, or use fewer passes",
        "A long chain of factors above 1, as in a recurrent network or an iterated map.",
        "both",
    ),
    Cause(
        "vanishing", "size",
        "the derivative with respect to {name} is {size}: along a path {count} factors multiply to {product} ({factors})",
        "use fewer passes, skip connections, normalised layers, or larger weights",
        "A long chain of factors below 1. If the product is below 5e-324 it becomes 0.",
        "both",
    ),
    Cause(
        "steep", "size",
        "{formula} has slope {slope} at {point}, close to a point where it is infinite",
        "keep away from that point, as in sqrt(x + eps) or x/(abs(x) + eps)",
        "A single operation near a singular point: 1/x, log(x) or sqrt(x) near 0, a norm of a vector that is nearly 0.",
        "both",
    ),
    Cause(
        "cancellation", "accuracy",
        "{formula} keeps {kept} of 16 digits here, since {reason}",
        "rewrite the difference so that nearly equal numbers are not subtracted, or compute with more digits",
        "Two numbers that agree in most digits are subtracted, or a number is added to one that swallows it. The formula of "
        "the derivative is right; floats lose its digits.",
        "both",
    ),

    # What is computed.
    Cause(
        "sum-of-outputs", "meaning",
        "the result has shape {shape}: this is the gradient of the sum of its {count} entries",
        "for one row for each entry use gx.jacobian or gx.explain_jacobian",
        "A gradient belongs to a single number. Of an array, the entries are added first; that is the point-wise derivative "
        "only if each entry of the result depends on one entry of the argument.",
        "both",
        quiet=True,
    ),
    Cause(
        "branch", "branch",
        "{condition} is {truth}",
        "",
        "The branch that was taken at the point.",
    ),
    Cause(
        "limit", "limit",
        "not all branches are in the formula: {limit}",
        "nothing is wrong at a point that is given; for one formula for all write fewer branches, np.where counts as one",
        "There are more paths through the program than are explored.",
    ),
)
# fmt: on
