// Packages the extension. Without arguments the universal package, which takes the server from the setting or PATH:
//   node package.mjs
// For one platform, with its server inside:
//   node package.mjs linux-x64 ../../target/release/pindrift
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const targets = ['linux-x64', 'linux-arm64', 'alpine-x64', 'darwin-x64', 'darwin-arm64', 'win32-x64'];
const [target, server] = process.argv.slice(2);
if (target !== undefined && (!targets.includes(target) || server === undefined)) {
  console.error(`node package.mjs [TARGET SERVER]; TARGET is one of ${targets.join(', ')}, SERVER its program`);
  process.exit(2);
}
rmSync('server', { recursive: true, force: true });
if (server !== undefined) {
  mkdirSync('server');
  const inside = join('server', target.startsWith('win32') ? 'pindrift.exe' : 'pindrift');
  copyFileSync(server, inside);
  chmodSync(inside, 0o755);
}
const out = target === undefined ? 'pindrift.vsix' : `pindrift-${target}.vsix`;
const chosen = target === undefined ? [] : ['--target', target];
const vsce = join('node_modules', '@vscode', 'vsce', 'vsce');
execFileSync(process.execPath, [vsce, 'package', '--no-dependencies', '--allow-missing-repository', '--no-rewrite-relative-links', ...chosen, '-o', out], { stdio: 'inherit' });
rmSync('server', { recursive: true, force: true });
