/** Starts where there is something to see, and gives the server what VS Code has. */
import * as fs from 'node:fs';
import * as path from 'node:path';
import * as vscode from 'vscode';
import { Answers } from './answers';
import { Server } from './client';
import { mayHoldPins } from './pins';
import { choose, here, meant } from './place';
import { type Drifted, Rows } from './rows';
import { program } from './server';
import { Testing } from './testing';
import { type By, counted, Tree } from './tree';

let server: Server | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  if (opted() || vscode.workspace.textDocuments.some(wanted)) {
    return start(context);
  }
  // A workspace without a sign of Pindrift: nothing runs until a file is opened that can hold a pin.
  const waiting = vscode.workspace.onDidOpenTextDocument((document) => {
    if (wanted(document)) {
      waiting.dispose();
      void start(context);
    }
  });
  context.subscriptions.push(waiting);
}

export function deactivate(): Promise<void> | undefined {
  return server?.stop();
}

function opted(): boolean {
  const folders = vscode.workspace.workspaceFolders ?? [];
  return folders.some(({ uri }) => ['pindrift.toml', '.pindrift'].some((name) => fs.existsSync(path.join(uri.fsPath, name))));
}

const wanted = (document: vscode.TextDocument) =>
  document.uri.scheme === 'file' && mayHoldPins(document.languageId, document.getText());

const setting = <T>(name: string, otherwise: T): T =>
  vscode.workspace.getConfiguration('pindrift').get<T>(name) ?? otherwise;

async function start(context: vscode.ExtensionContext): Promise<void> {
  const answers = new Answers();
  context.subscriptions.push(vscode.workspace.registerTextDocumentContentProvider(Answers.scheme, answers));
  let rows: Rows | undefined;
  const open = () =>
    new Server(program(setting('server.path', ''), process.env, context.extensionPath), answers, () => rows?.soon());
  server = open();
  rows = new Rows(async () => server?.ask('pindrift.drifts', {}));
  context.subscriptions.push(rows);
  commands(context, answers, rows, open);
  views(context, rows);
  if (await server.start()) {
    await vscode.commands.executeCommand('setContext', 'pindrift.active', true);
    rows.soon();
  }
}

function commands(context: vscode.ExtensionContext, answers: Answers, rows: Rows, open: () => Server): void {
  const add = (id: string, run: (from?: unknown) => unknown) =>
    context.subscriptions.push(vscode.commands.registerCommand(id, run));
  /** A command of the server about what is meant, then `after`. */
  const about = (id: string, more?: Record<string, unknown>) => async (from?: unknown) => {
    const place = await meant(from, answers, rows);
    if (place !== undefined) {
      await server?.run(id, { ...place, ...more });
    }
  };
  add('pindrift.acceptHere', about('pindrift.accept'));
  add('pindrift.unintendedHere', about('pindrift.verdict', { verdict: 'unintended' }));
  add('pindrift.noiseHere', about('pindrift.verdict', { verdict: 'noise' }));
  add('pindrift.whyHere', about('pindrift.history'));
  add('pindrift.openHere', about('pindrift.open'));
  add('pindrift.diffHere', async (from) => {
    const place = await meant(from, answers, rows);
    if (place === undefined) {
      return;
    }
    // By its drift, so that the title bar of the diff can decide on it.
    const [only] = 'uri' in place ? rows.at(place.uri, place.line + 1) : [];
    await server?.run('pindrift.diff', only ? { drift: only.drift } : place);
  });
  add('pindrift.observeHere', async (from) => {
    if (!vscode.workspace.isTrusted) {
      void vscode.window.showWarningMessage('Pindrift: observing runs the tests of this workspace; trust it first.');
      return;
    }
    const row = from as Partial<Drifted> | undefined;
    const place = here();
    const uri = row?.uri ?? place?.uri;
    const test = row?.test ?? testAt(rows, place);
    if (uri !== undefined) {
      await server?.run('pindrift.observe', test === undefined ? { uri } : { tests: [test], uri });
    }
  });
  add('pindrift.goTo', async (from) => {
    const row = from as Drifted;
    if (row.uri !== null) {
      const at = new vscode.Position(row.line - 1, row.column - 1);
      const document = await vscode.workspace.openTextDocument(vscode.Uri.parse(row.uri));
      await vscode.window.showTextDocument(document, { selection: new vscode.Range(at, at) });
    }
  });
  add('pindrift.choose', async () => {
    const place = await choose(rows.drifted);
    const row = place && 'drift' in place ? rows.drifted.find((row) => row.drift === place.drift) : undefined;
    await (row && vscode.commands.executeCommand('pindrift.goTo', row));
  });
  add('pindrift.refresh', () => rows.now());
  add('pindrift.restart', async () => {
    await server?.stop();
    server = open();
    if (await server.start()) {
      rows.soon();
    }
  });
}

/** The test that a line belongs to: that of the last pin at or above it. */
function testAt(rows: Rows, place: { uri: string; line: number } | undefined): string | undefined {
  const inFile = rows.all.filter((row) => row.uri === place?.uri).sort((a, b) => a.line - b.line);
  return (inFile.filter((row) => row.line <= (place?.line ?? 0) + 1).pop() ?? inFile[0])?.test;
}

function views(context: vscode.ExtensionContext, rows: Rows): void {
  const tree = new Tree(rows, setting<By>('drifts.groupBy', 'change'));
  const view = vscode.window.createTreeView('pindrift.drifts', { treeDataProvider: tree, showCollapseAll: true });
  const status = vscode.window.createStatusBarItem('pindrift.status', vscode.StatusBarAlignment.Left, 10);
  status.name = 'Pindrift';
  status.command = 'pindrift.choose';
  const testing = new Testing(rows, async (id, argument, token) => {
    if (id === 'pindrift.observe' && !vscode.workspace.isTrusted) {
      throw new Error('observing runs the tests of this workspace; trust it first');
    }
    return server?.ask(id, argument, token);
  });
  for (const by of ['change', 'file', 'test'] as const) {
    context.subscriptions.push(vscode.commands.registerCommand(`pindrift.groupBy.${by}`, () => tree.group(by)));
  }
  context.subscriptions.push(
    view,
    status,
    testing,
    rows.onDidChange(() => {
      const drifts = rows.drifted;
      const changes = new Set(drifts.map((row) => row.change ?? row.drift)).size;
      const says = `${counted(drifts.length)}, ${counted(changes, 'distinct change')}`;
      view.badge = drifts.length > 0 ? { value: drifts.length, tooltip: says } : undefined;
      view.message = drifts.length === 0 ? 'Nothing drifted from what is recorded, as far as it was observed.' : undefined;
      status.text = `$(diff) ${counted(drifts.length)}`;
      status.tooltip = `Pindrift: ${says}. Choose one to go there.`;
      if (drifts.length > 0 && setting('statusBar', true)) {
        status.show();
      } else {
        status.hide();
      }
    }),
  );
}
