/** The server's end: starts it, asks it, and puts prompts and documents behind its commands. */
import * as vscode from 'vscode';
import { LanguageClient, TransportKind } from 'vscode-languageclient/node';
import type { Answers } from './answers';
import { type Reasons, withReason } from './reason';

/** Baselines that are known by their names; what is none of a pin's, the server leaves alone. */
const BASELINES = [
  '**/*.{snap,approved,golden,expected,ambr}',
  '**/*.{approved,verified,expected,golden}.*',
  '**/{__snapshots__,snapshots,golden,goldens,expected,approved_files,baselines,testdata}/**',
];

export class Server {
  private readonly client: LanguageClient;

  constructor(
    readonly program: string,
    private readonly answers: Answers,
    private readonly news: () => void,
  ) {
    this.client = new LanguageClient(
      'pindrift',
      'Pindrift',
      // The client itself adds `--stdio`.
      { command: program, args: ['server'], transport: TransportKind.stdio },
      {
        documentSelector: [
          { scheme: 'file', language: 'python' },
          { scheme: 'file', language: 'rust' },
          ...['**/pindrift.toml', '**/.pindrift/**', ...BASELINES].map((pattern) => ({ scheme: 'file', pattern })),
        ],
        initializationOptions: { reasonPrompt: true, via: 'vscode' },
        synchronize: { configurationSection: 'pindrift' },
        middleware: {
          executeCommand: (id, args, next) => this.command(id, args, next),
          handleDiagnostics: (uri, diagnostics, next) => {
            next(uri, diagnostics);
            this.news();
          },
        },
      },
    );
  }

  async start(): Promise<boolean> {
    try {
      await this.client.start();
      return true;
    } catch (error) {
      const open = 'Open Settings';
      const why = error instanceof Error ? error.message : String(error);
      const chosen = await vscode.window.showErrorMessage(
        `Pindrift could not start ${this.program}: ${why}. ` +
          'Install it with `cargo install --path .`, or set pindrift.server.path.',
        open,
      );
      if (chosen === open) {
        await vscode.commands.executeCommand('workbench.action.openSettings', 'pindrift.server.path');
      }
      return false;
    }
  }

  async stop(): Promise<void> {
    if (this.client.needsStop()) {
      await this.client.stop();
    }
  }

  /** Whether this server answers a command. */
  offers(id: string): boolean {
    return this.client.initializeResult?.capabilities.executeCommandProvider?.commands.includes(id) ?? false;
  }

  /** One command without a prompt; throws what the server says. */
  async ask(id: string, argument: unknown, token?: vscode.CancellationToken): Promise<unknown> {
    if (!this.offers(id)) {
      throw new Error(this.lacks(id));
    }
    const params = { command: id, arguments: [argument] };
    // An absent token would be taken for a second parameter.
    return token === undefined
      ? this.client.sendRequest('workspace/executeCommand', params)
      : this.client.sendRequest('workspace/executeCommand', params, token);
  }

  /** The same as a person asks for it: with prompts, and with what goes wrong on the screen. */
  async run(id: string, argument: unknown): Promise<unknown> {
    if (!this.offers(id)) {
      void vscode.window.showWarningMessage(`Pindrift: ${this.lacks(id)}`);
      return undefined;
    }
    // The client registers every command that the server announces, behind `command` below.
    return vscode.commands.executeCommand(id, argument);
  }

  private lacks(id: string): string {
    const version = this.client.initializeResult?.serverInfo?.version;
    return `this server (${version ?? this.program}) does not offer ${id}; a newer \`pindrift\` does`;
  }

  private async reasons(reason?: string, drift?: string): Promise<Reasons | undefined> {
    const argument = { ...(reason !== undefined && { reason }), ...(drift !== undefined && { drift }) };
    try {
      return (await this.ask('pindrift.reasons', argument)) as Reasons;
    } catch {
      return undefined;
    }
  }

  private async command(
    id: string,
    args: unknown[],
    next: (id: string, args: unknown[]) => unknown,
  ): Promise<unknown> {
    const argument = await withReason(id, args[0], (typed, drift) => this.reasons(typed, drift));
    if (argument === undefined) {
      return undefined;
    }
    try {
      const result = await next(id, [argument, ...args.slice(1)]);
      await this.show(id, argument, result);
      return result;
    } catch (error) {
      void vscode.window.showErrorMessage(`Pindrift: ${error instanceof Error ? error.message : String(error)}`);
      return undefined;
    } finally {
      this.news();
    }
  }

  /** What the server answered, where VS Code has a place for it. */
  private async show(id: string, argument: unknown, result: unknown): Promise<void> {
    const named = (argument as { drift?: unknown }).drift;
    const drift = typeof named === 'string' ? named : undefined;
    if (id === 'pindrift.diff') {
      await this.answers.diff(result, drift);
    } else if (id === 'pindrift.history') {
      await this.answers.history(result);
    } else if (id === 'pindrift.observe') {
      ran(result);
    } else if (decided(result) && drift !== undefined) {
      await this.answers.close(drift);
    }
  }
}

/** Says where a decision was recorded; whether there is one. */
function decided(result: unknown): boolean {
  const answer = (result ?? {}) as { pending?: boolean; amendment?: string };
  if (typeof answer.amendment !== 'string') {
    return false;
  }
  const says = answer.pending ? 'save the file to finish the amendment' : `recorded in ${answer.amendment}`;
  void vscode.window.setStatusBarMessage(`Pindrift: ${says}`, 10_000);
  return true;
}

/** What a run saw: numbers, as the server counts them, and what went wrong. */
export interface Observed {
  ran?: number;
  drifts?: number;
  unobserved?: number;
  problems?: string[];
}

function ran(result: unknown): void {
  const seen = (result ?? {}) as Observed;
  if (typeof seen.ran === 'number') {
    const says = `ran ${seen.ran}; drifts now: ${seen.drifts ?? '?'}, unobserved: ${seen.unobserved ?? '?'}`;
    void vscode.window.setStatusBarMessage(`Pindrift: ${says}`, 10_000);
  }
  if (seen.problems?.length) {
    void vscode.window.showWarningMessage(`Pindrift: ${seen.problems[0]}`);
  }
}
