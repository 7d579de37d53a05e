import { parentPort } from 'node:worker_threads';
import { AppError } from '../../../platform/errors.ts';
import { buildGrammar, type GrammarRequest } from './build-grammar.ts';

/** A grammar, or the field that cannot be enforced and the reason. */
export type BuiltGrammar = { grammar: string } | { param: string; refusal: string };

parentPort?.on('message', (asked: GrammarRequest) => parentPort?.postMessage(build(asked)));

function build(asked: GrammarRequest): BuiltGrammar {
  try {
    return { grammar: buildGrammar(asked) };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { param: error.param ?? '', refusal: error.publicMessage };
  }
}
