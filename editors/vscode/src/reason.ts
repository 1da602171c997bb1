/** The reason of a decision, asked where the server wants one and the call has none. */
import * as vscode from 'vscode';

const QUESTIONS: Record<string, string> = {
  'pindrift.accept': 'Why may this recorded value change? One honest sentence.',
  'pindrift.explain': 'Why did this baseline change? One honest sentence.',
  'pindrift.withdraw': 'Why is this acceptance withdrawn?',
};

/** Whether the command takes a reason. */
export function askedFor(id: string): boolean {
  return id in QUESTIONS;
}

/**
 * The argument with its reason. `undefined`: the person thought better of it. Whether the reason will do is
 * the server's word; only an empty one is stopped here.
 */
export async function withReason(id: string, argument: unknown): Promise<unknown> {
  const given = (argument ?? {}) as Record<string, unknown>;
  if (!askedFor(id) || typeof given.reason === 'string') {
    return argument ?? {};
  }
  const reason = await vscode.window.showInputBox({
    title: typeof given.title === 'string' ? given.title : 'Pindrift',
    prompt: QUESTIONS[id],
    ignoreFocusOut: true,
    validateInput: (text) => (text.trim() === '' ? 'A reason is needed: the next reader will look for it.' : undefined),
  });
  if (reason === undefined || reason.trim() === '') {
    return undefined;
  }
  return { ...given, reason: reason.trim() };
}
