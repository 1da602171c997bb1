/** Starts the server and gives it what VS Code has: an input box for the reason and a diff editor. */
import * as vscode from 'vscode';
import { LanguageClient, TransportKind } from 'vscode-languageclient/node';
import { Answers } from './answers';
import { here } from './place';
import { withReason } from './reason';
import { program } from './server';

let client: LanguageClient | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const answers = new Answers();
  context.subscriptions.push(
    vscode.workspace.registerTextDocumentContentProvider(Answers.scheme, answers),
    vscode.commands.registerCommand('pindrift.acceptHere', () => runHere('pindrift.accept')),
    vscode.commands.registerCommand('pindrift.diffHere', () => runHere('pindrift.diff')),
    vscode.commands.registerCommand('pindrift.historyHere', () => runHere('pindrift.history')),
    vscode.commands.registerCommand('pindrift.restart', () => client?.restart()),
  );
  const command = program(
    vscode.workspace.getConfiguration('pindrift').get<string>('server.path') ?? '',
    process.env,
    context.extensionPath,
  );
  client = new LanguageClient(
    'pindrift',
    'Pindrift',
    { command, args: ['server', '--stdio'], transport: TransportKind.stdio },
    {
      documentSelector: [
        { scheme: 'file', language: 'python' },
        { scheme: 'file', language: 'rust' },
        { scheme: 'file', pattern: '**/{pindrift.toml,*.snap,*.approved.*,golden/**,snapshots/**,.pindrift/**}' },
      ],
      initializationOptions: { reasonPrompt: true, via: 'vscode' },
      synchronize: { configurationSection: 'pindrift' },
      middleware: {
        executeCommand: async (id, args, next) => {
          const argument = await withReason(id, args[0]);
          if (argument === undefined) {
            return undefined;
          }
          try {
            const result = await next(id, [argument, ...args.slice(1)]);
            await show(answers, id, result);
            return result;
          } catch (error) {
            void vscode.window.showErrorMessage(`Pindrift: ${error instanceof Error ? error.message : String(error)}`);
            return undefined;
          }
        },
      },
    },
  );
  try {
    await client.start();
  } catch (error) {
    void vscode.window.showErrorMessage(
      `Pindrift could not start ${command}: ${error instanceof Error ? error.message : String(error)}. ` +
        'Install it with `cargo install --path .`, or set pindrift.server.path.',
    );
  }
}

export function deactivate(): Promise<void> | undefined {
  return client?.stop();
}

/** One of the server's commands, about the line under the cursor. */
async function runHere(id: string): Promise<void> {
  const place = here();
  if (place === undefined || client === undefined) {
    return;
  }
  // The client registers every command that the server announces, behind the middleware above.
  await vscode.commands.executeCommand(id, place);
}

/** What the server answered, where VS Code has a place for it. */
async function show(answers: Answers, id: string, result: unknown): Promise<void> {
  if (id === 'pindrift.diff') {
    await answers.diff(result);
  } else if (id === 'pindrift.history') {
    await answers.history(result);
  } else if (id === 'pindrift.accept') {
    accepted(result);
  }
}

function accepted(result: unknown): void {
  const answer = (result ?? {}) as { accepted?: boolean; pending?: boolean; amendment?: string };
  if (answer.accepted && answer.pending) {
    void vscode.window.setStatusBarMessage('Pindrift: save the file to finish the amendment', 10_000);
  } else if (answer.accepted) {
    void vscode.window.setStatusBarMessage(`Pindrift: recorded in ${answer.amendment ?? 'the ledger'}`, 10_000);
  }
}
