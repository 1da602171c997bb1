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

  private readonly texts = new Map<string, string>();
  private count = 0;

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.texts.get(uri.path) ?? '';
  }

  /** Opens the diff editor. */
  async diff(result: unknown): Promise<void> {
    const diff = result as Diff | null;
    if (diff?.before === undefined || diff.after === undefined) {
      return;
    }
    const before = this.keep(diff.before.text, diff.before.label);
    const after = this.keep(diff.after.text, diff.after.label);
    await vscode.commands.executeCommand('vscode.diff', before, after, diff.title);
  }

  /** Opens the history as rendered Markdown. */
  async history(result: unknown): Promise<void> {
    const markdown = (result as { markdown?: string } | null)?.markdown;
    if (markdown !== undefined) {
      await vscode.commands.executeCommand('markdown.showPreview', this.keep(markdown, 'history.md'));
    }
  }

  private keep(text: string, label: string): vscode.Uri {
    this.count += 1;
    const path = `/${this.count}/${label.replace(/[^\p{L}\p{N}._ -]+/gu, '_')}`;
    this.texts.set(path, text);
    for (const old of [...this.texts.keys()].slice(0, -KEPT)) {
      this.texts.delete(old);
    }
    return vscode.Uri.from({ scheme: Answers.scheme, path });
  }
}
