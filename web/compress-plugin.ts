import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Plugin } from 'vite';

const brotli = promisify(brotliCompress);
const zip = promisify(gzip);

const TEXT = /\.(js|css|html|svg|json|txt|md)$/;

/**
 * Adds brotli and gzip versions (`app.js.br`, `app.js.gz`) of each text file at the highest compression. The
 * server sends them as is and never compresses per request. Fonts and pictures are already compressed.
 */
export function compressed(): Plugin {
  let folder = '';
  return {
    name: 'compressed',
    apply: 'build',
    configResolved(config) {
      folder = path.resolve(config.root, config.build.outDir);
    },
    // At this point the files of public/ exist too.
    async writeBundle() {
      const files = await readdir(folder, { recursive: true });
      await Promise.all(
        files.filter((file) => TEXT.test(file)).map((file) => compress(path.join(folder, file))),
      );
    },
  };
}

async function compress(file: string): Promise<void> {
  const plain = await readFile(file);
  const variants = {
    br: await brotli(plain, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
        [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
        [constants.BROTLI_PARAM_SIZE_HINT]: plain.length,
      },
    }),
    gz: await zip(plain, { level: 9 }),
  };
  for (const [ending, bytes] of Object.entries(variants)) {
    if (bytes.length < plain.length) await writeFile(`${file}.${ending}`, bytes);
  }
}
