import { accessSync, constants } from 'node:fs';
import path from 'node:path';
import { type Browser, type BrowserContext, type BrowserServer, chromium } from 'playwright-core';

export type { Browser, Page } from 'playwright-core';

const names = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];
const macApps = ['Chromium', 'Google Chrome'].map((app) => `/Applications/${app}.app/Contents/MacOS/${app}`);

const flags = [
  // Chromium's sandbox refuses root; the pages are our own.
  ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
  // Nothing but the server under test may be reached.
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-dev-shm-usage',
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
  const folders = (process.env.PATH ?? '').split(path.delimiter).filter(Boolean);
  const onPath = names.flatMap((name) => folders.map((folder) => path.join(folder, name)));
  const named = process.env.BAKEHOUSE_CHROMIUM;
  return (named ? [named] : [...onPath, ...macApps]).find(isProgram) ?? null;
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
