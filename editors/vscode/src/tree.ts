/** The view of drifts: by change, by file or by test, with counts. */
import * as vscode from 'vscode';
import type { Drifted, Rows } from './rows';

export type By = 'change' | 'file' | 'test';

export interface Group {
  label: string;
  rows: Drifted[];
}

const short = (row: Drifted) => row.test.slice(row.test.lastIndexOf('::') + 2);
const where = (row: Drifted) => `${row.file}:${row.line}`;
const what = (row: Drifted) => row.brief ?? row.state;

/** Drifts under one heading each; the largest group first, then in the order of the files. */
export function grouped(rows: Drifted[], by: By): Group[] {
  const groups = new Map<string, Group>();
  for (const row of rows) {
    const key = by === 'change' ? (row.change ?? row.drift) : by === 'file' ? row.file : row.test;
    const label = by === 'change' ? what(row) : by === 'file' ? row.file : short(row);
    const group = groups.get(key) ?? { label, rows: [] };
    group.rows.push(row);
    groups.set(key, group);
  }
  return [...groups.values()].sort((a, b) => b.rows.length - a.rows.length);
}

export const counted = (count: number, word = 'drift') => `${count} ${word}${count === 1 ? '' : 's'}`;

export type Node = Group | Drifted;

const isGroup = (node: Node): node is Group => 'rows' in node;

export class Tree implements vscode.TreeDataProvider<Node> {
  private readonly changed = new vscode.EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.changed.event;

  constructor(
    private readonly rows: Rows,
    private by: By,
  ) {
    rows.onDidChange(() => this.changed.fire(undefined));
  }

  group(by: By): void {
    this.by = by;
    this.changed.fire(undefined);
  }

  getChildren(node?: Node): Node[] {
    if (node === undefined) {
      return grouped(this.rows.drifted, this.by);
    }
    return isGroup(node) ? node.rows : [];
  }

  getTreeItem(node: Node): vscode.TreeItem {
    return isGroup(node) ? this.heading(node) : this.leaf(node);
  }

  private heading(group: Group): vscode.TreeItem {
    const item = new vscode.TreeItem(group.label, vscode.TreeItemCollapsibleState.Expanded);
    item.description = counted(group.rows.length);
    item.contextValue = 'group';
    item.tooltip = `${group.label}: ${counted(group.rows.length)}`;
    return item;
  }

  private leaf(row: Drifted): vscode.TreeItem {
    const item = new vscode.TreeItem(this.by === 'change' ? short(row) : what(row));
    const rest = this.by === 'file' ? `${short(row)}, line ${row.line}` : where(row);
    item.description = [row.difference, rest].filter(Boolean).join(' · ');
    item.iconPath = new vscode.ThemeIcon('diff');
    item.contextValue = 'drift';
    item.tooltip = `${row.test}\n${what(row)}`;
    item.accessibilityInformation = { label: `drift, ${what(row)}, ${row.test}, ${where(row)}` };
    item.command = { command: 'pindrift.goTo', title: 'Go to the Pin', arguments: [row] };
    return item;
  }
}
