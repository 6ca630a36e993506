// Reads {"grammar": path, "texts": [text, …]} and writes, for each text, its lines as [start, stop, scopes] lists.
const fs = require("fs");
const path = require("path");
const modules = process.argv[2];
const oniguruma = require(path.join(modules, "vscode-oniguruma"));
const textmate = require(path.join(modules, "vscode-textmate"));

async function main() {
  const asked = JSON.parse(fs.readFileSync(0, "utf8"));
  const wasm = fs.readFileSync(path.join(modules, "vscode-oniguruma", "release", "onig.wasm"));
  await oniguruma.loadWASM(wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.byteLength));
  const registry = new textmate.Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
      createOnigString: (text) => new oniguruma.OnigString(text),
    }),
    loadGrammar: async () => textmate.parseRawGrammar(fs.readFileSync(asked.grammar, "utf8"), asked.grammar),
  });
  const grammar = await registry.loadGrammar("source.mtx");
  const answer = asked.texts.map((text) => {
    let stack = textmate.INITIAL;
    return text.split("\n").map((line) => {
      const result = grammar.tokenizeLine(line, stack);
      stack = result.ruleStack;
      return result.tokens.map((token) => [token.startIndex, token.endIndex, token.scopes]);
    });
  });
  process.stdout.write(JSON.stringify(answer));
}

main();
