import { readFile } from 'node:fs/promises';
import type { Plugin } from 'vite';

const TITLE = '.md?title';

/** Supports `import title from './ledger.md?title'`, which imports only the document's title. */
export function documentTitles(): Plugin {
  return {
    name: 'document-titles',
    enforce: 'pre',
    async load(id) {
      if (!id.endsWith(TITLE)) return null;
      const file = id.slice(0, -'?title'.length);
      const title = /^# (.+)$/m.exec(await readFile(file, 'utf8'))?.[1];
      if (!title) this.error(`${file} needs a title: a line that begins with '# '`);
      return { code: `export default ${JSON.stringify(title)};`, moduleType: 'js' };
    },
  };
}
