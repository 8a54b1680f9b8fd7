"""Causes that only a tape or TensorFlow's names can have: what was not recorded, or not as a tensor."""

from gradexplain.exposition.causes.cause import Cause

# fmt: off
ROWS = (
    # The source is not what the tape recorded.
    Cause(
        "not-watched", "unused",
        "{name} is a constant tensor that this tape does not watch",
        "call tape.watch({name}) before it is used, or make it a Variable",
        "A tape watches Variables by itself. A constant, or a tensor made from NumPy, it watches when it is told to.",
        "tape",
    ),
    Cause(
        "watched-too-late", "unused",
        "{name} was watched after it had been used: the tape has no record of how the result came from it",
        "call tape.watch({name}) in the first line of the block",
        "Operations before `watch` are not recorded for the tensor.",
        "tape",
    ),
    Cause(
        "made-before", "unused",
        "{name} was computed before the tape began, and is not watched",
        "call tape.watch({name}), or compute it inside the block from what is watched",
        "What happens before the `with` block is not on the tape.",
        "tape",
    ),
    Cause(
        "not-automatic", "unused",
        "{name} is a Variable, and this tape was told not to watch Variables by itself",
        "call tape.watch({name}) before it is used, or leave watch_accessed_variables=False out",
        "With `watch_accessed_variables=False` a tape watches what it is told to, and nothing else.",
        "tape",
    ),
    Cause(
        "made-after", "unused",
        "{name} was made after the tape had recorded: no record speaks of it",
        "ask for the derivative before {name} is made anew, and give a Variable its new value by {name}.assign(...)",
        "`x = tf.Variable(...)` and `x = x - 0.1*g` make another Variable or tensor, which no record speaks of. "
        "`assign` keeps the Variable.",
        "tape",
    ),
    Cause(
        "computed-copy", "unused",
        "{name} is a copy that {operation} computed: the result was computed from the tensor it was before",
        "ask for the derivative of the original tensor, or use the copy in the result",
        "After `x = tf.identity(x)`, `x = tf.cast(x, …)` or a reshape the name stands for another tensor.",
        "tape",
    ),
    Cause(
        "not-trainable", "unused",
        "{name} is a Variable that is not trainable, so the tape does not watch it",
        "call tape.watch({name}), or leave it out of the sources: moving averages are not trained",
        "Variables with trainable=False are left alone.",
        "tape",
    ),
    Cause(
        "integer-dtype", "unused",
        "{name} has the dtype {dtype}: only floating tensors have derivatives",
        "write {literal} in place of {value}, or cast it to float32 before it is watched",
        "Integers jump from one value to the next. TensorFlow answers None, and says so only in the log.",
        "tape",
    ),
    Cause(
        "integer-path", "constant",
        "the path from {name} ends at {operation}, whose result has the dtype {dtype}",
        "stay with floating tensors: take a smooth function in place of argmax, argsort, round and comparisons",
        "Positions, ranks and truth values jump, and casting them back to floats does not bring the derivative back.",
        "tape",
    ),
    Cause(
        "unrelated", "unused",
        "{target} does not depend on {name}: both are there, but no recorded operation leads from one to the other",
        "compute {target} from {name} inside the block",
        "The tape recorded both, but not one from the other.",
        "tape",
    ),
    Cause(
        "literal-target", "unused",
        "{target} is a constant: nothing on the tape computed it",
        "compute {target} inside the block from what is watched",
        "The target was made from numbers.",
        "tape",
    ),
    # The path was cut.
    Cause(
        "numpy-detour", "constant",
        "the path from {name} ends at {operation}: a NumPy array or a plain number has no history",
        "keep to tensors: call the model in place of model.predict, tf functions in place of NumPy's, and no float()",
        "`.numpy()`, `float(loss)`, `model.predict` and `numpy_function` give numbers that the tape does not know.",
        "tape",
    ),
    Cause(
        "stopped", "zero",
        "the path from {name} ends at {operation}: it lets the value through and nothing back",
        "take the stop_gradient away, if {name} is to learn through this path",
        "`stop_gradient` is the identity, and its derivative is declared to be 0.",
        "tape",
    ),
    Cause(
        "assigned", "unused",
        "{name} reaches {target} only by {operation}, which stores a number and cuts the history",
        "use the tensor itself in place of the Variable that it was assigned to",
        "`Variable.assign` is not an operation that derivatives flow through: reading the Variable starts anew.",
        "tape",
    ),
    Cause(
        "not-recording", "unused",
        "{target} was computed while the tape was not recording ({operation})",
        "move the computation into the block, and out of stop_recording",
        "The forward pass ran after the `with` block, before it, or inside `stop_recording`.",
        "tape",
    ),
    Cause(
        "gradient-not-recorded", "unused",
        "{target} is a gradient that was taken outside of the tape, so it has no history",
        "take the first gradient inside an outer tape, and the second from that tape",
        "For a second derivative the first has to be recorded, too.",
        "tape",
    ),
    Cause(
        "released", "limit",
        "this tape was used up by the call of gradient in line {line}",
        "make it GradientTape(persistent=True), use two tapes, or ask for all sources in one call",
        "A tape that is not persistent forgets its records when it has been asked once.",
        "tape",
    ),
    Cause(
        "many-records", "note",
        "this tape holds {count} records and keeps all their values",
        "make a tape for every step, and no persistent one for the whole training",
        "Memory grows with every operation that is recorded.",
        "tape",
    ),
    Cause(
        "poisoned-branch", "undefined",
        "{formula} has slope {slope} at {point}, on a branch that where rejects: 0 times it is nan",
        "put a where inside, too: where(c, f(where(c, x, 1)), 0)",
        "Both branches of a `where` are computed, and the rejected one is multiplied by 0. Functions leave that branch out "
        "(see rejected-branch); a tape does what TensorFlow does.",
        "tape",
    ),
    # The numbers mean something else.
    Cause(
        "row-sums", "meaning",
        "{target} is a gradient with {count} entries: its derivative is the sums of the rows of the Hessian, not its diagonal",
        "use tape.jacobian for the matrix; each entry by itself for the diagonal",
        "A gradient of a gradient adds up over the entries of the first.",
        "tape",
    ),
    Cause(
        "tensorflow-differs", "meaning",
        "TensorFlow's derivative of {operation} is {value} here, but the slope is {slope}: the tape returns TensorFlow's",
        "use gx.grad for the slope",
        "Where TensorFlow's rule is wrong or takes another convention, a tape returns what TensorFlow does, and says so.",
        "tape",
    ),
    Cause(
        "sparse-gradient", "meaning",
        "the gradient of {name} is sparse: rows {rows} of {count} were looked up, the others are 0",
        "nothing is wrong: tf.convert_to_tensor gives the dense form",
        "Of a lookup (gather, embedding) TensorFlow returns IndexedSlices: the rows that were read, and what came back.",
        "tape",
    ),
    Cause(
        "conjugate", "meaning",
        "{name} is complex: this is the conjugate of df/dz, as in TensorFlow and PyTorch; JAX gives its conjugate",
        "take the conjugate to compare with JAX",
        "For abs(z)**2 at 3 + 4j TensorFlow says 6 + 8j and JAX 6 - 8j.",
        "tape",
    ),
    Cause(
        "custom-gradient", "meaning",
        "the derivative of {operation} is the one that its custom_gradient states, not that of what it computes",
        "compare it with gx.check; the function gets dL/d(output) and returns dL/d(input)",
        "A custom gradient is believed as it stands. A second derivative goes through the gradient function.",
        "tape",
    ),
    # Names of TensorFlow.
    Cause(
        "graph-mode", "limit",
        "{operation} works while a graph is built, and here values are computed at once",
        "put the code into a tf.function, or use tape.gradient({target}, {name})",
        "`tf.gradients` and `K.gradients` are from the time of graphs.",
        "tape",
    ),
    Cause(
        "row-by-row", "note",
        "the Jacobian is computed row by row: {operation} has no form for all rows at once",
        "nothing is wrong with the values",
        "TensorFlow vectorises Jacobians and has no converter for some operations (experimental_use_pfor=False).",
        "tape",
    ),
    Cause(
        "not-a-tensor", "limit",
        "{name} is a {kind} and no tensor: a tape can't watch it",
        "watch {name}.value, or put {name} among the sources without watching it",
        "Keras 3 has Variables of its own, which hold a tensor.",
        "tape",
    ),
)
# fmt: on
