/** Documents that hold what the server answered: both sides of a diff, a history. Read-only, never on disk. */
import * as vscode from 'vscode';

interface Side {
  text: string;
  label: string;
}

export interface Diff {
  title: string;
  before: Side;
  after: Side;
  language?: string;
}

/** More than anybody keeps open; older ones read as empty. */
const KEPT = 64;

export class Answers implements vscode.TextDocumentContentProvider {
  static readonly scheme = 'pindrift';

  private readonly texts = new Map<string, { text: string; drift?: string }>();
  private count = 0;

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.texts.get(uri.path)?.text ?? '';
  }

  /** The drift that a side of an open diff belongs to. */
  drift(uri: vscode.Uri): string | undefined {
    return this.texts.get(uri.path)?.drift;
  }

  /** Opens the diff editor. */
  async diff(result: unknown, drift?: string): Promise<void> {
    const diff = result as Diff | null;
    if (diff?.before === undefined || diff.after === undefined) {
      return;
    }
    const before = this.keep(diff.before.text, named(diff.before.label, diff.language), drift);
    const after = this.keep(diff.after.text, named(diff.after.label, diff.language), drift);
    await vscode.commands.executeCommand('vscode.diff', before, after, diff.title, { preview: true });
  }

  /** Closes the diffs of a drift that was decided on: they show what is no more. */
  async close(drift: string): Promise<void> {
    const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
    const stale = tabs.filter(
      ({ input }) => input instanceof vscode.TabInputTextDiff && this.drift(input.modified) === drift,
    );
    if (stale.length > 0) {
      await vscode.window.tabGroups.close(stale);
    }
  }

  /** Opens the history as rendered Markdown. */
  async history(result: unknown): Promise<void> {
    const markdown = (result as { markdown?: string } | null)?.markdown;
    if (markdown !== undefined) {
      await vscode.commands.executeCommand('markdown.showPreview', this.keep(markdown, 'Why.md'));
    }
  }

  private keep(text: string, label: string, drift?: string): vscode.Uri {
    this.count += 1;
    const path = `/${this.count}/${label.replace(/[^\p{L}\p{N}._ -]+/gu, '_')}`;
    this.texts.set(path, { text, drift });
    for (const old of [...this.texts.keys()].slice(0, -KEPT)) {
      this.texts.delete(old);
    }
    return vscode.Uri.from({ scheme: Answers.scheme, path });
  }
}

/** With an ending by which the editor knows the language. */
function named(label: string, language?: string): string {
  const ending = { python: 'py', rust: 'rs' }[language ?? ''] ?? language;
  return !ending || label.endsWith(`.${ending}`) ? label : `${label}.${ending}`;
}
