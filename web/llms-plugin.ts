import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Plugin } from 'vite';
import { sections } from './src/modules/documentation/sections.ts';

const DOCS = path.join(import.meta.dirname, '../docs');

/**
 * Writes the documentation as markdown next to its pages, `/docs/api.md` for `/docs/api`, and its index for
 * language models as `/llms.txt` (https://llmstxt.org).
 */
export function documentationForModels(): Plugin {
  return {
    name: 'documentation-for-models',
    apply: 'build',
    async generateBundle() {
      const names = (await readdir(DOCS, { recursive: true })).filter((name) => name.endsWith('.md'));
      const titles = new Map<string, string>();
      for (const name of names) {
        const source = await readFile(path.join(DOCS, name), 'utf8');
        this.emitFile({ type: 'asset', fileName: `docs/${name}`, source });
        titles.set(name.slice(0, -'.md'.length), /^# (.+)$/m.exec(source)?.[1] ?? name);
      }
      this.emitFile({ type: 'asset', fileName: 'llms.txt', source: listForModels(titles) });
    },
  };
}

/**
 * Returns the llms.txt index of the documents with these titles, by path: the web app's sections, then the
 * rest.
 */
export function listForModels(titles: ReadonlyMap<string, string>): string {
  const named = new Set<string>(sections.flatMap(({ paths }) => paths));
  const others = [...titles.keys()].filter((name) => !named.has(name)).sort();
  const lines = (paths: readonly string[]) =>
    paths.map((name) => `- [${titles.get(name) ?? name}](/docs/${name}.md)`);
  return [
    '# Bakehouse',
    '',
    '> An AI platform that a team runs itself: datasets and models, fine-tuning, deployments and chat, pictures and videos, paid from one balance of credits. Its API is compatible with those of OpenAI and of the Hugging Face Hub.',
    '',
    'The API is described by [OpenAPI](/openapi.json). Calls take an API key as a bearer token.',
    ...sections.flatMap(({ label, paths }) => ['', `## ${label}`, '', ...lines(paths)]),
    '',
    '## Optional',
    '',
    ...lines(others),
    '',
  ].join('\n');
}
