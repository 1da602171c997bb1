/** The part of VS Code that the extension touches, as a stand-in that a test can look at. */
import { vi } from 'vitest';

export const registered = new Map<string, (...args: unknown[]) => unknown>();

export const commands = {
  registerCommand: (id: string, run: (...args: unknown[]) => unknown) => {
    registered.set(id, run);
    return { dispose() {} };
  },
  executeCommand: vi.fn(async (..._args: unknown[]) => undefined),
};

export const window = {
  showInputBox: vi.fn(async (_options?: unknown): Promise<string | undefined> => undefined),
  showErrorMessage: vi.fn(async (_message: string) => undefined),
  setStatusBarMessage: vi.fn((_text: string, _ms: number) => ({ dispose() {} })),
  activeTextEditor: undefined as unknown,
};

export const settings: Record<string, string> = {};

export const workspace = {
  getConfiguration: () => ({ get: (key: string) => settings[key] ?? '' }),
  registerTextDocumentContentProvider: vi.fn((_scheme: string, _provider: unknown) => ({ dispose() {} })),
};

export const Uri = {
  from: (parts: { scheme: string; path: string }) => ({ ...parts, toString: () => `${parts.scheme}:${parts.path}` }),
};
