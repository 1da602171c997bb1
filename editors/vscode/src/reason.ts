/** The reason of a decision, asked where the server wants one and the call has none. */
import * as vscode from 'vscode';

const QUESTIONS: Record<string, string> = {
  'pindrift.accept': 'Why may this recorded value change? One honest sentence.',
  'pindrift.explain': 'Why did this baseline change? One honest sentence.',
  'pindrift.withdraw': 'Why is this acceptance withdrawn?',
  'pindrift.verdict': 'What shows that? The recorded value stays.',
  'pindrift.judge': 'What makes you think so?',
};

const MISSING = 'A reason is needed: the next reader will look for it.';

/** What the server says about reasons: the last ones, and why this one will not do. */
export interface Reasons {
  last?: string[];
  /** The decision that accepted the same change elsewhere. */
  same?: { reason: string; test?: string | null } | null;
  refusal?: string | null;
}

/** Asks the server; `undefined` where it cannot say. */
export type Advice = (typed?: string, drift?: string) => Promise<Reasons | undefined>;

/** Whether the command takes a reason. */
export function askedFor(id: string): boolean {
  return id in QUESTIONS;
}

/** The argument with its reason. `undefined`: the person thought better of it. */
export async function withReason(id: string, argument: unknown, advice: Advice): Promise<unknown> {
  const given = (argument ?? {}) as Record<string, unknown>;
  if (!askedFor(id) || typeof given.reason === 'string') {
    return argument ?? {};
  }
  const drift = id === 'pindrift.accept' && typeof given.drift === 'string' ? given.drift : undefined;
  const title = typeof given.title === 'string' ? given.title : 'Pindrift';
  const reason = await ask(title, QUESTIONS[id], drift, advice);
  return reason === undefined ? undefined : { ...given, reason };
}

/** An input box that says while typing what will not do; its button offers the last reasons. */
async function ask(title: string, plain: string, drift: string | undefined, advice: Advice): Promise<string | undefined> {
  const said = await advice(undefined, drift);
  const last = said?.last ?? [];
  let text = said?.same?.reason ?? '';
  const question = said?.same
    ? `The same change was accepted${said.same.test ? ` in ${said.same.test}` : ''} for this reason. Enter confirms it here too.`
    : plain;
  for (;;) {
    const answer = await once(title, question, text, last.length > 0, advice);
    if (answer !== again) {
      return answer as string | undefined;
    }
    text = (await vscode.window.showQuickPick(last, { title, placeHolder: 'Reasons given last; you can change it before it counts' })) ?? text;
  }
}

/** The person wants to choose among the last reasons. */
const again = Symbol('again');

function once(
  title: string,
  question: string,
  text: string,
  offers: boolean,
  advice: Advice,
): Promise<string | undefined | typeof again> {
  return new Promise((done) => {
    const box = vscode.window.createInputBox();
    box.title = title;
    box.prompt = question;
    box.value = text;
    box.ignoreFocusOut = true;
    if (offers) {
      box.buttons = [{ iconPath: new vscode.ThemeIcon('history'), tooltip: 'Reasons given last' }];
    }
    let asked = 0;
    const check = async (typed: string): Promise<boolean> => {
      const mine = ++asked;
      const refusal = typed.trim() === '' ? MISSING : (await advice(typed))?.refusal;
      if (mine === asked) {
        box.validationMessage = refusal ?? undefined;
      }
      return !refusal;
    };
    const end = (answer: string | undefined | typeof again) => {
      asked = -1;
      done(answer);
      box.dispose();
    };
    box.onDidChangeValue((typed) => void check(typed));
    box.onDidTriggerButton(() => end(again));
    box.onDidAccept(async () => {
      const typed = box.value.trim();
      if (await check(typed)) {
        end(typed);
      }
    });
    box.onDidHide(() => end(undefined));
    box.show();
  });
}
