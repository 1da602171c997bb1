import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

interface Options {
  initializationOptions: unknown;
  middleware: {
    executeCommand(id: string, args: unknown[], next: (id: string, args: unknown[]) => unknown): Promise<unknown>;
    handleDiagnostics(uri: unknown, diagnostics: unknown, next: () => void): void;
  };
}

const started: { server: { command: string; args: string[] }; options: Options }[] = [];
/** What the stand-in of the server offers and answers. */
const offered = new Set<string>();
const answers = new Map<string, (argument: Record<string, unknown>) => unknown>();
const asked: [string, unknown][] = [];

vi.mock('vscode-languageclient/node', () => ({
  TransportKind: { stdio: 0 },
  LanguageClient: class {
    initializeResult = {
      capabilities: { executeCommandProvider: { commands: [...offered] } },
      serverInfo: { name: 'pindrift', version: '9.9' },
    };
    constructor(_id: string, _name: string, server: never, options: never) {
      started.push({ server, options });
    }
    async start() {}
    async stop() {}
    async sendRequest(_method: string, params: { command: string; arguments: [Record<string, unknown>] }) {
      asked.push([params.command, params.arguments[0]]);
      return answers.get(params.command)?.(params.arguments[0]) ?? null;
    }
  },
}));

const stub = (await import('vscode')) as unknown as typeof import('./vscode');
const { activate } = await import('../src/extension');
const { Answers } = await import('../src/answers');
const { mayHoldPins } = await import('../src/pins');
const { program } = await import('../src/server');
const { grouped, Tree } = await import('../src/tree');

const TEST = 'file:///w/tests/test_a.py';

function row(more: Record<string, unknown>) {
  return {
    drift: null,
    uri: TEST,
    test: 'tests/test_a.py::test_price',
    file: 'tests/test_a.py',
    line: 6,
    column: 5,
    role: 'characterization',
    state: 'drift',
    difference: 'behaviour',
    brief: '2.67 → 2.68',
    change: 'c1',
    changed_lines: [6],
    oracle: { kind: 'literal', path: 'tests/test_a.py', entry: null },
    ...more,
  };
}

const ROWS = [
  row({ drift: 'd1' }),
  row({ drift: 'd2', test: 'tests/test_a.py::test_cost', line: 11 }),
  row({
    drift: 'd3',
    test: 'tests/test_b.py::test_report',
    file: 'tests/test_b.py',
    uri: 'file:///w/tests/test_b.py',
    line: 3,
    brief: '2 lines in another order',
    difference: 'ordering',
    change: 'c2',
    changed_lines: [2, 4],
    oracle: { kind: 'file', path: 'tests/golden/report.csv', entry: null },
  }),
  row({ test: 'tests/test_a.py::test_none', state: 'match', brief: null, change: null, line: 20 }),
  row({ test: 'tests/test_a.py::test_later', state: 'unobserved', brief: null, change: null, line: 25 }),
];

const document = (languageId: string, text: string) => ({
  languageId,
  uri: new stub.Uri('file', '/w/a'),
  getText: () => text,
});

const begun: { dispose(): void }[] = [];
const begin = () => activate({ extensionPath: '/nowhere', subscriptions: begun } as never);

afterEach(() => begun.splice(0).forEach((one) => one.dispose()));

beforeEach(async () => {
  vi.clearAllMocks();
  for (const list of [started, asked, stub.boxes, stub.told, stub.messages]) {
    list.length = 0;
  }
  stub.registered.clear();
  stub.status.text = '';
  stub.window.activeTextEditor = undefined;
  stub.workspace.isTrusted = true;
  offered.clear();
  for (const id of ['accept', 'diff', 'history', 'drifts', 'reasons', 'verdict', 'observe']) {
    offered.add(`pindrift.${id}`);
  }
  answers.clear();
  answers.set('pindrift.drifts', () => ROWS);
  answers.set('pindrift.reasons', ({ reason }) => ({
    last: ['rounding as in rule 7'],
    refusal: reason === 'wip' ? '"wip" says nothing to the next reader' : null,
  }));
  stub.workspace.textDocuments = [document('python', 'def test_a():\n    assert f() == 1\n')];
  await begin();
});

const execute = (id: string, args: unknown[], next: (id: string, args: unknown[]) => unknown) =>
  started[0].options.middleware.executeCommand(id, args, next);

/** The rows are asked for a moment after news. */
async function settled(): Promise<void> {
  started[0].options.middleware.handleDiagnostics(null, [], () => {});
  await vi.waitFor(() => expect(stub.status.text).toBe('$(diff) 3 drifts'), { timeout: 5000 });
}

async function box(count = 1) {
  await vi.waitFor(() => expect(stub.boxes).toHaveLength(count));
  return stub.boxes[count - 1];
}

function cursor(uri: string, line: number): void {
  stub.window.activeTextEditor = {
    document: { uri: stub.Uri.parse(uri) },
    selection: { active: { line } },
  };
}

test('the server is told that this client asks for the reason itself', () => {
  expect(started).toHaveLength(1);
  expect(started[0].server.args).toEqual(['server']);
  expect(started[0].options.initializationOptions).toEqual({ reasonPrompt: true, via: 'vscode' });
});

test('nothing starts before a file is opened that can hold a pin', async () => {
  started.length = 0;
  stub.workspace.textDocuments = [document('python', 'def price():\n    return 1\n')];
  await begin();
  expect(started).toHaveLength(0);
  stub.open(document('rust', 'fn main() {}'));
  expect(started).toHaveLength(0);
  stub.open(document('rust', '#[test]\nfn a() {}'));
  expect(started).toHaveLength(1);
});

test('a workspace that opted in starts at once', async () => {
  started.length = 0;
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'pindrift-'));
  fs.writeFileSync(path.join(folder, 'pindrift.toml'), '');
  stub.workspace.textDocuments = [];
  stub.workspace.workspaceFolders = [{ uri: { fsPath: folder } }];
  await begin();
  expect(started).toHaveLength(1);
  stub.workspace.workspaceFolders = [];
  fs.rmSync(folder, { recursive: true });
});

test('a source can hold pins when it has a test or an assertion', () => {
  expect(mayHoldPins('python', 'def test_a(): ...')).toBe(true);
  expect(mayHoldPins('python', '    assert a == b')).toBe(true);
  expect(mayHoldPins('python', 'assertive = 1\n')).toBe(false);
  expect(mayHoldPins('rust', '#[tokio::test]\nasync fn a() {}')).toBe(true);
  expect(mayHoldPins('rust', 'fn main() {}')).toBe(false);
  expect(mayHoldPins('go', 'func TestA() {}')).toBe(false);
});

test('a reason is asked for, and travels with the drift', async () => {
  const next = vi.fn(async () => ({ accepted: true, amendment: '.pindrift/amendments/2026/x.toml', pending: false }));
  const done = execute('pindrift.accept', [{ drift: 'd1' }], next);
  const input = await box();
  input.type('  rounding as in rule 7  ');
  await input.enter();
  await done;
  expect(next).toHaveBeenCalledWith('pindrift.accept', [{ drift: 'd1', reason: 'rounding as in rule 7' }]);
  const said = 'Pindrift: recorded in .pindrift/amendments/2026/x.toml';
  expect(stub.window.setStatusBarMessage).toHaveBeenCalledWith(said, 10_000);
});

test('what will not do is said while typing, and nothing is sent', async () => {
  const next = vi.fn();
  const done = execute('pindrift.accept', [{ drift: 'd1' }], next);
  const input = await box();
  input.type('wip');
  await vi.waitFor(() => expect(input.validationMessage).toBe('"wip" says nothing to the next reader'));
  await input.enter();
  input.type('   ');
  await vi.waitFor(() => expect(input.validationMessage).toMatch(/reason is needed/));
  await input.enter();
  input.type('wip because the price list changed');
  await vi.waitFor(() => expect(input.validationMessage).toBeUndefined());
  expect(next).not.toHaveBeenCalled();
  input.escape();
  expect(await done).toBeUndefined();
  expect(next).not.toHaveBeenCalled();
});

test('the last reasons are offered, and can be changed before they count', async () => {
  const next = vi.fn(async () => null);
  const done = execute('pindrift.accept', [{ drift: 'd1' }], next);
  const first = await box();
  expect(first.buttons).toHaveLength(1);
  stub.window.showQuickPick.mockResolvedValueOnce('rounding as in rule 7');
  first.press();
  const second = await box(2);
  expect(stub.window.showQuickPick.mock.calls[0][0]).toEqual(['rounding as in rule 7']);
  expect(second.value).toBe('rounding as in rule 7');
  second.type('rounding as in rule 7, for costs too');
  await second.enter();
  await done;
  const reason = 'rounding as in rule 7, for costs too';
  expect(next).toHaveBeenCalledWith('pindrift.accept', [{ drift: 'd1', reason }]);
});

test('the reason given for the same change stands in the box and is confirmed with Enter', async () => {
  answers.set('pindrift.reasons', ({ drift }) => ({
    last: ['rounding as in rule 7'],
    same: drift === 'd2' ? { reason: 'rounding as in rule 7', test: 'test_a.py::test_a' } : null,
    refusal: null,
  }));
  const next = vi.fn(async () => null);
  const done = execute('pindrift.accept', [{ drift: 'd2' }], next);
  const first = await box();
  expect(first.value).toBe('rounding as in rule 7');
  expect(first.prompt).toMatch(/same change was accepted in test_a.py::test_a/);
  expect(next).not.toHaveBeenCalled();
  await first.enter();
  await done;
  expect(next).toHaveBeenCalledWith('pindrift.accept', [{ drift: 'd2', reason: 'rounding as in rule 7' }]);
});

test('a reason that the caller gives is not asked for again, and other commands ask nothing', async () => {
  const next = vi.fn(async () => null);
  await execute('pindrift.accept', [{ drift: 'a', reason: 'said before' }], next);
  await execute('pindrift.drifts', [], next);
  expect(stub.boxes).toHaveLength(0);
  expect(next.mock.calls).toEqual([
    ['pindrift.accept', [{ drift: 'a', reason: 'said before' }]],
    ['pindrift.drifts', [{}]],
  ]);
});

test('what the server refuses is shown in its own words', async () => {
  const next = async () => {
    throw new Error('the drift d1 is not there any more');
  };
  expect(await execute('pindrift.accept', [{ drift: 'd1', reason: 'a' }], next)).toBeUndefined();
  expect(stub.window.showErrorMessage).toHaveBeenCalledWith('Pindrift: the drift d1 is not there any more');
});

test('a diff opens in the diff editor, and its title bar decides on its drift', async () => {
  const provider = stub.workspace.registerTextDocumentContentProvider.mock.calls[0][1] as InstanceType<typeof Answers>;
  const answer = {
    title: 'ordinary: recorded ↔ observed',
    before: { text: 'total 10\n', label: 'recorded: golden/ordinary' },
    after: { text: 'total 12\n', label: 'observed' },
    language: 'csv',
  };
  await execute('pindrift.diff', [{ drift: 'd3' }], async () => answer);
  const [command, before, after, title] = stub.commands.executeCommand.mock.calls.find(([id]) => id === 'vscode.diff') as [
    string,
    never,
    never,
    string,
  ];
  expect(command).toBe('vscode.diff');
  expect(title).toBe(answer.title);
  expect(provider.provideTextDocumentContent(before)).toBe('total 10\n');
  expect(provider.provideTextDocumentContent(after)).toBe('total 12\n');
  expect(String(after)).toMatch(/\.csv$/);
  await stub.registered.get('pindrift.acceptHere')?.(after);
  expect(stub.commands.executeCommand).toHaveBeenCalledWith('pindrift.accept', { drift: 'd3' });
  const tab = { input: new stub.TabInputTextDiff(before, after) };
  stub.window.tabGroups.all = [{ tabs: [{ input: 'another' }, tab] }];
  await execute('pindrift.accept', [{ drift: 'd1', reason: 'a' }], async () => ({ amendment: 'x.toml' }));
  await execute('pindrift.accept', [{ drift: 'd3', reason: 'a' }], async () => null);
  expect(stub.window.tabGroups.close).not.toHaveBeenCalled();
  await execute('pindrift.accept', [{ drift: 'd3', reason: 'a' }], async () => ({ amendment: 'x.toml' }));
  expect(stub.window.tabGroups.close).toHaveBeenCalledWith([tab]);
  await stub.registered.get('pindrift.noiseHere')?.(before);
  expect(stub.commands.executeCommand).toHaveBeenCalledWith('pindrift.verdict', { drift: 'd3', verdict: 'noise' });
});

test('a history opens as rendered Markdown', async () => {
  await execute('pindrift.history', [{ drift: 'a' }], async () => ({ markdown: '# why' }));
  expect(stub.commands.executeCommand.mock.calls.some(([id]) => id === 'markdown.showPreview')).toBe(true);
});

test('the commands of the palette speak about the line under the cursor', async () => {
  await settled();
  stub.commands.executeCommand.mockClear();
  await stub.registered.get('pindrift.whyHere')?.();
  expect(stub.commands.executeCommand).not.toHaveBeenCalled();
  cursor(TEST, 40);
  await stub.registered.get('pindrift.whyHere')?.();
  expect(stub.commands.executeCommand).toHaveBeenCalledWith('pindrift.history', { uri: TEST, line: 40 });
  cursor(TEST, 5);
  await stub.registered.get('pindrift.diffHere')?.();
  expect(stub.commands.executeCommand).toHaveBeenCalledWith('pindrift.diff', { drift: 'd1' });
});

test('a changed line of an open baseline means its drift', async () => {
  await settled();
  cursor('file:///w/tests/golden/report.csv', 3);
  await stub.registered.get('pindrift.diffHere')?.();
  expect(stub.commands.executeCommand).toHaveBeenCalledWith('pindrift.diff', { drift: 'd3' });
});

test('what the server does not offer is said, and not sent', async () => {
  offered.delete('pindrift.verdict');
  started.length = 0;
  await begin();
  stub.commands.executeCommand.mockClear();
  await stub.registered.get('pindrift.noiseHere')?.({ drift: 'd1' });
  expect(stub.commands.executeCommand).not.toHaveBeenCalled();
  const said = 'Pindrift: this server (9.9) does not offer pindrift.verdict; a newer `pindrift` does';
  expect(stub.window.showWarningMessage).toHaveBeenCalledWith(said);
});

test('drifts stand under the change, the file or the test', () => {
  const drifts = ROWS.filter((one) => one.drift !== null) as never;
  const outline = (by: 'change' | 'file' | 'test') => grouped(drifts, by).map(({ label, rows }) => `${label}: ${rows.length}`);
  expect(outline('change')).toEqual(['2.67 → 2.68: 2', '2 lines in another order: 1']);
  expect(outline('file')).toEqual(['tests/test_a.py: 2', 'tests/test_b.py: 1']);
  expect(outline('test')).toEqual(['test_price: 1', 'test_cost: 1', 'test_report: 1']);
});

test('the view and the status bar count in words', async () => {
  await settled();
  const view = stub.views.get('pindrift.drifts');
  expect(view?.badge).toEqual({ value: 3, tooltip: '3 drifts, 2 distinct changes' });
  expect(stub.status.show).toHaveBeenCalled();
  const tree = view?.options.treeDataProvider as InstanceType<typeof Tree>;
  const [group] = tree.getChildren();
  expect(tree.getTreeItem(group)).toMatchObject({ label: '2.67 → 2.68', description: '2 drifts' });
  const leaf = tree.getTreeItem(tree.getChildren(group)[0]);
  expect(leaf).toMatchObject({ label: 'test_price', description: 'behaviour · tests/test_a.py:6', contextValue: 'drift' });
  expect(leaf.accessibilityInformation?.label).toMatch(/^drift, 2.67 → 2.68/);
});

test('a run of the Testing view observes, and a drift is a message with both texts', async () => {
  await settled();
  answers.set('pindrift.diff', () => ({ title: '', before: { text: '2.67', label: '' }, after: { text: '2.68', label: '' } }));
  answers.set('pindrift.observe', () => ({ ran: 5, problems: ['test_b.py could not be collected'] }));
  await stub.runTests({ include: undefined });
  expect(stub.told).toContain('output test_b.py could not be collected');
  const all = ROWS.map((one) => one.test);
  expect(asked.find(([id]) => id === 'pindrift.observe')?.[1]).toEqual({
    tests: all.slice(0, 2).concat(all.slice(3), all[2]),
    uri: TEST,
  });
  expect(stub.told.filter((line) => !/^(started|output)/.test(line))).toEqual([
    'failed test_price: drift: 2.67 → 2.68',
    'failed test_cost: drift: 2.67 → 2.68',
    'passed test_none',
    'skipped test_later',
    'failed test_report: drift: 2 lines in another order',
    'end',
  ]);
  expect(stub.messages[0]).toMatchObject({ expectedOutput: '2.67', actualOutput: '2.68' });
});

test('the test under the cursor is run, in the folder of its file', async () => {
  await settled();
  cursor(TEST, 12);
  await stub.registered.get('pindrift.observeHere')?.();
  const argument = { tests: ['tests/test_a.py::test_cost'], uri: TEST };
  expect(stub.commands.executeCommand).toHaveBeenCalledWith('pindrift.observe', argument);
});

test('a run from the editor says what it saw, and what went wrong', async () => {
  const answer = { ran: 2, drifts: 1, unobserved: 0, problems: ['pytest is not installed'] };
  await execute('pindrift.observe', [{ tests: ['a'] }], async () => answer);
  const said = 'Pindrift: ran 2; drifts now: 1, unobserved: 0';
  expect(stub.window.setStatusBarMessage).toHaveBeenCalledWith(said, 10_000);
  expect(stub.window.showWarningMessage).toHaveBeenCalledWith('Pindrift: pytest is not installed');
});

test('nothing is run in a workspace that is not trusted', async () => {
  await settled();
  stub.workspace.isTrusted = false;
  await stub.runTests({ include: undefined });
  expect(asked.some(([id]) => id === 'pindrift.observe')).toBe(false);
  expect(stub.told).toContain('errored test_price: observing runs the tests of this workspace; trust it first');
  await stub.registered.get('pindrift.observeHere')?.({ drift: 'd1', test: 'tests/test_a.py::test_price' });
  expect(stub.window.showWarningMessage).toHaveBeenCalled();
});

test('every command of a menu and of the walkthrough is there, and has a title', () => {
  const manifest = JSON.parse(fs.readFileSync(path.join(__dirname, '../package.json'), 'utf8'));
  const ids = new Set(manifest.contributes.commands.map((command: { command: string }) => command.command));
  const menus = Object.values(manifest.contributes.menus).flat() as { command: string }[];
  for (const id of [...ids, ...menus.map((item) => item.command)] as string[]) {
    expect(stub.registered.has(id), id).toBe(true);
    expect(ids.has(id), id).toBe(true);
  }
  for (const step of manifest.contributes.walkthroughs[0].steps) {
    expect(fs.existsSync(path.join(__dirname, '..', step.media.markdown)), step.id).toBe(true);
    for (const [, id] of step.description.matchAll(/command:([\w.]+)/g)) {
      expect(ids.has(id) || id === 'pindrift.drifts.focus', id).toBe(true);
    }
  }
});

test('the server is the one of the setting, of the variable, of the package, of PATH, in that order', () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'pindrift-'));
  expect(program('', {}, folder)).toBe('pindrift');
  fs.mkdirSync(path.join(folder, 'server'));
  const bundled = path.join(folder, 'server', process.platform === 'win32' ? 'pindrift.exe' : 'pindrift');
  fs.writeFileSync(bundled, '');
  expect(program('', {}, folder)).toBe(bundled);
  expect(program('', { PINDRIFT_SERVER: '/b' }, folder)).toBe('/b');
  expect(program(' /a ', { PINDRIFT_SERVER: '/b' }, folder)).toBe('/a');
  fs.rmSync(folder, { recursive: true });
});
