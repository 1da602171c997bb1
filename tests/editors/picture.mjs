// A capture of a terminal as a picture: node picture.mjs TOOLS CAPTURE.ansi PICTURE.png
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const [tools, capture, picture] = process.argv.slice(2);
const { chromium } = createRequire(path.join(path.resolve(tools), 'vscode/'))('playwright-core');

const NORMAL = ['#1d2129', '#e06c75', '#98c379', '#e5c07b', '#61afef', '#c678dd', '#56b6c2', '#c8ccd4'];
const BRIGHT = ['#5c6370', '#ff7b86', '#b5e890', '#ffd68a', '#7cc5ff', '#e29af5', '#6fd6e2', '#ffffff'];

function indexed(n) {
  if (n < 16) {
    return n < 8 ? NORMAL[n] : BRIGHT[n - 8];
  }
  if (n >= 232) {
    const grey = 8 + (n - 232) * 10;
    return `rgb(${grey},${grey},${grey})`;
  }
  const part = (value) => (value === 0 ? 0 : 55 + value * 40);
  const cube = n - 16;
  return `rgb(${part(Math.floor(cube / 36))},${part(Math.floor(cube / 6) % 6)},${part(cube % 6)})`;
}

const clean = () => ({ fg: null, bg: null, bold: false, dim: false, italic: false, under: false, swap: false });
let look = clean();

/** Takes over one list of attributes. */
function take(codes) {
  for (let at = 0; at < codes.length; at += 1) {
    const [code] = codes[at].split(':').map(Number);
    if (code === 0) look = clean();
    else if (code === 1) look.bold = true;
    else if (code === 2) look.dim = true;
    else if (code === 3) look.italic = true;
    else if (code === 4) look.under = codes[at] !== '4:0';
    else if (code === 7) look.swap = true;
    else if (code === 22) look.bold = look.dim = false;
    else if (code === 23) look.italic = false;
    else if (code === 24) look.under = false;
    else if (code === 27) look.swap = false;
    else if (code >= 30 && code <= 37) look.fg = NORMAL[code - 30];
    else if (code === 39) look.fg = null;
    else if (code >= 40 && code <= 47) look.bg = NORMAL[code - 40];
    else if (code === 49) look.bg = null;
    else if (code >= 90 && code <= 97) look.fg = BRIGHT[code - 90];
    else if (code >= 100 && code <= 107) look.bg = BRIGHT[code - 100];
    else if (code === 38 || code === 48 || code === 58) {
      const side = { 38: 'fg', 48: 'bg' }[code];
      const colour = codes[at + 1] === '5' ? indexed(Number(codes[at + 2])) : `rgb(${codes.slice(at + 2, at + 5).join(',')})`;
      at += codes[at + 1] === '5' ? 2 : 4;
      if (side) look[side] = colour;
    }
  }
}

function span(text) {
  let [fg, bg] = [look.fg ?? '#d7dae0', look.bg ?? ground];
  if (look.swap) [fg, bg] = [bg, fg];
  const style = [`color:${fg}`, `background:${bg}`];
  if (look.bold) style.push('font-weight:bold');
  if (look.dim) style.push('opacity:.65');
  if (look.italic) style.push('font-style:italic');
  if (look.under) style.push('text-decoration:underline');
  const escaped = text.replace(/&/g, '&amp;').replace(/</g, '&lt;');
  return `<span style="${style.join(';')}">${escaped}</span>`;
}

const text = fs.readFileSync(capture, 'utf8').trimEnd();
const first = /\u001b\[[\d;]*48;2;(\d+);(\d+);(\d+)/.exec(text);
const ground = first ? `rgb(${first.slice(1).join(',')})` : '#20242c';

// Of the empty lines below a text two are enough.
let empty = 0;
const kept = text.split('\n').filter((line) => {
  empty = /^\s*~?\s*$/.test(line.replace(/\u001b\[[\d;:]*m/g, '')) ? empty + 1 : 0;
  return empty <= 2;
});

const html = kept
  .join('\n')
  .split(/(\u001b\[[\d;:]*m)/)
  .map((part) => {
    const found = /^\u001b\[([\d;:]*)m$/.exec(part);
    if (!found) return part === '' ? '' : span(part);
    take(found[1] === '' ? ['0'] : found[1].split(';'));
    return '';
  })
  .join('');

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
const page = await browser.newPage({ viewport: { width: 1000, height: 700 } });
await page.setContent(
  `<body style="margin:0;background:${ground}"><pre style="display:inline-block;margin:0;background:${ground};padding:12px;font:14px/1.25 'DejaVu Sans Mono',monospace">${html}</pre>`,
);
await page.locator('pre').screenshot({ path: picture });
await browser.close();
