import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { Plugin } from 'vite';

const named = /import (type )?\{([^}]*)\} from 'lucide-react';/g;

/**
 * Rewrites icon imports to the icons' own files. Through the library's index, every module would seem to
 * import all icons, so first screens would get the icons of all pages.
 */
export function iconImports(): Plugin {
  let files: Promise<Map<string, string>> | null = null;
  return {
    name: 'icon-imports',
    enforce: 'pre',
    apply: 'build',
    async transform(code, id) {
      if (!id.endsWith('.tsx') && !id.endsWith('.ts')) return null;
      if (!code.includes("from 'lucide-react'")) return null;
      files ??= readIndex();
      const fileOf = await files;
      return code.replace(named, (statement, onlyTypes: string | undefined, names: string) => {
        if (onlyTypes) return statement;
        const imports = names
          .split(',')
          .map((name) => name.trim())
          .filter((name) => name !== '' && !name.startsWith('type '))
          .map((name) => {
            const [icon = '', local = icon] = name.split(' as ');
            const file = fileOf.get(icon);
            if (!file) this.error(`lucide-react has no file for the icon '${icon}'`);
            return `import ${local} from 'lucide-react/icons/${file}';`;
          });
        // Other imports of the statement are types, already erased. Keep the line count.
        return imports.join(' ') + '\n'.repeat(statement.split('\n').length - 1);
      });
    },
  };
}

/** Maps icon names to files, from the library's index. */
async function readIndex(): Promise<Map<string, string>> {
  const entry = createRequire(import.meta.url).resolve('lucide-react');
  const index = await readFile(path.join(entry, '../../esm/lucide-react.mjs'), 'utf8');
  const exported = index.matchAll(/^export \{ (.*) \} from '\.\/icons\/([\w-]+)\.mjs';$/gm);
  return new Map(
    [...exported].flatMap(([, names = '', file = '']) =>
      [...names.matchAll(/default as (\w+)/g)].map(([, name = '']): [string, string] => [name, file]),
    ),
  );
}
