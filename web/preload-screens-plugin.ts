import { generatorNames } from '@bakehouse/contract/generators';
import type { Plugin, Rolldown } from 'vite';
import { firstScreens } from './first-screen-plugin.ts';
import { screenChunks } from './screen-chunks.ts';

const FIRST_PAINT = '<script src="/first-paint.js"';
const MODULE = '<script type="module"';

/** Returns false for chunks that only import others; the page preloads their imports instead. */
function hasCode({ modules }: Rolldown.OutputChunk): boolean {
  return Object.values(modules).some(({ renderedLength }) => renderedLength > 0);
}

/**
 * Lists the chunks of the first screens for `first-paint.js`, so that they load in parallel with the app.
 * Code loads after what the first paint needs: styles, font and picture.
 */
export function preloadScreens(): Plugin {
  return {
    name: 'preload-screens',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler(html, { bundle }) {
        if (!html.includes(FIRST_PAINT)) throw new Error('index.html does not begin with first-paint.js');
        const filesOf = (modules: readonly string[]) => {
          const chunks = screenChunks(modules, bundle ?? {});
          if (!chunks) throw new Error(`Module of a first screen not found: ${modules.join(', ')}`);
          return chunks
            .filter(hasCode)
            .map(({ fileName }) => `/${fileName}`)
            .filter((file) => !html.includes(file));
        };
        const screens = {
          landing: filesOf(firstScreens['landing page'].modules),
          generator: filesOf(firstScreens['generator page of a visitor'].modules),
          app: filesOf(firstScreens.dashboard.modules),
          generators: generatorNames,
        };
        return html
          .replace(FIRST_PAINT, `${FIRST_PAINT} data-screens='${JSON.stringify(screens)}'`)
          .replaceAll(MODULE, `${MODULE} fetchpriority="low"`);
      },
    },
  };
}
