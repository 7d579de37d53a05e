import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { generatorNames } from '@bakehouse/contract/generators';
import type { Plugin } from 'vite';
import type { Asked } from './first-frame.ts';

const SCRIPT = /<script type="module" [^>]*src="([^"]+)"/g;
const END = '</body>';
/** No page's: the shell marks nothing in its menu. */
const NOWHERE = '/-';

/**
 * Writes what the app paints first into the HTML, so that it is painted before any of the app's code is there: what a visitor
 * sees of the landing page into `index.html`, of a generator's page into `pages/`, where the server finds it by its path; and
 * the shell, for who is signed in, into each. The app itself paints it, when it has been built. `first-paint.js` says which is
 * shown.
 */
export function firstFrames(): Plugin {
  let dist = '';
  return {
    name: 'first-frames',
    apply: 'build',
    configResolved(config) {
      dist = path.resolve(config.root, config.build.outDir);
    },
    async writeBundle() {
      const index = path.join(dist, 'index.html');
      const html = await readFile(index, 'utf8');
      const scripts = [...html.matchAll(SCRIPT)].map(([, file = '']) => path.join(dist, file));
      const shell = await firstFrame({ scripts, address: NOWHERE, isExpected: true });
      if (scripts.length === 0 || !shell || !html.includes(END))
        return this.error('The app does not paint its shell');
      await mkdir(path.join(dist, 'pages'));
      for (const address of ['/', ...generatorNames.map((name) => `/${name}`)]) {
        const page = await firstFrame({ scripts, address, isExpected: false });
        // Kept for who is signed in.
        if (page === null) continue;
        await writeFile(
          address === '/' ? index : path.join(dist, 'pages', `${address}.html`),
          html.replace(END, () => frames(address, page, shell) + END),
        );
      }
    },
  };
}

/** In templates, whose pictures are not fetched until one is taken. */
function frames(address: string, page: string, shell: string): string {
  const template = (name: string, frame: string) =>
    // What is typed and clicked would be lost: nothing of it takes the focus.
    `<template id="${name}"><div inert style="display: contents">${frame}</div></template>`;
  return `${template('shell-frame', shell)}${template('page-frame', page)}<first-frame data-address="${address}"></first-frame>`;
}

/** Null where the app leads to another address. */
async function firstFrame(asked: Asked): Promise<string | null> {
  const worker = new Worker(path.join(import.meta.dirname, 'first-frame.ts'), { workerData: asked });
  try {
    return await new Promise((resolve, reject) => {
      worker.once('message', resolve);
      worker.once('error', reject);
      worker.once('exit', () => reject(new Error(`The app has painted nothing at ${asked.address}`)));
    });
  } finally {
    await worker.terminate();
  }
}
