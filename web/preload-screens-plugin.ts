import { generatorNames } from '@bakehouse/contract/generators';
import type { Plugin, Rolldown } from 'vite';
import { firstScreens } from './first-screen-plugin.ts';
import { screenChunks } from './screen-chunks.ts';

const FIRST_PAINT = '<script src="/first-paint.js"';
const MODULE = '<script type="module"';

/** An entry that only imports others has none: the page gets its imports instead of it. */
function hasCode({ modules }: Rolldown.OutputChunk): boolean {
  return Object.values(modules).some(({ renderedLength }) => renderedLength > 0);
}

/**
 * Tells `first-paint.js` which files the screens need that people come upon first, so that they are fetched along with the
 * app itself, which would ask for them only once it runs. All code comes after what the first painting needs: the styles, the
 * font and the picture.
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
          if (!chunks) throw new Error(`A module of a screen has moved: ${modules.join(', ')}`);
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
