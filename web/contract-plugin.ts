import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Plugin } from 'vite';

const contractFolder = resolve(import.meta.dirname, '../contract/src');
const WITH_SCHEMAS = '?schemas';

/**
 * Strips contract files for the browser: an endpoint needs only its method, path, access, file part and
 * operation name, because the server validates. Zod and the schemas are bundled only for modules that import
 * a schema by name (forms), not for the first screen. Types are unchanged.
 */
export function endpointsWithoutSchemas(): Plugin {
  return {
    name: 'endpoints-without-schemas',
    enforce: 'pre',
    async load(id) {
      const [file = id] = id.split('?');
      if (!file.startsWith(contractFolder) || !file.endsWith('.ts')) return null;
      // Neither version has side effects, so unused exports can be dropped.
      const moduleSideEffects = false;
      if (id.endsWith(WITH_SCHEMAS))
        return { code: await readFile(file, 'utf8'), moduleType: 'ts', moduleSideEffects };
      const exports: Record<string, unknown> = await import(pathToFileURL(file).href);
      const literals = Object.entries(exports).flatMap(([name, value]) => {
        const literal = withRoutes(value, name);
        if (typeof literal === 'bigint') return [`export const ${name} = ${literal}n;`];
        return isPlain(literal) ? [`export const ${name} = ${JSON.stringify(literal)};`] : [];
      });
      // Local exports take precedence over star exports.
      const code = [...literals, `export * from ${JSON.stringify(`${file}${WITH_SCHEMAS}`)};`].join('\n');
      return { code, moduleType: 'js', moduleSideEffects };
    },
  };
}

type Route = {
  method: string;
  path: string;
  access: string;
  spends?: boolean;
  status?: number;
  upload?: 'bytes' | { part: string };
  operation?: string;
};

function isEndpoint(value: unknown): value is Route {
  return (
    typeof value === 'object' && value !== null && 'method' in value && 'path' in value && 'access' in value
  );
}

function toRoute({ method, path, access, spends, status, upload, operation }: Route, name: string): Route {
  const sent = typeof upload === 'object' ? { part: upload.part } : upload;
  const words = operation ?? wordsOf(name);
  return JSON.parse(JSON.stringify({ method, path, access, spends, status, upload: sent, operation: words }));
}

/** Splits an endpoint's name into words: `listApiKeys` -> 'list API keys'. */
function wordsOf(name: string): string {
  return name
    .replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    .replaceAll(/\bapi\b/g, 'API')
    .replaceAll(/\bx\b/g, 'X');
}

/** Replaces endpoints with routes, recursively. */
function withRoutes(value: unknown, name: string): unknown {
  if (isEndpoint(value)) return toRoute(value, name);
  if (!isTable(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withRoutes(one, key)]));
}

function isTable(value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

/** Returns true for JSON values, without schemas, functions or bigints. */
function isPlain(value: unknown): boolean {
  if (value === null || ['string', 'number', 'boolean'].includes(typeof value)) return true;
  if (Array.isArray(value)) return value.every(isPlain);
  return isTable(value) && Object.values(value).every(isPlain);
}
