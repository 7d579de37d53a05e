import { parentPort, workerData } from 'node:worker_threads';
import { Window } from 'happy-dom';

export type PrerenderRequest = {
  /** The app's scripts in execution order. */
  scripts: string[];
  address: string;
  isExpected: boolean;
};

/**
 * Runs the built app in a simulated wide browser without a server, and posts the HTML of its first render.
 */
async function paint({ scripts, address, isExpected }: PrerenderRequest): Promise<void> {
  const window = new Window({ url: `http://localhost${address}`, width: 1440, height: 900 });
  becomeBrowser(window);
  if (isExpected) window.localStorage.setItem('bakehouse.session', 'expected');
  const root = window.document.createElement('div');
  root.id = 'root';
  // As in the browser, #root has content until the page's code loads.
  root.append('…');
  window.document.body.append(root);
  new window.MutationObserver(() => {
    const isLedAway = window.location.pathname !== address;
    parentPort?.postMessage(isLedAway ? null : root.innerHTML);
  }).observe(root, { childList: true });
  for (const script of scripts) await import(script);
}

/** Defines the browser globals that Node lacks; requests never complete. */
function becomeBrowser(window: Window): void {
  const names = new Set(['navigator', 'Event', 'CustomEvent', 'EventTarget']);
  for (let at: object = window; at !== Object.prototype; at = Object.getPrototypeOf(at))
    for (const name of Object.getOwnPropertyNames(at)) if (!(name in globalThis)) names.add(name);
  const browser = Object.fromEntries([...names].map((name) => [name, Reflect.get(window, name)]));
  const fetch = () => new Promise(() => {});
  for (const [name, value] of Object.entries({ ...browser, fetch, window: globalThis, self: globalThis }))
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
}

await paint(workerData as PrerenderRequest);
