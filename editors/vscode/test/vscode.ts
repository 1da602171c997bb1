/** The part of VS Code that the extension touches, as a stand-in that a test can look at. */
import { vi } from 'vitest';

const nothing = { dispose() {} };

export const registered = new Map<string, (...args: unknown[]) => unknown>();

export const commands = {
  registerCommand: (id: string, run: (...args: unknown[]) => unknown) => {
    registered.set(id, run);
    return nothing;
  },
  executeCommand: vi.fn(async (..._args: unknown[]) => undefined),
};

export class EventEmitter<T> {
  private listeners: ((value: T) => unknown)[] = [];
  readonly event = (listener: (value: T) => unknown) => {
    this.listeners.push(listener);
    return nothing;
  };
  fire(value: T): void {
    this.listeners.forEach((listener) => listener(value));
  }
  dispose(): void {
    this.listeners = [];
  }
}

export class ThemeIcon {
  constructor(readonly id: string) {}
}

export class TreeItem {
  [key: string]: unknown;
  constructor(
    readonly label: string,
    readonly collapsibleState = 0,
  ) {}
}

export const TreeItemCollapsibleState = { None: 0, Collapsed: 1, Expanded: 2 };
export const StatusBarAlignment = { Left: 1, Right: 2 };
export const TestRunProfileKind = { Run: 1 };

export class Position {
  constructor(
    readonly line: number,
    readonly character: number,
  ) {}
}

export class Range {
  constructor(readonly start: unknown) {}
}

export class Location {
  constructor(
    readonly uri: unknown,
    readonly range: unknown,
  ) {}
}

export class TestMessage {
  location: unknown;
  expectedOutput?: string;
  actualOutput?: string;
  constructor(readonly message: string) {}
  static diff(message: string, expected: string, actual: string): TestMessage {
    return Object.assign(new TestMessage(message), { expectedOutput: expected, actualOutput: actual });
  }
}

/** An input box that a test types into; `boxes` has those that were shown. */
export class InputBox {
  value = '';
  title = '';
  prompt = '';
  validationMessage?: string;
  buttons: unknown[] = [];
  private change: (text: string) => void = () => {};
  private accepted: () => unknown = () => {};
  private hidden: () => void = () => {};
  private pressed: () => void = () => {};
  onDidChangeValue = (listener: (text: string) => void) => void (this.change = listener);
  onDidAccept = (listener: () => unknown) => void (this.accepted = listener);
  onDidHide = (listener: () => void) => void (this.hidden = listener);
  onDidTriggerButton = (listener: () => void) => void (this.pressed = listener);
  show(): void {}
  dispose(): void {}
  type(text: string): void {
    this.value = text;
    this.change(text);
  }
  enter = async () => this.accepted();
  escape = () => this.hidden();
  press = () => this.pressed();
}

export const boxes: InputBox[] = [];
export const views = new Map<string, { badge?: unknown; message?: unknown; options: { treeDataProvider: unknown } }>();
export const status = { text: '', tooltip: '', name: '', command: '', show: vi.fn(), hide: vi.fn(), dispose() {} };

export const window = {
  createInputBox: () => {
    const box = new InputBox();
    boxes.push(box);
    return box;
  },
  createTreeView: (id: string, options: { treeDataProvider: unknown }) => {
    const view = { options, dispose() {} };
    views.set(id, view);
    return view;
  },
  createStatusBarItem: () => status,
  showQuickPick: vi.fn(async (_items?: unknown, _options?: unknown): Promise<unknown> => undefined),
  showErrorMessage: vi.fn(async (_message: string): Promise<string | undefined> => undefined),
  showWarningMessage: vi.fn(async (_message: string) => undefined),
  showTextDocument: vi.fn(async () => undefined),
  setStatusBarMessage: vi.fn((_text: string, _ms: number) => nothing),
  activeTextEditor: undefined as unknown,
  tabGroups: { all: [] as { tabs: { input: unknown }[] }[], close: vi.fn(async (_tabs: unknown) => true) },
};

export class TabInputTextDiff {
  constructor(
    readonly original: unknown,
    readonly modified: unknown,
  ) {}
}

export const settings: Record<string, unknown> = {};

let opened: (document: unknown) => void = () => {};
/** A document is opened in the editor. */
export const open = (document: unknown) => opened(document);

export const workspace = {
  isTrusted: true,
  textDocuments: [] as unknown[],
  workspaceFolders: [] as { uri: { fsPath: string } }[],
  getWorkspaceFolder: (_uri: unknown) => undefined as { uri: Uri } | undefined,
  getConfiguration: () => ({ get: (key: string) => settings[key] }),
  registerTextDocumentContentProvider: vi.fn((_scheme: string, _provider: unknown) => nothing),
  onDidOpenTextDocument: (listener: (document: unknown) => void) => {
    opened = listener;
    return nothing;
  },
  openTextDocument: vi.fn(async (uri: unknown) => ({ uri })),
};

class Items {
  private items: TestItem[] = [];
  get size(): number {
    return this.items.length;
  }
  replace(items: TestItem[]): void {
    this.items = items;
  }
  forEach(each: (item: TestItem) => void): void {
    this.items.forEach(each);
  }
}

export interface TestItem {
  id: string;
  label: string;
  uri: Uri;
  children: Items;
  range?: unknown;
}

/** What a test run was told, in order: `passed test`, `failed test: message`. */
export const told: string[] = [];
export const messages: TestMessage[] = [];
let profile: (request: unknown, token: unknown) => Promise<void> = async () => {};
export const runTests = (request: unknown) => profile(request, undefined);
export const controller = {
  items: new Items(),
  refreshHandler: undefined as unknown,
  createRunProfile: (_name: string, _kind: number, run: typeof profile) => {
    profile = run;
  },
  createTestItem: (id: string, label: string, uri: Uri): TestItem => ({ id, label, uri, children: new Items() }),
  createTestRun: () => ({
    started: (item: TestItem) => told.push(`started ${item.label}`),
    passed: (item: TestItem) => told.push(`passed ${item.label}`),
    skipped: (item: TestItem) => told.push(`skipped ${item.label}`),
    failed: (item: TestItem, found: TestMessage[]) => {
      messages.push(...found);
      told.push(`failed ${item.label}: ${found.map((one) => one.message).join(', ')}`);
    },
    errored: (item: TestItem, one: TestMessage) => told.push(`errored ${item.label}: ${one.message}`),
    appendOutput: (text: string) => told.push(`output ${text.trim()}`),
    end: () => told.push('end'),
  }),
  dispose() {},
};

export const tests = { createTestController: () => controller };

export class Uri {
  constructor(
    readonly scheme: string,
    readonly path: string,
  ) {}
  static from = (parts: { scheme: string; path: string }) => new Uri(parts.scheme, parts.path);
  static parse = (text: string) => new Uri(text.split(':')[0], text.slice(text.indexOf('://') + 3));
  get fsPath(): string {
    return this.path;
  }
  toString(): string {
    return this.scheme === 'file' ? `file://${this.path}` : `${this.scheme}:${this.path}`;
  }
}
