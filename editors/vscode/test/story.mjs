// The whole story in a real VS Code: node story.mjs FOLDER VSIX TOOLS
// FOLDER is what `pindrift demo` wrote, TOOLS where code-server and playwright-core were installed; PINDRIFT_SERVER
// names the program. Prints `ok` lines, leaves pictures in TOOLS/captures, ends with 1 on the first thing that is not so.
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';

const [folder, vsix, tools] = process.argv.slice(2);
const { chromium } = createRequire(path.join(tools, 'vscode/'))('playwright-core');
const captures = path.join(tools, 'captures');
fs.mkdirSync(captures, { recursive: true });

const PATIENCE = 60_000;
const home = fs.mkdtempSync(path.join(os.tmpdir(), 'pindrift-vscode-'));
const data = path.join(home, 'data');
const place = ['--user-data-dir', data, '--extensions-dir', path.join(home, 'extensions')];
const program = path.join(tools, 'vscode/code-server');
fs.mkdirSync(path.join(data, 'User'), { recursive: true });
fs.writeFileSync(
  path.join(data, 'User/settings.json'),
  JSON.stringify({
    'workbench.startupEditor': 'none',
    'chat.disableAIFeatures': true,
    'telemetry.telemetryLevel': 'off',
    'git.enabled': false,
    'files.hotExit': 'off',
    'update.mode': 'none',
    'extensions.autoCheckUpdates': false,
    'extensions.ignoreRecommendations': true,
    'workbench.tips.enabled': false,
    'workbench.secondarySideBar.defaultVisibility': 'hidden',
    'editor.minimap.enabled': false,
    'editor.hover.delay': 100,
    'diffEditor.renderSideBySide': true,
    'diffEditor.useInlineViewWhenSpaceIsLimited': false,
  }),
);

const free = () =>
  new Promise((done) => {
    const probe = net.createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => done(port));
    });
  });

let server;
let browser;
let page;

async function close() {
  await browser?.close().catch(() => {});
  if (server?.pid && server.exitCode === null) {
    try {
      process.kill(-server.pid, 'SIGTERM');
    } catch {
      // It has ended by itself.
    }
  }
  fs.rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
}

async function so(what, holds) {
  const end = Date.now() + PATIENCE;
  for (;;) {
    try {
      if (await holds()) {
        break;
      }
    } catch {
      // Not yet.
    }
    if (Date.now() > end) {
      throw new Error(`NOT SO: ${what}`);
    }
    await new Promise((done) => setTimeout(done, 100));
  }
  console.log(`ok: ${what}`);
}

const keep = (name) => page.screenshot({ path: path.join(captures, `vscode-${name}.png`) });
const disk = (name) => fs.readFileSync(path.join(folder, name), 'utf8');
const records = () =>
  fs
    .readdirSync(path.join(folder, '.pindrift/amendments'), { recursive: true })
    .filter((name) => name.endsWith('.toml'))
    .map((name) => fs.readFileSync(path.join(folder, '.pindrift/amendments', name), 'utf8'));
const mine = () => records().filter((record) => record.includes('via = "vscode"'));

const observed = () =>
  fs
    .readdirSync(path.join(folder, '.pindrift/observed'))
    .filter((name) => name.endsWith('.jsonl') && name !== 'demo.jsonl')
    .flatMap((name) => fs.readFileSync(path.join(folder, '.pindrift/observed', name), 'utf8').split('\n'));

const rows = (text) => page.locator('.quick-input-widget .monaco-list-row', { hasText: text });
const input = () => page.locator('.quick-input-widget input');
const lines = () => page.locator('.monaco-editor .view-lines:visible');
const says = async (part) => (await lines().allInnerTexts()).join('\n').replace(/\u00a0/g, ' ').includes(part);
const shown = (text) => page.getByText(text).first().isVisible();

/** Tries until it works: a menu that came too early is closed and opened again, as a person does it. */
async function again(attempt) {
  const end = Date.now() + PATIENCE;
  for (;;) {
    try {
      return await attempt(5_000);
    } catch (error) {
      if (Date.now() > end) {
        throw error;
      }
      await page.keyboard.press('Escape');
      await page.waitForTimeout(300);
    }
  }
}

/** Types into the box that a key opens and clicks `row` in its list: Enter takes the first row of a list that is not yet narrowed. */
const pick = (key, text, row) =>
  again(async (timeout) => {
    await page.keyboard.press(key);
    await input().waitFor({ state: 'visible', timeout });
    await input().fill(text);
    await rows(row).first().click({ timeout });
    await input().waitFor({ state: 'hidden', timeout });
  });

/** A command by its name in the palette; it may open a box of its own. */
const command = (name) =>
  again(async (timeout) => {
    await page.keyboard.press('F1');
    await input().waitFor({ state: 'visible', timeout });
    await input().fill(`>${name}`);
    await rows(name).first().click({ timeout });
  });

async function open(file) {
  const name = path.basename(file);
  await again(async (timeout) => {
    await pick('Control+P', file, name);
    await page.locator('.tab.active', { hasText: name }).waitFor({ timeout });
  });
}

const line = (number) => pick('Control+G', `:${number}`, `${number}`);

/** An entry of the lightbulb's menu. */
const act = (title) =>
  again(async (timeout) => {
    await page.keyboard.press('Control+.');
    const row = page.locator('.action-widget .monaco-list-row', { hasText: title }).first();
    await row.waitFor({ timeout });
    await row.click({ timeout });
  });

async function story() {
  spawnSync(program, [...place, '--install-extension', vsix], { encoding: 'utf8' });
  const port = await free();
  server = spawn(
    program,
    [...place, '--auth', 'none', '--bind-addr', `127.0.0.1:${port}`, '--config', path.join(home, 'config.yaml'), '--disable-telemetry', '--disable-update-check', '--disable-workspace-trust'],
    { detached: true, stdio: 'ignore', env: { ...process.env, HOME: home } },
  );
  await so('code-server is up', async () => (await fetch(`http://127.0.0.1:${port}/healthz`)).ok);
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  });
  page = await browser.newPage({ viewport: { width: 1280, height: 760 } });
  await page.goto(`http://127.0.0.1:${port}/?folder=${folder}`);
  await page.locator('.monaco-workbench').waitFor({ timeout: PATIENCE });
  await page.locator('.explorer-folders-view .monaco-list-row').first().waitFor({ timeout: PATIENCE });

  await so('the status bar counts the drifts', () => page.locator('.statusbar-item', { hasText: '3 drifts' }).isVisible());
  await open('tests/test_discount.py');
  await so('the drift is underlined', async () => (await page.locator('.squiggly-warning').count()) > 0);
  await so('a lens over the test counts it', () => page.locator('.codelens-decoration a', { hasText: '1 drift · accept…' }).isVisible());
  await command('Focus on Drifts View');
  await so('the view of drifts groups them', () => page.locator('.pane', { hasText: 'Drifts' }).getByText('2.67 → 2.68').first().isVisible());
  await open('tests/test_discount.py');
  await line(6);
  await command('Show or Focus Hover');
  await so('the hover shows old and new, and that this is no proof', async () => {
    const hover = await page.locator('.monaco-hover:not(.hidden)').first().innerText();
    return hover.includes('2.67') && hover.includes('2.68') && hover.includes('not proof');
  });
  await keep('drift');
  await page.keyboard.press('Escape');

  await command('Show the Drift Here as a Diff');
  await so('the diff has recorded and observed side by side', async () => (await page.locator('.monaco-diff-editor .view-lines').count()) >= 2);
  const accept = page.locator('.editor-actions a[aria-label*="Accept"]').first();
  await so('its title bar can accept', () => accept.isVisible());
  await keep('diff');
  await accept.click();
  await input().waitFor({ state: 'visible', timeout: PATIENCE });
  await page.keyboard.type('wip');
  await so('a filler is refused while typing', () => shown('does not tell the next reader'));
  await keep('reason');
  await page.keyboard.press('Enter');
  await so('and nothing was accepted', () => mine().length === 0);
  await input().fill('the price list rounds half up');
  await so('an honest reason may stand', async () => !(await shown('does not tell the next reader')));
  await page.keyboard.press('Enter');
  await so('the diff closes when it was decided on', async () => (await page.locator('.monaco-diff-editor:visible').count()) === 0);
  await open('tests/test_discount.py');
  await so('the new value and the comment are in the editor', async () => (await says('== 2.68')) && (await says('# Reason: the price list rounds half up')));
  await page.keyboard.press('Control+S');
  await so('saving finishes the amendment', () => mine().length === 1 && disk('tests/test_discount.py').includes('== 2.68'));
  await command('Focus Active Editor Group');
  await page.keyboard.press('Control+Z');
  await so('an undo brings the old text back', () => says('== 2.67'));
  await page.keyboard.press('Control+S');
  await so('and leaves no lying record', () => mine().length === 0 && disk('tests/test_discount.py').includes('== 2.67'));
  await line(6);
  await act('Accept drift: 2.67');
  await input().waitFor({ state: 'visible', timeout: PATIENCE });
  await page.keyboard.type('the price list rounds half up');
  await page.keyboard.press('Enter');
  await so('the lightbulb accepts too', () => says('== 2.68'));
  await page.keyboard.press('Control+S');
  await so('and its record is there', () => mine().length === 1);
  await keep('accepted');

  await line(6);
  await command('Test: Run Test at Cursor');
  await so('a run from the Testing view is recorded', () => observed().some((line) => line.includes('pins_legacy_output') && line.includes('"outcome":"match"')));
  await so('and the margin says that it passed', () => page.locator('.testing-run-glyph.codicon-testing-passed-icon').first().isVisible());

  await open('tests/golden/month.csv');
  await so('the changed lines of an open baseline are underlined', async () => (await page.locator('.squiggly-warning').count()) >= 2);
  await open('tests/test_export.py');
  await line(25);
  await command('Why Is This Baseline What It Is?');
  await so('why opens as a page', async () => {
    for (const frame of page.frames()) {
      if ((await frame.locator('body').innerText().catch(() => '')).includes('VAT is rounded half up')) {
        return true;
      }
    }
    return false;
  });
  await keep('why');
  await open('tests/test_export.py');
  await line(25);
  await command('Test: Run Test at Cursor');
  await so('a test that drifted has a message with both texts', () => shown('drift: 2 lines'));
  await so('and the margin says that it failed', () => page.locator('.testing-run-glyph.codicon-testing-failed-icon').first().isVisible());
  await keep('run');
  await page.keyboard.press('Escape');
  await line(25);
  await act('Accept drift: 2 lines in another order');
  await input().waitFor({ state: 'visible', timeout: PATIENCE });
  await page.keyboard.type('the export is sorted by net since ticket 12');
  await page.keyboard.press('Enter');
  await so('a golden file is amended', () => disk('tests/golden/month.csv') === disk('tests/actual/month.csv'));
  await page.keyboard.press('Control+S');
  await so('with its record', () => mine().length === 2);

  await open('rates/tests/pinned.rs');
  await so('a Rust test has its drift too', async () => (await page.locator('.squiggly-warning, .squiggly-info').count()) > 0);
  await line(6);
  await act('Reclassify as specification test');
  await so('a test is reclassified', () => says('Specification test'));
  await page.keyboard.press('Control+S');
  await so('and that is recorded', () => mine().some((record) => record.includes('kind = "reclassify"')));
  await so('nothing waits any more', () => mine().length === 3 && records().every((record) => !record.includes('pending')));
}

let failed = 0;
try {
  await story();
} catch (error) {
  failed = 1;
  console.error(error.message);
  await keep('failed').catch(() => {});
}
await close();
process.exit(failed);
