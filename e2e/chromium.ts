import { accessSync, constants } from 'node:fs';
import path from 'node:path';
import { type Browser, type BrowserContext, type BrowserServer, chromium } from 'playwright-core';

export type { Browser, Page } from 'playwright-core';

/** Debian's Chromium without a window: a page takes a quarter of the processor time that it takes in the whole browser. */
export const HEADLESS_SHELL = 'chromium-headless-shell';
const names = [HEADLESS_SHELL, 'chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];
const macApps = ['Chromium', 'Google Chrome'].map((app) => `/Applications/${app}.app/Contents/MacOS/${app}`);

const flags = [
  // Chromium's sandbox refuses root; the pages are our own.
  ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
  // Nothing but the server under test may be reached.
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-dev-shm-usage',
  // Debian turns drawing by the GPU on, which is emulated where there is none.
  '--disable-gpu',
];

/** Starts the system's browser, which can reach nothing but this machine. */
export function launchChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: requireChromium(), args: flags });
}

/** The same as a server, to which the processes of several test files connect. */
export function startBrowser(): Promise<BrowserServer> {
  return chromium.launchServer({ executablePath: requireChromium(), args: flags, host: '127.0.0.1' });
}

/** The same, with what it keeps of the sites in a folder. */
export function openProfile(folder: string): Promise<BrowserContext> {
  return chromium.launchPersistentContext(folder, { executablePath: requireChromium(), args: flags });
}

function requireChromium(): string {
  const executablePath = findChromium();
  if (!executablePath)
    throw new Error("There is no Chromium on this machine: './bakehouse test' installs one.");
  return executablePath;
}

/** The program of the system's Chromium or Chrome: what BAKEHOUSE_CHROMIUM names, else the first that there is. */
export function findChromium(): string | null {
  const named = process.env.BAKEHOUSE_CHROMIUM;
  return (named ? [named] : [...names.flatMap(onPath), ...macApps]).find(isProgram) ?? null;
}

function onPath(name: string): string[] {
  const folders = (process.env.PATH ?? '').split(path.delimiter).filter(Boolean);
  return folders.map((folder) => path.join(folder, name));
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
