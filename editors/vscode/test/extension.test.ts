import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { beforeEach, expect, test, vi } from 'vitest';

interface Started {
  server: { command: string; args: string[] };
  options: {
    initializationOptions: unknown;
    middleware: {
      executeCommand(id: string, args: unknown[], next: (id: string, args: unknown[]) => unknown): Promise<unknown>;
    };
  };
}

const started: Started[] = [];

vi.mock('vscode-languageclient/node', () => ({
  TransportKind: { stdio: 0 },
  LanguageClient: class {
    constructor(_id: string, _name: string, server: Started['server'], options: Started['options']) {
      started.push({ server, options });
    }
    async start() {}
    async stop() {}
    async restart() {}
  },
}));

const stub = (await import('vscode')) as unknown as typeof import('./vscode');
const { activate } = await import('../src/extension');
const { Answers } = await import('../src/answers');
const { program } = await import('../src/server');

beforeEach(async () => {
  vi.clearAllMocks();
  started.length = 0;
  stub.registered.clear();
  stub.window.activeTextEditor = undefined;
  await activate({ extensionPath: '/nowhere', subscriptions: [] } as never);
});

const execute = (id: string, args: unknown[], next: (id: string, args: unknown[]) => unknown) =>
  started[0].options.middleware.executeCommand(id, args, next);

test('the server is told that this client asks for the reason itself', () => {
  expect(started).toHaveLength(1);
  expect(started[0].server.args).toEqual(['server', '--stdio']);
  expect(started[0].options.initializationOptions).toEqual({ reasonPrompt: true, via: 'vscode' });
});

test('a reason is asked for, and travels with the drift', async () => {
  stub.window.showInputBox.mockResolvedValueOnce('  rounding as in rule 7  ');
  const next = vi.fn(async () => ({ accepted: true, amendment: '.pindrift/amendments/2026/x.toml', pending: false }));
  await execute('pindrift.accept', [{ drift: 'd3f9c1e0a2b4' }], next);
  expect(next).toHaveBeenCalledWith('pindrift.accept', [{ drift: 'd3f9c1e0a2b4', reason: 'rounding as in rule 7' }]);
  expect(stub.window.setStatusBarMessage).toHaveBeenCalledWith(
    'Pindrift: recorded in .pindrift/amendments/2026/x.toml',
    10_000,
  );
});

test('no reason, no accept', async () => {
  const next = vi.fn();
  for (const typed of [undefined, '', '   ']) {
    stub.window.showInputBox.mockResolvedValueOnce(typed);
    expect(await execute('pindrift.accept', [{ drift: 'd3f9c1e0a2b4' }], next)).toBeUndefined();
  }
  expect(next).not.toHaveBeenCalled();
  const { validateInput } = stub.window.showInputBox.mock.calls[0][0] as { validateInput(text: string): string | undefined };
  expect(validateInput('  ')).toMatch(/reason is needed/);
  expect(validateInput('x')).toBeUndefined();
});

test('a reason that the caller gives is not asked for again, and other commands ask nothing', async () => {
  const next = vi.fn(async () => null);
  await execute('pindrift.accept', [{ drift: 'a', reason: 'said before' }], next);
  await execute('pindrift.drifts', [], next);
  expect(stub.window.showInputBox).not.toHaveBeenCalled();
  expect(next.mock.calls).toEqual([
    ['pindrift.accept', [{ drift: 'a', reason: 'said before' }]],
    ['pindrift.drifts', [{}]],
  ]);
});

test('what the server refuses is shown in its own words', async () => {
  stub.window.showInputBox.mockResolvedValueOnce('wip');
  const next = async () => {
    throw new Error('"wip" says nothing to the next reader');
  };
  expect(await execute('pindrift.accept', [{ drift: 'a' }], next)).toBeUndefined();
  expect(stub.window.showErrorMessage).toHaveBeenCalledWith('Pindrift: "wip" says nothing to the next reader');
});

test('a diff opens in the diff editor on two documents that hold its sides', async () => {
  const provider = stub.workspace.registerTextDocumentContentProvider.mock.calls[0][1] as InstanceType<typeof Answers>;
  const answer = {
    title: 'ordinary: recorded ↔ observed',
    before: { text: 'total 10\n', label: 'golden/ordinary.csv' },
    after: { text: 'total 12\n', label: 'observed' },
  };
  await execute('pindrift.diff', [{ drift: 'a' }], async () => answer);
  const [command, before, after, title] = stub.commands.executeCommand.mock.calls[0] as [string, never, never, string];
  expect(command).toBe('vscode.diff');
  expect(title).toBe(answer.title);
  expect(provider.provideTextDocumentContent(before)).toBe('total 10\n');
  expect(provider.provideTextDocumentContent(after)).toBe('total 12\n');
  expect(String(before)).not.toBe(String(after));
});

test('a history opens as rendered Markdown', async () => {
  await execute('pindrift.history', [{ drift: 'a' }], async () => ({ markdown: '# why' }));
  expect(stub.commands.executeCommand.mock.calls[0][0]).toBe('markdown.showPreview');
});

test('the commands of the palette speak about the line under the cursor', async () => {
  await stub.registered.get('pindrift.diffHere')?.();
  expect(stub.commands.executeCommand).not.toHaveBeenCalled();
  stub.window.activeTextEditor = {
    document: { uri: { toString: () => 'file:///w/tests/test_a.py' } },
    selection: { active: { line: 6 } },
  };
  await stub.registered.get('pindrift.diffHere')?.();
  expect(stub.commands.executeCommand).toHaveBeenCalledWith('pindrift.diff', { uri: 'file:///w/tests/test_a.py', line: 6 });
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
