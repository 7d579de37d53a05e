import { accessSync, constants } from 'node:fs';
import path from 'node:path';
import { type Browser, type BrowserContext, type BrowserServer, chromium } from 'playwright-core';

export type { Browser, Page } from 'playwright-core';

/** Debian's headless Chromium. Pages use a quarter of the CPU time that they need in the full browser. */
export const HEADLESS_SHELL = 'chromium-headless-shell';
const names = [HEADLESS_SHELL, 'chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];
const macApps = ['Chromium', 'Google Chrome'].map((app) => `/Applications/${app}.app/Contents/MacOS/${app}`);

const flags = [
  // Chromium's sandbox does not work for root. It is not needed, because the pages are our own.
  ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
  // Blocks all hosts except the server under test.
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-dev-shm-usage',
  // Debian enables rendering on a GPU, which is slow if it has to be emulated.
  '--disable-gpu',
];

/** Launches the system's browser, which may only connect to this machine. */
export function launchChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: requireChromium(), args: flags });
}

/** Launches the browser as a server to which several test processes connect. */
export function startBrowser(): Promise<BrowserServer> {
  return chromium.launchServer({ executablePath: requireChromium(), args: flags, host: '127.0.0.1' });
}

/** Launches the browser with a profile that is stored in a folder. */
export function openProfile(folder: string): Promise<BrowserContext> {
  return chromium.launchPersistentContext(folder, { executablePath: requireChromium(), args: flags });
}

function requireChromium(): string {
  const executablePath = findChromium();
  if (!executablePath) throw new Error("Chromium not found. Run './bakehouse test' to install it.");
  return executablePath;
}

/**
 * Returns the path of Chromium or Chrome: BAKEHOUSE_CHROMIUM if it is set, otherwise the first one that is
 * installed.
 */
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
