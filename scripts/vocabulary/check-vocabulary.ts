/** Fails if the product or its documentation contains a word that docs/vocabulary.md replaces. */
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { root } from '../root.ts';
import { messages } from '../specification/messages.ts';
import { readTexts } from '../specification/read-texts.ts';
import { findWrongWords, proseOf, readWrongWords, withoutAll } from './find-wrong-words.ts';

const VOCABULARY = 'docs/vocabulary.md';
/** Excludes files for operators, which may contain technical terms such as 'installation'. */
const PROGRAMS = ['web/src/**/*.{ts,tsx}', 'contract/src/**/*.ts', 'server/src/{modules,wires}/**/*.ts'];
/** Words that users may type in a search. */
const SEARCH_WORDS = 'web/src/shell/palette/sidebar-words.ts';
const PAGES = [
  'getting-started',
  'data-files',
  'fine-tuning',
  'text-serving',
  'api',
  'hub',
  'hub-clients',
  'pictures-and-videos',
  'credits',
  'notifications',
].map((page) => `docs/${page}.md`);

const read = (file: string) => readFileSync(path.join(root, file), 'utf8');
const words = readWrongWords(read(VOCABULARY));
const specified = messages.map(({ text }) => text);

const ofPrograms = globSync(PROGRAMS, { cwd: root })
  .filter((file) => file !== SEARCH_WORDS && !/\.test\.tsx?$|\/testing\//.test(file))
  .flatMap((file) =>
    [...readTexts(file, read(file))]
      .filter((text) => /\s/.test(text) && !specified.some((sentence) => sentence.includes(text)))
      .flatMap((text) => findWrongWords(withoutAll(text, specified), words))
      .map((fault) => `${file}: ${fault}`),
  );
const ofPages = PAGES.flatMap((file) =>
  proseOf(read(file))
    .flatMap((line) => findWrongWords(line, words))
    .map((fault) => `${file}: ${fault}`),
);
const faults = [...new Set([...ofPrograms, ...ofPages])];
for (const fault of faults) console.error(fault);
process.exitCode = faults.length === 0 ? 0 : 1;
