/** What a command is about: the line under the cursor, a drift of the view, an open diff. */
import * as vscode from 'vscode';
import type { Answers } from './answers';
import type { Drifted, Rows } from './rows';

/** As the server's commands take it. */
export type Place = { uri: string; line: number } | { drift: string };

export function here(): { uri: string; line: number } | undefined {
  const editor = vscode.window.activeTextEditor;
  return editor && { uri: editor.document.uri.toString(), line: editor.selection.active.line };
}

/** `from` is what a menu handed over: a row of the view, the address of a diff's side, or nothing. */
export async function meant(from: unknown, answers: Answers, rows: Rows): Promise<Place | undefined> {
  const row = from as { drift?: unknown } | undefined;
  if (typeof row?.drift === 'string') {
    return { drift: row.drift };
  }
  const uri = from instanceof vscode.Uri ? from : vscode.window.activeTextEditor?.document.uri;
  const open = uri && answers.drift(uri);
  if (open !== undefined) {
    return { drift: open };
  }
  const place = here();
  if (place === undefined) {
    return undefined;
  }
  const found = rows.at(place.uri, place.line + 1);
  return found.length > 1 ? choose(found) : place;
}

/** One of several drifts on the same line. */
export async function choose(rows: Drifted[]): Promise<Place | undefined> {
  const items = rows.map((row) => ({ label: row.brief ?? row.state, description: row.test, drift: row.drift }));
  const chosen = await vscode.window.showQuickPick(items, { placeHolder: 'Several drifts stand here: which one?' });
  return chosen && { drift: chosen.drift };
}
