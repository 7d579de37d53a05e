import type { GeneratorName } from '@bakehouse/contract/generators';
import { generators } from '@bakehouse/contract/generators/table';
import { Price, useQuote } from '../images/api.ts';
import { type FormValues, parameterProblems, requestParameters } from './form-values.ts';

/** What the settings cost, while they can be asked for. */
export function GenerationPrice({ name, values }: { name: GeneratorName; values: FormValues }) {
  const generator = generators[name];
  const problems = parameterProblems(generator, values);
  const quote = useQuote(name, requestParameters(generator, values), Object.keys(problems).length === 0);
  return <Price quote={quote} />;
}
