/** The Testing view: tests with pins; a run observes them, a drift is a message with both texts. */
import * as vscode from 'vscode';
import type { Diff } from './answers';
import type { Observed } from './client';
import type { Row, Rows } from './rows';

/** One command of the server, without a prompt. */
export type Ask = (id: string, argument: unknown, token?: vscode.CancellationToken) => Promise<unknown>;

const short = (test: string) => test.slice(test.lastIndexOf('::') + 2);

/** Tests of different opened folders are different runs. */
function byFolder(items: vscode.TestItem[]): vscode.TestItem[][] {
  const parts = new Map<string, vscode.TestItem[]>();
  for (const item of items) {
    const folder = item.uri && vscode.workspace.getWorkspaceFolder(item.uri);
    const key = folder?.uri.toString() ?? '';
    parts.set(key, [...(parts.get(key) ?? []), item]);
  }
  return [...parts.values()];
}

export class Testing implements vscode.Disposable {
  private readonly controller = vscode.tests.createTestController('pindrift', 'Pindrift');

  constructor(
    private readonly rows: Rows,
    private readonly ask: Ask,
  ) {
    const kind = vscode.TestRunProfileKind.Run;
    this.controller.createRunProfile('Run and Observe', kind, (request, token) => this.run(request, token), true);
    this.controller.refreshHandler = () => rows.now();
    rows.onDidChange(() => this.show());
    this.show();
  }

  /** The items of the view: a file, its tests. */
  private show(): void {
    const files = new Map<string, Map<string, Row>>();
    for (const row of this.rows.all) {
      if (row.uri === null) {
        continue;
      }
      const tests = files.get(row.uri) ?? new Map<string, Row>();
      if (!tests.has(row.test)) {
        tests.set(row.test, row);
      }
      files.set(row.uri, tests);
    }
    const items = [...files].map(([address, tests]) => {
      const uri = vscode.Uri.parse(address);
      const first = [...tests.values()][0];
      const file = this.controller.createTestItem(address, first.file, uri);
      file.children.replace(
        [...tests].map(([id, row]) => {
          const item = this.controller.createTestItem(id, short(id), uri);
          const [first, last] = row.test_lines ?? [row.line, row.line];
          item.range = new vscode.Range(first - 1, 0, last - 1, Number.MAX_SAFE_INTEGER);
          return item;
        }),
      );
      return file;
    });
    this.controller.items.replace(items);
  }

  /** The items that a request means, with whole files opened up. */
  private meant(request: vscode.TestRunRequest): vscode.TestItem[] {
    const left = new Set((request.exclude ?? []).map((item) => item.id));
    const found: vscode.TestItem[] = [];
    const take = (item: vscode.TestItem) => {
      if (left.has(item.id)) {
        return;
      }
      if (item.children.size > 0) {
        item.children.forEach(take);
      } else {
        found.push(item);
      }
    };
    if (request.include) {
      request.include.forEach(take);
    } else {
      this.controller.items.forEach(take);
    }
    return found;
  }

  async run(request: vscode.TestRunRequest, token: vscode.CancellationToken): Promise<void> {
    const items = this.meant(request);
    const run = this.controller.createTestRun(request);
    try {
      items.forEach((item) => run.started(item));
      for (const part of byFolder(items)) {
        // The address says in which folder.
        const argument = { tests: part.map((item) => item.id), uri: part[0].uri?.toString() };
        const seen = (await this.ask('pindrift.observe', argument, token)) as Observed | null;
        for (const problem of seen?.problems ?? []) {
          run.appendOutput(`${problem}\r\n`);
        }
      }
      await this.rows.now();
      for (const item of items) {
        await this.report(run, item);
      }
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      items.forEach((item) => run.errored(item, new vscode.TestMessage(why)));
    } finally {
      run.end();
    }
  }

  private async report(run: vscode.TestRun, item: vscode.TestItem): Promise<void> {
    const rows = this.rows.all.filter((row) => row.test === item.id);
    const off = rows.filter((row) => row.drift !== null || row.state === 'failed');
    if (off.length > 0) {
      run.failed(item, await Promise.all(off.map((row) => this.message(row))));
    } else if (rows.some((row) => row.state === 'match')) {
      run.passed(item);
    } else {
      // Not reached and not observed are neither.
      run.skipped(item);
    }
  }

  private async message(row: Row): Promise<vscode.TestMessage> {
    const says = row.brief ?? row.state;
    let message = new vscode.TestMessage(says);
    if (row.drift !== null) {
      const diff = (await this.ask('pindrift.diff', { drift: row.drift })) as Partial<Diff> | null;
      if (diff?.before && diff.after) {
        message = vscode.TestMessage.diff(`drift: ${says}`, diff.before.text, diff.after.text);
      }
    }
    if (row.uri !== null) {
      message.location = new vscode.Location(vscode.Uri.parse(row.uri), new vscode.Position(row.line - 1, row.column - 1));
    }
    return message;
  }

  dispose(): void {
    this.controller.dispose();
  }
}
