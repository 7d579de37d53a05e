import type { Plugin } from 'vite';

/** The letters of nearly every page. */
const FONT = /inter-latin-wght-normal.*\.woff2$/;

/** Has the browser fetch the font along with the style sheet, which would name it only later: text then rarely changes its font. */
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
