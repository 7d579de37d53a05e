import { parentPort } from 'node:worker_threads';
import { AppError } from '../../../platform/errors.ts';
import { type AskedGrammar, buildGrammar } from './build-grammar.ts';

/** A grammar, or the field that cannot be enforced and the reason. */
export type BuiltGrammar = { grammar: string } | { param: string; refusal: string };

parentPort?.on('message', (asked: AskedGrammar) => parentPort?.postMessage(build(asked)));

function build(asked: AskedGrammar): BuiltGrammar {
  try {
    return { grammar: buildGrammar(asked) };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { param: error.param ?? '', refusal: error.publicMessage };
  }
}
