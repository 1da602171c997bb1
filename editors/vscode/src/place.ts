/** The line under the cursor, as the server's commands take it. */
import * as vscode from 'vscode';

export interface Place {
  uri: string;
  /** 0-based. */
  line: number;
}

export function here(): Place | undefined {
  const editor = vscode.window.activeTextEditor;
  return editor && { uri: editor.document.uri.toString(), line: editor.selection.active.line };
}
