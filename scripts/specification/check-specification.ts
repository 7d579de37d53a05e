/** Fails when docs/specification.md names a file or a test that is not there, or that lacks the sentence that its row quotes. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { root } from '../root.ts';
import { findBrokenReferences } from './find-broken-references.ts';
import { messages } from './messages.ts';

const at = (file: string) => path.join(root, file);
const gone = findBrokenReferences(
  readFileSync(at('docs/specification.md'), 'utf8'),
  {
    exists: (file) => existsSync(at(file)),
    read: (file) => (existsSync(at(file)) ? readFileSync(at(file), 'utf8') : null),
  },
  messages.filter(({ foundIn }) => foundIn).map(({ text }) => text),
);
for (const sentence of gone) console.error(sentence);
process.exitCode = gone.length === 0 ? 0 : 1;
