// Takes the grammar of the package beside this folder: there is one source of it.
const fs = require("fs");
const path = require("path");

const name = "mtx.tmLanguage.json";
fs.copyFileSync(path.join(__dirname, "..", "..", "grammars", name), path.join(__dirname, name));
