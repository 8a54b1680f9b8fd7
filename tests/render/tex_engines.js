// Reads a JSON list of formulas from stdin; writes as JSON what KaTeX and MathJax (base and ams) refuse, and why.
// Run with NODE_PATH where `npm install katex mathjax-full` put them.
const katex = require("katex");
const { mathjax } = require("mathjax-full/js/mathjax.js");
const { TeX } = require("mathjax-full/js/input/tex.js");
const { SVG } = require("mathjax-full/js/output/svg.js");
const { liteAdaptor } = require("mathjax-full/js/adaptors/liteAdaptor.js");
const { RegisterHTMLHandler } = require("mathjax-full/js/handlers/html.js");
require("mathjax-full/js/input/tex/ams/AmsConfiguration.js");

const adaptor = liteAdaptor();
RegisterHTMLHandler(adaptor);
const formatError = (jax, error) => { throw error; };
const input = new TeX({ packages: ["base", "ams"], formatError });
const page = mathjax.document("", { InputJax: input, OutputJax: new SVG() });

const refused = [];
for (const formula of JSON.parse(require("fs").readFileSync(0, "utf8"))) {
  for (const displayMode of [false, true]) {
    try {
      katex.renderToString(formula, { displayMode, strict: "ignore", throwOnError: true });
    } catch (error) {
      refused.push(["KaTeX", formula, String(error.message)]);
    }
    try {
      page.convert(formula, { display: displayMode });
    } catch (error) {
      refused.push(["MathJax", formula, String(error.message)]);
    }
  }
}
process.stdout.write(JSON.stringify(refused));
