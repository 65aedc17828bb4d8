// A session of VS Code for a test: opens and saves a file, and prints what the extension shows as JSON.
// node vscode_session.js EXTENSION FILE ANSWER COMMAND...
"use strict";

const Module = require("module");
const fs = require("fs");
const { pathToFileURL, fileURLToPath } = require("url");

const [extensionPath, file, answer, ...command] = process.argv.slice(2);
const listeners = {};
const providers = {};
const shown = { messages: [], log: [], diagnostics: [], hover: "", actions: [] };
const disposable = { dispose() {} };
const listen = (name) => (listener) => ((listeners[name] = listener), disposable);
let published;
const untilPublished = new Promise((resolve) => (published = resolve));

class Uri {
  constructor(text) {
    this.text = text;
    this.scheme = text.split(":")[0];
    this.fsPath = fileURLToPath(text);
  }
  static parse(text) {
    return new Uri(text);
  }
  toString() {
    return this.text;
  }
}
class Range {
  constructor(a, b, c, d) {
    this.start = { line: a, character: b };
    this.end = { line: c, character: d };
  }
  toJSON() {
    return [this.start, this.end];
  }
}
class WorkspaceEdit {
  constructor() {
    this.edits = [];
  }
  replace(uri, range, text) {
    this.edits.push({ uri: uri.toString(), start: range.start, end: range.end, text });
  }
}
const record = (...names) =>
  class {
    constructor(...values) {
      names.forEach((name, number) => (this[name] = values[number]));
    }
  };
const uri = Uri.parse(pathToFileURL(file).toString());
const document = {
  uri,
  languageId: "python",
  version: 1,
  isDirty: false,
  getText: () => fs.readFileSync(file, "utf8"),
};
const show = async (message, ...titles) => {
  shown.messages.push([message, titles]);
  return titles.includes(answer) ? answer : undefined;
};
const folder = { uri: Uri.parse(pathToFileURL(require("path").dirname(file)).toString()), name: "project" };
const vscode = {
  Uri,
  Range,
  WorkspaceEdit,
  Diagnostic: record("range", "message", "severity"),
  DiagnosticRelatedInformation: record("location", "message"),
  Location: record("uri", "range"),
  Hover: record("contents"),
  MarkdownString: record("value"),
  CodeAction: record("title", "kind"),
  CodeActionKind: { QuickFix: "quickfix" },
  window: {
    createOutputChannel: () => ({ ...disposable, appendLine: (line) => shown.log.push(line) }),
    showErrorMessage: show,
    showWarningMessage: show,
    showInformationMessage: show,
    activeTextEditor: { document },
  },
  workspace: {
    workspaceFolders: [folder],
    textDocuments: [document],
    getConfiguration: () => ({ get: (name) => ({ run: "ask", command })[name] }),
    onDidOpenTextDocument: listen("open"),
    onDidCloseTextDocument: listen("close"),
    onDidChangeTextDocument: listen("change"),
    onDidSaveTextDocument: listen("save"),
    onDidChangeConfiguration: listen("configuration"),
  },
  commands: { registerCommand: (name, run) => ((providers[name] = run), disposable) },
  languages: {
    createDiagnosticCollection: () => ({
      ...disposable,
      clear() {},
      set(where, diagnostics) {
        shown.diagnostics = diagnostics;
        published();
      },
    }),
    registerHoverProvider: (_, provider) => ((providers.hover = provider), disposable),
    registerCodeActionsProvider: (_, provider) => ((providers.actions = provider), disposable),
  },
};

const load = Module._load;
Module._load = (name, ...rest) => (name === "vscode" ? vscode : load(name, ...rest));
const extension = require(extensionPath);

async function main() {
  await extension.activate({ subscriptions: [] });
  if (answer) listeners.save(document);
  else await providers["tilescope.checkFile"]();
  await untilPublished;
  const line = shown.diagnostics[0].range.start.line;
  const hover = await providers.hover.provideHover(document, { line, character: 4 });
  shown.hover = hover.contents.value;
  shown.actions = await providers.actions.provideCodeActions(document, new Range(line, 0, line, 0));
  await extension.deactivate();
  process.stdout.write(JSON.stringify(shown));
}
main().catch((error) => {
  process.stderr.write(`${error.stack}\n`);
  process.exitCode = 1;
});
