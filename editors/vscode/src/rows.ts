/** What the server knows of all pins, as one list that the views share. Asked again when something changed. */
import * as vscode from 'vscode';

/** A row of `pindrift check --format json`, with the address of its file and the drift in a few words. */
export interface Row {
  drift: string | null;
  uri: string | null;
  test: string;
  file: string;
  /** 1-based. */
  line: number;
  column: number;
  /** First and last line of the test, 1-based. */
  test_lines: [number, number] | null;
  role: string;
  state: string;
  difference: string | null;
  brief: string | null;
  change: string | null;
  changed_lines: number[];
  oracle: { kind: string; path: string | null; entry: string | null };
}

export type Drifted = Row & { drift: string };

export const isDrift = (row: Row): row is Drifted => row.drift !== null;

/** A burst of news is one question. */
const QUIET = 250;

export class Rows implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.changed.event;
  all: Row[] = [];
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly fetch: () => Promise<unknown>) {}

  get drifted(): Drifted[] {
    return this.all.filter(isDrift);
  }

  /** The drifts that a line holds: those of its pins, or those that change it in a baseline. */
  at(uri: string, line1: number): Drifted[] {
    const same = this.drifted.filter((row) => row.uri === uri && row.line === line1);
    if (same.length > 0) {
      return same;
    }
    return this.drifted.filter(
      (row) => row.oracle.path !== null && uri.endsWith(`/${row.oracle.path}`) && row.changed_lines.includes(line1),
    );
  }

  soon(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.now(), QUIET);
  }

  async now(): Promise<void> {
    try {
      const rows = await this.fetch();
      this.all = Array.isArray(rows) ? (rows as Row[]) : [];
    } catch {
      // The server is on its way out, or busy; the next news asks again.
      return;
    }
    this.changed.fire();
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.changed.dispose();
  }
}
