// Starts `mcl skill lsp` for .mtx files and the plan.yaml beside them.
const { window, workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

async function activate() {
  const [command, ...args] = workspace.getConfiguration("mtx").get("server");
  client = new LanguageClient(
    "mtx",
    "MatrixScript",
    { command, args, options: { cwd: workspace.workspaceFolders?.[0]?.uri.fsPath } },
    { documentSelector: [{ language: "mtx" }, { language: "yaml", pattern: "**/plan.yaml" }] },
  );
  try {
    await client.start();
  } catch (error) {
    window.showErrorMessage(`No language server: ${error.message} (is ${command} installed? see mtx.server)`);
  }
}

async function deactivate() {
  await client?.stop();
}

module.exports = { activate, deactivate };
