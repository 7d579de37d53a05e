import type { Plugin } from 'vite';

/** The font subset used on nearly every page. */
const FONT = /inter-latin-wght-normal.*\.woff2$/;

/** Preloads the font in parallel with the style sheet that references it, to avoid a visible font swap. */
export function preloadFont(): Plugin {
  return {
    name: 'preload-font',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler(_html, { bundle }) {
        const file = Object.keys(bundle ?? {}).find((name) => FONT.test(name));
        if (!file) throw new Error('The build has no Inter font to preload');
        return [
          {
            tag: 'link',
            injectTo: 'head-prepend',
            attrs: { rel: 'preload', as: 'font', type: 'font/woff2', href: `/${file}`, crossorigin: true },
          },
        ];
      },
    },
  };
}
