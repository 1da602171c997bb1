/** Which program is the server. */
import * as fs from 'node:fs';
import * as path from 'node:path';

/** The setting, else `PINDRIFT_SERVER`, else the one that came with the extension, else the one on PATH. */
export function program(setting: string, env: NodeJS.ProcessEnv, extensionPath: string): string {
  if (setting.trim() !== '') {
    return setting.trim();
  }
  if (env.PINDRIFT_SERVER) {
    return env.PINDRIFT_SERVER;
  }
  const name = process.platform === 'win32' ? 'pindrift.exe' : 'pindrift';
  const bundled = path.join(extensionPath, 'server', name);
  return fs.existsSync(bundled) ? bundled : 'pindrift';
}
