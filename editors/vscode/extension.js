// Starts `tilescope server`, and shows what it publishes. It has no dependencies: the protocol is JSON-RPC over pipes.
"use strict";

const { spawn } = require("child_process");
const vscode = require("vscode");

const LANGUAGES = ["python", "cuda-cpp", "cpp"];
const SELECTOR = LANGUAGES.map((language) => ({ scheme: "file", language }));
const MESSAGE_SHOWS = { 1: "showErrorMessage", 2: "showWarningMessage" }; // others are information
const STOP_MS = 2000;

class Connection {
  // onMessage: gets each message that is no response. onEnd: gets a sentence when the server has ended.
  constructor(command, folder, onMessage, onEnd) {
    this.waiting = new Map();
    this.count = 0;
    this.isStopping = false;
    this.buffer = Buffer.alloc(0);
    this.onMessage = onMessage;
    this.process = spawn(command[0], command.slice(1), { cwd: folder, stdio: ["pipe", "pipe", "pipe"] });
    this.process.stdout.on("data", (chunk) => this.read(chunk));
    this.process.stdin.on("error", () => {});
    let errors = "";
    this.process.stderr.on("data", (chunk) => (errors = (errors + chunk).slice(-4000)));
    const end = (reason) => {
      for (const { reject } of this.waiting.values()) reject(new Error(reason));
      this.waiting.clear();
      onEnd(reason);
    };
    this.process.on("error", (error) => end(`${command.join(" ")} does not start: ${error.message}`));
    this.process.on("close", (code) => end(errors.trim().split("\n").pop() || `the server ended with status ${code}`));
  }

  send(message) {
    const content = Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message }));
    this.process.stdin.write(`Content-Length: ${content.length}\r\n\r\n`);
    this.process.stdin.write(content);
  }

  notify(method, params) {
    this.send({ method, params });
  }

  request(method, params) {
    const id = ++this.count;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.send({ id, method, params });
    });
  }

  read(chunk) {
    this.buffer = Buffer.concat([this.buffer, chunk]);
    for (;;) {
      const end = this.buffer.indexOf("\r\n\r\n");
      if (end < 0) return;
      const length = Number(/content-length: *(\d+)/i.exec(this.buffer.subarray(0, end).toString())[1]);
      if (this.buffer.length < end + 4 + length) return;
      const message = JSON.parse(this.buffer.subarray(end + 4, end + 4 + length).toString());
      this.buffer = this.buffer.subarray(end + 4 + length);
      const waiting = message.method ? undefined : this.waiting.get(message.id);
      this.waiting.delete(waiting && message.id);
      if (waiting && message.error) waiting.reject(new Error(message.error.message));
      else if (waiting) waiting.resolve(message.result);
      else if (message.method) this.onMessage(message);
    }
  }
}

const rangeOf = ({ start, end }) => new vscode.Range(start.line, start.character, end.line, end.character);

function diagnosticOf(data) {
  const diagnostic = new vscode.Diagnostic(rangeOf(data.range), data.message, data.severity - 1);
  diagnostic.code = data.code;
  diagnostic.source = data.source;
  diagnostic.relatedInformation = (data.relatedInformation || []).map(({ location, message }) => {
    const place = new vscode.Location(vscode.Uri.parse(location.uri), rangeOf(location.range));
    return new vscode.DiagnosticRelatedInformation(place, message);
  });
  return diagnostic;
}

function actionOf(data) {
  const action = new vscode.CodeAction(data.title, vscode.CodeActionKind.QuickFix);
  action.isPreferred = data.isPreferred;
  action.diagnostics = (data.diagnostics || []).map(diagnosticOf);
  action.edit = new vscode.WorkspaceEdit();
  for (const [uri, edits] of Object.entries(data.edit.changes)) {
    for (const { range, newText } of edits) action.edit.replace(vscode.Uri.parse(uri), rangeOf(range), newText);
  }
  return action;
}

// A vscode.Range becomes a list in JSON.
const plain = ({ start, end }) => ({
  start: { line: start.line, character: start.character },
  end: { line: end.line, character: end.character },
});
const identifier = (document) => ({ uri: document.uri.toString() });
const isServed = (document) => document.uri.scheme === "file" && LANGUAGES.includes(document.languageId);
const settings = () => vscode.workspace.getConfiguration("tilescope");

let connection;

async function activate(context) {
  const log = vscode.window.createOutputChannel("Tilescope");
  const shown = vscode.languages.createDiagnosticCollection("tilescope");
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;

  async function handle({ id, method, params }) {
    if (method === "textDocument/publishDiagnostics") {
      shown.set(vscode.Uri.parse(params.uri), params.diagnostics.map(diagnosticOf));
    } else if (method === "window/logMessage") {
      log.appendLine(params.message);
    } else if (method.startsWith("window/showMessage")) {
      const titles = (params.actions || []).map(({ title }) => title);
      const show = MESSAGE_SHOWS[params.type] || "showInformationMessage";
      const title = await vscode.window[show](params.message, ...titles);
      if (id !== undefined) own.send({ id, result: title ? { title } : null });
    } else if (id !== undefined) {
      own.send({ id, error: { code: -32601, message: `${method} is not supported` } });
    }
  }

  function reportEnd(reason) {
    connection = undefined;
    shown.clear();
    if (!own.isStopping) vscode.window.showErrorMessage(`Tilescope: ${reason}`);
  }

  const own = new Connection(settings().get("command"), folder?.fsPath, handle, reportEnd);
  connection = own;
  context.subscriptions.push(log, shown);
  const uri = folder ? folder.toString() : null;
  await own.request("initialize", {
    processId: process.pid,
    rootUri: uri,
    capabilities: {},
    workspaceFolders: (vscode.workspace.workspaceFolders || []).map((f) => ({ uri: f.uri.toString(), name: f.name })),
    initializationOptions: { run: settings().get("run") },
  });
  own.notify("initialized", {});

  const open = (document) => {
    if (!isServed(document)) return;
    const { languageId, version } = document;
    const textDocument = { ...identifier(document), languageId, version, text: document.getText() };
    own.notify("textDocument/didOpen", { textDocument });
  };
  vscode.workspace.textDocuments.forEach(open);

  context.subscriptions.push(
    vscode.workspace.onDidOpenTextDocument(open),
    vscode.workspace.onDidCloseTextDocument((document) => {
      if (isServed(document)) own.notify("textDocument/didClose", { textDocument: identifier(document) });
    }),
    vscode.workspace.onDidChangeTextDocument(({ document }) => {
      if (!isServed(document)) return;
      const textDocument = { ...identifier(document), version: document.version };
      own.notify("textDocument/didChange", { textDocument, contentChanges: [{ text: document.getText() }] });
    }),
    vscode.workspace.onDidSaveTextDocument((document) => {
      if (isServed(document)) own.notify("textDocument/didSave", { textDocument: identifier(document) });
    }),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (!event.affectsConfiguration("tilescope.run")) return;
      own.notify("workspace/didChangeConfiguration", { settings: { tilescope: { run: settings().get("run") } } });
    }),
    vscode.commands.registerCommand("tilescope.checkFile", async () => {
      const document = vscode.window.activeTextEditor?.document;
      if (!document || !isServed(document)) return;
      if (document.isDirty) await document.save();
      await own.request("workspace/executeCommand", { command: "tilescope.check", arguments: [document.uri.toString()] });
    }),
    vscode.languages.registerHoverProvider(SELECTOR, {
      async provideHover(document, position) {
        const { line, character } = position;
        const params = { textDocument: identifier(document), position: { line, character } };
        const hover = await own.request("textDocument/hover", params);
        return hover && new vscode.Hover(new vscode.MarkdownString(hover.contents.value));
      },
    }),
    vscode.languages.registerCodeActionsProvider(
      SELECTOR,
      {
        async provideCodeActions(document, range) {
          const params = { textDocument: identifier(document), range: plain(range), context: { diagnostics: [] } };
          return ((await own.request("textDocument/codeAction", params)) || []).map(actionOf);
        },
      },
      { providedCodeActionKinds: [vscode.CodeActionKind.QuickFix] },
    ),
  );
}

// Asks the server to end, and kills it after a while.
async function deactivate() {
  const ending = connection;
  if (!ending) return;
  ending.isStopping = true;
  const closed = new Promise((resolve) => ending.process.once("close", resolve));
  const timer = setTimeout(() => ending.process.kill(), STOP_MS);
  await ending.request("shutdown", null).then(() => ending.notify("exit", null), () => {});
  await closed;
  clearTimeout(timer);
}

module.exports = { activate, deactivate };
