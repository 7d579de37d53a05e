import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { generatorNames } from '@bakehouse/contract/generators';
import type { Plugin } from 'vite';
import type { PrerenderRequest } from './first-frame.ts';

const SCRIPT = /<script type="module" [^>]*src="([^"]+)"/g;
const END = '</body>';
/** A path that matches no page, so that the shell highlights no menu item. */
const NOWHERE = '/-';

/**
 * Prerenders the app's first render into the HTML, so that it shows before the app's code loads: a visitor's
 * landing page in `index.html`, and generator pages in `pages/`, which the server looks up by path. Each file
 * also contains the shell for signed-in users. `first-paint.js` selects which one to show.
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
        return this.error('The app did not render its shell');
      await mkdir(path.join(dist, 'pages'));
      for (const address of ['/', ...generatorNames.map((name) => `/${name}`)]) {
        const page = await firstFrame({ scripts, address, isExpected: false });
        // This page requires a session.
        if (page === null) continue;
        await writeFile(
          address === '/' ? index : path.join(dist, 'pages', `${address}.html`),
          html.replace(END, () => frames(address, page, shell) + END),
        );
      }
    },
  };
}

/** Templates, so that the browser loads no pictures until one is used. */
function frames(address: string, page: string, shell: string): string {
  const template = (name: string, frame: string) =>
    // Inert, because input before the app starts would be lost.
    `<template id="${name}"><div inert style="display: contents">${frame}</div></template>`;
  return `${template('shell-frame', shell)}${template('page-frame', page)}<first-frame data-address="${address}"></first-frame>`;
}

/** Returns null if the app redirects. */
async function firstFrame(asked: PrerenderRequest): Promise<string | null> {
  const worker = new Worker(path.join(import.meta.dirname, 'first-frame.ts'), { workerData: asked });
  try {
    return await new Promise((resolve, reject) => {
      worker.once('message', resolve);
      worker.once('error', reject);
      worker.once('exit', () => reject(new Error(`The app rendered nothing at ${asked.address}`)));
    });
  } finally {
    await worker.terminate();
  }
}
