/**
 * Fails if more comments, test titles or sentences of docs than the budget permits contain a phrase that
 * plain English avoids. With paths as arguments, lists these phrases instead.
 */
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { root } from '../root.ts';
import { findMarkers } from './find-markers.ts';
import { type Kind, kinds, readProse } from './read-prose.ts';

/** The largest permitted share of each kind, in percent. Lower it when the share falls; never raise it. */
const budget: Record<Kind, number> = { comments: 1, 'test titles': 1, docs: 1 };

/** Excludes the numbered migrations, which cannot be changed. */
const files = globSync(
  [
    '{contract,server,web,scripts,e2e}/**/*.{ts,tsx}',
    '{runtime,models,scripts}/**/*.py',
    'server/migrations/functions/*.sql',
    '{.ci/run,.env.example,deploy/**/*.yaml,**/*.sh}',
    'docs/**/*.md',
    '*.md',
  ],
  { cwd: root, exclude: (name) => /node_modules|\/gen\/|\/generated\/|\/dist\//.test(name) },
);
const chosen = process.argv.slice(2);
const list = chosen.length > 0;
const counts = new Map<string, { all: number; marked: number }>();
const count = (key: string, isMarked: boolean) => {
  const entry = counts.get(key) ?? { all: 0, marked: 0 };
  counts.set(key, { all: entry.all + 1, marked: entry.marked + Number(isMarked) });
};

for (const file of files.sort()) {
  if (list && !chosen.some((prefix) => file.startsWith(prefix))) continue;
  for (const { kind, line, text } of readProse(file, readFileSync(path.join(root, file), 'utf8'))) {
    const found = findMarkers(text);
    count(kind, found.length > 0);
    count(`${kind} of ${file.split('/')[0]}`, found.length > 0);
    if (list && found.length > 0) console.log(`${file}:${line} [${kind}] ${text}\n    ${found.join('; ')}`);
  }
}
const share = ({ all, marked }: { all: number; marked: number }) => (100 * marked) / all;
for (const [key, entry] of [...counts].sort(([a], [b]) => a.localeCompare(b)))
  console.log(`${share(entry).toFixed(1).padStart(5)} %  ${key} (${entry.marked} of ${entry.all})`);
if (!list)
  for (const kind of kinds) {
    const entry = counts.get(kind);
    if (!entry || share(entry) <= budget[kind]) continue;
    console.error(
      `${kind}: ${share(entry).toFixed(1)} % contain a phrase to avoid; at most ${budget[kind]} % may.`,
    );
    process.exitCode = 1;
  }
